// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Stiff ensembles, float64, loss |u(t1)|^2 and its gradient with respect to one rate and u0:
//
//   robertson  u0 = (1, 0, 0), t in [0, 1e4], atol = 1e-4 rtol,
//              k1 = 0.04 10^linspace(-0.5, 0.5, n), k2 = 3e7, k3 = 1e4
//   hires      t in [0, 321.8122], atol = 1e-3 rtol,
//              the first rate 1.71 10^linspace(-0.25, 0.25, n)
//
// by Rosenbrock23, Rodas4 and Rodas5P; each sweep on its own, as in bench_gradient. `error` is the
// median over trajectories and components of the relative error of the final state, against Rodas5P
// at rtol 1e-12; `sum` is that of d loss / d rate over the ensemble, for other programs.
#include "bench.hpp"

#include <cmath>
#include <string>

namespace {

using namespace bench;
using gradsolve::Params;
using gradsolve::State;

struct Robertson {
  static constexpr const char* name = "robertson";
  static constexpr int num_states = 3, num_params = 1;
  static constexpr double start[3] = {1, 0, 0}, t1 = 1e4, atol_per_rtol = 1e-4;
  static double rate(double x) { return 0.04 * std::pow(10.0, x - 0.5); }

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 3> operator()(const T&, const State<T, 3>& u,
                                                     const Params<T, 1>& p) const {
    const T r1 = p[0] * u[0], r2 = 3e7 * u[1] * u[1], r3 = 1e4 * u[1] * u[2];
    return {r3 - r1, r1 - r3 - r2, r2};
  }
};

struct Hires {
  static constexpr const char* name = "hires";
  static constexpr int num_states = 8, num_params = 1;
  static constexpr double start[8] = {1, 0, 0, 0, 0, 0, 0, 0.0057}, t1 = 321.8122,
                          atol_per_rtol = 1e-3;
  static double rate(double x) { return 1.71 * std::pow(10.0, 0.5 * x - 0.25); }

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 8> operator()(const T&, const State<T, 8>& u,
                                                     const Params<T, 1>& p) const {
    const T a = p[0] * u[0], r = 280.0 * u[5] * u[7];
    return {-a + 0.43 * u[1] + 8.32 * u[2] + 0.0007,
            a - 8.75 * u[1],
            -10.03 * u[2] + 0.43 * u[3] + 0.035 * u[4],
            8.32 * u[1] + 1.71 * u[2] - 1.12 * u[3],
            -1.745 * u[4] + 0.43 * u[5] + 0.43 * u[6],
            -r + 0.69 * u[3] + 1.71 * u[4] - 0.43 * u[5] + 0.69 * u[6],
            r - 1.81 * u[6],
            -r + 1.81 * u[6]};
  }
};

template <class F>
Matrix rates(int n) {
  Matrix p("rate", n, 1);
  auto host = Kokkos::create_mirror_view(p);
  for (int i = 0; i < n; ++i) host(i, 0) = F::rate(double(i) / (n - 1));
  Kokkos::deep_copy(p, host);
  return p;
}
template <class F>
Matrix starts(int n) {
  Matrix u0("u0", n, F::num_states);
  for (int i = 0; i < F::num_states; ++i)
    Kokkos::deep_copy(Kokkos::subview(u0, Kokkos::ALL, i), F::start[i]);
  return u0;
}

template <class F, class M>
struct Bench {
  Exec exec;
  gradsolve::Ensemble<Matrix, Matrix> ensemble;
  gradsolve::Options options;
  gradsolve::Record<M, double, Memory> record;
  gradsolve::Gradient<double, Memory> gradient;

  Bench(int n, double rtol)
      : ensemble(starts<F>(n), rates<F>(n), 0.0, F::t1),
        options{.rtol = rtol, .atol = F::atol_per_rtol * rtol} {
    run_record();
  }
  void run_record() { gradsolve::record(exec, F{}, M{}, ensemble, options, record); }
  void run_gradient() { gradsolve::gradient(exec, F{}, record, ensemble, SquaredNorm{}, gradient); }
  void run_record_gradient() {
    run_record();
    run_gradient();
  }

  double steps() const {
    auto steps = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), record.num_steps);
    double sum = 0;
    for (std::size_t i = 0; i < steps.extent(0); ++i) sum += steps(i);
    return sum / double(steps.extent(0));
  }
  double gradient_sum() {
    run_gradient();
    return sum_of_first_column(gradient.params);
  }
  double error() const {
    const Bench<F, gradsolve::Rodas5P> exact(ensemble.size(), 1e-12);
    return median_error(record.states, exact.record.states);
  }
};

template <class F, class M>
void time_sweep(benchmark::State& state, void (Bench<F, M>::*sweep)()) {
  double rtol = 1;
  for (int digit = 0; digit < state.range(1); ++digit) rtol /= 10;
  Bench<F, M> bench(static_cast<int>(state.range(0)), rtol);
  time(state, bench.exec, [&] { (bench.*sweep)(); });
  state.counters["steps"] = bench.steps();
  state.counters["sum"] = bench.gradient_sum();
  state.counters["error"] = Bench<F, M>(2048, rtol).error();
}

template <class F, class M>
void add() {
  using B = Bench<F, M>;
  auto sweep = [](const char* name, void (B::*run)()) {
    benchmark::RegisterBenchmark((std::string(F::name) + "/" + M::name + "/" + name).c_str(),
                                 [=](benchmark::State& s) { time_sweep<F, M>(s, run); })
        ->ArgsProduct({{2048, 32768, 524288}, {4, 6, 8}})
        ->ArgNames({"n", "digits"})
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  };
  sweep("record", &B::run_record);
  sweep("gradient", &B::run_gradient);
  sweep("record_gradient", &B::run_record_gradient);
}

const bool registered = [] {
  add<Robertson, gradsolve::Rosenbrock23>();
  add<Robertson, gradsolve::Rodas4>();
  add<Robertson, gradsolve::Rodas5P>();
  add<Hires, gradsolve::Rosenbrock23>();
  add<Hires, gradsolve::Rodas4>();
  add<Hires, gradsolve::Rodas5P>();
  return true;
}();

}  // namespace
