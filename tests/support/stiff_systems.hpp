// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/system.hpp>

#include <tool/systems/robertson.hpp>

/// Stiff right-hand sides that run on the number types of the oracle as well.
namespace gradsolve::test {

using tool::Robertson;

/// x' = p0 (t^2 - x) + y, y' = -p1 t x y: stiff for large p0, and time is in the slopes of both.
struct Forced {
  static constexpr int num_states = 2, num_params = 2;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 2> operator()(const T& t, const State<T, 2>& u,
                                                     const Params<T, 2>& p) const {
    return {p[0] * (t * t - u[0]) + u[1], -p[1] * t * u[0] * u[1]};
  }
};

/// The same with its Jacobian written by hand.
struct ForcedWithJacobian : Forced {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION Matrix<T, 2> jacobian(const T& t, const State<T, 2>& u,
                                                    const Params<T, 2>& p) const {
    return {{{{-p[0], T(1)}}, {{-p[1] * t * u[1], -p[1] * t * u[0]}}}};
  }
};

}  // namespace gradsolve::test
