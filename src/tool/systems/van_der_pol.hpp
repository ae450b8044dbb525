// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/system.hpp>

namespace gradsolve::tool {

/// x'' = mu (1 - x^2) x' - x
struct VanDerPol {
  static constexpr int num_states = 2, num_params = 1;

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 2> operator()(const T&, const State<T, 2>& u,
                                                     const Params<T, 1>& p) const {
    return {u[1], p[0] * ((T(1) - u[0] * u[0]) * u[1]) - u[0]};
  }
};

}  // namespace gradsolve::tool
