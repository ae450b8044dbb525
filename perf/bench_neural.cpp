// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Neural right-hand sides: u' = net(u; weights) from t = 0 to 1, Tsit5, weights shared by the
// ensemble, loss |u(1)|^2 summed over it.
//
//   record, gradient, record_and_gradient   of n trajectories, float64 and float32
//   training      record_and_gradient of the spiral's loss at 10 times, as examples/09_neural_ode
//   2-16-16-2     the net of the spiral (examples/09_neural_ode), 354 weights, its members
//   4-64-64-4     4740 weights, drawn the same way
// rtol 1e-6, atol 1e-8; float32: 1e-4, 1e-6. Counters: accepted steps (mean), the loss (mean) and
// the norm of the gradient in the weights (mean), to be compared with perf/peers/neural_jax.py.
#include "bench.hpp"

#include <09_neural_ode/spiral.hpp>
#include <cmath>
#include <string>
#include <vector>

namespace {

using namespace bench;
using gradsolve::Dense, gradsolve::Tanh;

template <int N, int Hidden>
using Net = gradsolve::Chain<Dense<N, Hidden, Tanh>, Dense<Hidden, Hidden, Tanh>, Dense<Hidden, N>>;

struct SumOfSquares {
  template <class T, int N>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const gradsolve::State<T, N>& u) const {
    T sum(0);
    for (int i = 0; i < N; ++i) sum = sum + u[i] * u[i];
    return sum;
  }
};

template <class View, class Value>
void fill(const View& view, Value&& value) {
  auto host = Kokkos::create_mirror_view(view);
  for (std::size_t i = 0; i < view.extent(0); ++i)
    for (std::size_t j = 0; j < view.extent(1); ++j) host.access(i, j) = value(i, j);
  Kokkos::deep_copy(view, host);
}

template <class S>
Kokkos::View<S*, Memory> draw_weights(const std::vector<int>& sizes) {
  const auto weights = examples::on_host(examples::draw_weights(sizes));
  Kokkos::View<S*, Memory> view("weights", weights.extent(0));
  fill(view, [&](std::size_t i, std::size_t) { return static_cast<S>(weights(i)); });
  return view;
}

/// Means over the ensemble: steps, loss, and the norm of the gradient in the weights.
template <class Record, class Gradient>
void report(benchmark::State& state, const Record& record, const Gradient& gradient) {
  const double n = record.size();
  auto sum = [](const auto& view, auto&& term) {
    const auto host = examples::on_host(view);
    double total = 0;
    for (std::size_t i = 0; i < host.extent(0); ++i) total += term(host(i));
    return total;
  };
  auto itself = [](double x) { return x; };
  state.counters["steps"] = sum(record.num_steps, itself) / n;
  state.counters["loss"] = sum(gradient.loss, itself) / n;
  state.counters["norm"] = std::sqrt(sum(gradient.weights, [](double x) { return x * x; })) / n;
}

template <class S, int N, int Hidden>
struct Problem {
  using Rows = Kokkos::View<S**, Kokkos::LayoutLeft, Memory>;
  Exec exec;
  gradsolve::BlockSystem<Net<N, Hidden>, S> system;
  gradsolve::Ensemble<Rows, Rows> ensemble;
  gradsolve::Options options = sizeof(S) == 8 ? gradsolve::Options{.rtol = 1e-6, .atol = 1e-8}
                                              : gradsolve::Options{.rtol = 1e-4, .atol = 1e-6};
  gradsolve::Record<Tsit5, S, Memory> record;
  gradsolve::Gradient<S, Memory> gradient;

  explicit Problem(int n)
      : system(draw_weights<S>({N, Hidden, Hidden, N})),
        ensemble(states(n), Rows("no parameters", n, 0), S(0), S(1)) {}
  static Rows states(int n) {
    Rows u0("u0", n, N);
    fill(u0, [](std::size_t i, std::size_t j) {
      return static_cast<S>(-1.5 + 3 * examples::Draws{501, i}.uniform(j));
    });
    return u0;
  }

  void take_record() { gradsolve::record(exec, system, Tsit5{}, ensemble, options, record); }
  void take_gradient() {
    gradsolve::gradient(exec, system, record, ensemble, SumOfSquares{}, gradient);
  }
  void take_both() {
    gradsolve::record_and_gradient(exec, system, Tsit5{}, ensemble, options, SumOfSquares{}, record,
                                   gradient);
  }
};

/// One step of the training of examples/09_neural_ode.
void train(benchmark::State& state) {
  const Exec exec;
  const int n = static_cast<int>(state.range(0));
  const examples::SpiralData spiral(exec, 0, n);
  const gradsolve::BlockSystem<Net<2, 16>> system(examples::draw_weights({2, 16, 16, 2}));
  gradsolve::Record<Tsit5, double, Memory> record;
  gradsolve::Gradient<double, Memory> gradient;
  time(state, exec, [&] {
    gradsolve::record_and_gradient(exec, system, Tsit5{}, spiral.ensemble,
                                   {.rtol = 1e-6, .atol = 1e-8}, spiral.loss(), record, gradient);
  });
  report(state, record, gradient);
}

enum class What { record, gradient, both };

template <class S, int N, int Hidden>
void run(benchmark::State& state, What what) {
  const int n = static_cast<int>(state.range(0));
  Problem<S, N, Hidden> p(n);
  p.take_record();
  time(state, p.exec, [&] {
    if (what == What::record)
      p.take_record();
    else if (what == What::gradient)
      p.take_gradient();
    else
      p.take_both();
  });
  p.take_both();
  report(state, p.record, p.gradient);
}

template <class S, int N, int Hidden>
void add(const std::string& name) {
  for (const auto& [label, what] :
       {std::pair("record/", What::record), std::pair("gradient/", What::gradient),
        std::pair("record_and_gradient/", What::both)})
    benchmark::RegisterBenchmark((label + name).c_str(), run<S, N, Hidden>, what)
        ->Arg(4096)
        ->Arg(32768)
        ->ArgName("n")
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
}

const bool registered = [] {
  benchmark::RegisterBenchmark("training/2-16-16-2/float64", train)
      ->Arg(64)
      ->Arg(4096)
      ->Arg(32768)
      ->ArgName("n")
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
  add<double, 2, 16>("2-16-16-2/float64");
  add<float, 2, 16>("2-16-16-2/float32");
  add<double, 4, 64>("4-64-64-4/float64");
  add<float, 4, 64>("4-64-64-4/float32");
  return true;
}();

}  // namespace
