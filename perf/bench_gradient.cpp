// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The published benchmark ensemble: Lorenz, sigma = 10, beta = 8/3, u0 = (1, 0, 0), t in [0, 1],
// rho_j = linspace(0, 21, n) ("sorted") or uniform in [0, 21] ("random"); atol = 1e-3 rtol; loss
// |u(1)|^2, gradient with respect to rho and u0. Tsit5, float64. Each sweep on its own:
//
//   record           into an existing record, as in a loop that re-records
//   record_fresh     from nothing: counts the steps, sorts, allocates, records
//   replay           forward on the recorded steps
//   gradient         replay and adjoint, one launch
//   record_gradient  record, then gradient
//
// `sum` is that of d loss / d rho over the ensemble, for other programs; `error` the median over
// trajectories and components of the relative error of u(1), against rtol 1e-12, at n = 2048.
//
// Lanes: on a CPU also with one trajectory a thread at a time ("scalar"), to see what packs bring.
#include "bench.hpp"

namespace {

using namespace bench;

template <int Width>
struct Bench {
  Exec exec;
  gradsolve::Ensemble<Matrix, Matrix> ensemble;
  gradsolve::Options options;
  gradsolve::Record<Tsit5, double, Memory> record;
  gradsolve::Replay<double, Memory> replay;
  gradsolve::Gradient<double, Memory> gradient;

  Bench(int n, double rtol, bool random)
      : ensemble(initial_states(n), rho(n, random), 0.0, 1.0), options(published_options(rtol)) {
    run_record();
  }
  void run_record() {
    gradsolve::record<Width>(exec, Lorenz{}, Tsit5{}, ensemble, options, record);
  }
  void run_record_fresh() {
    gradsolve::Record<Tsit5, double, Memory> fresh;
    gradsolve::record<Width>(exec, Lorenz{}, Tsit5{}, ensemble, options, fresh);
  }
  void run_replay() { gradsolve::replay<Width>(exec, Lorenz{}, record, ensemble, replay); }
  void run_gradient() {
    gradsolve::gradient<Width>(exec, Lorenz{}, record, ensemble, SquaredNorm{}, gradient);
  }
  void run_record_gradient() {
    run_record();
    run_gradient();
  }
  double gradient_sum() {
    run_gradient();
    return sum_of_first_column(gradient.params);
  }
  double total_steps() const {
    double sum = 0;
    const auto steps = record.num_steps;
    Kokkos::parallel_reduce(
        "sum", Kokkos::RangePolicy<Exec>(exec, 0, record.size()),
        KOKKOS_LAMBDA(int i, double& s) { s += steps(i); }, sum);
    return sum;
  }
};

template <int Width>
void time_sweep(benchmark::State& state, bool random, void (Bench<Width>::*sweep)()) {
  const int n = static_cast<int>(state.range(0));
  double rtol = 1;
  for (int digit = 0; digit < state.range(1); ++digit) rtol /= 10;
  Bench<Width> bench(n, rtol, random);
  time(state, bench.exec, [&] { (bench.*sweep)(); });
  const double steps = bench.total_steps();
  state.counters["steps"] = steps / n;
  state.counters["steps/s"] =
      benchmark::Counter(steps, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["lanes/steps"] =
      double(bench.record.mesh.total_rows) * bench.record.mesh.width / steps;
  state.counters["sum"] = bench.gradient_sum();
  const Bench<Width> sample(2048, rtol, random), exact(2048, 1e-12, random);
  state.counters["error"] = median_error(sample.record.states, exact.record.states);
}

template <int Width>
void add(const std::string& name, bool random, void (Bench<Width>::*sweep)(),
         const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& digits) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& s) { time_sweep<Width>(s, random, sweep); })
      ->ArgsProduct({sizes, digits})
      ->ArgNames({"n", "digits"})
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}

template <int Width>
void add_sweeps(const std::string& prefix, bool random, const std::vector<std::int64_t>& sizes,
                const std::vector<std::int64_t>& digits) {
  using B = Bench<Width>;
  add<Width>(prefix + "/record", random, &B::run_record, sizes, digits);
  add<Width>(prefix + "/record_fresh", random, &B::run_record_fresh, sizes, digits);
  add<Width>(prefix + "/replay", random, &B::run_replay, sizes, digits);
  add<Width>(prefix + "/gradient", random, &B::run_gradient, sizes, digits);
  add<Width>(prefix + "/record_gradient", random, &B::run_record_gradient, sizes, digits);
}

const bool registered = [] {
  add_sweeps<0>("sorted", false, {128, 2048, 32768, 524288, 1048576}, {4, 6, 8});
  add_sweeps<0>("random", true, {32768, 524288, 1048576}, {6});
  if (gradsolve::detail::lane_width<Lorenz, Exec, double, 0>() > 1)
    add_sweeps<1>("scalar", false, {32768}, {6});
  return true;
}();

}  // namespace
