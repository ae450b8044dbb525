// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gradsolve/gradsolve.hpp>

#include <gtest/gtest.h>

#include <support/ensembles.hpp>
#include <support/host.hpp>
#include <support/systems.hpp>
#include <tool/systems/orego.hpp>
#include <tool/systems/robertson.hpp>

/// The checker on variables of very different size, where some initial states are 0.
namespace gradsolve::test {
namespace {

constexpr int n = 13;

/// Robertson's reactions with a vector-Jacobian product by hand, wrong in the rate k2 unless the
/// factor is 1.
struct RobertsonByHand : tool::Robertson {
  double factor;

  explicit RobertsonByHand(double of_k2) : factor(of_k2) {}
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION Cotangents<T, 3, 3> vjp(const T&, const State<T, 3>& u,
                                                      const Params<T, 3>& k,
                                                      const State<T, 3>& w) const {
    const T w1 = w[1] - w[0], w2 = w[2] - w[1], w3 = w[0] - w[1];  // of the three reactions
    return {{w1 * k[0], T(2) * w2 * k[1] * u[1] + w3 * k[2] * u[2], w3 * k[2] * u[1]},
            {w1 * u[0], T(factor) * w2 * u[1] * u[1], w3 * u[1] * u[2]},
            T(0)};
  }
};

template <class F>
GradientCheck check_of(const F& f, const Inputs<double>& inputs, double t1) {
  const auto ensemble = inputs.ensemble(0.0, t1);
  const auto recorded = record(Exec(), f, Rodas5P{}, ensemble, {.rtol = 1e-6, .atol = 1e-9});
  return check_gradient(Exec(), f, recorded, ensemble, SquaredNorm{});
}

void expect_verdicts(const GradientCheck& check) {
  for (std::size_t v = 0; v < check.finite_differences.size(); ++v) {
    EXPECT_TRUE(check.has_verdict(v)) << check.report();
    EXPECT_LT(check.finite_differences[v].uncertainty, 1e-7) << check.report();
  }
}

// u0 = (1, 0, 0) and k = (0.04, 3e7, 1e4), while the second state never exceeds 4e-5.
TEST(CheckGradientOfStiff, FindsTheStepsOfRobertson) {
  const auto start = matrix<double>(n, 3, [](int, int j) { return j == 0 ? 1.0 : 0.0; });
  const Inputs<double> inputs{start, spread_around(n, {}, {0.04, 3e7, 1e4}).params};
  const auto right = check_of(RobertsonByHand(1), inputs, 1e4);
  EXPECT_TRUE(right.passed()) << right.report();
  expect_verdicts(right);
  const auto wrong = check_of(RobertsonByHand(1.001), inputs, 1e4);
  EXPECT_FALSE(wrong.passed());
  expect_verdicts(wrong);
  for (const auto& largest : {wrong.tangent(), wrong.finite_difference()}) {
    EXPECT_EQ(largest.variable, "params[1]");
    EXPECT_NEAR(largest.adjoint / largest.other, 1.001, 2e-4) << wrong.report();
  }
}

// Parameters (77.27, 8.375e-6, 0.161) and states up to 1e5.
TEST(CheckGradientOfStiff, FindsTheStepsOfTheOregonator) {
  const auto inputs = spread_around(n, {1, 2, 3}, {77.27, 8.375e-6, 0.161}, 0.02);
  const auto check = check_of(tool::Orego{}, inputs, 360);
  EXPECT_TRUE(check.passed()) << check.report();
  expect_verdicts(check);
}

}  // namespace
}  // namespace gradsolve::test
