// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <04_black_hole_binaries/errors.hpp>

/// Against the exact flow in data/applications.json (data/README.md).
namespace examples {
namespace {

const nlohmann::json& data(const char* name) {
  static const auto all = read_reference(GRADSOLVE_TEST_DATA "/applications.json");
  return all.at(name);
}

TEST(BinariesTest, EndWithin1em7Radians_99of100_AndKeepTheirLengths) {
  Binaries binaries(Exec(), every(Exec(), 1, 256), 100);
  binaries.solve(Exec(), binary_options(100));
  const auto& table = data("precession_short")["first256"];
  ASSERT_EQ(table.size(), 256u);
  EXPECT_LE(angle_errors(binaries.outcome().angles, table).p99, 1e-7);
  const auto u = on_host(binaries.record().states);
  for (int i = 0; i < 256; ++i)
    for (int k = 0; k < 3; ++k) {
      double length2 = 0;
      for (int j = 3 * k; j < 3 * k + 3; ++j) length2 += u(i, j) * u(i, j);
      EXPECT_NEAR(length2, 1, 1e-7) << "binary " << i << ", vector " << k;
    }
}

TEST(BinariesTest, FromFarTheyDoToo) {
  Binaries binaries(Exec(), every(Exec(), 1, 8), 1000);
  binaries.solve(Exec(), binary_options(1000));
  const auto& table = data("precession_long")["first256"];
  ASSERT_GE(table.size(), 8u);
  EXPECT_LE(angle_errors(binaries.outcome().angles, table).max, 1e-7);
}

TEST(BinariesTest, AnglesTimesAndTheirDerivativesAreThoseOfTheFlow) {
  const auto& members = data("precession_short")["members"];
  Binaries binaries(Exec(), members_of(data("precession_short")), 100);
  binaries.solve(Exec(), {.rtol = 1e-12, .atol = 1e-12});
  binaries.differentiate(Exec());
  const auto& outcome = binaries.outcome();
  const auto angles = on_host(outcome.angles), d_time = on_host(outcome.d_time);
  const auto time = on_host(outcome.time);
  const auto d_angles = on_host(outcome.d_angles);
  for (int i = 0; i < binaries.size(); ++i) {
    SCOPED_TRACE("member " + std::to_string(i));
    const auto& m = members[i];
    EXPECT_NEAR(time(i) / m["time"].get<double>(), 1, 1e-9);
    for (int k = 0; k < num_angles; ++k) EXPECT_LE(angle_error(angles(i, k), m["angles"][k]), 1e-9);
    EXPECT_LE(relative_error([&](int v) { return d_time(i, v); },
                             [&](int v) -> double { return m["dtime"][v]; }, num_binary_variables),
              1e-7);
    EXPECT_LE(largest_column_error([&](int k, int v) { return d_angles(i, k, v); },
                                   [&](int k, int v) -> double { return m["dangles"][k][v]; },
                                   num_angles, num_binary_variables),
              1e-7);
  }
}

TEST(BinariesTest, VectorsAndAllTheirSensitivitiesAreThoseOfTheFlow) {
  const auto& members = data("precession_short")["members"];
  Binaries binaries(Exec(), members_of(data("precession_short")), 100);
  binaries.solve(Exec(), {.rtol = 1e-12, .atol = 1e-12});
  const auto forward =
      gradsolve::sensitivity(Exec(), Binaries::System{}, binaries.record(), binaries.ensemble());
  const auto u = on_host(forward.states);
  const auto s = on_host(forward.sensitivities);
  for (int i = 0; i < binaries.size(); ++i) {
    SCOPED_TRACE("member " + std::to_string(i));
    const auto& m = members[i];
    EXPECT_LE(relative_error([&](int j) { return u(i, j); },
                             [&](int j) -> double { return m["y"][j]; }, 9),
              1e-9);
    EXPECT_LE(derivative_error(s, i, m["dy_dy0"], m["dy_dp"]), 1e-7);
  }
}

}  // namespace
}  // namespace examples
