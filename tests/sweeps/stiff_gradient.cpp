// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Derivatives by implicit methods, against complex steps through the recorded steps.
#include <gradsolve/gradsolve.hpp>

#include <support/all_methods.hpp>
#include <support/gradients.hpp>
#include <support/hessian_products.hpp>
#include <support/observed.hpp>
#include <support/stiff_systems.hpp>
#include <support/systems.hpp>

namespace gradsolve::test {
namespace {

template <class M>
class StiffGradient : public ::testing::Test {};
TYPED_TEST_SUITE(StiffGradient, SomeImplicitMethods, NameOfMethod);

/// Reaction rates of very different size: each derivative per unit of log k, as the loss is.
struct LogRobertson {
  static constexpr int num_states = 3, num_params = 3;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 3> operator()(const T& t, const State<T, 3>& u,
                                                     const Params<T, 3>& p) const {
    return Robertson{}(t, u, Params<T, 3>{T(0.04) * p[0], T(3e7) * p[1], T(1e4) * p[2]});
  }
};

TYPED_TEST(StiffGradient, OfRobertsonIsThatOfTheOracle) {
  const Inputs<double> inputs{
      matrix<double>(5, 3, [](int, int j) { return j == 0 ? 1.0 : 0.0; }),
      matrix<double>(5, 3, [](int i, int j) { return 1 + 0.1 * (i - 2) * (j + 1); })};
  expect_gradient_of_the_oracle<TypeParam>(LogRobertson{}, SquaredNorm{}, inputs, 0.0, 1e4,
                                           {.rtol = 1e-4, .atol = 1e-8}, 1e-8);
}

/// Spans that differ, one of them empty, and saves of every kind: at t0, inside, at t1, duplicates.
TYPED_TEST(StiffGradient, OfSavesAndTimesIsThatOfTheOracle) {
  constexpr int n = 7;
  const auto inputs = spread_around(n, {0.5, 1.0}, {40.0, 0.7});
  std::vector<double> t0, t1;
  std::vector<std::vector<double>> saves;
  for (int i = 0; i < n; ++i) {
    t0.push_back(0.1 * i);
    t1.push_back(t0[i] + 0.5 + 0.125 * i);
    auto at = [&](double x) { return x == 1 ? t1[i] : t0[i] + x * (t1[i] - t0[i]); };
    const std::vector<std::vector<double>> kinds{{at(0)},
                                                 {at(0.37)},
                                                 {at(1)},
                                                 {at(0.2), at(0.8)},
                                                 {at(0), at(0.5), at(1), at(1)},
                                                 {at(0.4), at(0.4), at(0.41)},
                                                 {}};
    saves.push_back(kinds[i]);
  }
  expect_saved_gradient_of_the_oracle<TypeParam>(Forced{}, WeightedSaves{}, inputs, t0, t1, saves,
                                                 1e-11, {.rtol = 1e-4, .atol = 1e-6});
}

TEST(StiffGradientOf, AJacobianByHand_IsTheSame) {
  const auto inputs = spread_around(5, {0.5, 1.0}, {40.0, 0.7});
  const auto ensemble = inputs.ensemble(0.0, 1.0);
  const auto a = record(Exec(), Forced{}, Rodas4{}, ensemble, {.rtol = 1e-6});
  const auto b = record(Exec(), ForcedWithJacobian{}, Rodas4{}, ensemble, {.rtol = 1e-6});
  const auto da = gradient(Exec(), Forced{}, a, ensemble, SquaredNorm{});
  const auto db = gradient(Exec(), ForcedWithJacobian{}, b, ensemble, SquaredNorm{});
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(on_host(a.num_steps)(i), on_host(b.num_steps)(i));
    for (int j = 0; j < 2; ++j) {
      EXPECT_NEAR(on_host(da.params)(i, j), on_host(db.params)(i, j), 1e-12);
      EXPECT_NEAR(on_host(da.u0)(i, j), on_host(db.u0)(i, j), 1e-12);
    }
  }
}

TEST(StiffGradientOf, AllKinds_AgreeWithOneAnother) {
  const auto inputs = spread_around(13, {0.5, 1.0}, {200.0, 0.7});
  const auto ensemble = inputs.ensemble(0.0, 2.0);
  const auto recorded = record(Exec(), Forced{}, Rodas5P{}, ensemble, {.rtol = 1e-5, .atol = 1e-7});
  const auto check = check_gradient(Exec(), Forced{}, recorded, ensemble, SquaredNorm{});
  EXPECT_EQ(check.num_checked, 13);
  EXPECT_TRUE(check.passed({1e-11, 1e-6})) << check.report({1e-11, 1e-6});
}

TEST(StiffGradientOf, SharedParameters_IsTheSumOverTheEnsemble) {
  const auto inputs = spread_around(40, {0.5, 1.0}, {50.0, 0.7});
  const std::vector<double> p{50, 0.7};
  const auto rows = matrix<double>(40, 2, [&](int, int j) { return p[j]; });
  const auto shared = column(p);
  const Ensemble each(inputs.u0, rows, 0.0, 1.0);
  const Ensemble all(inputs.u0, shared, 0.0, 1.0);
  const auto a = record(Exec(), Forced{}, Rodas4{}, each, {.rtol = 1e-6});
  const auto b = record(Exec(), Forced{}, Rodas4{}, all, {.rtol = 1e-6});
  const auto da = on_host(gradient(Exec(), Forced{}, a, each, SquaredNorm{}).params);
  const auto db = on_host(gradient(Exec(), Forced{}, b, all, SquaredNorm{}).params);
  for (int j = 0; j < 2; ++j) {
    double sum = 0;
    for (int i = 0; i < 40; ++i) sum += da(i, j);
    EXPECT_NEAR(db(0, j), sum, 1e-12 * std::abs(sum));
  }
}

TEST(StiffHessian, IsThatOfDifferencesOfGradients) {
  const auto inputs = spread_around(5, {0.5, 1.0}, {20.0, 0.7});
  const auto ensemble = inputs.ensemble(0.0, 1.5);
  const auto recorded = record(Exec(), Forced{}, Rodas4{}, ensemble, {.rtol = 1e-5});
  expect_hessian_product_of_differences(Forced{}, inputs, recorded, 0.0, 1.5);
}

}  // namespace
}  // namespace gradsolve::test
