// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gradsolve/gradsolve.hpp>

#include <gtest/gtest.h>

#include <support/gradients.hpp>
#include <support/host.hpp>
#include <support/systems.hpp>

/// A system whose state outgrows the registers.
namespace gradsolve::test {
namespace {

template <int N>
Inputs<double> ring(int n) {
  const auto params = spread_around(n, {1.0}, {1.0, 0.3}, 0.5).params;
  Uniform uniform(8);
  return {matrix<double>(n, N, [&](int, int) { return uniform(-1, 1); }), params};
}

TEST(LargeSystem, OfTwentyStates) {
  expect_gradient_of_the_oracle<Heun>(Ring<20>{}, FirstState{}, ring<20>(5), 0.0, 1.0,
                                      {.fixed_steps = 20}, 1e-11);
}

}  // namespace
}  // namespace gradsolve::test
