// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gradsolve/check_gradient_data.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace gradsolve {

namespace {

using Difference = GradientCheck::Difference;

/// NaN counts as the largest of all: nothing compares with it.
bool is_larger(const Difference& a, const Difference& b) {
  if (std::isnan(a.relative) || std::isnan(b.relative)) return !std::isnan(b.relative);
  return a.relative > b.relative;
}

Difference largest_of(const std::vector<Difference>& differences) {
  Difference largest;
  for (const Difference& d : differences)
    if (largest.variable.empty() || is_larger(d, largest)) largest = d;
  return largest;
}

Difference difference_of(const std::string& variable, int trajectory, double adjoint, double other,
                         double scale) {
  const double size = std::abs(adjoint - other);
  return {size == 0 ? 0 : size / scale, variable, trajectory, adjoint, other};
}

/// The limit of central differences whose steps shrink by step_ratio, by C. J. F. Ridders (Adv.
/// Eng. Software 4 (1982) 75): of all extrapolations the one that agrees best with its two
/// neighbours. So each trajectory finds the steps that suit it.
double extrapolated(const std::vector<std::vector<double>>& differences, std::size_t trajectory) {
  double best = differences[0][trajectory], least = std::numeric_limits<double>::infinity();
  std::vector<double> above{best};
  for (std::size_t level = 1; level < differences.size(); ++level) {
    std::vector<double> row{differences[level][trajectory]};
    double weight = 1;
    for (std::size_t order = 0; order < level; ++order) {
      weight *= detail::step_ratio * detail::step_ratio;
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

/// The largest difference over the trajectories of a variable that each of them has.
Difference compare_each(const detail::CheckedVariable& x, const std::vector<double>& other,
                        const std::vector<bool>& checked, const std::vector<double>& loss) {
  double squares = 0;
  for (std::size_t i = 0; i < checked.size(); ++i)
    if (checked[i]) squares += x.adjoint[i] * x.adjoint[i];
  const double root_mean_square =
      std::sqrt(squares / std::count(checked.begin(), checked.end(), true));
  std::vector<Difference> differences{};
  for (std::size_t i = 0; i < checked.size(); ++i) {
    if (!checked[i]) continue;
    const double least = 1e-3 * std::abs(loss[i]) / std::max(std::abs(x.value[i]), 1.0);
    differences.push_back(
        difference_of(x.name, static_cast<int>(i), x.adjoint[i], other[i],
                      std::max({std::abs(x.adjoint[i]), root_mean_square, least})));
  }
  Difference largest = largest_of(differences);
  largest.variable = x.name;
  return largest;
}

/// The difference of the sums over the trajectories.
Difference compare_sum(const detail::CheckedVariable& x, const std::vector<double>& other,
                       const std::vector<bool>& checked) {
  double sum = 0, scale = 0;
  for (std::size_t i = 0; i < checked.size(); ++i) {
    if (!checked[i]) continue;
    sum += other[i];
    scale += std::abs(other[i]);
  }
  return difference_of(x.name, -1, x.adjoint[0], sum, scale);
}

/// One line on the largest difference, or on each variable that disagrees.
std::string lines(const char* kind, const std::vector<Difference>& differences, double bound) {
  std::string text;
  auto add = [&](const Difference& d, const char* verdict) {
    char line[256];
    const std::string where =
        d.trajectory < 0 ? "all trajectories" : "trajectory " + std::to_string(d.trajectory);
    std::snprintf(
        line, sizeof line,
        "%s %s within %g: d loss / d %s of %s: adjoint %.12g, %s %.12g, difference %.2g\n", kind,
        verdict, bound, d.variable.c_str(), where.c_str(), d.adjoint, kind, d.other, d.relative);
    text += line;
  };
  for (const Difference& d : differences)
    if (!(d.relative <= bound)) add(d, "DISAGREES");
  if (text.empty() && !differences.empty()) add(largest_of(differences), "agrees");
  return text;
}

}  // namespace

namespace detail {

void add_variable(GradientCheck& check, const CheckedVariable& variable,
                  const std::vector<bool>& checked, const std::vector<double>& loss) {
  std::vector<double> limits(checked.size());
  for (std::size_t i = 0; i < checked.size(); ++i)
    limits[i] = extrapolated(variable.differences, i);
  const bool shared = variable.adjoint.size() != checked.size();
  auto compare = [&](const std::vector<double>& other) {
    return shared ? compare_sum(variable, other, checked)
                  : compare_each(variable, other, checked, loss);
  };
  check.tangents.push_back(compare(variable.tangent));
  check.finite_differences.push_back(compare(limits));
}

}  // namespace detail

Difference GradientCheck::tangent() const { return largest_of(tangents); }
Difference GradientCheck::finite_difference() const { return largest_of(finite_differences); }

GradientCheck::Bounds GradientCheck::default_bounds(bool single_precision) {
  if (single_precision) return {2e-3, 0.2};
  return {1e-9, 1e-6};
}

bool GradientCheck::passed(const Bounds& bounds) const {
  return num_checked > 0 && tangent().relative <= bounds.tangent &&
         finite_difference().relative <= bounds.finite_difference;
}

std::string GradientCheck::report(const Bounds& bounds) const {
  return "checked " + std::to_string(num_checked) + " trajectories, " +
         std::to_string(tangents.size()) + " derivatives of each\n" +
         lines("tangent", tangents, bounds.tangent) +
         lines("finite difference", finite_differences, bounds.finite_difference);
}

}  // namespace gradsolve
