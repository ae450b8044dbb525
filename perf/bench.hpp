// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/gradsolve.hpp>

#include <Kokkos_Random.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <vector>

/// What the benchmarks share: the published ensemble, and how a sweep is timed.
namespace bench {

using Exec = Kokkos::DefaultExecutionSpace;
using Memory = Exec::memory_space;
using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, Memory>;
using gradsolve::Tsit5;

struct Lorenz {
  static constexpr int num_states = 3, num_params = 1;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION gradsolve::State<T, 3> operator()(
      const T&, const gradsolve::State<T, 3>& u, const gradsolve::Params<T, 1>& p) const {
    return {10.0 * (u[1] - u[0]), u[0] * (p[0] - u[2]) - u[1], u[0] * u[1] - (8.0 / 3.0) * u[2]};
  }
};

struct SquaredNorm {
  template <class T, int N>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const gradsolve::State<T, N>& u) const {
    T sum = u[0] * u[0];
    gradsolve::for_each_index<N - 1>(
        [&](int i) GRADSOLVE_INLINE_LAMBDA { sum = sum + u[i + 1] * u[i + 1]; });
    return sum;
  }
};

inline Matrix initial_states(int n) {
  Matrix u0("u0", n, 3);
  Kokkos::deep_copy(Kokkos::subview(u0, Kokkos::ALL, 0), 1.0);
  return u0;
}

inline Matrix rho(int n, bool random) {
  Matrix p("rho", n, 1);
  auto host = Kokkos::create_mirror_view(p);
  Kokkos::Random_XorShift64_Pool<Kokkos::DefaultHostExecutionSpace> pool(1);
  auto generator = pool.get_state();
  for (int i = 0; i < n; ++i) host(i, 0) = random ? generator.drand(0, 21) : 21.0 * i / (n - 1);
  pool.free_state(generator);
  Kokkos::deep_copy(p, host);
  return p;
}

inline gradsolve::Options published_options(double rtol) {
  return {.rtol = rtol, .atol = 1e-3 * rtol};
}

/// Times `sweep` alone: fence, clock, launch, fence.
template <class Sweep>
void time(benchmark::State& state, const Exec& exec, Sweep&& sweep) {
  sweep();
  for ([[maybe_unused]] auto _ : state) {
    exec.fence();
    Kokkos::Timer timer;
    sweep();
    exec.fence();
    state.SetIterationTime(timer.seconds());
  }
}

template <class View>
auto on_host(const View& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}

/// Of d loss / d (the first parameter), for other programs to compare with.
template <class View>
double sum_of_first_column(const View& gradient) {
  const auto host = on_host(gradient);
  double sum = 0;
  for (std::size_t i = 0; i < host.extent(0); ++i) sum += host(i, 0);
  return sum;
}

/// Of the relative errors, over trajectories and components; an exact zero (u_1 and u_2 at rho = 0)
/// has none.
template <class View>
double median_error(const View& states, const View& exact) {
  const auto u = on_host(states), v = on_host(exact);
  std::vector<double> errors;
  for (std::size_t i = 0; i < u.extent(0); ++i)
    for (std::size_t j = 0; j < u.extent(1); ++j)
      if (v(i, j) != 0) errors.push_back(std::abs(u(i, j) / v(i, j) - 1));
  std::nth_element(errors.begin(), errors.begin() + errors.size() / 2, errors.end());
  return errors[errors.size() / 2];
}

}  // namespace bench
