// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gradsolve/gradsolve.hpp>

#include <gtest/gtest.h>

#include <support/all_methods.hpp>
#include <support/ensembles.hpp>
#include <support/gradients.hpp>
#include <support/host.hpp>
#include <support/systems.hpp>

/// The gradient of every method, against complex steps of the frozen replay.
namespace gradsolve::test {
namespace {

template <class M>
class GradientOfMethod : public ::testing::Test {};
TYPED_TEST_SUITE(GradientOfMethod, AllMethods, NameOfMethod);

TYPED_TEST(GradientOfMethod, OfLotkaVolterraIsThatOfTheOracle) {
  const Options options = TypeParam::error_order > 0 ? Options{.rtol = 1e-6, .atol = 1e-8}
                                                     : Options{.fixed_steps = 100};
  expect_gradient_of_the_oracle<TypeParam>(LotkaVolterra{}, SquaredNorm{}, lotka_volterra(11), 0.0,
                                           3.0, options, 1e-11);
}

}  // namespace
}  // namespace gradsolve::test
