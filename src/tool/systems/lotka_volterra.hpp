// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/system.hpp>

namespace gradsolve::tool {

/// x' = alpha x - beta x y,  y' = delta x y - gamma y
struct LotkaVolterra {
  static constexpr int num_states = 2, num_params = 4;

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 2> operator()(const T&, const State<T, 2>& u,
                                                     const Params<T, 4>& p) const {
    const T met = u[0] * u[1];
    return {p[0] * u[0] - p[1] * met, p[3] * met - p[2] * u[1]};
  }
};

}  // namespace gradsolve::tool
