// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gradsolve/check_gradient_data.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace gradsolve {

namespace {

using Difference = GradientCheck::Difference;

/// What its own error does not explain of a difference.
double unexplained(const Difference& d) {
  const double excess = d.relative - 10 * d.uncertainty;
  return excess < 0 ? 0 : excess;
}

/// NaN counts as the largest of all: nothing compares with it.
bool is_larger(const Difference& a, const Difference& b) {
  const double x = unexplained(a), y = unexplained(b);
  if (std::isnan(x) || std::isnan(y)) return !std::isnan(y);
  return x > y || (x == y && a.relative > b.relative);
}

Difference largest_of(const std::vector<Difference>& differences) {
  Difference largest;
  for (const Difference& d : differences)
    if (largest.variable.empty() || is_larger(d, largest)) largest = d;
  return largest;
}

/// A derivative and a bound of its error.
struct Estimate {
  double value, error;
};
double share_of(double size, double scale) { return size == 0 ? 0 : size / scale; }
Difference difference_of(const std::string& variable, int trajectory, double adjoint,
                         const Estimate& other, double scale) {
  return {share_of(std::abs(adjoint - other.value), scale),
          variable,
          trajectory,
          adjoint,
          other.value,
          share_of(other.error, scale)};
}

/// The limit of central differences whose steps shrink by step_ratio: of three steps in a row, by
/// extrapolation, and its error is how far the extrapolations of two of them are away, rounding
/// at least. Of all such triples the one with the least error, so that each trajectory finds the
/// steps that suit it. Three values do not agree by chance where two do.
Estimate extrapolated(const detail::CheckedVariable& x, std::size_t trajectory) {
  constexpr double ratio2 = detail::step_ratio * detail::step_ratio;
  auto limit = [](double coarse, double fine, double ratio) {
    return fine + (fine - coarse) / (ratio - 1);
  };
  Estimate best{std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()};
  for (std::size_t level = 2; level < x.differences.size(); ++level) {
    auto difference = [&](std::size_t i) { return x.differences[i][trajectory]; };
    const double coarse = limit(difference(level - 2), difference(level - 1), ratio2);
    const double fine = limit(difference(level - 1), difference(level), ratio2);
    const double value = limit(coarse, fine, ratio2 * ratio2);
    const double error =
        std::max({std::abs(value - coarse), std::abs(value - fine), x.rounding[level][trajectory]});
    if (error < best.error) best = {value, error};
  }
  return best;
}

/// A derivative below this has no digits beside the loss.
double least_derivative(const detail::CheckedVariable& x, std::size_t i, double loss) {
  return 1e-3 * std::abs(loss) / std::max(std::abs(x.value[i]), 1.0);
}

/// The differences of a variable that each trajectory has.
std::vector<Difference> compare_each(const detail::CheckedVariable& x,
                                     const std::vector<Estimate>& other,
                                     const std::vector<bool>& checked,
                                     const std::vector<double>& loss) {
  double squares = 0;
  for (std::size_t i = 0; i < checked.size(); ++i)
    if (checked[i]) squares += x.adjoint[i] * x.adjoint[i];
  const double root_mean_square =
      std::sqrt(squares / std::count(checked.begin(), checked.end(), true));
  std::vector<Difference> differences;
  for (std::size_t i = 0; i < checked.size(); ++i) {
    if (!checked[i]) continue;
    differences.push_back(difference_of(
        x.name, static_cast<int>(i), x.adjoint[i], other[i],
        std::max({std::abs(x.adjoint[i]), root_mean_square, least_derivative(x, i, loss[i])})));
  }
  return differences;
}

/// The error of the sharpest estimate, beside the derivative itself.
double least_uncertainty(const detail::CheckedVariable& x, const std::vector<Estimate>& estimates,
                         const std::vector<bool>& checked, const std::vector<double>& loss) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < checked.size(); ++i) {
    if (!checked[i]) continue;
    const double size = std::max(std::abs(estimates[i].value), least_derivative(x, i, loss[i]));
    least = std::min(least, share_of(estimates[i].error, size));
  }
  return least;
}

/// The difference of the sums over the trajectories.
Difference compare_sum(const detail::CheckedVariable& x, const std::vector<Estimate>& other,
                       const std::vector<bool>& checked) {
  Estimate sum{0, 0};
  double scale = 0;
  for (std::size_t i = 0; i < checked.size(); ++i) {
    if (!checked[i]) continue;
    sum.value += other[i].value;
    sum.error += other[i].error;
    scale += std::abs(other[i].value);
  }
  return difference_of(x.name, -1, x.adjoint[0], sum, scale);
}

/// One line on the largest difference, or on each variable that disagrees.
std::string lines(const char* kind, const std::vector<Difference>& differences, double bound) {
  std::string text;
  auto add = [&](const Difference& d, const char* verdict) {
    char line[256], uncertainty[32] = "";
    const std::string where =
        d.trajectory < 0 ? "all trajectories" : "trajectory " + std::to_string(d.trajectory);
    if (d.uncertainty > 0)
      std::snprintf(uncertainty, sizeof uncertainty, " +- %.2g", d.uncertainty);
    std::snprintf(
        line, sizeof line,
        "%s %s within %g: d loss / d %s of %s: adjoint %.12g, %s %.12g, difference %.2g%s\n", kind,
        verdict, bound, d.variable.c_str(), where.c_str(), d.adjoint, kind, d.other, d.relative,
        uncertainty);
    text += line;
  };
  for (const Difference& d : differences)
    if (!d.within(bound)) add(d, "DISAGREES");
  if (text.empty() && !differences.empty()) add(largest_of(differences), "agrees");
  return text;
}

std::string no_verdict_on(const std::string& variable, double uncertainty) {
  char line[128];
  std::snprintf(line, sizeof line,
                "finite difference has no verdict on %s: its own error is %.2g\n", variable.c_str(),
                uncertainty);
  return line;
}

}  // namespace

namespace detail {

void add_variable(GradientCheck& check, const CheckedVariable& variable,
                  const std::vector<bool>& checked, const std::vector<double>& loss) {
  std::vector<Estimate> tangents, limits;
  for (std::size_t i = 0; i < checked.size(); ++i) {
    tangents.push_back({variable.tangent[i], 0});
    limits.push_back(extrapolated(variable, i));
  }
  const bool shared = variable.adjoint.size() != checked.size();
  auto compare = [&](const std::vector<Estimate>& other) {
    return shared ? std::vector{compare_sum(variable, other, checked)}
                  : compare_each(variable, other, checked, loss);
  };
  auto largest = [&](const std::vector<Difference>& differences) {
    Difference d = largest_of(differences);
    d.variable = variable.name;  // where nothing was compared
    return d;
  };
  check.tangents.push_back(largest(compare(tangents)));
  check.finite_differences.push_back(largest(compare(limits)));
  check.least_uncertainties.push_back(shared ? check.finite_differences.back().uncertainty
                                             : least_uncertainty(variable, limits, checked, loss));
}

}  // namespace detail

Difference GradientCheck::tangent() const { return largest_of(tangents); }
Difference GradientCheck::finite_difference() const { return largest_of(finite_differences); }

GradientCheck::Bounds GradientCheck::default_bounds(bool single_precision) {
  if (single_precision) return {2e-3, 0.2};
  return {1e-9, 1e-6};
}

bool GradientCheck::passed(const Bounds& bounds) const {
  if (num_checked == 0 || !tangent().within(bounds.tangent) ||
      !finite_difference().within(bounds.finite_difference))
    return false;
  for (std::size_t v = 0; v < finite_differences.size(); ++v)
    if (has_verdict(v)) return true;
  return false;
}

std::string GradientCheck::report(const Bounds& bounds) const {
  std::string text = "checked " + std::to_string(num_checked) + " trajectories, " +
                     std::to_string(tangents.size()) + " derivatives of each\n" +
                     lines("tangent", tangents, bounds.tangent) +
                     lines("finite difference", finite_differences, bounds.finite_difference);
  for (std::size_t v = 0; v < finite_differences.size(); ++v)
    if (!has_verdict(v))
      text += no_verdict_on(finite_differences[v].variable, least_uncertainties[v]);
  return text;
}

}  // namespace gradsolve
