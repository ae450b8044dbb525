// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <support/stiff_problems.hpp>
#include <tool/systems/pollu.hpp>

/// 20 states and 25 parameters: a system that is called, not inlined, and an LU in loops.
namespace gradsolve::test {
namespace {

struct Pollu {
  using System = tool::Pollu;
  static constexpr const char* name = "pollu";
  static constexpr Options options{.rtol = 1e-10, .atol = 1e-20};
  static constexpr double value = 1e-8, slope = 1e-7, rounding = 1e-7, drift = 1e-12;
  static constexpr double invariant[20] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                           0, 0, 0, 0, 0, 0, 1, 1, 0, 0};
};

using Alone = ::testing::Types<Pollu>;
INSTANTIATE_TYPED_TEST_SUITE_P(Pollu, StiffProblem, Alone, NameOfProblem);

}  // namespace
}  // namespace gradsolve::test
