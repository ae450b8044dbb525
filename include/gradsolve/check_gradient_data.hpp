// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

namespace gradsolve {

/// What check_gradient() leaves, on the host.
///
/// A difference is relative to the derivative, to its root mean square over the ensemble or to 1e-3
/// |loss| / max(|x|, 1), whichever is the largest: near a zero of the derivative a finite
/// difference has no digits. Of a shared parameter it is relative to the sum of the magnitudes.
///
/// A finite difference knows its own error, from steps of three sizes: one within ten times that
/// disagrees with nothing.
struct GradientCheck {
  /// Two values of one derivative.
  struct Difference {
    double relative = 0;   ///< NaN where one of them is.
    std::string variable;  ///< "u0[1]", "params[0]"
    int trajectory = -1;   ///< -1: the sum over the ensemble, of a shared parameter
    double adjoint = 0, other = 0;
    double uncertainty = 0;  ///< The error of a finite difference, relative likewise.

    /// Whether it is below the bound, or what the error of a finite difference explains.
    bool within(double bound) const { return relative <= bound + 10 * uncertainty; }
  };
  /// The largest relative differences that pass.
  struct Bounds {
    double tangent, finite_difference;
  };

  /// The largest of each variable: initial states, then parameters.
  std::vector<Difference> tangents, finite_differences;
  /// The error of the sharpest finite difference of each variable, beside the derivative itself.
  std::vector<double> least_uncertainties;
  int num_checked = 0;  ///< Trajectories that were compared.
  bool single_precision = false;

  /// The largest of all.
  Difference tangent() const;
  Difference finite_difference() const;

  /// Well above rounding and above the error of extrapolated differences: {1e-9, 1e-6} in double,
  /// {2e-3, 0.2} in float.
  static Bounds default_bounds(bool single_precision);
  Bounds default_bounds() const { return default_bounds(single_precision); }

  /// Whether finite differences of the variable have two digits.
  bool has_verdict(std::size_t variable) const { return least_uncertainties[variable] <= 0.01; }
  /// Whether anything was compared, by finite differences with a verdict too, and all of it agrees.
  bool passed(const Bounds& bounds) const;
  bool passed() const { return passed(default_bounds()); }

  /// A few lines for people: which derivative of which trajectory disagrees.
  std::string report(const Bounds& bounds) const;
  std::string report() const { return report(default_bounds()); }
};

namespace detail {

/// The derivatives by one variable that check_gradient() compares, by trajectory.
struct CheckedVariable {
  std::string name;
  std::vector<double> value;                     // (n); (1) where it is shared
  std::vector<double> adjoint;                   // (n); (1), the sum, where it is shared
  std::vector<double> tangent;                   // (n)
  std::vector<std::vector<double>> differences;  // (levels, n), their steps ratio after ratio
  std::vector<std::vector<double>> rounding;     // (levels, n) the least error that those have
};
/// By which the steps of finite differences shrink.
inline constexpr double step_ratio = 8;

/// Adds the largest differences of the trajectories that are to be checked. loss: (n).
void add_variable(GradientCheck& check, const CheckedVariable& variable,
                  const std::vector<bool>& checked, const std::vector<double>& loss);

}  // namespace detail
}  // namespace gradsolve
