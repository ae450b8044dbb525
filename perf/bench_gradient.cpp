// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The published benchmark ensemble: Lorenz, sigma = 10, beta = 8/3, u0 = (1, 0, 0), t in [0, 1],
// rho_j = linspace(0, 21, n) ("sorted") or uniform in [0, 21] ("random"); atol = 1e-3 rtol; loss
// |u(1)|^2, gradient with respect to rho and u0. Tsit5, float64. Each sweep on its own:
//
//   record           into an existing record, as in a loop that re-records
//   record_fresh     from nothing: counts the steps, sorts, allocates, records
//   replay           forward on the recorded steps
//   gradient         replay and adjoint, one launch
//   float_store      the same, with the states on the way kept in float
//   record_gradient  record, then gradient
//   solve            final states alone, no mesh kept
//
// "heavy" is the random ensemble with one trajectory of a hundred to t = 150, which takes it some
// twenty times the steps; what it may cost follows from its steps and the steps/s of the sorted
// ensemble.
//
// `sum` is that of d loss / d rho over the ensemble, for other programs; `error` the median over
// trajectories and components of the relative error of u(1), against rtol 1e-12, at n = 2048.
//
// Lanes: on a CPU also with one trajectory a thread at a time ("scalar"), to see what packs bring.
#include "bench.hpp"

namespace {

using namespace bench;

enum class Members { sorted, random, heavy };

/// The ends of the heavy ensemble's time spans.
Kokkos::View<double*, Memory> heavy_ends(int n) {
  const Kokkos::View<double*, Memory> t1("t1", n);
  Kokkos::parallel_for(
      "ends", Kokkos::RangePolicy<Exec>(0, n),
      KOKKOS_LAMBDA(int i) { t1(i) = i % 100 == 57 ? 150 : 1; });
  return t1;
}

template <int Width>
struct Bench {
  Exec exec;
  gradsolve::Ensemble<Matrix, Matrix> ensemble;
  gradsolve::Options options;
  gradsolve::Record<Tsit5, double, Memory> record;
  gradsolve::Solved<double, Memory> solved;
  gradsolve::Replay<double, Memory> replay;
  gradsolve::Gradient<double, Memory> gradient;
  gradsolve::Gradient<double, Memory, float> gradient_in_float;

  template <class T1>
  Bench(int n, double rtol, Members members, const T1& t1)
      : ensemble(initial_states(n), rho(n, members != Members::sorted), 0.0, t1),
        options(published_options(rtol)) {
    run_record();
    run_solve();
  }
  static Bench of(int n, double rtol, Members members) {
    // A number where they are all alike: a View of times costs a sweep a look at them.
    if (members == Members::heavy) return Bench(n, rtol, members, heavy_ends(n));
    return Bench(n, rtol, members, 1.0);
  }
  void run_record() {
    gradsolve::record<Width>(exec, Lorenz{}, Tsit5{}, ensemble, options, record);
  }
  void run_record_fresh() {
    gradsolve::Record<Tsit5, double, Memory> fresh;
    gradsolve::record<Width>(exec, Lorenz{}, Tsit5{}, ensemble, options, fresh);
  }
  void run_solve() { gradsolve::solve<Width>(exec, Lorenz{}, Tsit5{}, ensemble, options, solved); }
  void run_replay() { gradsolve::replay<Width>(exec, Lorenz{}, record, ensemble, replay); }
  void run_gradient() {
    gradsolve::gradient<Width>(exec, Lorenz{}, record, ensemble, SquaredNorm{}, gradient);
  }
  void run_float_store() {
    gradsolve::gradient<Width>(exec, Lorenz{}, record, ensemble, SquaredNorm{}, gradient_in_float);
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
void time_sweep(benchmark::State& state, Members members, void (Bench<Width>::*sweep)()) {
  const int n = static_cast<int>(state.range(0));
  double rtol = 1;
  for (int digit = 0; digit < state.range(1); ++digit) rtol /= 10;
  auto bench = Bench<Width>::of(n, rtol, members);
  time(state, bench.exec, [&] { (bench.*sweep)(); });
  const double steps = bench.total_steps();
  state.counters["steps"] = steps / n;
  state.counters["steps/s"] =
      benchmark::Counter(steps, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["lanes/steps"] =
      double(bench.record.mesh.total_rows) * bench.record.mesh.width / steps;
  state.counters["sum"] = bench.gradient_sum();
  const auto sample = Bench<Width>::of(2048, rtol, members);
  const auto exact = Bench<Width>::of(2048, 1e-12, members);
  state.counters["error"] = median_error(sample.record.states, exact.record.states);
}

template <int Width>
void add(const std::string& name, Members members, void (Bench<Width>::*sweep)(),
         const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& digits) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& s) { time_sweep<Width>(s, members, sweep); })
      ->ArgsProduct({sizes, digits})
      ->ArgNames({"n", "digits"})
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}

template <int Width>
void add_sweeps(const std::string& prefix, Members members, const std::vector<std::int64_t>& sizes,
                const std::vector<std::int64_t>& digits) {
  using B = Bench<Width>;
  add<Width>(prefix + "/record", members, &B::run_record, sizes, digits);
  add<Width>(prefix + "/record_fresh", members, &B::run_record_fresh, sizes, digits);
  add<Width>(prefix + "/replay", members, &B::run_replay, sizes, digits);
  add<Width>(prefix + "/gradient", members, &B::run_gradient, sizes, digits);
  add<Width>(prefix + "/float_store", members, &B::run_float_store, sizes, digits);
  add<Width>(prefix + "/record_gradient", members, &B::run_record_gradient, sizes, digits);
  add<Width>(prefix + "/solve", members, &B::run_solve, sizes, digits);
}

const bool registered = [] {
  add_sweeps<0>("sorted", Members::sorted, {128, 2048, 32768, 524288, 1048576}, {4, 6, 8});
  add_sweeps<0>("random", Members::random, {32768, 524288, 1048576}, {6});
  add_sweeps<0>("heavy", Members::heavy, {32768, 1048576}, {6});
  if (gradsolve::detail::lane_width<Lorenz, Exec, double, 0>() > 1)
    add_sweeps<1>("scalar", Members::sorted, {32768}, {6});
  return true;
}();

}  // namespace
