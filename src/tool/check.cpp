// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace gradsolve::tool {

namespace {

/// Keeps the largest difference. NaN counts as the largest of all: nothing compares with it.
class Largest {
 public:
  void add(int trajectory, double adjoint, double other, double scale) {
    const double size = std::abs(adjoint - other);
    const double relative = size == 0 ? 0 : size / scale;
    if (seen_ && !(relative > largest_.relative) && !std::isnan(relative)) return;
    if (seen_ && std::isnan(largest_.relative)) return;
    largest_ = {relative, trajectory, adjoint, other};
    seen_ = true;
  }
  const Difference& value() const { return largest_; }

 private:
  Difference largest_;
  bool seen_ = false;
};

/// A column of the states, or of the parameters: where it lies in an ensemble.
struct Column {
  std::vector<double> EnsembleData::* values;
  std::size_t index, width;  // of `width` columns

  std::size_t rows(const EnsembleData& data) const { return (data.*values).size() / width; }
  double& at(EnsembleData& data, std::size_t row) const {
    return (data.*values)[row * width + index];
  }
  double at(const EnsembleData& data, std::size_t row) const {
    return (data.*values)[row * width + index];
  }
};

constexpr double step_ratio = 4;

/// The limit of central differences whose steps shrink by step_ratio, by C. J. F. Ridders (Adv.
/// Eng. Software 4 (1982) 75): of all extrapolations the one that agrees best with its two
/// neighbours. So each trajectory finds the steps that suit it.
double extrapolated(const std::vector<double>& differences) {
  double best = differences[0], least = std::numeric_limits<double>::infinity();
  std::vector<double> above{differences[0]};
  for (std::size_t level = 1; level < differences.size(); ++level) {
    std::vector<double> row{differences[level]};
    double weight = 1;
    for (std::size_t order = 0; order < level; ++order) {
      weight *= step_ratio * step_ratio;
      row.push_back(row[order] + (row[order] - above[order]) / (weight - 1));
      const double error =
          std::max(std::abs(row[order + 1] - row[order]), std::abs(row[order + 1] - above[order]));
      if (error < least) {
        least = error;
        best = row[order + 1];
      }
    }
    // From here on smaller steps only add rounding, where two values agree by chance.
    if (std::abs(row.back() - above.back()) >= 2 * least) break;
    above = row;
  }
  return best;
}

class FiniteDifferences {
 public:
  FiniteDifferences(const EnsembleData& data, bool single_precision, const GradientResult& gradient,
                    const ReplayStates& replay)
      : data_(data), single_(single_precision), gradient_(gradient), replay_(replay) {}

  Difference compare(const Column& column, const std::vector<double>& adjoint) const {
    std::vector<std::vector<double>> levels;
    double step = single_ ? 0.02 : 1e-4;
    for (int level = 0; level < (single_ ? 5 : 7); ++level, step /= step_ratio)
      levels.push_back(differences_of_loss(column, step));
    std::vector<double> derivatives(data_.n), column_of_one(levels.size());
    for (int i = 0; i < data_.n; ++i) {
      for (std::size_t level = 0; level < levels.size(); ++level)
        column_of_one[level] = levels[level][i];
      derivatives[i] = extrapolated(column_of_one);
    }
    const bool shared = column.rows(data_) == 1 && data_.n > 1;
    return shared ? compare_sum(adjoint[column.index], derivatives)
                  : compare_each(column, adjoint, derivatives);
  }

 private:
  /// Central differences of the losses, with steps of relative_step * max(|x|, 1).
  std::vector<double> differences_of_loss(const Column& column, double relative_step) const {
    EnsembleData plus = data_, minus = data_;
    const std::size_t num_rows = column.rows(data_);
    for (std::size_t row = 0; row < num_rows; ++row) {
      const double x = column.at(data_, row), h = relative_step * std::max(std::abs(x), 1.0);
      column.at(plus, row) = rounded(x + h);
      column.at(minus, row) = rounded(x - h);
    }
    const std::vector<double> up = replay_(plus), down = replay_(minus);
    const std::size_t num_states = up.size() / data_.n;
    std::vector<double> differences(data_.n);
    for (int i = 0; i < data_.n; ++i) {
      double change = 0;  // u^2 - v^2 = (u - v) (u + v) loses no digits
      for (std::size_t k = i * num_states; k < (i + 1) * num_states; ++k)
        change += (up[k] - down[k]) * (up[k] + down[k]);
      const std::size_t row = num_rows == 1 ? 0 : i;
      differences[i] = change / (column.at(plus, row) - column.at(minus, row));
    }
    return differences;
  }

  Difference compare_each(const Column& column, const std::vector<double>& adjoint,
                          const std::vector<double>& derivatives) const {
    auto adjoint_of = [&](int i) { return adjoint[i * column.width + column.index]; };
    double sum = 0;
    int count = 0;
    for_each_success([&](int i) {
      sum += adjoint_of(i) * adjoint_of(i);
      ++count;
    });
    const double root_mean_square = std::sqrt(sum / count);
    Largest largest;
    for_each_success([&](int i) {
      const double a = adjoint_of(i);
      largest.add(i, a, derivatives[i], std::max(std::abs(a), root_mean_square));
    });
    return largest.value();
  }

  Difference compare_sum(double adjoint, const std::vector<double>& derivatives) const {
    double sum = 0, scale = 0;
    for_each_success([&](int i) {
      sum += derivatives[i];
      scale += std::abs(derivatives[i]);
    });
    Largest largest;
    largest.add(-1, adjoint, sum, scale);
    return largest.value();
  }

  template <class Visit>
  void for_each_success(Visit&& visit) const {
    for (int i = 0; i < data_.n; ++i)
      if (gradient_.status[i] == Status::success) visit(i);
  }

  /// As the sweeps will see it.
  double rounded(double x) const { return single_ ? static_cast<float>(x) : x; }

  const EnsembleData& data_;
  bool single_;
  const GradientResult& gradient_;
  const ReplayStates& replay_;
};

}  // namespace

std::vector<Difference> compare_with_finite_differences(const EnsembleData& data,
                                                        bool single_precision,
                                                        const GradientResult& gradient,
                                                        const ReplayStates& replay) {
  const FiniteDifferences finite(data, single_precision, gradient, replay);
  const std::size_t num_states = data.states.size() / data.n;
  const std::size_t num_params = data.params.size() / (data.shared_params ? 1 : data.n);
  std::vector<Difference> differences;
  for (std::size_t i = 0; i < num_states; ++i)
    differences.push_back(
        finite.compare({&EnsembleData::states, i, num_states}, gradient.gradient_states));
  for (std::size_t j = 0; j < num_params; ++j)
    differences.push_back(
        finite.compare({&EnsembleData::params, j, num_params}, gradient.gradient_params));
  return differences;
}

EnsembleData random_direction(const EnsembleData& data) {
  EnsembleData direction = data;
  std::minstd_rand generator;
  auto randomise = [&](std::vector<double>& values) {
    for (double& x : values) x = 2.0 * generator() / std::minstd_rand::max() - 1;
  };
  randomise(direction.states);
  randomise(direction.params);
  return direction;
}

Difference compare_with_tangents(const EnsembleData& direction, const GradientResult& gradient,
                                 const std::vector<double>& tangents) {
  const int n = direction.n;
  const std::size_t num_states = direction.states.size() / n;
  const bool shared = direction.shared_params;
  const std::size_t num_params = direction.params.size() / (shared ? 1 : n);
  Largest largest;
  double adjoint = 0, tangent = 0, scale = 0;
  auto add_adjoint = [&](double term) {
    adjoint += term;
    scale += std::abs(term);
  };
  auto compare = [&](int trajectory) { largest.add(trajectory, adjoint, tangent, scale); };
  for (int i = 0; i < n; ++i) {
    if (gradient.status[i] != Status::success) continue;
    if (!shared) adjoint = tangent = scale = 0;
    for (std::size_t k = i * num_states; k < (i + 1) * num_states; ++k) {
      const double term = 2 * gradient.states[k] * tangents[k];
      tangent += term;
      scale += std::abs(term);
      add_adjoint(gradient.gradient_states[k] * direction.states[k]);
    }
    if (shared) continue;
    for (std::size_t k = i * num_params; k < (i + 1) * num_params; ++k)
      add_adjoint(gradient.gradient_params[k] * direction.params[k]);
    compare(i);
  }
  if (shared) {
    for (std::size_t k = 0; k < num_params; ++k)
      add_adjoint(gradient.gradient_params[k] * direction.params[k]);
    compare(-1);
  }
  return largest.value();
}

CheckBounds check_bounds(bool single_precision) {
  if (single_precision) return {0.2, 2e-3};
  return {1e-6, 1e-11};
}

bool passes(const CheckResult& result, const CheckBounds& bounds) {
  return std::all_of(result.finite_differences.begin(), result.finite_differences.end(),
                     [&](const Difference& d) { return d.relative <= bounds.finite_difference; }) &&
         result.tangent.relative <= bounds.tangent && result.num_checked > 0;
}

}  // namespace gradsolve::tool
