// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gradsolve/gradsolve.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <support/ensembles.hpp>
#include <support/host.hpp>
#include <support/systems.hpp>

/// What is refused, and that the message names the argument, its value and what was expected.
namespace gradsolve::test {
namespace {

/// The message of what `call` throws; empty where it does not.
std::string complaint(const std::function<void()>& call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return {};
}

void expect_refusal(const std::function<void()>& call, const std::string& argument,
                    const std::string& value, const std::string& expected) {
  const std::string text = complaint(call);
  if (text.empty()) {
    ADD_FAILURE() << "nothing refused " << argument << " = " << value;
    return;
  }
  EXPECT_EQ(text.rfind("gradsolve::", 0), 0u) << text;
  const auto at = text.find(": " + argument + " is " + value);
  EXPECT_NE(at, std::string::npos) << text << "\nshould say: " << argument << " is " << value;
  EXPECT_NE(text.find(expected, at == std::string::npos ? 0 : at), std::string::npos)
      << text << "\nshould say: expected " << expected;
}

constexpr int n = 5;
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

void record_with(const Options& options) {
  record(Exec(), LotkaVolterra{}, Tsit5{}, lotka_volterra(n).ensemble(0.0, 1.0), options);
}

TEST(Options, OutOfRangeAreRefused) {
  struct Case {
    Options options;
    const char *name, *value, *expected;
  };
  const Case cases[] = {
      {{.rtol = -1e-6}, "options.rtol", "-1e-06", ">= 0"},
      {{.rtol = nan_value}, "options.rtol", "nan", ">= 0"},
      {{.rtol = inf}, "options.rtol", "inf", ">= 0"},
      {{.atol = -1e-6}, "options.atol", "-1e-06", ">= 0"},
      {{.atol = nan_value}, "options.atol", "nan", ">= 0"},
      {{.rtol = 0, .atol = 0}, "options.rtol", "0", "> 0 where atol is 0"},
      {{.first_step = -0.1}, "options.first_step", "-0.1", "> 0"},
      {{.first_step = nan_value}, "options.first_step", "nan", "> 0"},
      {{.min_step = -0.1}, "options.min_step", "-0.1", ">= 0"},
      {{.min_step = inf}, "options.min_step", "inf", ">= 0"},
      {{.max_step = -0.1}, "options.max_step", "-0.1", "> 0"},
      {{.max_step = nan_value}, "options.max_step", "nan", "> 0"},
      {{.min_step = 0.2, .max_step = 0.1}, "options.min_step", "0.2", "at most options.max_step"},
      {{.max_steps = 0}, "options.max_steps", "0", "> 0"},
      {{.max_steps = -7}, "options.max_steps", "-7", "> 0"},
      {{.fixed_steps = -1}, "options.fixed_steps", "-1", "> 0"},
      {{.fixed_step = -0.5}, "options.fixed_step", "-0.5", "> 0"},
      {{.fixed_step = nan_value}, "options.fixed_step", "nan", "> 0"},
      {{.fixed_steps = 3, .fixed_step = 0.5}, "options.fixed_step", "0.5", "0 where"},
      {{.controller = {.safety = 0}}, "options.controller.safety", "0", "(0, 1]"},
      {{.controller = {.safety = nan_value}}, "options.controller.safety", "nan", "(0, 1]"},
      {{.controller = {.safety = 1.5}}, "options.controller.safety", "1.5", "(0, 1]"},
      {{.controller = {.min_factor = 1}}, "options.controller.min_factor", "1", "(0, 1)"},
      {{.controller = {.min_factor = 0}}, "options.controller.min_factor", "0", "(0, 1)"},
      {{.controller = {.max_factor = 0.9}}, "options.controller.max_factor", "0.9", ">= 1"},
      {{.controller = {.max_factor = inf}}, "options.controller.max_factor", "inf", ">= 1"},
      {{.controller = {.integral = 0}},
       "options.controller.integral + proportional + derivative",
       "0",
       "> 0"},
      {{.controller = {.integral = nan_value}},
       "options.controller.integral + proportional + derivative",
       "nan",
       "> 0"},
  };
  for (const Case& c : cases)
    expect_refusal([&] { record_with(c.options); }, c.name, c.value, c.expected);
}

TEST(Options, AMethodWithoutAnErrorEstimateNeedsFixedSteps) {
  const auto ensemble = lotka_volterra(n).ensemble(0.0, 1.0);
  try {
    record(Exec(), LotkaVolterra{}, RK4{}, ensemble);
    FAIL() << "RK4 has no error estimate";
  } catch (const InvalidArgument& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("options.fixed_steps"), std::string::npos) << text;
    EXPECT_NE(text.find("rk4"), std::string::npos) << text;
  }
}

TEST(Options, OnTheirBoundsAreAccepted) {
  record_with({.rtol = 0, .atol = 1e-6});
  record_with({.rtol = 1e-6, .atol = 0});
  record_with({.controller = {.safety = 1, .max_factor = 1}});
  record_with({.min_step = 0.1, .max_step = 0.1});
  record_with({.max_steps = 1});
}

TEST(Ensembles, WhoseArraysDisagreeAreRefused) {
  const auto inputs = lotka_volterra(n);
  const MatrixOf<double> longer("params", n + 1, 4);
  expect_refusal([&] { Ensemble(inputs.u0, longer, 0.0, 1.0); }, "params", "(6, 4)", "5 rows");
  const ColumnOf<double> times("times", n + 2);
  expect_refusal([&] { inputs.ensemble(times, 1.0); }, "t0", "a View of 7", "5");
  expect_refusal([&] { inputs.ensemble(0.0, times); }, "t1", "a View of 7", "5");
}

TEST(Ensembles, OfAnotherSystemAreRefused) {
  const auto two = lotka_volterra(n);
  expect_refusal([&] { record(Exec(), Lorenz{}, Tsit5{}, two.ensemble(0.0, 1.0)); }, "ensemble: u0",
                 "(5, 2)", "3 states");
  expect_refusal([&] { record(Exec(), VanDerPol{}, Tsit5{}, two.ensemble(0.0, 1.0)); },
                 "ensemble: params", "4 parameters", "1");
  const Ensemble shared(two.u0, column<double>({1, 2, 3}), 0.0, 1.0);
  expect_refusal([&] { record(Exec(), LotkaVolterra{}, Tsit5{}, shared); }, "ensemble: params",
                 "3 parameters", "4");
}

TEST(Records, OfAnotherEnsembleAreRefused) {
  const auto ensemble = lotka_volterra(n).ensemble(0.0, 1.0);
  const auto other = lotka_volterra(n + 1).ensemble(0.0, 1.0);
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble);
  const std::string value = "6 trajectories", expected = "5, as many as were recorded";
  expect_refusal([&] { replay(Exec(), LotkaVolterra{}, recorded, other); }, "ensemble", value,
                 expected);
  expect_refusal([&] { gradient(Exec(), LotkaVolterra{}, recorded, other, SquaredNorm{}); },
                 "ensemble", value, expected);
  expect_refusal([&] { vjp(Exec(), LotkaVolterra{}, recorded, other, other.states()); }, "ensemble",
                 value, expected);
  expect_refusal(
      [&] { jvp(Exec(), LotkaVolterra{}, recorded, other, other.states(), other.params()); },
      "ensemble", value, expected);
  const auto lorenz = spread_around(n, {1, 1, 1}, {10, 20, 3}).ensemble(0.0, 1.0);
  expect_refusal([&] { gradient(Exec(), LotkaVolterra{}, recorded, lorenz, SquaredNorm{}); },
                 "ensemble: u0", "(5, 3)", "2 states");
}

TEST(Records, ThatAreEmptyAreRefused) {
  const auto ensemble = lotka_volterra(n).ensemble(0.0, 1.0);
  const Record<Tsit5, double, Memory> empty;
  expect_refusal([&] { gradient(Exec(), LotkaVolterra{}, empty, ensemble, SquaredNorm{}); },
                 "ensemble", "5 trajectories", "0");
}

TEST(Records, InSlicesOfAnotherWidthAreRefused) {
  if (!on_cpu) GTEST_SKIP() << "a GPU has one width";
#if !defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOS_ENABLE_HIP)
  const auto ensemble = lotka_volterra(n).ensemble(0.0, 1.0);
  const auto recorded = record<1>(Exec(), LotkaVolterra{}, Tsit5{}, ensemble);
  expect_refusal([&] { replay<2>(Exec(), LotkaVolterra{}, recorded, ensemble); }, "record",
                 "a mesh in slices of 1", "2");
#endif
}

TEST(Directions, OfAnotherShapeAreRefused) {
  const auto ensemble = lotka_volterra(n).ensemble(0.0, 1.0);
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble);
  const MatrixOf<double> none, wide("wide", n, 3), tall("tall", n + 1, 2);
  expect_refusal([&] { jvp(Exec(), LotkaVolterra{}, recorded, ensemble, wide, none); }, "du0",
                 "(5, 3)", "(5, 2)");
  expect_refusal([&] { jvp(Exec(), LotkaVolterra{}, recorded, ensemble, tall, none); }, "du0",
                 "(6, 2)", "(5, 2)");
  expect_refusal([&] { jvp(Exec(), LotkaVolterra{}, recorded, ensemble, none, wide); }, "dparams",
                 "(5, 3)", "(5, 4)");
  expect_refusal([&] { vjp(Exec(), LotkaVolterra{}, recorded, ensemble, wide); }, "cotangents",
                 "(5, 3)", "(5, 2)");
}

TEST(Complaints, NameTheFunctionThatWasCalled_AndTheNumberAsItIs) {
  const auto inputs = lotka_volterra(3), wrong = lotka_volterra(4);
  const auto ensemble = inputs.ensemble(0.0, 0.3);
  const LotkaVolterra system;
  const auto recorded = record(Exec(), system, Tsit5{}, ensemble);
  EXPECT_EQ(complaint([&] { solve(Exec(), system, Tsit5{}, ensemble, {.rtol = -1}); }),
            "gradsolve::solve: options.rtol is -1, expected a number >= 0");
  EXPECT_EQ(complaint([&] { save_times(Exec(), ensemble, std::vector{3 * 0.1}); }),
            "gradsolve::save_times: times is save 0 of trajectory 0 at 0.30000000000000004, "
            "expected a time within its span, 0 to 0.3");
  EXPECT_EQ(complaint([&] {
              hessian(Exec(), system, recorded, wrong.ensemble(0.0, 0.3), SquaredNorm{});
            }),
            "gradsolve::hessian: ensemble is 4 trajectories, expected 3, as many as were recorded");
  const Kokkos::View<double**, Kokkos::LayoutLeft, Memory> none;
  EXPECT_EQ(complaint([&] { vjp(Exec(), system, recorded, ensemble, none); }),
            "gradsolve::vjp: cotangents is a View without memory, expected (3, 2)");
  EXPECT_EQ(
      complaint([&] { ensemble.range(1, 4); }),
      "gradsolve::Ensemble::range: [begin, end) is [1, 4), expected trajectories of 3, from 0");
  const auto times = save_times(Exec(), ensemble, std::vector{0.1});
  EXPECT_EQ(
      complaint([&] { times.range(2, 1); }),
      "gradsolve::SaveTimes::range: [begin, end) is [2, 1), expected trajectories of 3, from 0");
}

/// The budget of chunks is the user's, and the one that is told serves.
TEST(Complaints, OfChunksTellABudgetThatServes) {
  const auto inputs = lotka_volterra(3);
  const auto ensemble = inputs.ensemble(0.0, 4.0);
  ChunkedGradient<> out;
  const auto in_chunks = [&](std::size_t budget) {
    record_and_gradient_in_chunks(Exec(), LotkaVolterra{}, Tsit5{}, ensemble,
                                  {.memory_budget = budget}, SquaredNorm{}, out);
  };
  const std::string what = complaint([&] { in_chunks(64); }), least = "expected at least ";
  EXPECT_EQ(
      what.rfind("gradsolve::record_and_gradient_in_chunks: options.memory_budget is 64 bytes", 0),
      0u)
      << what;
  const std::size_t enough = std::stoull(what.substr(what.find(least) + least.size()));
  in_chunks(enough);
  EXPECT_TRUE(finite_everywhere(out.u0));
  EXPECT_THROW(in_chunks(enough - 2), InvalidArgument);
}

/// Tolerances that are zero in float32.
TEST(Complaints, OfTolerancesThatVanishInTheNumberType) {
  const Kokkos::View<float**, Kokkos::LayoutLeft, Memory> u0("u0", 2, 2), params("params", 2, 4);
  const Ensemble ensemble(u0, params, 0.0f, 1.0f);
  EXPECT_THROW(record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, {.rtol = 0, .atol = 1e-50}),
               InvalidArgument);
}

}  // namespace
}  // namespace gradsolve::test
