// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/system.hpp>

namespace gradsolve::tool {

/// E5, a model of pyrolysis with components of very different size (W. H. Enright, T. E. Hull, B.
/// Lindberg, BIT 15 (1975) 10). Parameters: A, B, C, M. y2 = y3 + y4 at all times.
struct E5 {
  static constexpr int num_states = 4, num_params = 4;

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 4> operator()(const T&, const State<T, 4>& u,
                                                     const Params<T, 4>& p) const {
    const T &A = p[0], &B = p[1], &C = p[2], &M = p[3];
    const T decay = A * u[0], attack = B * u[0] * u[2];
    const T du1 = decay - M * C * (u[1] * u[2]), du3 = attack - C * u[3];
    return {-decay - attack, du1, du1 - du3, du3};
  }
};

}  // namespace gradsolve::tool
