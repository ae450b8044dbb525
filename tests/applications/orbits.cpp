// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <02_stellar_streams/errors.hpp>
#include <02_stellar_streams/orbits.hpp>

/// Against the exact flow in data/applications.json (data/README.md).
namespace examples {
namespace {

const gradsolve::Options tight{.rtol = 1e-12, .atol = 1e-14};

TEST(Draws, AreThoseOfTheReference) {
  EXPECT_EQ((Draws{0, 0}.uniform(0)), 0.6524484863740322);
  EXPECT_EQ((Draws{101, 999999}.uniform(3)), 0.9848472176231499);
  EXPECT_EQ((Draws{502, 0}.uniform(353)), 0.9175221460851352);
  EXPECT_NEAR((Draws{102, 0}.normal(0)), 0.06553588323868735, 1e-16);
  EXPECT_NEAR((Draws{102, 999999}.normal(3)), -0.5461817245086993, 1e-15);
}

template <class Potential>
struct OrbitsOf : ::testing::Test {
  const nlohmann::json data = read_reference(GRADSOLVE_TEST_DATA "/applications.json")
                                  .at(Potential::num_params == 3 ? "orbits_log" : "orbits_mw");
};
using Potentials = ::testing::Types<LogarithmicHalo, MilkyWay>;
struct NameOfPotential {
  template <class P>
  static std::string GetName(int) {
    return P::num_params == 3 ? "LogarithmicHalo" : "MilkyWay";
  }
};
TYPED_TEST_SUITE(OrbitsOf, Potentials, NameOfPotential);

TYPED_TEST(OrbitsOf, EndWithin1em4OfTheirDistance_99of100) {
  Orbits<TypeParam> orbits(draw_stars(Exec(), every(Exec(), 1, 256)));
  orbits.solve(Exec(), orbit_options(TypeParam{}));
  ASSERT_EQ(this->data["first256"].size(), 256u);
  EXPECT_LE(position_errors(orbits.record.states, this->data["first256"], 0).p99, 1e-4);
}

TYPED_TEST(OrbitsOf, EndWhereTheFlowDoes_AndSoDoTheirSensitivities) {
  Orbits<TypeParam> orbits(draw_stars(Exec(), members_of(this->data)));
  orbits.solve(Exec(), tight);
  orbits.differentiate(Exec());
  const auto w = on_host(orbits.record.states);
  const auto s = on_host(orbits.sensitivity.sensitivities);
  for (int i = 0; i < w.extent_int(0); ++i) {
    const auto& member = this->data["members"][i];
    EXPECT_LE(relative_error([&](int j) { return w(i, j); },
                             [&](int j) -> double { return member["y"][j]; }, 6),
              1e-9)
        << "member " << i;
    EXPECT_LE(derivative_error(s, i, member["dy_dy0"], member["dy_dp"]), 1e-7) << "member " << i;
  }
}

TYPED_TEST(OrbitsOf, ShareTheirParameters_AndTheGradientInThem) {
  Orbits<TypeParam> orbits(draw_stars(Exec(), every(Exec(), 1, 256)));
  orbits.solve(Exec(), tight);
  orbits.differentiate(Exec(), SquaredDistance{});
  const auto gradient = on_host(orbits.gradient.params);
  const auto& expected = this->data["shared"]["dloss_dp"];
  for (int k = 0; k < TypeParam::num_params; ++k)
    EXPECT_NEAR(gradient(0, k) / 256 / expected[k].template get<double>(), 1, 1e-7)
        << "parameter " << k;
}

}  // namespace
}  // namespace examples
