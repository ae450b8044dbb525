// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Systems of many states, float64: Lorenz 96 of N states, p around 8, t in [0, 1], rtol 1e-6, loss
// |u(1)|^2 and its gradient with respect to u0 and p. On a GPU by a thread a trajectory and by a
// warp a trajectory; `components` tells whether the right-hand side has component().
#include "bench.hpp"

#include <cmath>
#include <string>

namespace {

using namespace bench;
using gradsolve::Params;
using gradsolve::State;

template <int N>
struct Components {
  static constexpr int num_states = N, num_params = 1;
  template <class T, class U>
  KOKKOS_FORCEINLINE_FUNCTION T component(int i, const T&, const U& u,
                                          const Params<T, 1>& p) const {
    const int next = i + 1 < N ? i + 1 : 0, before = i > 0 ? i - 1 : N - 1,
              second = i > 1 ? i - 2 : i - 2 + N;
    return (u[next] - u[second]) * u[before] - u[i] + p[0];
  }
  template <class T>
  KOKKOS_FUNCTION State<T, N> operator()(const T& t, const State<T, N>& u,
                                         const Params<T, 1>& p) const {
    State<T, N> slope;
    for (int i = 0; i < N; ++i) slope[i] = component(i, t, u, p);
    return slope;
  }
};
template <int N, int Threads>
struct ByComponent : Components<N> {
  static constexpr const char* name = "components";
  static constexpr int threads_per_trajectory = Threads;
};
template <int N, int Threads>
struct AsAWhole {
  static constexpr const char* name = "whole";
  static constexpr int num_states = N, num_params = 1, threads_per_trajectory = Threads;
  template <class T>
  KOKKOS_FUNCTION State<T, N> operator()(const T& t, const State<T, N>& u,
                                         const Params<T, 1>& p) const {
    return Components<N>{}(t, u, p);
  }
};

Matrix numbers(int n, int columns, double around) {
  Matrix m("numbers", n, columns);
  auto host = Kokkos::create_mirror_view(m);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < columns; ++j) host(i, j) = around + 0.5 * std::sin(1 + 0.1 * i + 1.7 * j);
  Kokkos::deep_copy(m, host);
  return m;
}

template <class F, class M>
struct Bench {
  Exec exec;
  gradsolve::Ensemble<Matrix, Matrix> ensemble;
  gradsolve::Record<M, double, Memory> record;
  gradsolve::Replay<double, Memory> replay;
  gradsolve::Gradient<double, Memory> gradient;

  explicit Bench(int n) : ensemble(numbers(n, F::num_states, 2), numbers(n, 1, 8), 0.0, 1.0) {
    run_record();
  }
  void run_record() {
    gradsolve::record(exec, F{}, M{}, ensemble, {.rtol = 1e-6, .atol = 1e-8}, record);
  }
  void run_replay() { gradsolve::replay(exec, F{}, record, ensemble, replay); }
  void run_gradient() { gradsolve::gradient(exec, F{}, record, ensemble, SquaredNorm{}, gradient); }
};

template <class F, class M>
void time_sweep(benchmark::State& state, void (Bench<F, M>::*sweep)()) {
  Bench<F, M> bench(static_cast<int>(state.range(0)));
  time(state, bench.exec, [&] { (bench.*sweep)(); });
  bench.run_gradient();
  state.counters["sum"] = sum_of_first_column(bench.gradient.params);
}

template <class F, class M>
void add() {
  using B = Bench<F, M>;
  const std::string name = std::string(M::name) + "/N:" + std::to_string(F::num_states) + "/" +
                           F::name + "/threads:" + std::to_string(F::threads_per_trajectory) + "/";
  auto sweep = [&](const char* what, void (B::*run)()) {
    benchmark::RegisterBenchmark((name + what).c_str(),
                                 [=](benchmark::State& s) { time_sweep<F, M>(s, run); })
        ->ArgsProduct({{2048, 32768}})
        ->ArgNames({"n"})
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  };
  sweep("record", &B::run_record);
  sweep("replay", &B::run_replay);
  sweep("gradient", &B::run_gradient);
}

/// A thread a trajectory takes nvcc minutes beyond 32 states.
template <int N, class M>
void add_size() {
  if constexpr (N <= 32) add<ByComponent<N, 1>, M>();
  if constexpr (gradsolve::detail::Backend<Exec>::can_spread) {
    add<ByComponent<N, 32>, M>();
    add<AsAWhole<N, 32>, M>();
  }
}

/// Of a GPU: on a CPU they would only take the compiler's time.
template <class E>
void add_sizes_of_gpu() {
  if constexpr (gradsolve::detail::Backend<E>::can_spread) {
    add_size<16, gradsolve::Tsit5>();
    add_size<64, gradsolve::Tsit5>();
    add_size<64, gradsolve::Rodas5P>();
  }
}

// nvcc takes minutes for each: -DGRADSOLVE_BENCH_SIZE=64 -DGRADSOLVE_BENCH_METHOD=gradsolve::Tsit5
// compiles one alone.
const bool registered = [] {
#if defined(GRADSOLVE_BENCH_SIZE)
  add_size<GRADSOLVE_BENCH_SIZE, GRADSOLVE_BENCH_METHOD>();
#else
  add_size<32, gradsolve::Tsit5>();
  add_size<24, gradsolve::Rodas5P>();
  add_sizes_of_gpu<Exec>();
#endif
  return true;
}();

}  // namespace
