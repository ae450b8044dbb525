// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "statistics.hpp"

#include <algorithm>
#include <numeric>

namespace gradsolve::tool {

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

  const bool shared = ensemble.shared_params;
  const std::size_t num_params = result.gradient_params.size() / (shared ? 1 : n);
  s.gradient_params.resize(num_params);
  if (shared) s.gradient_params = result.gradient_params;
  for (int i = 0; i < n; ++i) {
    ++s.status[static_cast<int>(result.status[i])];
    if (result.status[i] != Status::success) {
      if (s.failed.size() < failed_shown) s.failed.push_back(i);
      continue;
    }
    s.loss += result.loss[i];
    for (std::size_t j = 0; j < num_params && !shared; ++j)
      s.gradient_params[j] += result.gradient_params[i * num_params + j];
  }
  return s;
}

}  // namespace gradsolve::tool
