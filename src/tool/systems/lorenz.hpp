// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/system.hpp>

namespace gradsolve::tool {

/// E. N. Lorenz, J. Atmos. Sci. 20 (1963) 130.
struct Lorenz {
  static constexpr int num_states = 3, num_params = 1;
  double sigma = 10, beta = 8.0 / 3;

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 3> operator()(const T&, const State<T, 3>& u,
                                                     const Params<T, 1>& p) const {
    return {T(sigma) * (u[1] - u[0]), p[0] * u[0] - u[1] - u[0] * u[2],
            u[0] * u[1] - T(beta) * u[2]};
  }
};

}  // namespace gradsolve::tool
