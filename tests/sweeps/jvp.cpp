// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gradsolve/gradsolve.hpp>

#include <gtest/gtest.h>

#include <support/ensembles.hpp>
#include <support/host.hpp>
#include <support/reference.hpp>
#include <support/systems.hpp>

/// Forward derivatives, and that they and the reverse ones are each other's transpose.
namespace gradsolve::test {
namespace {

constexpr int n = 13;  // no multiple of any width

/// <jvp(du0, dp), w> = <du0, u0bar> + <dp, pbar>, to rounding, for every trajectory.
template <class M, class F>
void expect_jvp_and_vjp_are_transposes(const F& f, const Inputs<double>& inputs, double t1,
                                       const Options& options) {
  constexpr int N = F::num_states, P = F::num_params;
  Uniform uniform(11);
  auto random = [&](int columns) {
    return matrix<double>(inputs.size(), columns, [&](int, int) { return uniform(-1, 1); });
  };
  const auto du0 = random(N), dp = random(P), w = random(N);
  const auto ensemble = inputs.ensemble(0.0, t1);
  const auto recorded = record(Exec(), f, M{}, ensemble, options);
  const auto forward = jvp(Exec(), f, recorded, ensemble, du0, dp);
  const auto reverse = vjp(Exec(), f, recorded, ensemble, w);
  const auto tangents = on_host(forward.tangents);
  const auto u0bar = on_host(reverse.u0), pbar = on_host(reverse.params);
  const auto du0_host = on_host(du0), dp_host = on_host(dp), w_host = on_host(w);
  const auto values = on_host(forward.states), expected = on_host(reverse.states);
  for (int i = 0; i < inputs.size(); ++i) {
    long double left = 0, right = 0, size = 0;
    auto add = [&](long double& sum, double a, double b) {
      sum += static_cast<long double>(a) * b;
      size += std::abs(static_cast<long double>(a) * b);
    };
    for (int j = 0; j < N; ++j) {
      add(left, tangents(i, j), w_host(i, j));
      add(right, du0_host(i, j), u0bar(i, j));
      EXPECT_LE(relative_difference(values(i, j), expected(i, j), 0.1L), 1e-13);
    }
    for (int j = 0; j < P; ++j) add(right, dp_host(i, j), pbar(i, j));
    EXPECT_GT(size, 0);
    EXPECT_LE(std::abs(left - right), 1e-13L * size) << M::name << ", trajectory " << i;
  }
}

const Options adaptive{.rtol = 1e-6, .atol = 1e-8};
const Options fixed{.fixed_steps = 50};

TEST(JvpAndVjp, AreTransposesForLotkaVolterra) {
  expect_jvp_and_vjp_are_transposes<Tsit5>(LotkaVolterra{}, lotka_volterra(n), 3.0, adaptive);
  expect_jvp_and_vjp_are_transposes<RK4>(LotkaVolterra{}, lotka_volterra(n), 3.0, fixed);
}
TEST(JvpAndVjp, AreTransposesForVanDerPol) {
  expect_jvp_and_vjp_are_transposes<BogackiShampine3>(VanDerPol{}, van_der_pol(n), 3.0, adaptive);
  expect_jvp_and_vjp_are_transposes<Verner9>(VanDerPol{}, van_der_pol(n), 3.0, adaptive);
}
TEST(JvpAndVjp, AreTransposesForLorenz) {
  expect_jvp_and_vjp_are_transposes<DormandPrince5>(
      Lorenz{}, spread_around(n, {1.0, 0.5, 0.5}, {10.0, 15.0, 8.0 / 3.0}, 0.1), 0.5, adaptive);
}
TEST(JvpAndVjp, AreTransposesForADrivenPendulum) {
  const auto inputs = spread_around(n, {1.0, 0.5}, {2.0, 0.7});
  expect_jvp_and_vjp_are_transposes<Dop853>(DrivenPendulum{}, inputs, 3.0, adaptive);
  expect_jvp_and_vjp_are_transposes<Heun>(DrivenPendulum{}, inputs, -2.0, fixed);
}
TEST(JvpAndVjp, AreTransposesWithoutParameters) {
  expect_jvp_and_vjp_are_transposes<Verner7>(Oscillator{}, spread_around(n, {1.0, 0.5}, {}), 3.0,
                                             adaptive);
}
TEST(JvpAndVjp, AreTransposesForABranchingSystem) {
  expect_jvp_and_vjp_are_transposes<Euler>(Branching{}, spread_around(n, {1.5}, {0.6}, 0.5), 2.0,
                                           fixed);
}

TEST(Jvp, IsTheComplexStepOfTheReplay) {
  const auto inputs = spread_around(n, {1.0, 0.5}, {2.0, 0.7});
  const auto ensemble = inputs.ensemble(0.0, 3.0);
  const auto recorded = record(Exec(), DrivenPendulum{}, Tsit5{}, ensemble, adaptive);
  const auto direction = matrix<double>(n, 2, [](int i, int j) { return i + 0.5 * j; });
  const auto only_u0 = on_host(
      jvp(Exec(), DrivenPendulum{}, recorded, ensemble, direction, MatrixOf<double>()).tangents);
  const auto only_params = on_host(
      jvp(Exec(), DrivenPendulum{}, recorded, ensemble, MatrixOf<double>(), direction).tangents);
  const auto u0 = on_host(inputs.u0), params = on_host(inputs.params);
  for (int i = 0; i < n; ++i) {
    const auto slopes =
        reference::gradient<Tsit5>(DrivenPendulum{}, FirstState{}, step_ends(Exec(), recorded, i),
                                   0.0, row<2>(u0, i), row<2>(params, i));
    EXPECT_LE(
        relative_difference(only_u0(i, 0), i * slopes.u0[0] + (i + 0.5L) * slopes.u0[1], 0.1L),
        1e-12);
    EXPECT_LE(relative_difference(only_params(i, 0),
                                  i * slopes.params[0] + (i + 0.5L) * slopes.params[1], 0.1L),
              1e-12);
  }
}

TEST(Jvp, InSharedParametersMovesEveryTrajectory) {
  const std::vector<double> p{1.5, 1.0, 3.0, 1.0}, dp{0.3, -0.2, 0.1, 0.5};
  const auto u0 = lotka_volterra(n).u0;
  const Ensemble shared(u0, column(p), 0.0, 2.0);
  const auto repeat = [](const std::vector<double>& values) {
    return matrix<double>(n, 4, [&](int, int j) { return values[j]; });
  };
  const Ensemble each(u0, repeat(p), 0.0, 2.0);
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, shared, adaptive);
  const auto a = jvp(Exec(), LotkaVolterra{}, recorded, shared, MatrixOf<double>(), column(dp));
  const auto b = jvp(Exec(), LotkaVolterra{}, recorded, each, MatrixOf<double>(), repeat(dp));
  EXPECT_TRUE(same_bits_everywhere(a.tangents, b.tangents));
}

TEST(Jvp, UsesTheSystemsOwnJacobian) {
  const auto ensemble = lotka_volterra(n).ensemble(0.0, 2.0);
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, adaptive);
  const auto du0 = matrix<double>(n, 2, [](int i, int j) { return 1.0 + i - j; });
  const auto dp = matrix<double>(n, 4, [](int i, int j) { return 0.1 * i + j; });
  const auto a = on_host(jvp(Exec(), LotkaVolterra{}, recorded, ensemble, du0, dp).tangents);
  const auto b =
      on_host(jvp(Exec(), LotkaVolterraJacobian{}, recorded, ensemble, du0, dp).tangents);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < 2; ++j) EXPECT_LE(relative_difference(b(i, j), a(i, j), 0.1L), 1e-12);
}

TEST(Jvp, OfLengthZeroIsTheDirection) {
  const auto ensemble = lotka_volterra(n).ensemble(0.5, 0.5);
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, adaptive);
  const auto du0 = matrix<double>(n, 2, [](int i, int j) { return 1.0 + i - j; });
  const auto forward = jvp(Exec(), LotkaVolterra{}, recorded, ensemble, du0, MatrixOf<double>());
  EXPECT_TRUE(same_bits_everywhere(forward.tangents, du0));
}

}  // namespace
}  // namespace gradsolve::test
