// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gradsolve::tool {

namespace {

/// The columns of (n, P) over the trajectories that have a finite row; a sum already where the
/// parameters are shared.
std::vector<double> sum_over_ensemble(const EnsembleData& ensemble,
                                      const std::vector<Status>& status,
                                      const std::vector<double>& values) {
  if (ensemble.shared_params) return values;
  const std::size_t num_columns = values.size() / ensemble.n;
  std::vector<double> sums(num_columns);
  for (int i = 0; i < ensemble.n; ++i) {
    const auto row = values.begin() + i * num_columns;
    const bool counts =
        status[i] == Status::success &&
        std::all_of(row, row + num_columns, [](double x) { return std::isfinite(x); });
    for (std::size_t j = 0; counts && j < num_columns; ++j) sums[j] += row[j];
  }
  return sums;
}

}  // namespace

int Statistics::num_failed() const { return std::accumulate(status.begin() + 1, status.end(), 0); }

Statistics statistics_of(const EnsembleData& ensemble, const GradientResult& result) {
  constexpr std::size_t failed_shown = 5;
  const int n = ensemble.n;
  Statistics s;
  const auto [least, most] = std::minmax_element(result.num_steps.begin(), result.num_steps.end());
  s.steps_min = *least;
  s.steps_max = *most;
  auto sum = [](const auto& values) { return std::accumulate(values.begin(), values.end(), 0.0); };
  s.steps = sum(result.num_steps);
  s.rhs = sum(result.num_rhs);
  s.steps_mean = s.steps / n;
  s.rejected_mean = sum(result.num_rejected) / n;

  for (int i = 0; i < n; ++i) {
    ++s.status[static_cast<int>(result.status[i])];
    if (result.status[i] == Status::success)
      s.loss += std::isfinite(result.loss[i]) ? result.loss[i] : 0;
    else if (s.failed.size() < failed_shown)
      s.failed.push_back(i);
  }
  s.gradient_params = sum_over_ensemble(ensemble, result.status, result.gradient_params);
  s.product_params = sum_over_ensemble(ensemble, result.status, result.product_params);
  return s;
}

}  // namespace gradsolve::tool
