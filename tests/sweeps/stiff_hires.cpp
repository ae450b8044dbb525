// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <support/stiff_problems.hpp>
#include <tool/systems/hires.hpp>

/// In a file of their own for their compile time.
namespace gradsolve::test {
namespace {

struct Hires {
  using System = tool::Hires;
  static constexpr const char* name = "hires";
  static constexpr Options options{.rtol = 1e-10, .atol = 1e-14};
  static constexpr double value = 1e-9, slope = 1e-9, rounding = 1e-11, drift = 1e-13;
  static constexpr double invariant[] = {0, 0, 0, 0, 0, 0, 1, 1};  // the enzyme, free and bound
};

using Alone = ::testing::Types<Hires>;
INSTANTIATE_TYPED_TEST_SUITE_P(Hires, StiffProblem, Alone, NameOfProblem);

}  // namespace
}  // namespace gradsolve::test
