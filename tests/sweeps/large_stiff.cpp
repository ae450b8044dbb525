// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <support/large.hpp>

namespace gradsolve::test {
namespace {

TEST(StiffLorenz96, HasTheGradientsOfTheOracle) { expect_gradients_of_the_oracle<Rodas5P>(); }

TEST(StiffLorenz96, GivesTheSameOnOneThreadAndOnAWarp) {
  expect_the_same_on_one_thread_and_on_a_warp<Rodas5P>();
}

}  // namespace
}  // namespace gradsolve::test
