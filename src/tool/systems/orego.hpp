// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/system.hpp>

namespace gradsolve::tool {

/// The Oregonator, a model of the Belousov-Zhabotinskii reaction (R. J. Field, R. M. Noyes, J.
/// Chem. Phys. 60 (1974) 1877). Parameters: s, q, w.
struct Orego {
  static constexpr int num_states = 3, num_params = 3;

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 3> operator()(const T&, const State<T, 3>& u,
                                                     const Params<T, 3>& p) const {
    const T &s = p[0], &q = p[1], &w = p[2];
    return {s * (u[1] + u[0] * (T(1) - q * u[0] - u[1])), (u[2] - (T(1) + u[0]) * u[1]) / s,
            w * (u[0] - u[2])};
  }
};

}  // namespace gradsolve::tool
