// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Integrals and sensitivities as extra states.
#include <gradsolve/gradsolve.hpp>

#include <support/observed.hpp>
#include <support/systems.hpp>

namespace gradsolve::test {
namespace {

constexpr int n = 9;

/// g = p0 u0^2 + t u1
struct RunningCost {
  template <class T, int N, int P>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const T& t, const State<T, N>& u,
                                           const Params<T, P>& p) const {
    return p[0] * u[0] * u[0] + t * u[1];
  }
};
/// The last state.
struct Last {
  template <class T, int N>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const State<T, N>& u) const {
    return u[N - 1];
  }
};
/// The same system with the integral written out as an ordinary third state.
struct PendulumAndCost {
  static constexpr int num_states = 3, num_params = 2;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 3> operator()(const T& t, const State<T, 3>& u,
                                                     const Params<T, 2>& p) const {
    const State<T, 2> x{u[0], u[1]};
    const State<T, 2> slope = DrivenPendulum{}(t, x, p);
    return {slope[0], slope[1], RunningCost{}(t, x, p)};
  }
};

const WithIntegral with_cost{DrivenPendulum{}, RunningCost{}};

Inputs<double> pendulums() { return spread_around(n, {0.5, 1.0}, {2.0, 0.7}); }

TEST(Integral, ServesOnThePlainRecord_AndItsGradientIsThatOfTheOracle) {
  const auto inputs = pendulums();
  const auto ensemble = inputs.ensemble(0.0, 2.0);
  const auto recorded = record(Exec(), DrivenPendulum{}, Tsit5{}, ensemble, {.rtol = 1e-5});
  const auto g = gradient(Exec(), with_cost, recorded, ensemble, Last{});
  const auto value = on_host(g.loss);
  const auto du0 = on_host(g.u0), dp = on_host(g.params);
  const auto u0 = on_host(inputs.u0), params = on_host(inputs.params);
  ASSERT_EQ(du0.extent(1), 2u);
  for (int i = 0; i < n; ++i) {
    const auto ends = step_ends(Exec(), recorded, i);
    const State<double, 3> start{u0(i, 0), u0(i, 1), 0};
    const auto expected =
        reference::gradient<Tsit5>(PendulumAndCost{}, Last{}, ends, 0.0, start, row<2>(params, i));
    EXPECT_LE(relative_difference(value(i), expected.loss, 0.01L), 1e-12);
    for (int j = 0; j < 2; ++j) {
      EXPECT_LE(relative_difference(du0(i, j), expected.u0[j], 0.01L), 1e-11) << i;
      EXPECT_LE(relative_difference(dp(i, j), expected.params[j], 0.01L), 1e-11) << i;
    }
  }
}

TEST(Integral, IsLeftOutOfTheErrorControl_UnlessAsked) {
  const auto ensemble = pendulums().ensemble(0.0, 5.0);
  const auto plain = record(Exec(), DrivenPendulum{}, Tsit5{}, ensemble);
  const auto with = record(Exec(), with_cost, Tsit5{}, ensemble);
  EXPECT_TRUE(same_bits_everywhere(plain.num_steps, with.num_steps));
  for (int i = 0; i < n; ++i)
    EXPECT_EQ(step_ends(Exec(), plain, i), step_ends(Exec(), with, i)) << i;
  // Asked: the steps of the system that has it as an ordinary state.
  Inputs<double> three;
  const auto u0 = on_host(pendulums().u0);
  three.u0 = matrix<double>(n, 3, [&](int i, int j) { return j < 2 ? u0(i, j) : 0.0; });
  three.params = pendulums().params;
  const auto controlled =
      record(Exec(), with_cost, Tsit5{}, ensemble, {.control_extra_states = true});
  const auto ordinary = record(Exec(), PendulumAndCost{}, Tsit5{}, three.ensemble(0.0, 5.0));
  EXPECT_TRUE(same_bits_everywhere(controlled.num_steps, ordinary.num_steps));
  EXPECT_TRUE(same_bits_everywhere(controlled.states, ordinary.states));
}

struct One {
  template <class T, int N, int P>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const T&, const State<T, N>&,
                                           const Params<T, P>&) const {
    return T(1);
  }
};
TEST(Integral, OfAConstant_IsTheTime) {
  const Inputs<double> inputs{matrix<double>({{1.0}}), matrix<double>({{0.3}})};
  const auto ensemble = inputs.ensemble(1.0, 4.0);
  const auto recorded = record(Exec(), WithIntegral{Decay{}, One{}}, Tsit5{}, ensemble);
  EXPECT_NEAR(on_host(recorded.states)(0, 1), 3.0, 1e-14);
}

TEST(Sensitivities, InTheRecord_AreThoseOfTheReplay) {
  const auto inputs = pendulums();
  const auto ensemble = inputs.ensemble(0.0, 3.0);
  const WithSensitivities<DrivenPendulum, 0, 3> system{};
  const auto with = record(Exec(), system, Tsit5{}, ensemble);
  const auto plain = record(Exec(), DrivenPendulum{}, Tsit5{}, ensemble);
  EXPECT_TRUE(same_bits_everywhere(with.num_steps, plain.num_steps));
  const auto s = sensitivity(Exec(), DrivenPendulum{}, plain, ensemble, {.u0 = {0}, .params = {1}});
  const auto carried = on_host(with.states);
  const auto along = cube_on_host(s.sensitivities);
  for (int i = 0; i < n; ++i)
    for (int column = 0; column < 2; ++column)
      for (int c = 0; c < 2; ++c)
        EXPECT_NEAR(carried(i, 2 + 2 * column + c), along(i, c, column),
                    1e-13 * (1 + std::abs(along(i, c, column))))
            << i;
}

TEST(Sensitivities, InTheErrorControl_TakeTheStepsOfTheWholeSystem) {
  const auto ensemble = pendulums().ensemble(0.0, 3.0);
  const WithSensitivities<DrivenPendulum, 0, 3> system{};
  const auto in =
      record(Exec(), system, Tsit5{}, ensemble, {.rtol = 1e-6, .control_extra_states = true});
  const auto out = record(Exec(), system, Tsit5{}, ensemble, {.rtol = 1e-6});
  EXPECT_FALSE(same_bits_everywhere(in.num_steps, out.num_steps));
  // Both near the truth, taken from a tight solve.
  const auto truth =
      on_host(record(Exec(), system, Verner9{}, ensemble, {.rtol = 1e-12, .atol = 1e-13}).states);
  const auto a = on_host(in.states), b = on_host(out.states);
  for (int i = 0; i < n; ++i)
    for (int c = 0; c < 6; ++c) {
      EXPECT_NEAR(a(i, c), truth(i, c), 1e-4);
      EXPECT_NEAR(b(i, c), truth(i, c), 1e-4);
    }
}

TEST(Sensitivities, OfChosenVariables_AreColumnsOfTheWhole_AndTheAdjointsRows) {
  const auto inputs = lotka_volterra(n);
  const auto ensemble = inputs.ensemble(0.0, 2.0);
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble);
  const auto all =
      cube_on_host(sensitivity(Exec(), LotkaVolterra{}, recorded, ensemble).sensitivities);
  const auto some = cube_on_host(
      sensitivity(Exec(), LotkaVolterra{}, recorded, ensemble, {.u0 = {1}, .params = {3, 0}})
          .sensitivities);
  ASSERT_EQ(all.extent(2), 6u);
  ASSERT_EQ(some.extent(2), 3u);
  const int columns[] = {1, 2 + 3, 2 + 0};
  for (int component = 0; component < 2; ++component) {
    const auto w = matrix<double>(n, 2, [&](int, int c) { return c == component ? 1.0 : 0.0; });
    const auto pulled = vjp(Exec(), LotkaVolterra{}, recorded, ensemble, w);
    const auto du0 = on_host(pulled.u0), dp = on_host(pulled.params);
    for (int i = 0; i < n; ++i) {
      for (int k = 0; k < 3; ++k)
        EXPECT_TRUE(same_bits(some(i, component, k), all(i, component, columns[k])));
      for (int v = 0; v < 6; ++v) {
        const double adjoint = v < 2 ? du0(i, v) : dp(i, v - 2);
        EXPECT_NEAR(all(i, component, v), adjoint, 1e-13 * (1 + std::abs(adjoint))) << i;
      }
    }
  }
  EXPECT_THROW(sensitivity(Exec(), LotkaVolterra{}, recorded, ensemble, {.params = {4}}),
               InvalidArgument);
}

/// u' = p sin u: at u0 = 0 the solution is 0 and du/dp is, while d(du/dp)/du0 = t e^(p t) is not.
struct Sine {
  static constexpr int num_states = 1, num_params = 1;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 1> operator()(const T&, const State<T, 1>& u,
                                                     const Params<T, 1>& p) const {
    using gradsolve::sin;
    return {p[0] * sin(u[0])};
  }
};

TEST(Sensitivities, HaveTheirOwnDerivatives_WhereTheyAreZero) {
  const Inputs<double> inputs{matrix<double>({{0.0}}), matrix<double>({{1.0}})};
  const auto ensemble = inputs.ensemble(0.0, 1.0);
  const WithSensitivities<Sine, 1> system{};
  const auto recorded = record(Exec(), system, Tsit5{}, ensemble, {.fixed_steps = 100});
  const auto g = gradient(Exec(), system, recorded, ensemble, Last{});
  EXPECT_NEAR(on_host(g.u0)(0, 0), std::exp(1.0), 1e-7);
}

TEST(Handles, ThatAreCopied_ServeAsWellAsTheFirst) {
  const auto inputs = lotka_volterra(1000), others = spread_around(1000, {2.0, 0.5}, {1, 1, 1, 1});
  const auto ensemble = inputs.ensemble(0.0, 2.0), other = others.ensemble(0.0, 2.0);
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble);
  const auto expected = gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{});
  Gradient<double, Memory> a;
  gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{}, a);
  auto b = a;
  gradient(Exec(), LotkaVolterra{}, recorded, other, SquaredNorm{}, b);
  gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{}, a);
  EXPECT_TRUE(same_bits_everywhere(a.params, expected.params));

  Sensitivity<double, Memory> s;
  sensitivity(Exec(), LotkaVolterra{}, recorded, ensemble, {.params = {0}}, s);
  auto t = s;
  sensitivity(Exec(), LotkaVolterra{}, recorded, ensemble, {.params = {3}}, t);
  sensitivity(Exec(), LotkaVolterra{}, recorded, ensemble, {.params = {0}}, s);
  const auto again = sensitivity(Exec(), LotkaVolterra{}, recorded, ensemble, {.params = {0}});
  const auto x = cube_on_host(s.sensitivities), y = cube_on_host(again.sensitivities);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(same_bits(x(i, 0, 0), y(i, 0, 0))) << i;
}

TEST(RecordAndGradient, IsTheTwoToTheBit) {
  const auto inputs = lotka_volterra(41);
  const auto ensemble = inputs.ensemble(0.0, 2.0);
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble);
  const auto expected = gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{});
  Record<Tsit5, double, Memory> record_out;
  Gradient<double, Memory> out;
  for (int again = 0; again < 2; ++again) {
    record_and_gradient(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, {}, SquaredNorm{}, record_out,
                        out);
    EXPECT_TRUE(same_bits_everywhere(out.loss, expected.loss));
    EXPECT_TRUE(same_bits_everywhere(out.u0, expected.u0));
    EXPECT_TRUE(same_bits_everywhere(out.params, expected.params));
    EXPECT_TRUE(same_bits_everywhere(out.states, expected.states));
  }
}

TEST(Refresh, RecordsAgainAsItIsTold) {
  auto inputs = van_der_pol(n);
  auto refreshed = [&](Rerecord when, double factor) {
    const auto ensemble = inputs.ensemble(0.0, 4.0);
    auto recorded = record(Exec(), VanDerPol{}, Tsit5{}, ensemble, {.rerecord = when});
    Inputs<double> moved = inputs;
    const auto params = on_host(inputs.params);
    moved.params = matrix<double>(n, 1, [&](int i, int) { return factor * params(i, 0); });
    Replay<double, Memory> replayed;
    const auto there = moved.ensemble(0.0, 4.0);
    const bool did = refresh(Exec(), VanDerPol{}, recorded, there, replayed);
    const auto fresh = record(Exec(), VanDerPol{}, Tsit5{}, there);
    EXPECT_EQ(did, bool(same_bits_everywhere(fresh.states, recorded.states)));
    return did;
  };
  EXPECT_FALSE(refreshed(Rerecord::when_stale, 1.0001));
  EXPECT_TRUE(refreshed(Rerecord::when_stale, 3.0));
  EXPECT_TRUE(refreshed(Rerecord::always, 1.0001));
  EXPECT_FALSE(refreshed(Rerecord::never, 3.0));
}

TEST(Refresh, SeesASpanThatHasOpened_AndFixedStepsDoNotAge) {
  const auto inputs = van_der_pol(3);
  const auto t1 = column(std::vector<double>{1, 0, 1}),
             later = column(std::vector<double>{1, 1, 1});
  Options options{.rerecord = Rerecord::when_stale};
  auto recorded = record(Exec(), VanDerPol{}, Tsit5{}, inputs.ensemble(0.0, t1), options);
  Replay<double, Memory> replayed;
  EXPECT_FALSE(refresh(Exec(), VanDerPol{}, recorded, inputs.ensemble(0.0, t1), replayed));
  EXPECT_TRUE(refresh(Exec(), VanDerPol{}, recorded, inputs.ensemble(0.0, later), replayed));
  EXPECT_GT(on_host(recorded.num_steps)(1), 0);

  options.fixed_steps = 2;  // far from the tolerances, which do not steer them
  const auto ensemble = inputs.ensemble(0.0, 1.0);
  recorded = record(Exec(), VanDerPol{}, Tsit5{}, ensemble, options);
  EXPECT_FALSE(refresh(Exec(), VanDerPol{}, recorded, ensemble, replayed));
  EXPECT_GT(on_host(replayed.error_ratio)(0), options.stale_ratio);
}

TEST(Refresh, OfAMethodWithoutAnErrorEstimate_SeesWhatDidNotComeThrough_AndSpansThatHaveOpened) {
  auto inputs = van_der_pol(3);
  const auto t1 = column(std::vector<double>{1, 0, 1}),
             later = column(std::vector<double>{1, 1, 1});
  const auto at = [&](int i) { return Kokkos::subview(inputs.params, i, 0); };
  Kokkos::deep_copy(at(2), Kokkos::Experimental::quiet_NaN_v<double>);
  auto recorded = record(Exec(), VanDerPol{}, RK4{}, inputs.ensemble(0.0, t1), {.fixed_steps = 5});
  Replay<double, Memory> replayed;
  EXPECT_EQ(on_host(recorded.status)(2), Status::bad_input);
  Kokkos::deep_copy(at(2), 1.0);
  EXPECT_TRUE(refresh(Exec(), VanDerPol{}, recorded, inputs.ensemble(0.0, t1), replayed));
  EXPECT_EQ(on_host(recorded.status)(2), Status::success);
  EXPECT_FALSE(refresh(Exec(), VanDerPol{}, recorded, inputs.ensemble(0.0, t1), replayed));
  EXPECT_TRUE(refresh(Exec(), VanDerPol{}, recorded, inputs.ensemble(0.0, later), replayed));
  EXPECT_EQ(on_host(recorded.num_steps)(1), 5);
}

}  // namespace
}  // namespace gradsolve::test
