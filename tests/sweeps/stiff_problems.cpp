// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <support/stiff_problems.hpp>
#include <tool/systems/brusselator.hpp>
#include <tool/systems/e5.hpp>
#include <tool/systems/orego.hpp>
#include <tool/systems/robertson.hpp>

/// Those of up to 4 states; stiff_problems_large.cpp has the others.
namespace gradsolve::test {
namespace {

// The loss's derivative is 1e13 where b is 1e-13, which magnifies the rounding of the adjoint.
struct Robertson {
  using System = tool::Robertson;
  static constexpr const char* name = "robertson";
  static constexpr Options options{.rtol = 1e-10, .atol = 1e-20};
  static constexpr double value = 1e-9, slope = 2e-6, rounding = 2e-6, drift = 1e-13;
  static constexpr double invariant[] = {1, 1, 1};  // mass
};

struct Orego {
  using System = tool::Orego;
  static constexpr const char* name = "orego";
  static constexpr Options options{.rtol = 1e-10, .atol = 1e-10};
  static constexpr double value = 1e-9, slope = 1e-8, rounding = 1e-11, drift = 0;
  static constexpr double invariant[3] = {};
};

// Where the invariant is broken, the solution is 1e13 times as sensitive as along it, and rounding
// breaks it a little in every step: the number 1 / (gamma h) is lost beside C in the matrix that
// the method inverts. Tighter tolerances help no further.
struct E5 {
  using System = tool::E5;
  static constexpr const char* name = "e5";
  static constexpr Options options{.rtol = 1e-12, .atol = 1e-28};
  static constexpr double value = 1e-7, slope = 2e-5, rounding = 2e-5, drift = 1e-7;
  static constexpr double invariant[] = {0, 1, -1, -1};
};

struct Brusselator {
  using System = tool::Brusselator;
  static constexpr const char* name = "brusselator";
  static constexpr Options options{.rtol = 1e-10, .atol = 1e-12};
  static constexpr double value = 1e-7, slope = 1e-7, rounding = 1e-11, drift = 0;
  static constexpr double invariant[2] = {};
};

using Small = ::testing::Types<Robertson, Orego, E5, Brusselator>;
INSTANTIATE_TYPED_TEST_SUITE_P(Small, StiffProblem, Small, NameOfProblem);

}  // namespace
}  // namespace gradsolve::test
