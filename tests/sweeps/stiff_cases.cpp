// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Problems that have been reported of stiff solvers: no absolute tolerance, times and parameters of
// very different size.
#include <gradsolve/gradsolve.hpp>

#include <support/ensembles.hpp>
#include <support/solved.hpp>
#include <support/stiff_systems.hpp>
#include <support/systems.hpp>

namespace gradsolve::test {
namespace {

const Options no_atol{.rtol = 1e-6, .atol = 0};

// Its error and its tolerance are both 0.
TEST(StiffTolerance, G6AComponentThatStaysZeroNeedsNoAtol) {
  for (const FirstStep rule : {FirstStep::span_over_100, FirstStep::hairer}) {
    Options options = no_atol;
    options.first_step_rule = rule;
    const auto r = solve<Rodas5P>(Linear{}, {1.0, 0.0}, {-1.0, 0.0, 0.0, 0.0}, 0.0, 1.0, options);
    EXPECT_EQ(r.status, Status::success);
    EXPECT_NEAR(r.u[0], std::exp(-1.0), 1e-6);
    EXPECT_EQ(r.u[1], 0.0);
    EXPECT_NEAR(r.du0[0], std::exp(-1.0), 1e-6);
    EXPECT_EQ(r.du0[1], 0.0);
    EXPECT_LT(r.steps, 20);
  }
}

// From 0, where it has no tolerance at all: the case allows a status or tiny steps, and a method
// that is exact on lines needs neither.
TEST(StiffTolerance, G6AComponentThatLeavesZeroNeedsNoAtol) {
  for (const double slope : {1.0, 1e-20, 1e-100}) {
    const auto r = solve<Rodas5P>(ConstantAndDecay{}, {0.0, 1.0}, {slope}, 0.0, 1.0, no_atol);
    ASSERT_EQ(r.status, Status::success) << slope;
    EXPECT_NEAR(r.u[0] / slope, 1, 1e-12);
    EXPECT_NEAR(r.u[1], std::exp(-1.0), 1e-6);
    EXPECT_NEAR(r.dparams[0], 1, 1e-12);
    EXPECT_LT(r.steps, 20);
  }
}

// The third component leaves 0 as t^3.
TEST(StiffTolerance, G6RobertsonNeedsNoAtol) {
  const Inputs<double> inputs{matrix<double>({{1.0, 0.0, 0.0}}),
                              matrix<double>({{0.04, 3e7, 1e4}})};
  const auto r =
      record(Exec(), Robertson{}, Rodas5P{}, inputs.ensemble(0.0, 40.0), {.rtol = 1e-8, .atol = 0});
  ASSERT_EQ(on_host(r.status)(0), Status::success);
  const double expected[] = {.715827068719426, 9.18553476455872e-6, .284163745745811};
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(on_host(r.states)(0, i) / expected[i], 1, 1e-7) << i;
  EXPECT_LT(on_host(r.num_steps)(0), 500);
}

/// A slow component and a driven one, which is allowed a thousand times the error; `Swapped`: in
/// the other order.
template <bool Swapped>
struct TwoScales {
  static constexpr int num_states = 2, num_params = 0;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 2> operator()(const T& t, const State<T, 2>& u,
                                                     const Params<T, 0>&) const {
    const T x = u[Swapped], y = u[!Swapped];
    const T dx = T(-3) * x * y, dy = sin(T(20) * t) - y;
    return Swapped ? State<T, 2>{dy, dx} : State<T, 2>{dx, dy};
  }
  KOKKOS_FORCEINLINE_FUNCTION double atol_factor(int i) const { return i == !Swapped ? 1e3 : 1; }
};
struct OneScale : TwoScales<false> {
  KOKKOS_FORCEINLINE_FUNCTION double atol_factor(int) const { return 1; }
};

TEST(StiffTolerance, G6AtolOfComponents_GoesWithThem) {
  const Options options{.rtol = 0, .atol = 1e-9};
  const auto a = solve<Tsit5>(TwoScales<false>{}, {1.0, 0.5}, {}, 0.0, 2.0, options);
  const auto b = solve<Tsit5>(TwoScales<true>{}, {0.5, 1.0}, {}, 0.0, 2.0, options);
  const auto strict = solve<Tsit5>(OneScale{}, {1.0, 0.5}, {}, 0.0, 2.0, options);
  ASSERT_EQ(a.status, Status::success);
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_EQ(a.u[0], b.u[1]);
  EXPECT_EQ(a.u[1], b.u[0]);
  EXPECT_LT(a.steps, strict.steps);
}

struct OneScaleAlone : TwoScales<false> {
  KOKKOS_FORCEINLINE_FUNCTION double atol_factor(int i) const {
    return i == 0 ? 1 : Kokkos::Experimental::infinity_v<double>;
  }
};
TEST(StiffTolerance, AnInfiniteFactor_LeavesAComponentOut) {
  const Options options{.rtol = 0, .atol = 1e-9};
  const auto both = solve<Tsit5>(TwoScales<false>{}, {1.0, 0.5}, {}, 0.0, 2.0, options);
  const auto alone = solve<Tsit5>(OneScaleAlone{}, {1.0, 0.5}, {}, 0.0, 2.0, options);
  ASSERT_EQ(alone.status, Status::success);
  EXPECT_LE(alone.steps, both.steps);
}

struct FirstStateSaved {
  template <class T, int N, int P>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const T&, const State<T, N>& u, const Params<T, P>&,
                                           SaveIndex) const {
    return u[0];
  }
};

// y = (1 - exp(-a t)) b / a with a = b, saved at 1e6 and at 1e8.
TEST(StiffSaves, G9GradientOfTheSum_IsTheSumOfTheGradients) {
  const double a = 1e-6, saves[] = {1e6, 1e8};
  // y' = -a y + b: b times a state that stays 1
  const Inputs<double> inputs{matrix<double>({{0.0, 1.0}}), matrix<double>({{-a, a, 0.0, 0.0}})};
  const auto ensemble = inputs.ensemble(0.0, 1e8);
  const auto recorded =
      record(Exec(), Linear{}, Rodas5P{}, ensemble, {.rtol = 1e-9, .atol = 1e-12});
  ASSERT_EQ(on_host(recorded.status)(0), Status::success);
  auto gradient_of = [&](const std::vector<double>& times) {
    const auto g = gradient(Exec(), Linear{}, recorded, ensemble,
                            at_saves(save_times(Exec(), ensemble, times), FirstStateSaved{}));
    const auto du0 = on_host(g.u0), dp = on_host(g.params);
    return std::vector{on_host(g.loss)(0), du0(0, 0), du0(0, 1), dp(0, 0), dp(0, 1)};
  };
  const auto both = gradient_of({saves[0], saves[1]});
  std::vector<double> sum(5);
  for (const double t : saves) {
    const auto one = gradient_of({t});
    const double decay = std::exp(-a * t);
    const double expected[] = {1 - decay, decay, 1 - decay, (1 - decay) / a - t * decay,
                               (1 - decay) / a};
    for (int i = 0; i < 5; ++i) {
      EXPECT_NEAR(one[i], expected[i], 1e-8 * std::max(1.0, std::abs(expected[i])))
          << "save at " << t << ", " << i;
      sum[i] += one[i];
    }
  }
  for (int i = 0; i < 5; ++i) EXPECT_NEAR(both[i], sum[i], 1e-14 * std::abs(sum[i])) << i;
}

// Rates of 0.04 to 3e7: the derivative by log k, by differences of the replay, in every component.
TEST(StiffParameters, G11DifferencesInTheLogarithm_AreTheSensitivities) {
  const double start[] = {1, 0, 0}, rates[] = {0.04, 3e7, 1e4}, h = 1e-6;
  auto rates_moved_by = [&](double log_factor) {  // trajectory i moves rate i
    return Inputs<double>{matrix<double>(3, 3, [&](int, int j) { return start[j]; }),
                          matrix<double>(3, 3, [&](int i, int j) {
                            return i == j ? rates[j] * std::exp(log_factor) : rates[j];
                          })};
  };
  const auto inputs = rates_moved_by(0), up = rates_moved_by(h), down = rates_moved_by(-h);
  const auto ensemble = inputs.ensemble(0.0, 40.0);
  const auto recorded =
      record(Exec(), Robertson{}, Rodas5P{}, ensemble, {.rtol = 1e-8, .atol = 1e-12});
  const auto forward = sensitivity(Exec(), Robertson{}, recorded, ensemble);
  const auto slopes = on_host(forward.sensitivities);
  const auto above = replay(Exec(), Robertson{}, recorded, up.ensemble(0.0, 40.0));
  const auto below = replay(Exec(), Robertson{}, recorded, down.ensemble(0.0, 40.0));
  const auto u_above = on_host(above.states), u_below = on_host(below.states);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const double expected = rates[i] * slopes(i, j, 3 + i);
      EXPECT_NEAR((u_above(i, j) - u_below(i, j)) / (2 * h), expected, 1e-7 * std::abs(expected))
          << "component " << j << ", rate " << i;
    }
}

}  // namespace
}  // namespace gradsolve::test
