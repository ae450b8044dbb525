// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/system.hpp>

namespace examples {

/// u' = 1.01 u p0 p1
struct Growth {
  static constexpr int num_states = 1, num_params = 2;

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION gradsolve::State<T, 1> operator()(
      const T&, const gradsolve::State<T, 1>& u, const gradsolve::Params<T, 2>& p) const {
    return {T(1.01) * u[0] * p[0] * p[1]};
  }
};

/// u' = p u
struct Exponential {
  static constexpr int num_states = 1, num_params = 1;

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION gradsolve::State<T, 1> operator()(
      const T&, const gradsolve::State<T, 1>& u, const gradsolve::Params<T, 1>& p) const {
    return {p[0] * u[0]};
  }
};

}  // namespace examples
