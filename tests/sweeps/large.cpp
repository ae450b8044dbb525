// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <support/large.hpp>

namespace gradsolve::test {
namespace {

TEST(LargeSystem, HasTheGradientsOfTheOracle) { expect_gradients_of_the_oracle<Tsit5>(); }

TEST(LargeSystem, GivesTheSameOnOneThreadAndOnAWarp) {
  expect_the_same_on_one_thread_and_on_a_warp<Tsit5>();
}

TEST(LargeSystem, OfABadInputFailsAlone) {
  auto inputs = members(3, 64);
  inputs.u0 = matrix<double>(3, 64, [](int i, int j) {
    return i == 1 && j == 63 ? std::numeric_limits<double>::quiet_NaN() : 2 + 0.01 * j;
  });
  const auto ensemble = inputs.ensemble(0.0, 0.2);
  const auto recorded = record(Exec(), Lorenz96<64, warp>{}, Tsit5{}, ensemble);
  const auto g = gradient(Exec(), Lorenz96<64, warp>{}, recorded, ensemble, SquaredNorm{});
  const auto status = on_host(recorded.status);
  const auto du0 = on_host(g.u0);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(status(i), i == 1 ? Status::bad_input : Status::success);
    for (int j = 0; j < 64; ++j) EXPECT_EQ(std::isnan(du0(i, j)), i == 1);
  }
}

}  // namespace
}  // namespace gradsolve::test
