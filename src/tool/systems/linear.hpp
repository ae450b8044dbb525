// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/system.hpp>

namespace gradsolve::tool {

/// x'' + 2 zeta omega x' + omega^2 x = 0. From (1, 0), with d = omega sqrt(1 - zeta^2):
/// x(t) = exp(-zeta omega t) (cos d t + zeta omega / d sin d t)
/// v(t) = -exp(-zeta omega t) omega^2 / d sin d t
struct Linear {
  static constexpr int num_states = 2, num_params = 2;

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 2> operator()(const T&, const State<T, 2>& u,
                                                     const Params<T, 2>& p) const {
    return {u[1], -p[0] * (T(2) * p[1] * u[1] + p[0] * u[0])};
  }
};

}  // namespace gradsolve::tool
