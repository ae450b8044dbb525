// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gradsolve/check_gradient_data.hpp>

#include <gtest/gtest.h>

#include <cmath>

/// What the checker makes of finite differences: those of losses that are known here.
namespace gradsolve {
namespace {

using Loss = double (*)(double);

/// Compares d loss / dx at x = 1 with what an adjoint and a tangent say it is.
GradientCheck check_of(Loss loss, double adjoint, double tangent, double first_step = 0.01) {
  detail::CheckedVariable x{"x", {1}, {adjoint}, {tangent}, {}, {}};
  double h = first_step;
  for (int level = 0; level < 8; ++level, h /= detail::step_ratio) {
    const double up = 1 + h, down = 1 - h, a = loss(down), b = loss(up);
    x.differences.push_back({(b - a) / (up - down)});
    x.rounding.push_back({2.2e-16 * std::max(std::abs(a), std::abs(b)) / (up - down)});
  }
  GradientCheck check;
  check.num_checked = 1;
  detail::add_variable(check, x, {true}, {loss(1)});
  return check;
}
GradientCheck check_of(Loss loss, double derivative) {
  return check_of(loss, derivative, derivative);
}

double smooth(double x) { return std::exp(std::sin(3 * x)); }
const double slope = 3 * std::cos(3) * smooth(1);

TEST(FiniteDifferences, OfASmoothLossAreSharp) {
  const auto check = check_of(smooth, slope);
  EXPECT_TRUE(check.passed()) << check.report();
  EXPECT_LT(check.finite_difference().relative, 1e-9);
  EXPECT_LT(check.finite_difference().uncertainty, 1e-9);
  EXPECT_FALSE(check_of(smooth, slope * (1 + 1e-5)).passed());
}

// With steps of 1 to 4e-7 for a loss that changes within 1e-4.
TEST(FiniteDifferences, LeaveStepsThatAreTooLong) {
  const auto check = check_of([](double x) { return std::sin(1e4 * x); }, 1e4 * std::cos(1e4),
                              1e4 * std::cos(1e4), 1);
  EXPECT_TRUE(check.passed()) << check.report();
  EXPECT_TRUE(check.has_verdict(0));
}

// Noise of 1e-9 leaves some seven digits, whatever the shorter steps say by chance.
TEST(FiniteDifferences, KnowTheirNoise) {
  auto noisy = [](double x) { return smooth(x) + 1e-9 * std::sin(1e13 * x); };
  const auto check = check_of(noisy, slope);
  EXPECT_TRUE(check.passed()) << check.report();
  EXPECT_TRUE(check.has_verdict(0));
  EXPECT_GT(check.finite_difference().uncertainty, 1e-10);
  EXPECT_LT(check.finite_difference().uncertainty, 1e-5);
  EXPECT_FALSE(check_of(noisy, 1.001 * slope).passed());
}

TEST(FiniteDifferences, HaveNoVerdictWhereNoiseIsAll) {
  auto noise = [](double x) { return 1 + 0.1 * std::sin(1e13 * x); };
  const auto check = check_of(noise, 1, 1);
  EXPECT_FALSE(check.has_verdict(0));
  EXPECT_FALSE(check.passed()) << "nothing was compared";
  EXPECT_NE(check.report().find("no verdict on x"), std::string::npos) << check.report();
}

// The shortest steps move this loss by less than its rounding: their differences are all 0.
TEST(FiniteDifferences, AreNotFooledByRoundingToZero) {
  auto large = [](double x) { return 1e9 + std::sin(x); };
  const auto check = check_of(large, std::cos(1));
  EXPECT_TRUE(check.finite_difference().within(1e-6)) << check.report();
  EXPECT_NEAR(check.finite_difference().other, std::cos(1), 1e-3);
}

TEST(FiniteDifferences, FindADerivativeThatIsNot0) {
  EXPECT_TRUE(check_of([](double) { return 3.0; }, 0).passed());
  EXPECT_FALSE(check_of([](double) { return 3.0; }, 1).passed());
  EXPECT_FALSE(check_of([](double) { return 3.0; }, std::nan("")).passed());
}

TEST(Tangents, AreComparedWithoutUncertainty) {
  EXPECT_FALSE(check_of(smooth, slope, slope * (1 + 1e-8)).passed());
}

}  // namespace
}  // namespace gradsolve
