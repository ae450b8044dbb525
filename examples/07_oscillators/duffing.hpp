// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/system.hpp>

namespace examples {

/// A damped, driven particle in the double well V = x^4 / 4 - x^2 / 2 (Duffing 1918; Holmes 1979):
///
///     x'' = x - x^3 - k x' + B cos t
///
/// States (x, x'), parameters (k, B).
struct Duffing {
  static constexpr int num_states = 2, num_params = 2;

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION gradsolve::State<T, 2> operator()(
      const T& t, const gradsolve::State<T, 2>& u, const gradsolve::Params<T, 2>& p) const {
    using gradsolve::cos;
    return {u[1], u[0] - u[0] * u[0] * u[0] - p[0] * u[1] + p[1] * cos(t)};
  }
};

}  // namespace examples
