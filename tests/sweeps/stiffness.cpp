// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The share of steps that stability limits.
#include <gradsolve/gradsolve.hpp>

#include <support/ensembles.hpp>
#include <support/host.hpp>
#include <support/stiff_systems.hpp>
#include <support/systems.hpp>

namespace gradsolve::test {
namespace {

template <class M>
class Stiffness : public ::testing::Test {};
using Explicit = ::testing::Types<BogackiShampine3, Tsit5, Dop853>;
TYPED_TEST_SUITE(Stiffness, Explicit);

template <class M, class F>
std::vector<double> shares(const F& f, const Inputs<double>& inputs, double t1,
                           const Options& options) {
  const auto ensemble = inputs.ensemble(0.0, t1);
  const auto recorded = record(Exec(), f, M{}, ensemble, options);
  const auto share = on_host(stability_limited_share(Exec(), f, recorded, ensemble));
  std::vector<double> values;
  for (int i = 0; i < inputs.size(); ++i) values.push_back(share(i));
  return values;
}

TYPED_TEST(Stiffness, OfAFastRelaxation_IsSeenInItsMembersAlone) {
  // y' = -k (y - cos t): stiff for k = 1e4, not for k = 1.
  const Inputs<double> inputs{matrix<double>(6, 1, [](int, int) { return 1.0; }),
                              matrix<double>(6, 1, [](int i, int) { return i % 2 ? 1e4 : 1.0; })};
  const auto share = shares<TypeParam>(Relaxation{}, inputs, 5.0, {.rtol = 1e-4, .atol = 1e-6});
  for (int i = 0; i < 6; ++i) {
    if (i % 2)
      EXPECT_GT(share[i], 0.8) << i;
    else
      EXPECT_LT(share[i], 0.1) << i;
  }
}

TYPED_TEST(Stiffness, OfRobertsonsReactions_IsSeen) {
  const Inputs<double> inputs{matrix<double>({{1.0, 0.0, 0.0}}),
                              matrix<double>({{0.04, 3e7, 1e4}})};
  EXPECT_GT(shares<TypeParam>(Robertson{}, inputs, 5.0, {.rtol = 1e-5, .atol = 1e-9})[0], 0.7);
}

TYPED_TEST(Stiffness, OfSystemsThatAreNot_IsNotSeen) {
  for (double rtol : {1e-4, 1e-7}) {
    const Options options{.rtol = rtol, .atol = 1e-3 * rtol};
    for (const double share : shares<TypeParam>(LotkaVolterra{}, lotka_volterra(9), 10.0, options))
      EXPECT_LT(share, 0.15) << rtol;
    const Inputs<double> lorenz{matrix<double>(9, 3, [](int i, int j) { return 1 + 0.1 * i * j; }),
                                matrix<double>(9, 3, [](int, int j) {
                                  return j == 0 ? 10 : j == 1 ? 28 : 8.0 / 3;
                                })};
    for (const double share : shares<TypeParam>(Lorenz{}, lorenz, 5.0, options))
      EXPECT_LT(share, 0.15) << rtol;
  }
}

// Hairer, Wanner, Solving Ordinary Differential Equations II, IV.2: 3.3 for Dormand and Prince's
// method; 2 for Euler's and Heun's, 2.51 and 2.79 for those of order 3 and 4 with as many stages.
TEST(StabilityInterval, IsThatOfTheLiterature) {
  EXPECT_NEAR(detail::stability_interval<Euler>(), 2, 0.06);
  EXPECT_NEAR(detail::stability_interval<Heun>(), 2, 0.06);
  EXPECT_NEAR(detail::stability_interval<BogackiShampine3>(), 2.51, 0.06);
  EXPECT_NEAR(detail::stability_interval<RK4>(), 2.785, 0.06);
  EXPECT_NEAR(detail::stability_interval<DormandPrince5>(), 3.31, 0.06);
}

TEST(StiffnessOf, AnEnsembleWithoutMembers_IsEmpty) {
  const Inputs<double> inputs{MatrixOf<double>("u0", 0, 1), MatrixOf<double>("p", 0, 1)};
  EXPECT_TRUE(shares<Tsit5>(Relaxation{}, inputs, 1.0, {}).empty());
}

}  // namespace
}  // namespace gradsolve::test
