// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <02_stellar_streams/errors.hpp>
#include <02_stellar_streams/stream.hpp>

/// Against the exact flow in data/applications.json (data/README.md).
namespace examples {
namespace {

const nlohmann::json& data() {
  static const auto all = read_reference(GRADSOLVE_TEST_DATA "/applications.json");
  return all.at("stream_log");
}

TEST(StreamTest, StarsAreWithin1em4OfTheirDistance_99of100) {
  const auto& table = data()["every4096"];
  const int n = static_cast<int>(table.size());
  Stream stream(Exec(), every(Exec(), 4096, n), orbit_options(LogarithmicHalo{}));
  stream.solve(Exec());
  EXPECT_LE(position_errors(stream.states(), table, 1).p99, 1e-4);
}

// Through the progenitor's orbit backward, the release and the star's orbit forward.
TEST(StreamTest, TotalDerivativesAreThoseOfTheFlow) {
  Stream stream(Exec(), members_of(data()), {.rtol = 1e-11, .atol = 1e-13});
  stream.solve(Exec());
  const auto s = on_host(stream.differentiate(Exec()));
  const auto w = on_host(stream.states());
  for (int i = 0; i < w.extent_int(0); ++i) {
    const auto& member = data()["members"][i];
    EXPECT_LE(relative_error([&](int j) { return w(i, j); },
                             [&](int j) -> double { return member["y"][j]; }, 6),
              1e-9)
        << "member " << i;
    EXPECT_LE(derivative_error(s, i, member["dy_dw0"], member["dy_dp"]), 1e-7) << "member " << i;
  }
}

}  // namespace
}  // namespace examples
