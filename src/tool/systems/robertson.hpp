// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/system.hpp>

namespace gradsolve::tool {

/// H. H. Robertson, in: Numerical Analysis, An Introduction, ed. J. Walsh (1966) 178. Three
/// reactions among A, B, C: A -> B, 2B -> B + C, B + C -> A + C, with rates k1, k2, k3.
struct Robertson {
  static constexpr int num_states = 3, num_params = 3;

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 3> operator()(const T&, const State<T, 3>& u,
                                                     const Params<T, 3>& k) const {
    const T r1 = k[0] * u[0], r2 = k[1] * u[1] * u[1], r3 = k[2] * u[1] * u[2];
    return {r3 - r1, r1 - r3 - r2, r2};
  }
};

}  // namespace gradsolve::tool
