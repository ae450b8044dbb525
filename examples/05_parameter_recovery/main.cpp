// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Parameter recovery: n noisy data sets of one system, n fits at once on the device. Two batched
// optimisers, each under three policies about the steps that they differentiate through.
//
//     example_05_parameter_recovery [n]
#include "lbfgs.hpp"
#include "levenberg_marquardt.hpp"
#include "study.hpp"
#include "systems.hpp"
#include <gradsolve/gradsolve.hpp>

#include <common/program.hpp>
#include <cstdio>

namespace examples {
namespace {

/// sum_i (p_i - truth)^T F_i (p_i - truth), with F = J^T J / sigma^2 the Fisher matrix of fit i: a
/// chi-squared number of P degrees of freedom for each fit, where the noise alone is what keeps the
/// parameters from the truth.
double chi_squared(const Exec& exec, const Matrix& params, const Matrix& truth,
                   const Cube& fisher) {
  const int P = params.extent_int(1);
  double sum = 0;
  Kokkos::parallel_reduce(
      "chi_squared", Policy(exec, 0, params.extent_int(0)),
      KOKKOS_LAMBDA(int i, double& total) {
        for (int a = 0; a < P; ++a)
          for (int b = 0; b < P; ++b)
            total += (params(i, a) - truth(i, a)) * fisher(i, a, b) * (params(i, b) - truth(i, b));
      },
      sum);
  return sum;
}

int count_converged(const Exec& exec, const Fits<double, Memory>& fits) {
  int sum = 0;
  const auto status = fits.status;
  Kokkos::parallel_reduce(
      "count_converged", Policy(exec, 0, status.extent_int(0)),
      KOKKOS_LAMBDA(int i, int& count) { count += status(i) == FitStatus::converged; }, sum);
  return sum;
}

/// The largest relative error of the parameters of data set 0.
double error_of_first(const Fits<double, Memory>& fits, const Study& study) {
  const auto p = on_host(fits.params);
  double largest = 0;
  for (std::size_t q = 0; q < study.first_minimiser.size(); ++q)
    largest = std::max(largest, std::abs(p(0, q) / study.first_minimiser[q] - 1));
  return largest;
}

template <class F, class M>
bool recover(const Exec& exec, const Study& study, gradsolve::Options options, int n) {
  const Experiments experiments = simulate<F, M>(exec, study, n);
  const Matrix params("params", n, F::num_params);
  const gradsolve::Ensemble ensemble(experiments.u0, params, 0.0, study.times.back());
  const auto times = gradsolve::save_times(exec, ensemble, study.times);
  const auto squares = gradsolve::least_squares(experiments.data, experiments.weights);
  const auto loss = gradsolve::at_saves(times, squares);

  std::printf("\n%s: %d fits of %d parameters to %d observations\n", study.name, n, F::num_params,
              int(experiments.data.extent(1) * experiments.data.extent(2)));
  std::printf("  %-20s %-11s %9s %7s %8s %9s %16s\n", "optimiser", "new steps", "converged",
              "sweeps", "records", "ms", "error, data set 0");
  bool good = true;
  auto report = [&](const auto& optimiser, const char* name, const char* policy) {
    Kokkos::deep_copy(exec, params, experiments.start);
    auto record = gradsolve::record(exec, F{}, M{}, ensemble, options);
    exec.fence("examples::recover");
    const Kokkos::Timer timer;
    const auto fits = fit(exec, optimiser, F{}, record, ensemble, loss);
    const double ms = 1e3 * timer.seconds();
    const int converged = count_converged(exec, fits);
    const double error = error_of_first(fits, study);
    std::printf("  %-20s %-11s %9d %7d %8d %9.1f %16.1e\n", name, policy, converged,
                fits.num_sweeps, fits.num_records, ms, error);
    // On steps that were recorded elsewhere the answer is as good as those steps.
    if (options.rerecord != gradsolve::Rerecord::never)
      good &= error < 1e-6 && converged > 0.99 * n;
    return record;
  };
  const std::pair<gradsolve::Rerecord, const char*> policies[] = {
      {gradsolve::Rerecord::never, "never"},
      {gradsolve::Rerecord::always, "always"},
      {gradsolve::Rerecord::when_stale, "when stale"}};
  for (const auto& [policy, name] : policies) {
    options.rerecord = policy;
    report(Lbfgs{}, "L-BFGS", name);
    const auto record = report(LevenbergMarquardt{}, "Levenberg-Marquardt", name);
    if (policy != gradsolve::Rerecord::when_stale) continue;
    const auto parameters = gradsolve::Variables::all_params<F>();
    const auto s = gradsolve::sensitivity(exec, F{}, record, ensemble, times, parameters);
    // The loss is a mean: its weights are those of the observations over their number.
    const double m = experiments.data.extent(1) * experiments.data.extent(2);
    std::printf(
        "  chi^2 of the recovered parameters: %.3f a degree of freedom (expected: 1)\n",
        m * chi_squared(exec, params, experiments.truth, gradsolve::fisher(exec, s, squares)) /
            (double(n) * F::num_params));
  }
  return good;
}

std::vector<double> multiples(double step, int count) {
  std::vector<double> times;
  for (int j = 1; j <= count; ++j) times.push_back(step * j);
  return times;
}

const Study lorenz{"Lorenz",
                   {1, 1, 1},
                   {10, 28, 8.0 / 3},
                   multiples(0.1, 20),
                   {1, 1, 1},
                   0.5,
                   401,
                   0.1,
                   false,
                   {9.9194686883035577519, 28.057475542556801097, 2.6745109082075781272}};
const Study lotka_volterra{
    "Lotka-Volterra",
    {1, 1},
    {1.5, 1, 3, 1},
    multiples(0.5, 20),
    {1, 1},
    0.1,
    411,
    0.1,
    false,
    {1.5018023270612886017, 0.99467392536069711919, 2.9985972434523998143, 0.99559282188199405732}};
const Study robertson{
    "Robertson, logarithms of the rates",
    {1, 0, 0},
    {std::log(0.04), std::log(3e7), std::log(1e4)},
    {1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1e3, 3e3, 1e4},
    {1, 1e4, 1},
    0.01,
    421,
    0.5,
    true,
    {-3.2775081196586460515, 17.189190337206904402, 9.1485870894055181736}};

}  // namespace
}  // namespace examples

int main(int argc, char** argv) {
  using namespace examples;
  return run_program(argc, argv, [](const Exec& exec, const Arguments& arguments) {
    const int n = arguments.whole_number(1, "n", 8);
    constexpr gradsolve::Options smooth{.rtol = 1e-10, .atol = 1e-12},
        stiff{.rtol = 1e-8, .atol = 1e-12};
    bool good = recover<Lorenz, gradsolve::Tsit5>(exec, lorenz, smooth, n);
    good &= recover<LotkaVolterra, gradsolve::Tsit5>(exec, lotka_volterra, smooth, n);
    return recover<RobertsonLogRates, gradsolve::Rodas5P>(exec, robertson, stiff, n) && good;
  });
}
