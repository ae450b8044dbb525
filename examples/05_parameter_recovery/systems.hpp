// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/system.hpp>

/// The systems whose parameters are recovered.
namespace examples {

/// Convection in a fluid layer (Lorenz 1963); all three parameters (sigma, rho, beta) are free.
struct Lorenz {
  static constexpr int num_states = 3, num_params = 3;

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION gradsolve::State<T, 3> operator()(
      const T&, const gradsolve::State<T, 3>& u, const gradsolve::Params<T, 3>& p) const {
    return {p[0] * (u[1] - u[0]), u[0] * (p[1] - u[2]) - u[1], u[0] * u[1] - p[2] * u[2]};
  }
};

/// Prey x and predators y:  x' = p0 x - p1 x y,  y' = p3 x y - p2 y.
struct LotkaVolterra {
  static constexpr int num_states = 2, num_params = 4;

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION gradsolve::State<T, 2> operator()(
      const T&, const gradsolve::State<T, 2>& u, const gradsolve::Params<T, 4>& p) const {
    const T met = u[0] * u[1];
    return {p[0] * u[0] - p[1] * met, p[3] * met - p[2] * u[1]};
  }
};

/// Robertson's reactions (1966), A -> B, 2B -> B + C, B + C -> A + C. The rates span nine orders of
/// magnitude; their logarithms are what a fit can move.
struct RobertsonLogRates {
  static constexpr int num_states = 3, num_params = 3;

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION gradsolve::State<T, 3> operator()(
      const T&, const gradsolve::State<T, 3>& u, const gradsolve::Params<T, 3>& log_k) const {
    using gradsolve::exp;
    const T r1 = exp(log_k[0]) * u[0], r2 = exp(log_k[1]) * u[1] * u[1],
            r3 = exp(log_k[2]) * u[1] * u[2];
    return {r3 - r1, r1 - r2 - r3, r2};
  }
};

}  // namespace examples
