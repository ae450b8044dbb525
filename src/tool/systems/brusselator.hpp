// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/system.hpp>

namespace gradsolve::tool {

/// I. Prigogine, R. Lefever, J. Chem. Phys. 48 (1968) 1695: an autocatalytic reaction that
/// oscillates for B > 1 + A^2. Parameters: A, B.
struct Brusselator {
  static constexpr int num_states = 2, num_params = 2;

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 2> operator()(const T&, const State<T, 2>& u,
                                                     const Params<T, 2>& p) const {
    const T feed = p[1] * u[0], autocatalysis = u[0] * u[0] * u[1];
    return {p[0] + autocatalysis - feed - u[0], feed - autocatalysis};
  }
};

}  // namespace gradsolve::tool
