// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/gradsolve.hpp>

#include <Kokkos_Random.hpp>

#include <benchmark/benchmark.h>

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
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const gradsolve::State<T, 3>& u) const {
    return u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
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

}  // namespace bench
