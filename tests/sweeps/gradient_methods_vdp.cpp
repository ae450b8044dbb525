// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gradsolve/gradsolve.hpp>

#include <gtest/gtest.h>

#include <support/all_methods.hpp>
#include <support/ensembles.hpp>
#include <support/gradients.hpp>
#include <support/host.hpp>
#include <support/systems.hpp>

/// The gradient of every method on a second system, against complex steps of the frozen replay.
namespace gradsolve::test {
namespace {

template <class M>
class GradientOfMethodAlso : public ::testing::Test {};
TYPED_TEST_SUITE(GradientOfMethodAlso, AllMethods, NameOfMethod);

TYPED_TEST(GradientOfMethodAlso, OfVanDerPolIsThatOfTheOracle) {
  const Options options = TypeParam::error_order > 0 ? Options{.rtol = 1e-6, .atol = 1e-8}
                                                     : Options{.fixed_steps = 100};
  expect_gradient_of_the_oracle<TypeParam>(VanDerPol{}, SquaredNorm{}, van_der_pol(11), 0.0, 3.0,
                                           options, 1e-11);
}

}  // namespace
}  // namespace gradsolve::test
