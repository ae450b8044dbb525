// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gradsolve/gradsolve.hpp>

#include <gtest/gtest.h>

#include <support/ensembles.hpp>
#include <support/host.hpp>
#include <support/solved.hpp>
#include <support/systems.hpp>

/// The choice of steps and the arithmetic of time: problems that users of other solvers have
/// reported. Most names begin with the number of the report in our collection.
namespace gradsolve::test {
namespace {

/// Decay, which is NaN outside [low, high].
struct DecayWithin {
  static constexpr int num_states = 1, num_params = 1;
  double low, high;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 1> operator()(const T& t, const State<T, 1>& u,
                                                     const Params<T, 1>& p) const {
    return {select(t < T(low) || t > T(high), T(not_a_number()), -p[0] * u[0])};
  }
};

template <class M>
void expect_no_call_outside_the_span(double t0, double t1) {
  const DecayWithin f{std::fmin(t0, t1), std::fmax(t0, t1)};
  for (const FirstStep rule : {FirstStep::span_over_100, FirstStep::hairer})
    for (const double factor : {0.0, 0.37, 0.9999999, 1.0, 3.0})
      for (const double bound : {0.0, 0.5}) {
        const double span = std::abs(t1 - t0);
        const Options options{.rtol = 1e-5,
                              .atol = 1e-8,
                              .first_step = factor * span,
                              .max_step = bound * span,
                              .first_step_rule = rule};
        const auto r = solve<M>(f, {1.0}, {-2.0}, t0, t1, options);
        const auto free = solve<M>(Decay{}, {1.0}, {-2.0}, t0, t1, options);
        EXPECT_EQ(r.status, Status::success) << M::name;
        EXPECT_EQ(r.rejected, free.rejected) << M::name;  // none because of a NaN
        ASSERT_EQ(r.ends.size(), free.ends.size()) << M::name;
        for (std::size_t k = 0; k < r.ends.size(); ++k)  // the two are compiled apart
          EXPECT_NEAR(r.ends[k], free.ends[k], 1e-12 * span) << M::name;
        EXPECT_TRUE(std::isfinite(r.dparams[0])) << M::name;
        EXPECT_NEAR(r.u[0], std::exp(2 * (t1 - t0)), 1e-4 * r.u[0]) << M::name;
      }
}

TEST(TimeArithmetic, A4D1NoCallOutsideTheSpan) {
  expect_no_call_outside_the_span<Tsit5>(0.0, 1e-4);
  expect_no_call_outside_the_span<Tsit5>(0.3, 1.7);
  expect_no_call_outside_the_span<Verner9>(0.7, -0.4);
  expect_no_call_outside_the_span<Dop853>(0.1, 0.7);
}

TEST(FirstStepRule, D3StartsFromZero) {
  for (const FirstStep rule : {FirstStep::span_over_100, FirstStep::hairer}) {
    const Options options{.rtol = 1e-8, .atol = 1e-10, .first_step_rule = rule};
    for (const double rate : {1.0, 1e-300, 0.0}) {
      const auto r = solve(ConstantAndDecay{}, {0.0, 1.0}, {rate}, 0.0, 1.0, options);
      EXPECT_EQ(r.status, Status::success);
      EXPECT_LT(r.steps, 100);
      EXPECT_LE(relative_difference(r.u[0], rate), 1e-12);
      EXPECT_NEAR(r.u[1], std::exp(-1.0), 1e-7);
      const auto still = solve(ConstantAndDecay{}, {0.0, 0.0}, {rate}, 0.0, 1.0, options);
      EXPECT_EQ(still.status, Status::success);
      EXPECT_LT(still.steps, 30);
      EXPECT_EQ(still.u[1], 0.0);
      double t = 0;
      for (const double end : still.ends) {
        EXPECT_GT(end, t);
        t = end;
      }
    }
  }
}

TEST(StepBounds, D5AtTheSmallestStepTheErrorTestEndsIt) {
  const double t0 = 967.1378944377053, dt = 0.2;
  ASSERT_GT((t0 + dt) - t0, dt);  // by rounding
  const auto r = solve(Relaxation{}, {0.0}, {10.0}, t0, t0 + 5,
                       {.rtol = 1e-10, .atol = 1e-10, .min_step = dt, .max_steps = 1000});
  EXPECT_EQ(r.status, Status::step_too_small);
  EXPECT_LT(r.steps + r.rejected, 30);
}

TEST(StepBounds, D6TheLastStepMayBeSmallerThanTheSmallest) {
  const auto r =
      solve(Decay{}, {1.0}, {0.1}, 0.0, 1.0,
            {.rtol = 1e-4, .atol = 1e-4, .first_step = 0.7, .min_step = 0.7, .max_step = 0.7});
  EXPECT_EQ(r.status, Status::success);
  ASSERT_EQ(r.steps, 2);
  EXPECT_EQ(r.ends[0], 0.7);
  EXPECT_EQ(r.ends[1], 1.0);
}

TEST(StepBounds, LargestStepIsKept) {
  for (const double t1 : {1.0, -1.0}) {
    const auto r = solve(Decay{}, {1.0}, {0.01}, 0.0, t1, {.rtol = 1e-3, .max_step = 0.125});
    EXPECT_EQ(r.status, Status::success);
    double t = 0;
    for (const double end : r.ends) {
      EXPECT_LE(std::abs(end - t), 0.125 + 1e-15);
      t = end;
    }
  }
}

/// y' = -p (y - 1)
struct ToOne {
  static constexpr int num_states = 1, num_params = 1;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 1> operator()(const T&, const State<T, 1>& u,
                                                     const Params<T, 1>& p) const {
    return {p[0] * (T(1) - u[0])};
  }
};

TEST(StepChoice, D9AFirstStepJustShortOfTheSpan) {
  for (const double rate : {1e2, 1e3, 1e4, 1e5, 1e6}) {
    const auto r = solve(ToOne{}, {0.0}, {rate}, 0.0, 0.05,
                         {.rtol = 1e-6, .atol = 1e-9, .first_step = 0.05 * (1 - 1e-7)});
    EXPECT_EQ(r.status, Status::success) << rate;
    EXPECT_GT(r.rejected, 0) << rate;
    EXPECT_NEAR(r.u[0], 1 - std::exp(-0.05 * rate), 1e-5) << rate;
  }
}

TEST(StepChoice, D10AFirstStepAsLongAsTheSpanIsTested) {
  const auto r =
      solve(Relaxation{}, {0.0}, {50.0}, 0.0, 1.0, {.rtol = 1e-8, .atol = 1e-8, .first_step = 1.0});
  EXPECT_EQ(r.status, Status::success);
  EXPECT_GT(r.rejected, 0);
  const double exact = (2500 * std::cos(1.0) + 50 * std::sin(1.0)) / 2501;  // C e^-50 is nothing
  EXPECT_NEAR(r.u[0], exact, 1e-6);
}

TEST(TimeArithmetic, D13AStepBelowTheRoundingOfTimeIsAStall) {
  const auto r = solve<Tsit5, Relaxation, float>(Relaxation{}, {std::cos(16384.0f)}, {1e4f},
                                                 16384.0f, 16385.0f, {.rtol = 1e-4, .atol = 1e-6});
  EXPECT_EQ(r.status, Status::stalled);
  EXPECT_LT(r.steps + r.rejected, 10'000);
  const auto wide = solve(Relaxation{}, {std::cos(16384.0)}, {1e4}, 16384.0, 16385.0,
                          {.rtol = 1e-8, .atol = 1e-10});
  EXPECT_EQ(wide.status, Status::success);
  EXPECT_NEAR(wide.u[0], 0.0234130627264606, 1e-8);
}

TEST(TimeArithmetic, AFirstStepBelowTheRoundingOfTimeIsAStall) {
  const auto r = solve(Decay{}, {1.0}, {0.1}, 1e16, 1e16 + 40, {.first_step = 0.1});
  EXPECT_EQ(r.status, Status::stalled);
}

/// y' = sin t - y
struct SineRelaxation {
  static constexpr int num_states = 1, num_params = 0;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 1> operator()(const T& t, const State<T, 1>& u,
                                                     const Params<T, 0>&) const {
    using gradsolve::sin;
    return {sin(t) - u[0]};
  }
};

TEST(TimeArithmetic, D16AToleranceBelowTheRoundingEnds) {
  const auto r = solve<Tsit5, SineRelaxation, float>(
      SineRelaxation{}, {1.0f}, {}, 1.0f, 2.0f, {.rtol = 1e-13, .atol = 1e-13, .max_steps = 5000});
  EXPECT_TRUE(r.status == Status::stalled || r.status == Status::max_steps) << name(r.status);
  EXPECT_LE(r.steps + r.rejected, 5000);
  EXPECT_TRUE(std::isfinite(r.u[0]));
}

TEST(StepChoice, D17ControllersDoNotAlternate) {
  for (const Controller& controller : {Controller::I(), Controller::PI(), Controller::PID()}) {
    const auto r = solve<BogackiShampine3>(SineRelaxation{}, {1.0}, {}, 0.0, 20.0,
                                           {.rtol = 1e-5, .atol = 1e-8, .controller = controller});
    EXPECT_EQ(r.status, Status::success);
    EXPECT_NEAR(r.u[0], (std::sin(20.0) - std::cos(20.0)) / 2, 1e-4);
    for (std::size_t i = 4; i + 1 < r.ends.size(); ++i) {  // the last one is cut
      const double h0 = r.ends[i - 1] - r.ends[i - 2], h1 = r.ends[i] - r.ends[i - 1];
      EXPECT_LT(std::fmax(h1 / h0, h0 / h1), 2) << "step " << i;
    }
  }
}

TEST(Limits, D20AStiffMemberEndsAlone) {
  const int n = 7, bad = 3;
  std::vector<std::vector<double>> rates(n, {2.0});
  auto inputs =
      Inputs<double>{matrix<double>(n, 1, [](int i, int) { return 0.1 * i; }), matrix(rates)};
  const Options options{.rtol = 1e-6, .atol = 1e-9, .max_steps = 10'000};
  const auto without = record(Exec(), Relaxation{}, Tsit5{}, inputs.ensemble(0.0, 1.0), options);
  rates[bad] = {1e9};
  inputs.params = matrix(rates);
  const auto with = record(Exec(), Relaxation{}, Tsit5{}, inputs.ensemble(0.0, 1.0), options);
  const auto status = on_host(with.status);
  const auto steps = on_host(with.num_steps), rejected = on_host(with.num_rejected);
  const auto a = on_host(with.states), b = on_host(without.states);
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(status(i), i == bad ? Status::max_steps : Status::success);
    if (i != bad) {
      EXPECT_TRUE(same_row(a, i, b, i));
    }
  }
  EXPECT_EQ(steps(bad) + rejected(bad), 10'000);
}

TEST(Limits, MaxStepsCountsAttempts) {
  const auto free = solve(LotkaVolterra{}, {1.0, 1.0}, {1.5, 1.0, 3.0, 1.0}, 0.0, 10.0, {});
  ASSERT_EQ(free.status, Status::success);
  ASSERT_GT(free.rejected, 0);
  const int attempts = free.steps + free.rejected;
  const auto just =
      solve(LotkaVolterra{}, {1.0, 1.0}, {1.5, 1.0, 3.0, 1.0}, 0.0, 10.0, {.max_steps = attempts});
  EXPECT_EQ(just.status, Status::success);
  EXPECT_EQ(just.ends, free.ends);
  const auto less = solve(LotkaVolterra{}, {1.0, 1.0}, {1.5, 1.0, 3.0, 1.0}, 0.0, 10.0,
                          {.max_steps = attempts - 1});
  EXPECT_EQ(less.status, Status::max_steps);
  EXPECT_EQ(less.steps, free.steps - 1);
  EXPECT_TRUE(std::isnan(less.du0[0]));
  for (int i = 0; i < less.steps; ++i) EXPECT_EQ(less.ends[i], free.ends[i]);
}

TEST(BadInput, D21OfOneTrajectoryIsItsStatus) {
  const int n = 12;
  const std::vector<double> p{1.5, 1.0, 3.0, 1.0};
  std::vector<double> t0(n, 0.0), t1(n, 3.0);
  t0[1] = nan_value;
  t1[3] = nan_value;
  t1[4] = infinity;
  t0[6] = -infinity;
  const auto u0 = matrix<double>(n, 2, [](int i, int j) {
    return i == 8 && j == 1 ? infinity : i == 9 ? nan_value : 1.0;
  });
  const auto params =
      matrix<double>(n, 4, [&](int i, int j) { return i == 11 && j == 2 ? nan_value : p[j]; });
  const Ensemble ensemble(u0, params, column(t0), column(t1));
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble);
  const auto slopes = gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{});
  const auto status = on_host(recorded.status);
  const auto steps = on_host(recorded.num_steps);
  const auto states = on_host(recorded.states), start = on_host(u0);
  const auto loss = on_host(slopes.loss);
  const auto du0 = on_host(slopes.u0), dparams = on_host(slopes.params);
  for (int i = 0; i < n; ++i) {
    const bool bad = i == 1 || i == 3 || i == 4 || i == 6 || i == 8 || i == 9 || i == 11;
    EXPECT_EQ(status(i), bad ? Status::bad_input : Status::success) << i;
    EXPECT_EQ(std::isnan(loss(i)), bad) << i;
    EXPECT_EQ(std::isnan(du0(i, 0)), bad) << i;
    EXPECT_EQ(std::isnan(dparams(i, 3)), bad) << i;
    if (bad) {
      EXPECT_EQ(steps(i), 0) << i;
      EXPECT_TRUE(same_row(states, i, start, i)) << i;
    } else {
      EXPECT_TRUE(same_row(states, i, states, 0)) << i;
      EXPECT_TRUE(same_row(dparams, i, dparams, 0)) << i;
    }
  }
}

}  // namespace
}  // namespace gradsolve::test
