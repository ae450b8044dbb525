// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Derivatives with respect to t0, t1 and save times.
#include <gradsolve/gradsolve.hpp>

#include <support/observed.hpp>
#include <support/systems.hpp>

namespace gradsolve::test {
namespace {

const Options tight{.rtol = 1e-11, .atol = 1e-13};

/// All derivatives of one trajectory.
struct One {
  double loss, t0, t1;
  std::vector<double> u0, params, saves;
};
template <class F, class M = Tsit5, class Loss = FirstState>
One differentiate(const F& f, const std::vector<double>& u0, const std::vector<double>& params,
                  double t0, double t1, const Options& options = tight, const Loss& loss = {}) {
  const Inputs<double> inputs{
      matrix<double>({u0}),
      matrix<double>(1, F::num_params, [&](int, int j) { return params[j]; })};
  const auto ensemble = inputs.ensemble(t0, t1);
  const auto recorded = record(Exec(), f, M{}, ensemble, options);
  const auto g = gradient_with_times(Exec(), f, recorded, ensemble, loss);
  One one{on_host(g.loss)(0), on_host(g.t0)(0), on_host(g.t1)(0), {}, {}, {}};
  const auto du0 = on_host(g.u0), dp = on_host(g.params);
  for (int i = 0; i < F::num_states; ++i) one.u0.push_back(du0(0, i));
  for (int i = 0; i < F::num_params; ++i) one.params.push_back(dp(0, i));
  return one;
}

/// The oracle's derivatives of the final state.
template <class M, class F>
void expect_final_gradient_of_the_oracle(const F& f, const Inputs<double>& inputs,
                                         const std::vector<double>& t0,
                                         const std::vector<double>& t1, const Options& options) {
  const auto ensemble = inputs.ensemble(column(t0), column(t1));
  const auto recorded = record(Exec(), f, M{}, ensemble, options);
  const auto g = gradient_with_times(Exec(), f, recorded, ensemble, SquaredNorm{});
  const auto plain = gradient(Exec(), f, recorded, ensemble, SquaredNorm{});
  const auto dt0 = on_host(g.t0), dt1 = on_host(g.t1);
  const auto du0 = on_host(g.u0), dp = on_host(g.params), plain_dp = on_host(plain.params);
  const auto u0 = on_host(inputs.u0), params = on_host(inputs.params);
  for (int i = 0; i < inputs.size(); ++i) {
    const auto ends = step_ends(Exec(), recorded, i);
    const reference::Variables<F, double> v{
        row<F::num_states>(u0, i), row<F::num_params>(params, i), t0[i], t1[i], {}};
    const auto expected = reference::differentiate(v, [&](const auto& w) {
      return SquaredNorm{}(reference::final_state<M>(f, ends, t0[i], t1[i], w));
    });
    auto near = [&](double x, long double y, const char* what) {
      EXPECT_LE(relative_difference(x, y, 0.1L), 1e-11) << M::name << ", " << i << ", " << what;
    };
    near(dt0(i), expected.t0, "t0");
    near(dt1(i), expected.t1, "t1");
    for (int j = 0; j < F::num_states; ++j) near(du0(i, j), expected.u0[j], "u0");
    for (int j = 0; j < F::num_params; ++j) {
      near(dp(i, j), expected.params[j], "params");
      near(plain_dp(i, j), expected.params[j], "params without times");
    }
  }
}

TEST(Times, OfTheFinalState_AreThoseOfTheOracle) {
  constexpr int n = 9;
  const auto inputs = spread_around(n, {0.5, 1.0}, {2.0, 0.7});
  std::vector<double> t0, t1;
  for (int i = 0; i < n; ++i) {
    t0.push_back(0.2 * i);
    t1.push_back(i == 4 ? t0[i] - 1 : t0[i] + 1 + 0.1 * i);
  }
  const Options loose{.rtol = 1e-5, .atol = 1e-7};
  expect_final_gradient_of_the_oracle<BogackiShampine3>(DrivenPendulum{}, inputs, t0, t1, loose);
  expect_final_gradient_of_the_oracle<Tsit5>(DrivenPendulum{}, inputs, t0, t1, loose);
  expect_final_gradient_of_the_oracle<Dop853>(DrivenPendulum{}, inputs, t0, t1, loose);
}

/// y' = y t^2 / p
struct Growth {
  static constexpr int num_states = 1, num_params = 1;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 1> operator()(const T& t, const State<T, 1>& u,
                                                     const Params<T, 1>& p) const {
    return {u[0] * t * t / p[0]};
  }
};

// C6: the signs of all derivatives.
TEST(Times, HaveThePublishedSigns) {
  const One d = differentiate<Growth, Verner7>({}, {7.1}, {2.0}, 0.7, 2.3);
  EXPECT_NEAR(d.loss, 50.9457555855544, 1e-8);
  EXPECT_NEAR(d.u0[0], 7.17545853317667, 1e-8);
  EXPECT_NEAR(d.params[0], -50.1985511702996, 1e-7);
  EXPECT_NEAR(d.t1, 134.751523523791, 1e-6);
  EXPECT_NEAR(d.t0, -12.4817101184608, 1e-7);
}

/// y' = cos(a t)
struct Cosine {
  static constexpr int num_states = 1, num_params = 1;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 1> operator()(const T& t, const State<T, 1>&,
                                                     const Params<T, 1>& p) const {
    using gradsolve::cos;
    return {cos(p[0] * t)};
  }
};

// C9: the derivative in t0 is not zero.
TEST(Times, OfTheBegin_IsMinusF_AtEverySave) {
  const Inputs<double> inputs{matrix<double>({{0.0}}), matrix<double>({{1.5}})};
  const auto ensemble = inputs.ensemble(0.0, 1.1);
  for (const double at : {0.45, 1.1}) {
    const auto times = save_times(Exec(), ensemble, std::vector{at});
    const auto recorded = record(Exec(), Cosine{}, Verner7{}, ensemble, tight);
    const auto g =
        gradient_with_times(Exec(), Cosine{}, recorded, ensemble, at_saves(times, SumOfStates{}));
    EXPECT_NEAR(on_host(g.loss)(0), std::sin(1.5 * at) / 1.5, 1e-10);
    EXPECT_NEAR(on_host(g.t0)(0), -1, 1e-8);
    EXPECT_NEAR(on_host(g.save_times)(0, 0), std::cos(1.5 * at), 1e-8);
    EXPECT_NEAR(on_host(g.t1)(0), 0, 1e-8);
  }
}

// C10: the sum rule of autonomous systems holds for the discrete derivatives, exactly.
TEST(Times, OfAnAutonomousSystem_SumToZero) {
  constexpr int n = 6;
  const auto inputs = spread_around(n, {1.0, 0.5}, {-0.5, 1.0, -2.0, 0.3});
  const auto ensemble = inputs.ensemble(0.25, 2.0);
  const auto times = save_times(Exec(), ensemble, std::vector{0.25, 0.7, 1.1, 1.1, 2.0});
  const auto recorded = record(Exec(), Linear{}, Tsit5{}, ensemble, {.rtol = 1e-5, .atol = 1e-8});
  const auto g =
      gradient_with_times(Exec(), Linear{}, recorded, ensemble, at_saves(times, SumOfStates{}));
  const auto t0 = on_host(g.t0), t1 = on_host(g.t1);
  const auto saves = on_host(g.save_times);
  for (int i = 0; i < n; ++i) {
    double sum = t0(i) + t1(i), size = std::abs(t0(i)) + std::abs(t1(i));
    for (int k = 0; k < 5; ++k) {
      sum += saves(i, k);
      size += std::abs(saves(i, k));
    }
    EXPECT_NEAR(sum, 0, 1e-13 * size) << i;
  }
}

// The continuous limit: d u(t1) / d t1 = f(t1, u1), d u(t1) / d t0 = -(du/du0) f(t0, u0).
TEST(Times, TendToThoseOfTheSolution) {
  const One d = differentiate<VanDerPol, Verner9>({}, {1.5, 0.5}, {2.0}, 0.0, 3.0);
  const Inputs<double> inputs{matrix<double>({{1.5, 0.5}}), matrix<double>({{2.0}})};
  const auto recorded = record(Exec(), VanDerPol{}, Verner9{}, inputs.ensemble(0.0, 3.0), tight);
  const auto end = on_host(recorded.states);
  EXPECT_NEAR(d.t1, end(0, 1), 1e-7);
  const auto f0 = VanDerPol{}(0.0, State<double, 2>{1.5, 0.5}, Params<double, 1>{2.0});
  EXPECT_NEAR(d.t0, -(d.u0[0] * f0[0] + d.u0[1] * f0[1]), 1e-6);
}

// B1: a span without length.
TEST(Times, OfAnEmptySpan_AreF) {
  const One d = differentiate<Linear, Tsit5>({}, {3.0, 1.0}, {-2.0, 1.0, 0.0, 0.0}, 1.5, 1.5);
  const double f = -2.0 * 3.0 + 1.0;
  EXPECT_EQ(d.loss, 3.0);
  EXPECT_EQ(d.u0[0], 1.0);
  EXPECT_EQ(d.params[0], 0.0);
  EXPECT_EQ(d.t1, f);
  EXPECT_EQ(d.t0, -f);
}

// A4: d y / d t1 = f(t1).
TEST(Times, OfAFunctionThatStartsAtT0_StayWithinTheSpan) {
  const One d = differentiate<SquareRootOfTime>({}, {1.0}, {0.5}, 0.0, 8e-3);
  EXPECT_NEAR(d.loss, 1.0002385139176, 1e-9);
  EXPECT_NEAR(d.params[0], 4.77027835199950e-4, 1e-9);
  EXPECT_NEAR(d.t1, 0.0447213595499958, 1e-6);
}

TEST(MovedSpan, ReplaysTheSameStepsInProportion) {
  constexpr int n = 13;
  const auto inputs = spread_around(n, {0.5, 1.0}, {2.0, 0.7});
  std::vector<double> t0(n, 0.0), t1(n, 2.0);
  for (int i = 0; i < n; i += 3) {
    t0[i] = 0.125;
    t1[i] = 2.5;
  }
  const auto recorded =
      record(Exec(), DrivenPendulum{}, Tsit5{}, inputs.ensemble(0.0, 2.0), {.rtol = 1e-5});
  const auto moved = inputs.ensemble(column(t0), column(t1));
  const auto times = save_times(Exec(), moved, std::vector{0.5, 2.0});
  const auto here = replay(Exec(), DrivenPendulum{}, recorded, moved, times);
  const auto still = replay(Exec(), DrivenPendulum{}, recorded, inputs.ensemble(0.0, 2.0));
  const auto states = on_host(here.states), old = on_host(still.states);
  const auto saved = cube_on_host(here.saved);
  const auto u0 = on_host(inputs.u0), params = on_host(inputs.params);
  for (int i = 0; i < n; ++i) {
    if (i % 3 != 0) {
      EXPECT_TRUE(same_row(states, i, old, i)) << i;  // not moved: to the bit
      continue;
    }
    const auto ends = step_ends(Exec(), recorded, i);
    using V = reference::Variables<DrivenPendulum, reference::Real>;
    const V v{reference::convert<reference::Real>(row<2>(u0, i)),
              reference::convert<reference::Real>(row<2>(params, i)),
              t0[i],
              t1[i],
              {0.5, 2.0}};
    const auto expected = reference::final_state<Tsit5>(DrivenPendulum{}, ends, 0, 2, v);
    const auto at = reference::saved_states<Tsit5>(DrivenPendulum{}, ends, 0, 2, v);
    for (int c = 0; c < 2; ++c) {
      EXPECT_NEAR(states(i, c), double(expected[c]), 1e-14) << i;
      for (int k = 0; k < 2; ++k) EXPECT_NEAR(saved(i, k, c), double(at[k][c]), 1e-14) << i;
    }
  }
}

TEST(MovedSpan, OfATrajectoryWithoutSteps_HasNone_WhateverItsNeighboursDo) {
  const auto inputs = lotka_volterra(4);
  const auto t0 = column(std::vector<double>(4, 0.0));
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{},
                               inputs.ensemble(t0, column(std::vector<double>{0, 1, 1, 1})));
  const auto moved = replay(Exec(), LotkaVolterra{}, recorded,
                            inputs.ensemble(t0, column(std::vector<double>(4, 1))));
  const auto states = on_host(moved.states), u0 = on_host(inputs.u0);
  EXPECT_TRUE(same_row(states, 0, u0, 0));
  EXPECT_FALSE(same_row(states, 1, u0, 1));
}

TEST(MovedSpan, ThatLeavesASaveOutside_HasNoLoss) {
  const auto inputs = lotka_volterra(3);
  const auto t0 = column(std::vector<double>(3, 0.0));
  const ColumnOf<double> t1 = column(std::vector<double>(3, 1.0));
  const auto ensemble = inputs.ensemble(t0, t1);
  const auto times = save_times(Exec(), ensemble, std::vector{0.5, 1.0});
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble);
  auto host = Kokkos::create_mirror(Kokkos::HostSpace(), t1);
  host(0) = 1.0;
  host(1) = 0.75;  // the second save is beyond it now
  host(2) = 1.25;
  Kokkos::deep_copy(t1, host);
  const auto g =
      gradient(Exec(), LotkaVolterra{}, recorded, ensemble, at_saves(times, SumOfStates{}));
  const auto saved = cube_on_host(replay(Exec(), LotkaVolterra{}, recorded, ensemble, times).saved);
  const auto loss = on_host(g.loss);
  const auto du0 = on_host(g.u0);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(std::isnan(loss(i)), i == 1) << i;
    EXPECT_EQ(std::isnan(du0(i, 0)), i == 1) << i;
    EXPECT_EQ(std::isnan(saved(i, 1, 0)), i == 1) << i;
  }
}

TEST(MovedSpan, BackToTheRecordedOne_IsTheRecordToTheBit) {
  const auto inputs = lotka_volterra(7);
  const auto recorded =
      record(Exec(), LotkaVolterra{}, Tsit5{}, inputs.ensemble(0.0, 2.0), {.rtol = 1e-5});
  Replay<double, Memory> out;
  replay(Exec(), LotkaVolterra{}, recorded, inputs.ensemble(0.0, 2.5), out);
  EXPECT_FALSE(same_bits_everywhere(out.states, recorded.states));
  replay(Exec(), LotkaVolterra{}, recorded, inputs.ensemble(0.0, 2.0), out);
  EXPECT_TRUE(same_bits_everywhere(out.states, recorded.states));
}

}  // namespace
}  // namespace gradsolve::test
