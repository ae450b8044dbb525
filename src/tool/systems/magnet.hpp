// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/system.hpp>

namespace gradsolve::tool {

/// The magnetisation m of a material in an oscillating field, in the mean-field approximation:
///
///     tau m' = L(x) - m,  x = (field cos 2 pi t + 3 m) / temperature,  L(x) = coth x - 1 / x
///
/// The temperature is in units of the critical one, below which m keeps a sign of its own.
///
/// It branches on its values: Langevin's function L loses all its digits near 0, where a series is
/// exact.
struct Magnet {
  static constexpr int num_states = 1, num_params = 2;
  static constexpr bool branches = true;
  double tau = 0.2;

  template <class T>
  static KOKKOS_FORCEINLINE_FUNCTION T langevin(const T& x) {
    if (abs(x) < T(0.1)) {
      const T s = x * x;
      return x * (T(1.0 / 3) - s * (T(1.0 / 45) - s * (T(2.0 / 945) - s * T(1.0 / 4725))));
    }
    return T(1) / tanh(x) - T(1) / x;
  }

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 1> operator()(const T& t, const State<T, 1>& u,
                                                     const Params<T, 2>& p) const {
    const T x = (p[1] * cos(T(6.283185307179586) * t) + T(3) * u[0]) / p[0];
    return {(langevin(x) - u[0]) / T(tau)};
  }
};

}  // namespace gradsolve::tool
