// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gradsolve/gradsolve.hpp>

#include <gtest/gtest.h>

#include <support/ensembles.hpp>
#include <support/host.hpp>
#include <support/systems.hpp>

/// The checker that users run on their own systems: it passes what is right, and names what is not.
namespace gradsolve::test {
namespace {

constexpr int n = 13;  // no multiple of any width
const Options adaptive{.rtol = 1e-6, .atol = 1e-8};

template <class Ensemble, class F, class Loss>
GradientCheck check_of(const F& f, const Ensemble& ensemble, const Loss& loss,
                       const Options& options = adaptive) {
  const auto recorded = record(Exec(), f, Tsit5{}, ensemble, options);
  return check_gradient(Exec(), f, recorded, ensemble, loss);
}

void expect_pass(const GradientCheck& check, int num_checked, std::size_t num_variables) {
  EXPECT_TRUE(check.passed()) << check.report();
  EXPECT_EQ(check.num_checked, num_checked);
  EXPECT_EQ(check.tangents.size(), num_variables);
  EXPECT_EQ(check.finite_differences.size(), num_variables);
}

/// A loss of everything that it may be of.
struct WeightedByParams {
  template <class T>
  KOKKOS_FUNCTION T operator()(const State<T, 2>& u, const Params<T, 4>& p, int trajectory) const {
    return p[1] * u[0] * u[0] + T(1 + trajectory) * u[1] / p[2];
  }
};
struct SavedAndWeighted {
  template <class T>
  KOKKOS_FUNCTION T operator()(const T& t, const State<T, 2>& u, const Params<T, 4>& p,
                               SaveIndex at) const {
    return t * p[1] * u[0] * u[0] + T(1 + at.save) * u[1] / p[2];
  }
};

TEST(CheckGradient, PassesAVjpWrittenByHand) {
  const auto check =
      check_of(LotkaVolterraByHand{}, lotka_volterra(n).ensemble(0.0, 2.0), WeightedByParams{});
  expect_pass(check, n, 6);
  EXPECT_EQ(check.tangents[1].variable, "u0[1]");
  EXPECT_EQ(check.finite_differences[5].variable, "params[3]");
  EXPECT_NE(check.report().find("checked 13 trajectories"), std::string::npos) << check.report();
  EXPECT_EQ(check.report().find("DISAGREES"), std::string::npos) << check.report();
}

TEST(CheckGradient, PassesALossAtSaveTimes) {
  const auto ensemble = lotka_volterra(n).ensemble(0.0, 2.0);
  const auto times = save_times(Exec(), ensemble, std::vector{0.0, 0.3, 0.9, 2.0});
  expect_pass(check_of(LotkaVolterra{}, ensemble, at_saves(times, SavedAndWeighted{})), n, 6);
}

TEST(CheckGradient, PassesSharedParametersAsASum) {
  const Ensemble shared(lotka_volterra(n).u0, column<double>({1.5, 1.0, 3.0, 1.0}), 0.0, 2.0);
  const auto check = check_of(LotkaVolterra{}, shared, WeightedByParams{});
  expect_pass(check, n, 6);
  EXPECT_EQ(check.tangents[2].trajectory, -1);
  const auto times = save_times(Exec(), shared, std::vector{0.3, 0.9});
  expect_pass(check_of(LotkaVolterra{}, shared, at_saves(times, SavedAndWeighted{})), n, 6);
}

TEST(CheckGradient, PassesABranchingSystemWithItsOwnTimeSpans) {
  const auto inputs = spread_around(n, {1.5}, {0.6}, 0.3);
  const auto t1 = on_host(inputs.params);
  std::vector<double> ends;
  for (int i = 0; i < n; ++i) ends.push_back(0.2 + t1(i, 0));
  expect_pass(
      check_of(Branching{}, inputs.ensemble(0.0, column(ends)), SquaredNorm{}, {.fixed_steps = 50}),
      n, 2);
}

TEST(CheckGradient, PassesInSinglePrecision) {
  const auto inputs = spread_around<float>(n, {1.0, 1.0}, {1.5, 1.0, 3.0, 1.0});
  const auto check = check_of(LotkaVolterra{}, inputs.ensemble(0.f, 2.f), SquaredNorm{},
                              {.rtol = 1e-4, .atol = 1e-5});
  expect_pass(check, n, 6);
  EXPECT_TRUE(check.single_precision);
}

/// Wrong in params[2], and right elsewhere.
struct WrongVjp : LotkaVolterraByHand {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION Cotangents<T, 2, 4> vjp(const T& t, const State<T, 2>& u,
                                                      const Params<T, 4>& p,
                                                      const State<T, 2>& w) const {
    auto bar = LotkaVolterraByHand::vjp(t, u, p, w);
    bar.p[2] = bar.p[2] * T(1.001);
    return bar;
  }
};

TEST(CheckGradient, NamesTheParameterThatAVjpHasWrong) {
  const auto check = check_of(WrongVjp{}, lotka_volterra(n).ensemble(0.0, 2.0), SquaredNorm{});
  EXPECT_FALSE(check.passed());
  for (const auto& largest : {check.tangent(), check.finite_difference()}) {
    EXPECT_EQ(largest.variable, "params[2]");
    EXPECT_GE(largest.trajectory, 0);
    EXPECT_NEAR(largest.adjoint / largest.other, 1.001, 1e-6);
  }
  const GradientCheck::Bounds bounds = check.default_bounds();
  for (std::size_t v = 0; v < check.tangents.size(); ++v)
    EXPECT_EQ(check.tangents[v].relative > bounds.tangent, v == 4) << check.report();
  const std::string report = check.report();
  EXPECT_NE(report.find("tangent DISAGREES"), std::string::npos) << report;
  EXPECT_NE(report.find("finite difference DISAGREES"), std::string::npos) << report;
  EXPECT_NE(report.find("d loss / d params[2] of trajectory "), std::string::npos) << report;
  EXPECT_EQ(report.find("params[1]"), std::string::npos) << report;
  EXPECT_TRUE(check.passed({.tangent = 2e-3, .finite_difference = 2e-3})) << report;
}

/// Wrong in one entry, which the adjoint and the tangent both believe.
struct WrongJacobian : LotkaVolterraJacobian {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION Matrix<T, 2> jacobian(const T& t, const State<T, 2>& u,
                                                    const Params<T, 4>& p) const {
    auto m = LotkaVolterraJacobian::jacobian(t, u, p);
    m[0][1] = -m[0][1];
    return m;
  }
};

TEST(CheckGradient, FindsAWrongJacobianByFiniteDifferencesAlone) {
  const auto check = check_of(WrongJacobian{}, lotka_volterra(n).ensemble(0.0, 2.0), SquaredNorm{});
  EXPECT_FALSE(check.passed());
  EXPECT_LE(check.tangent().relative, check.default_bounds().tangent) << check.report();
  EXPECT_GT(check.finite_difference().relative, 0.1) << check.report();
}

TEST(CheckGradient, LeavesOutATrajectoryThatFailed) {
  const auto inputs = [](double last) {
    Inputs<double> in;
    in.u0 = matrix<double>(n, 1, [&](int i, int) { return i + 1 < n ? 0.5 : last; });
    in.params = matrix<double>(n, 0, [](int, int) { return 0.0; });
    return in;
  };
  expect_pass(check_of(BlowUp{}, inputs(0.6).ensemble(0.0, 1.0), SquaredNorm{}), n, 1);
  expect_pass(check_of(BlowUp{}, inputs(2.0).ensemble(0.0, 1.0), SquaredNorm{}), n - 1, 1);
}

TEST(CheckGradient, DoesNotPassWhereNothingWasCompared) {
  const Options too_short{.max_steps = 2};
  const auto check =
      check_of(LotkaVolterra{}, lotka_volterra(n).ensemble(0.0, 2.0), SquaredNorm{}, too_short);
  EXPECT_EQ(check.num_checked, 0);
  EXPECT_FALSE(check.passed());
}

}  // namespace
}  // namespace gradsolve::test
