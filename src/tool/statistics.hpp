// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "problem.hpp"

#include <array>

namespace gradsolve::tool {

/// A gradient's result in a few numbers. Sums are over the trajectories that reached t1 with finite
/// numbers.
struct Statistics {
  int steps_min = 0, steps_max = 0;
  double steps_mean = 0, rejected_mean = 0;
  double steps = 0, rhs = 0;  // in all
  std::array<int, num_status_values> status{};
  std::vector<int> failed;  // the first few
  double loss = 0;
  std::vector<double> gradient_params, product_params;

  int num_failed() const;
};

Statistics statistics_of(const EnsembleData& ensemble, const GradientResult& result);

}  // namespace gradsolve::tool
