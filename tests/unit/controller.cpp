// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Step size control: the factors of Controller in options.hpp, worked out by hand with std::pow.
#include "support/on_device.hpp"
#include <gradsolve/stepping/controller.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

using gradsolve::Controller;
using gradsolve::LaneTraits;
using gradsolve::Pack;
using gradsolve::Params;
using gradsolve::State;
using gradsolve::detail::hairer_first_step;
using gradsolve::detail::inverse_root;
using gradsolve::detail::StepControl;
using gradsolve::detail::StepRules;

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan = std::nan("");

// ---- x^(-1/M)

constexpr int points_a_decade = 40, num_points = 50 * points_a_decade + 1;
double point(int i) { return std::pow(10.0, -20 + double(i) / points_a_decade); }

template <int M>
struct InverseRoots {
  Kokkos::Array<double, num_points> x;
  KOKKOS_FUNCTION Kokkos::Array<double, num_points> operator()() const {
    Kokkos::Array<double, num_points> y;
    for (int i = 0; i < num_points; ++i) y[i] = inverse_root<M>(x[i]);
    return y;
  }
};

template <int M>
void expect_inverse_roots() {
  InverseRoots<M> work;
  for (int i = 0; i < num_points; ++i) work.x[i] = point(i);
  const auto y = on_device(work);
  for (int i = 0; i < num_points; ++i) {
    // In long double: the exponent -1/M alone, rounded to double, would cost 1e-15 at 1e30.
    const long double exact = std::pow(static_cast<long double>(work.x[i]), -1.0L / M);
    ASSERT_NEAR(static_cast<double>(y[i] / exact), 1, 4e-16)
        << "M = " << M << ", x = " << work.x[i];
  }
}

TEST(InverseRoot, EqualsPowToRounding_InItsRange) {
  // Twice the orders of the methods.
  expect_inverse_roots<2>();
  expect_inverse_roots<4>();
  expect_inverse_roots<6>();
  expect_inverse_roots<8>();
  expect_inverse_roots<10>();
  expect_inverse_roots<12>();
  expect_inverse_roots<14>();
  expect_inverse_roots<16>();
  expect_inverse_roots<18>();
}

template <int M>
void expect_inverse_roots_in_float() {
  for (int i = 0; i < num_points; ++i) {
    const float x = static_cast<float>(point(i));
    ASSERT_NEAR(inverse_root<M>(x) / std::pow(double(x), -1.0 / M), 1, 2.4e-7)
        << "M = " << M << ", x = " << x;
  }
}

TEST(InverseRoot, EqualsPowToRounding_InFloat) {
  expect_inverse_roots_in_float<2>();
  expect_inverse_roots_in_float<4>();
  expect_inverse_roots_in_float<6>();
  expect_inverse_roots_in_float<8>();
  expect_inverse_roots_in_float<10>();
  expect_inverse_roots_in_float<12>();
  expect_inverse_roots_in_float<14>();
  expect_inverse_roots_in_float<16>();
  expect_inverse_roots_in_float<18>();
}

#ifndef __CUDACC__  // nvcc refuses packs
/// The bits of a trajectory do not depend on how many share a pack; where multiply-adds are fused,
/// g++ fuses them differently in packs and in scalars (docs/exact.md).
template <int M, class P>
void expect_equal_lanes() {
  using S = gradsolve::ScalarOf<P>;
#ifdef __FP_FAST_FMA
  const S tolerance = 2 * std::numeric_limits<S>::epsilon();
#else
  const S tolerance = 0;
#endif
  for (int i = 0; i + P::width <= num_points; ++i) {
    P x;
    for (int lane = 0; lane < P::width; ++lane) x.set(lane, S(point(i + lane)));
    const P y = inverse_root<M>(x);
    for (int lane = 0; lane < P::width; ++lane) {
      const S alone = inverse_root<M>(x[lane]);
      ASSERT_NEAR(y[lane], alone, tolerance * alone) << "M = " << M << ", x = " << x[lane];
    }
  }
}

TEST(InverseRoot, HasTheBitsOfScalars_InEachLaneOfEveryWidth) {
  expect_equal_lanes<4, Pack<double, 2>>();
  expect_equal_lanes<10, Pack<double, 2>>();
  expect_equal_lanes<10, Pack<double, 4>>();
  expect_equal_lanes<18, Pack<double, 4>>();
  expect_equal_lanes<10, Pack<double, 8>>();
  expect_equal_lanes<10, Pack<float, 4>>();
  expect_equal_lanes<16, Pack<float, 8>>();
}
#endif

// ---- factors

/// One trajectory under control, and the formula beside it.
template <int Order>
struct Controlled {
  Controller c;
  StepControl<Order, double> control;
  std::vector<double> errors{1, 1};  // of the accepted steps

  double factor(double error, bool accepted = true) {
    return control.factor(c, StepRules(c), error * error, accepted, std::isfinite(error * error));
  }

  /// safety e_n^(-b1/q) e_{n-1}^(-b2/q) e_{n-2}^(-b3/q) within its bounds
  double by_hand(double error) {
    const double b1 = c.integral + c.proportional + c.derivative,
                 b2 = -(c.proportional + 2 * c.derivative), b3 = c.derivative;
    const std::size_t n = errors.size();
    const double f = c.safety * std::pow(error, -b1 / Order) *
                     std::pow(errors[n - 1], -b2 / Order) * std::pow(errors[n - 2], -b3 / Order);
    errors.push_back(error);
    return std::clamp(f, c.min_factor, c.max_factor);
  }
};

TEST(IController, HasTheFactorOfItsFormula_WhateverTheError) {
  Controlled<5> x{.c = Controller::I(), .control = {}};
  for (double error : {0.01, 0.5, 1.0, 0.9, 0.2, 0.07})
    EXPECT_NEAR(x.factor(error), 0.9 * std::pow(error, -1.0 / 5), 1e-15 * 5) << error;
  for (double error : {1.5, 3.0, 100.0})
    EXPECT_NEAR(x.factor(error, false), 0.9 * std::pow(error, -1.0 / 5), 1e-15 * 5) << error;
}

TEST(IController, StaysWithinItsBounds_AtExtremeErrors) {
  Controlled<3> x{.c = {.safety = 0.8, .min_factor = 0.25, .max_factor = 3}, .control = {}};
  EXPECT_EQ(x.factor(0), 3);
  EXPECT_EQ(x.factor(1e-300), 3);
  EXPECT_EQ(x.factor(1e-3), 3);
  EXPECT_EQ(x.factor(1e3, false), 0.25);
  EXPECT_EQ(x.factor(1e150, false), 0.25);
  // Between: not clipped.
  EXPECT_NEAR(x.factor(0.1), 0.8 * std::pow(0.1, -1.0 / 3), 1e-15);
}

TEST(IController, UsesItsExponent_WhereTheIntegralIsNotOne) {
  Controlled<5> x{.c = {.integral = 0.7}, .control = {}};
  EXPECT_NEAR(x.factor(0.1), 0.9 * std::pow(0.1, -0.7 / 5), 1e-15);
  // A rejected step does not.
  EXPECT_NEAR(x.factor(10, false), 0.9 * std::pow(10.0, -1.0 / 5), 1e-15);
}

struct NamedController {
  const char* name;
  Controller controller;
};
struct ControllersWithHistory : ::testing::TestWithParam<NamedController> {};
INSTANTIATE_TEST_SUITE_P(Controllers, ControllersWithHistory,
                         ::testing::Values(NamedController{"PI", Controller::PI()},
                                           NamedController{"PID", Controller::PID()},
                                           NamedController{"ID", Controller{.integral = 0.3,
                                                                            .derivative = 0.2}}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(ControllersWithHistory, HaveTheFactorsOfTheirFormula_OverASequenceOfAcceptedSteps) {
  Controlled<5> x{.c = GetParam().controller, .control = {}};
  for (double error : {0.5, 0.9, 0.05, 0.3, 1.0, 0.7, 0.7, 0.001, 0.4})
    EXPECT_NEAR(x.factor(error), x.by_hand(error), 1e-14) << error;
}

TEST_P(ControllersWithHistory, LeaveTheHistoryAlone_WhereAStepIsRejected) {
  Controlled<5> x{.c = GetParam().controller, .control = {}};
  for (double error : {0.5, 0.05}) EXPECT_NEAR(x.factor(error), x.by_hand(error), 1e-14);

  EXPECT_NEAR(x.factor(4, false), 0.9 * std::pow(4.0, -1.0 / 5), 1e-14);
  EXPECT_EQ(x.factor(nan, false), 0.2);
  EXPECT_EQ(x.factor(inf, false), 0.2);

  for (double error : {0.3, 0.6}) EXPECT_NEAR(x.factor(error), x.by_hand(error), 1e-14);
}

TEST(NamedControllers, AreThoseOfArkode_InTheirExponents) {
  auto exponents = [](Controller c) {
    return std::vector<double>{c.integral + c.proportional + c.derivative,
                               -(c.proportional + 2 * c.derivative), c.derivative};
  };
  auto near = [](const std::vector<double>& x, const std::vector<double>& y) {
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], y[i], 1e-15) << i;
  };
  near(exponents(Controller::I()), {1, 0, 0});
  near(exponents(Controller::PI()), {0.8, -0.31, 0});
  near(exponents(Controller::PID()), {0.58, -0.21, 0.1});
}

TEST(Controllers, TakeTheSmallestFactor_WhereTheErrorIsNotFinite) {
  for (const Controller& c : {Controller::I(), Controller::PI(), Controller{.min_factor = 0.5}})
    for (double error : {inf, nan, 1e200}) {  // 1e200 squared is infinite
      Controlled<5> x{.c = c, .control = {}};
      EXPECT_EQ(x.factor(error, false), c.min_factor) << error;
    }
}

#ifndef __CUDACC__  // nvcc refuses packs
TEST(Controllers, HaveTheFactorsOfScalars_InEachLane) {
  using L = Pack<double, 4>;
  const double errors[][4] = {{0.5, 0.1, 3, 0.2}, {0.9, 2, 0.5, 1e-4}, {0.3, 0.3, 0.3, 0.3}};
  const Controller c = Controller::PID();
  StepControl<5, L> together;
  StepControl<5, double> alone[4];
  for (const auto& row : errors) {
    L ratio2;
    for (int lane = 0; lane < 4; ++lane) ratio2.set(lane, row[lane] * row[lane]);
    const L ours =
        together.factor(c, StepRules(c), ratio2, ratio2 <= L(1), gradsolve::is_finite(ratio2));
    for (int lane = 0; lane < 4; ++lane)
      EXPECT_NEAR(ours[lane],
                  alone[lane].factor(c, StepRules(c), row[lane] * row[lane], row[lane] <= 1, true),
                  1e-15)
          << "lane " << lane;
  }
}
#endif

// ---- Hairer's first step

/// u' = f(u), and where f was asked.
template <int N, class Slope>
struct Probed {
  static constexpr int num_states = N, num_params = 0;
  Slope slope;
  std::vector<double>* times;

  State<double, N> operator()(double t, const State<double, N>& u, const Params<double, 0>&) const {
    times->push_back(t);
    return slope(t, u);
  }
};

struct First {
  double size;
  std::vector<double> times;  // of the probes
};

template <int Order = 5, int N, class Slope>
First first_step(Slope slope, double t0, double t1, const State<double, N>& u, double rtol = 1e-6,
                 double atol = 1e-9) {
  First result;
  const Probed<N, Slope> f{slope, &result.times};
  result.size = hairer_first_step<Order>(f, t0, t1, u, Params<double, 0>{}, slope(t0, u),
                                         gradsolve::detail::Tolerances(rtol, atol));
  return result;
}

auto growth = [](double, const State<double, 1>& u) { return State<double, 1>{2 * u[0]}; };

TEST(HairerFirstStep, IsThatOfTheBook_ForGrowth) {
  // Hairer, Norsett, Wanner I, II.4: u = 1, f = 2, f(u + h0 f) = 2 + 4 h0.
  const double scale = 1e-9 + 1e-6, d0 = 1 / scale, d1 = 2 / scale, h0 = 0.01 * d0 / d1;
  const double d2 = (4 * h0 / scale) / h0, h1 = std::pow(0.01 / std::max(d1, d2), 1.0 / 5);
  const auto first = first_step(growth, 0, 10, State<double, 1>{1});
  EXPECT_NEAR(first.size, std::min(100 * h0, h1), 1e-12);
}

TEST(HairerFirstStep, DependsOnTheOrder_AsItsRoot) {
  const double scale = 1e-9 + 1e-6;
  for (double order : {2.0, 8.0}) {
    const double h1 = std::pow(0.01 * scale / 4, 1 / order);
    const double ours = order == 2 ? first_step<2>(growth, 0, 10, State<double, 1>{1}).size
                                   : first_step<8>(growth, 0, 10, State<double, 1>{1}).size;
    EXPECT_NEAR(ours, std::min(0.5, h1), 1e-12) << order;
  }
}

TEST(HairerFirstStep, IsTheSameForwardAndBackward_ForAMirroredProblem) {
  auto decay = [](double, const State<double, 1>& u) { return State<double, 1>{-2 * u[0]}; };
  const auto forward = first_step(growth, 0, 10, State<double, 1>{1});
  const auto backward = first_step(decay, 0, -10, State<double, 1>{1});
  EXPECT_GT(backward.size, 0);
  EXPECT_EQ(forward.size, backward.size);
  for (double t : backward.times) EXPECT_LE(t, 0);
}

TEST(HairerFirstStep, NeverAsksBeyondTheSpan_HoweverShortItIs) {
  // A right-hand side that is undefined after t1: a table, a square root.
  const auto tiny = first_step(growth, 0, 1e-4, State<double, 1>{1});
  EXPECT_LE(tiny.size, 1e-4);
  ASSERT_EQ(tiny.times.size(), 1u);
  EXPECT_LE(tiny.times[0], 1e-4);

  // Slopes so small that the probe goes to t1; and t0 + (t1 - t0) rounds to either side of it.
  auto slow = [](double, const State<double, 1>& u) { return State<double, 1>{1e-6 * u[0]}; };
  std::mt19937 random(3);
  std::uniform_real_distribution<double> number(-1, 1);
  for (int i = 0; i < 10'000; ++i) {
    const double t0 = 0.01 * number(random), t1 = number(random);
    for (double t : first_step(slow, t0, t1, State<double, 1>{1}).times) {
      ASSERT_LE(t, std::max(t0, t1)) << t0 << " to " << t1;
      ASSERT_GE(t, std::min(t0, t1)) << t0 << " to " << t1;
    }
  }
}

TEST(HairerFirstStep, IsPositiveAndWithinTheSpan_WhereStateOrSlopeVanish) {
  auto one = [](double, const State<double, 1>&) { return State<double, 1>{1}; };
  auto mixed = [](double, const State<double, 2>& u) { return State<double, 2>{1, -u[1]}; };
  auto nearly_nothing = [](double, const State<double, 1>&) { return State<double, 1>{1e-300}; };
  auto nothing = [](double, const State<double, 1>&) { return State<double, 1>{0}; };
  for (const double size : {first_step(one, 0, 1, State<double, 1>{0}).size,
                            first_step(mixed, 0, 1, State<double, 2>{0, 1}).size,
                            first_step(nearly_nothing, 0, 1, State<double, 1>{0}).size,
                            first_step(nearly_nothing, 0, 1, State<double, 1>{1}).size,
                            first_step(nothing, 0, 1, State<double, 1>{0}).size,
                            first_step(one, 0, 1, State<double, 1>{0}, 1e-6, 0).size}) {
    EXPECT_GT(size, 0);
    EXPECT_LE(size, 1);
  }
}

TEST(HairerFirstStep, IsAHundredthOfTheSpan_WhereTheSlopeOverflows) {
  // h0 becomes 0, and nothing is left to go by.
  auto steep = [](double, const State<double, 1>&) { return State<double, 1>{1e300}; };
  EXPECT_EQ(first_step(steep, 0, 2, State<double, 1>{1}).size, 0.02);
}

}  // namespace
