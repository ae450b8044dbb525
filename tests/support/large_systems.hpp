// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/system.hpp>

namespace gradsolve::test {

/// Lorenz 96, with a force that changes in time:
///
///     u_i' = (u_{i+1} - u_{i-2}) u_{i-1} - p_1 u_i + p_0 (1 + t i / N)
template <int N, int Threads = 0>
struct Lorenz96 {
  static constexpr int num_states = N, num_params = 2, threads_per_trajectory = Threads;

  template <class T, class U>
  KOKKOS_FORCEINLINE_FUNCTION T component(int i, const T& t, const U& u,
                                          const Params<T, 2>& p) const {
    const int next = i + 1 < N ? i + 1 : 0, before = i > 0 ? i - 1 : N - 1,
              second = i > 1 ? i - 2 : i - 2 + N;
    return (u[next] - u[second]) * u[before] - p[1] * u[i] + p[0] * (T(1) + T(double(i) / N) * t);
  }
  template <class T>
  KOKKOS_FUNCTION State<T, N> operator()(const T& t, const State<T, N>& u,
                                         const Params<T, 2>& p) const {
    State<T, N> slope;
    for (int i = 0; i < N; ++i) slope[i] = component(i, t, u, p);
    return slope;
  }
};

/// The same as a whole, for kernels that then have no components to go by.
template <int N, int Threads = 0>
struct WholeLorenz96 {
  static constexpr int num_states = N, num_params = 2, threads_per_trajectory = Threads;
  template <class T>
  KOKKOS_FUNCTION State<T, N> operator()(const T& t, const State<T, N>& u,
                                         const Params<T, 2>& p) const {
    return Lorenz96<N>{}(t, u, p);
  }
};

}  // namespace gradsolve::test
