// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a user reads when an option makes no sense, and what a status says.
#include <gradsolve/record.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>

namespace {

using gradsolve::Controller;
using gradsolve::InvalidArgument;
using gradsolve::Options;
using gradsolve::Status;

/// What check_options says; "" where it says nothing.
std::string complaint(const Options& options, bool has_error_estimate = true) {
  try {
    gradsolve::detail::check_options("a_function", options, "the_method", has_error_estimate);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

struct Refusal {
  const char* what;  // of the test
  Options options;
  const char *argument, *value, *expected;
};

std::ostream& operator<<(std::ostream& out, const Refusal& refusal) { return out << refusal.what; }

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Options with(Controller controller) {
  Options options;
  options.controller = controller;
  return options;
}

const Refusal refusals[] = {
    {"NegativeRtol", {.rtol = -1e-6}, "options.rtol", "-1e-06", "a number >= 0"},
    {"NaNRtol", {.rtol = nan}, "options.rtol", "nan", "a number >= 0"},
    {"InfiniteRtol", {.rtol = inf}, "options.rtol", "inf", "a number >= 0"},
    {"NegativeAtol", {.atol = -2}, "options.atol", "-2", "a number >= 0"},
    {"NaNAtol", {.atol = nan}, "options.atol", "nan", "a number >= 0"},
    {"InfiniteAtol", {.atol = inf}, "options.atol", "inf", "a number >= 0"},
    {"NoTolerance", {.rtol = 0, .atol = 0}, "options.rtol", "0", "> 0 where atol is 0"},
    {"NegativeFirstStep",
     {.first_step = -0.5},
     "options.first_step",
     "-0.5",
     "a size > 0, or 0 for the rule"},
    {"NaNFirstStep",
     {.first_step = nan},
     "options.first_step",
     "nan",
     "a size > 0, or 0 for the rule"},
    {"NegativeMinStep", {.min_step = -1}, "options.min_step", "-1", "a size >= 0"},
    {"InfiniteMinStep", {.min_step = inf}, "options.min_step", "inf", "a size >= 0"},
    {"NegativeMaxStep",
     {.max_step = -1},
     "options.max_step",
     "-1",
     "a size > 0, or 0 for no bound"},
    {"InfiniteMaxStep",
     {.max_step = inf},
     "options.max_step",
     "inf",
     "a size > 0, or 0 for no bound"},
    {"MinStepAboveMaxStep",
     {.min_step = 0.5, .max_step = 0.25},
     "options.min_step",
     "0.5",
     "at most options.max_step"},
    {"NoSteps", {.max_steps = 0}, "options.max_steps", "0", "> 0"},
    {"NegativeMaxSteps", {.max_steps = -3}, "options.max_steps", "-3", "> 0"},
    {"NegativeFixedSteps",
     {.fixed_steps = -4},
     "options.fixed_steps",
     "-4",
     "> 0, or 0 for error control"},
    {"NegativeFixedStep",
     {.fixed_step = -0.1},
     "options.fixed_step",
     "-0.1",
     "a size > 0, or 0 for error control"},
    {"MoreFixedStepsThanMaxSteps",
     {.max_steps = 10, .fixed_steps = 11},
     "options.fixed_steps",
     "11",
     "at most options.max_steps"},
    {"NaNFixedStep",
     {.fixed_step = nan},
     "options.fixed_step",
     "nan",
     "a size > 0, or 0 for error control"},
    {"BothFixed",
     {.fixed_steps = 10, .fixed_step = 0.1},
     "options.fixed_step",
     "0.1",
     "0 where options.fixed_steps is given"},
    {"NoSafety", with({.safety = 0}), "options.controller.safety", "0", "in (0, 1]"},
    {"SafetyAboveOne", with({.safety = 1.5}), "options.controller.safety", "1.5", "in (0, 1]"},
    {"NaNSafety", with({.safety = nan}), "options.controller.safety", "nan", "in (0, 1]"},
    {"NoMinFactor", with({.min_factor = 0}), "options.controller.min_factor", "0", "in (0, 1)"},
    {"MinFactorOne", with({.min_factor = 1}), "options.controller.min_factor", "1", "in (0, 1)"},
    {"MaxFactorBelowOne", with({.max_factor = 0.5}), "options.controller.max_factor", "0.5",
     ">= 1"},
    {"InfiniteMaxFactor", with({.max_factor = inf}), "options.controller.max_factor", "inf",
     ">= 1"},
    {"NoExponent", with({.integral = 0}), "options.controller.integral + proportional + derivative",
     "0", "> 0"},
    {"NegativeExponent", with({.integral = 1, .proportional = -2, .derivative = 0.5}),
     "options.controller.integral + proportional + derivative", "-0.5", "> 0"},
    {"NaNExponent", with({.proportional = nan}),
     "options.controller.integral + proportional + derivative", "nan", "> 0"},
};

struct Refusals : ::testing::TestWithParam<Refusal> {};

TEST_P(Refusals, NameTheArgumentItsValueAndWhatIsExpected_ForEachOption) {
  const Refusal& refusal = GetParam();
  EXPECT_EQ(complaint(refusal.options), std::string("gradsolve::a_function: ") + refusal.argument +
                                            " is " + refusal.value + ", expected " +
                                            refusal.expected);
}
INSTANTIATE_TEST_SUITE_P(Options, Refusals, ::testing::ValuesIn(refusals),
                         [](const auto& info) { return std::string(info.param.what); });

TEST(Refusals, NameTheMethod_WhereItHasNoErrorEstimateAndStepsAreNotFixed) {
  EXPECT_EQ(
      complaint({}, false),
      "gradsolve::a_function: options.fixed_steps and options.fixed_step is 0, expected one of "
      "them > 0: the_method has no error estimate");
}

TEST(Options, PassTheCheck_ByDefault) {
  EXPECT_EQ(complaint({}), "");
  EXPECT_FALSE(Options{}.is_fixed());
}

TEST(Options, PassTheCheck_AtTheEdgesOfWhatIsAllowed) {
  EXPECT_EQ(complaint({.rtol = 0}), "");
  EXPECT_EQ(complaint({.atol = 0}), "");
  EXPECT_EQ(complaint({.min_step = 0.5, .max_step = 0.5}), "");
  EXPECT_EQ(complaint({.min_step = 0.5}), "");
  EXPECT_EQ(complaint({.first_step = 1e300}), "");
  EXPECT_EQ(complaint({.max_steps = 1}), "");
  EXPECT_EQ(complaint(with({.safety = 1, .min_factor = 0.999, .max_factor = 1})), "");
  EXPECT_EQ(complaint(with({.integral = 0, .proportional = 1})), "");
}

TEST(Options, PassTheCheck_WithEveryControllerThatHasAName) {
  EXPECT_EQ(complaint(with(Controller::I())), "");
  EXPECT_EQ(complaint(with(Controller::PI())), "");
  EXPECT_EQ(complaint(with(Controller::PID())), "");
}

TEST(Options, PassTheCheck_WithFixedStepsForAMethodWithoutErrorEstimate) {
  EXPECT_EQ(complaint({.fixed_steps = 1}, false), "");
  EXPECT_EQ(complaint({.fixed_step = 0.1}, false), "");
  EXPECT_TRUE(Options{.fixed_steps = 1}.is_fixed());
  EXPECT_TRUE(Options{.fixed_step = 0.1}.is_fixed());
}

TEST(StatusText, NamesAndDescribes_EveryValue) {
  EXPECT_EQ(gradsolve::name(Status::success), "success");
  EXPECT_EQ(gradsolve::name(Status::max_steps), "max_steps");
  EXPECT_EQ(gradsolve::name(Status::step_too_small), "step_too_small");
  EXPECT_EQ(gradsolve::name(Status::stalled), "stalled");
  EXPECT_EQ(gradsolve::name(Status::non_finite), "non_finite");
  EXPECT_EQ(gradsolve::name(Status::bad_input), "bad_input");
  std::set<std::string_view> names, texts;
  for (int value = 0; value < gradsolve::num_status_values; ++value) {
    names.insert(gradsolve::name(Status(value)));
    texts.insert(gradsolve::describe(Status(value)));
  }
  EXPECT_EQ(names.size(), std::size_t(gradsolve::num_status_values));
  EXPECT_EQ(texts.size(), std::size_t(gradsolve::num_status_values));
  EXPECT_FALSE(names.contains("unknown"));
  EXPECT_FALSE(texts.contains("not a status"));
}

TEST(StatusText, SaysSo_WhereTheValueIsNoStatus) {
  EXPECT_EQ(gradsolve::name(Status(gradsolve::num_status_values)), "unknown");
  EXPECT_EQ(gradsolve::describe(Status(-1)), "not a status");
}

}  // namespace
