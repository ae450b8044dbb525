// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One fit to n time series at once, with parameters that all of them share, by an optimiser that
// knows nothing of gradsolve: L-BFGS of NLopt. It asks a function of four numbers for its value and
// gradient; behind the function is an ensemble on the device.
//
//     example_08_external_optimiser [n]
#include "objective.hpp"
#include "populations.hpp"
#include <gradsolve/gradsolve.hpp>

#include <05_parameter_recovery/cholesky.hpp>
#include <cmath>
#include <common/program.hpp>
#include <cstdio>
#include <nlopt.h>
#include <vector>

namespace examples {
namespace {

double call(unsigned, const double* p, double* gradient, void* objective) {
  return (*static_cast<Objective*>(objective))(p, gradient);
}

/// The roots of the diagonal of F^-1, F the Fisher matrix of all observations.
std::vector<double> standard_errors(const Objective& at) {
  const auto s = gradsolve::sensitivity(at.exec, LotkaVolterra{}, at.record, at.ensemble,
                                        at.loss.times, {.params = {0, 1, 2, 3}});
  const auto fisher =
      on_host(gradsolve::sum_over_ensemble(at.exec, gradsolve::fisher(at.exec, s, at.loss.loss)));
  // The loss is a mean of squares; F belongs to their sum.
  const double m = double(s.saved.size());
  gradsolve::Matrix<double, 4> matrix;
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b) matrix[a][b] = m * fisher(0, 4 * a + b);
  std::vector<double> errors;
  for (int q = 0; q < 4; ++q) {
    gradsolve::Vector<double, 4> column{};
    column[q] = 1;
    solve_cholesky(matrix, column);
    errors.push_back(std::sqrt(column[q]));
  }
  return errors;
}

bool fit(const Exec& exec, int n) {
  std::vector<double> p{1.3, 1.1, 2.8, 1.1};
  Objective objective(exec, observe(exec, n), p);

  const nlopt_opt optimiser = nlopt_create(NLOPT_LD_LBFGS, p.size());
  nlopt_set_min_objective(optimiser, call, &objective);
  nlopt_set_lower_bounds1(optimiser, 0.1);
  nlopt_set_upper_bounds1(optimiser, 10);
  nlopt_set_xtol_rel(optimiser, 1e-8);
  nlopt_set_maxeval(optimiser, 200);
  double loss = 0;
  const Kokkos::Timer timer;
  const nlopt_result result = nlopt_optimize(optimiser, p.data(), &loss);
  const double seconds = timer.seconds();
  nlopt_destroy(optimiser);

  std::printf("%d time series, NLopt's L-BFGS: %s after %d gradients on %d records, %.2f s\n", n,
              nlopt_result_to_string(result), objective.num_evaluations, objective.num_records,
              seconds);
  std::printf("mean squared residual over sigma: %.4f (expected: 1)\n", loss);
  objective(p.data(), nullptr);
  const auto errors = standard_errors(objective);
  bool good = result > 0;
  for (std::size_t q = 0; q < p.size(); ++q) {
    std::printf("p%zu = %.6f +- %.6f (true: %g)\n", q, p[q], errors[q], truth[q]);
    good &= std::abs(p[q] - truth[q]) < 5 * errors[q];
  }
  return good;
}

}  // namespace
}  // namespace examples

int main(int argc, char** argv) {
  using namespace examples;
  return run_program(argc, argv, [](const Exec& exec, const Arguments& arguments) {
    return fit(exec, arguments.whole_number(1, "n", 1000));
  });
}
