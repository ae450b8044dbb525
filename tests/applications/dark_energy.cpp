// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <03_dark_energy/errors.hpp>

/// Against the exact flow in data/applications.json (data/README.md).
namespace examples {
namespace {

template <class Potential>
struct DarkEnergyWith : ::testing::Test {
  static constexpr bool exponential = std::is_same_v<Potential, Exponential>;
  const nlohmann::json data = read_reference(GRADSOLVE_TEST_DATA "/applications.json")
                                  .at(exponential ? "quint_exp" : "quint_pngb");
};
using Potentials = ::testing::Types<Exponential, Pngb>;
struct NameOfPotential {
  template <class P>
  static std::string GetName(int) {
    return std::is_same_v<P, Exponential> ? "Exponential" : "Pngb";
  }
};
TYPED_TEST_SUITE(DarkEnergyWith, Potentials, NameOfPotential);

TYPED_TEST(DarkEnergyWith, DistancesAreWithin1em6_99of100_AndFlatToday) {
  const int n = 256;
  DarkEnergy<TypeParam> universes(Exec(), every(Exec(), 1, n));
  const Observables seen(Exec(), n);
  EXPECT_LE(universes.shoot(Exec(), cosmic_options), 6);
  universes.differentiate(Exec(), seen);
  const auto g = on_host(seen.g);
  for (int i = 0; i < n; ++i) EXPECT_LE(std::abs(g(i)), 1e-14) << "member " << i;
  ASSERT_EQ(this->data["first256"].size(), 256u);
  EXPECT_LE(distance_errors(seen.distance, this->data["first256"]).p99, 1e-6);
}

/// Distances by a replay alone are those that come with the derivatives.
TYPED_TEST(DarkEnergyWith, DistancesAloneAreTheSame) {
  const int n = 16;
  DarkEnergy<TypeParam> universes(Exec(), every(Exec(), 1, n));
  const Observables seen(Exec(), n);
  const Matrix alone("distance", n, num_redshifts);
  universes.shoot(Exec(), cosmic_options);
  universes.differentiate(Exec(), seen);
  universes.solve(Exec(), alone);
  const auto a = on_host(alone), b = on_host(seen.distance);
  for (int i = 0; i < n; ++i)
    for (int z = 0; z < num_redshifts; ++z) EXPECT_NEAR(a(i, z) / b(i, z), 1, 1e-14);
}

TYPED_TEST(DarkEnergyWith, ObservablesAndTheirTotalDerivativesAreThoseOfTheFlow) {
  const auto& members = this->data["members"];
  const int n = static_cast<int>(members.size());
  DarkEnergy<TypeParam> universes(Exec(), members_of(this->data));
  const Observables seen(Exec(), n);
  universes.shoot(Exec(), {.rtol = 1e-12, .atol = 1e-15});
  universes.differentiate(Exec(), seen);
  const auto distance = on_host(seen.distance), hubble = on_host(seen.hubble),
             dw = on_host(seen.dw), dv0 = on_host(seen.dv0);
  const auto d_distance = on_host(seen.d_distance), d_hubble = on_host(seen.d_hubble);
  const auto w = on_host(seen.w);
  for (int i = 0; i < n; ++i) {
    SCOPED_TRACE("member " + std::to_string(i));
    const auto& m = members[i];
    auto number = [](const nlohmann::json& x) { return x.template get<double>(); };
    EXPECT_NEAR(w(i), number(m["w"]), 1e-9);
    for (int z = 0; z < num_redshifts; ++z) {
      EXPECT_NEAR(distance(i, z) / number(m["distance"][z]), 1, 1e-9);
      EXPECT_NEAR(hubble(i, z) / number(m["hubble"][z]), 1, 1e-9);
    }
    for (int k = 0; k < num_theta; ++k) {
      EXPECT_NEAR(dv0(i, k), number(m["dv0"][k]), 1e-7);
      EXPECT_NEAR(dw(i, k), number(m["dw"][k]), 1e-7);
      for (int z = 0; z < num_redshifts; ++z) {
        EXPECT_NEAR(d_distance(i, z, k), number(m["ddistance"][z][k]), 1e-7 * distance(i, z));
        EXPECT_NEAR(d_hubble(i, z, k), number(m["dhubble"][z][k]), 1e-7 * hubble(i, z));
      }
    }
  }
}

// A shift of phi only rescales v0 = U(phi = 0): at any tolerance, as the discrete equations keep
// it.
TEST(DarkEnergyTest, ShiftOfAnExponentialsFieldChangesNothingButV0) {
  const int n = 64;
  DarkEnergy<Exponential> universes(Exec(), every(Exec(), 1, n));
  const Observables seen(Exec(), n);
  universes.shoot(Exec(), cosmic_options);
  universes.differentiate(Exec(), seen);
  const auto params = on_host(universes.params()), dv0 = on_host(seen.dv0);
  const auto d_distance = on_host(seen.d_distance);
  for (int i = 0; i < n; ++i) {
    EXPECT_NEAR(dv0(i, 3), params(i, 2) * params(i, 3), 1e-13) << "member " << i;
    for (int z = 0; z < num_redshifts; ++z)
      EXPECT_NEAR(d_distance(i, z, 3), 0, 1e-9) << "member " << i;
  }
}

}  // namespace
}  // namespace examples
