// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "problem.hpp"

#include <functional>

/// Compares the adjoint gradients with derivatives that were found in two other ways. Nothing here
/// knows the system, the method or the device.
namespace gradsolve::tool {

/// Final states (n, N) of an ensemble on the steps that were recorded.
using ReplayStates = std::function<std::vector<double>(const EnsembleData&)>;

/// Central differences of the replay, extrapolated, for each state and then each parameter. A
/// difference is relative to the derivative, or to its root mean square over the ensemble where
/// that is larger: near a zero of the derivative a finite difference has no digits.
std::vector<Difference> compare_with_finite_differences(const EnsembleData& data,
                                                        bool single_precision,
                                                        const GradientResult& gradient,
                                                        const ReplayStates& replay);

/// A direction of pseudo-random numbers in [-1, 1], of the shape of the data's states and params.
EnsembleData random_direction(const EnsembleData& data);

/// d loss in that direction: by the gradient, and by the tangents (n, N) of the final states. The
/// difference is relative to the sum of the magnitudes of the terms.
Difference compare_with_tangents(const EnsembleData& direction, const GradientResult& gradient,
                                 const std::vector<double>& tangents);

/// What check accepts: well above the error of a central difference, and of rounding.
struct CheckBounds {
  double finite_difference, tangent;
};
CheckBounds check_bounds(bool single_precision);
bool passes(const CheckResult& result, const CheckBounds& bounds);

}  // namespace gradsolve::tool
