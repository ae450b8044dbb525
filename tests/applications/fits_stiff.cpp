// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <support/fits.hpp>

/// In a file of its own for its compile time.
namespace gradsolve::test {
namespace {

struct Robertson {
  using System = examples::RobertsonLogRates;
  using Method = Rodas5P;
  static constexpr const char* name = "fit_robertson";
  static constexpr Options options{.rtol = 1e-9, .atol = 1e-13};
};

INSTANTIATE_TYPED_TEST_SUITE_P(Applications, Fit, ::testing::Types<Robertson>);

}  // namespace
}  // namespace gradsolve::test
