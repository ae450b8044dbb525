// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gradsolve/gradsolve.hpp>

#include <gtest/gtest.h>

#include <support/ensembles.hpp>
#include <support/host.hpp>
#include <support/reference.hpp>
#include <support/systems.hpp>

/// What a record holds, and what replaying it gives.
namespace gradsolve::test {
namespace {

constexpr int n = 45;  // no multiple of any width
const Options tight{.rtol = 1e-7, .atol = 1e-10};

template <class F, class M>
void expect_replay_of_new_parameters_is_that_of_the_oracle(const F& f, M method,
                                                           const Inputs<double>& recorded_at,
                                                           const Inputs<double>& inputs,
                                                           double t1) {
  const auto recorded = record(Exec(), f, method, recorded_at.ensemble(0.0, t1), tight);
  const auto states = on_host(replay(Exec(), f, recorded, inputs.ensemble(0.0, t1)).states);
  const auto u0 = on_host(inputs.u0), params = on_host(inputs.params);
  for (int i = 0; i < inputs.size(); ++i) {
    const auto u = row<F::num_states>(u0, i);
    const auto p = row<F::num_params>(params, i);
    const auto ends = step_ends(Exec(), recorded, i);
    const auto expected = reference::replay<M, long double>(
        f, ends, 0.0, reference::convert<long double>(u), reference::convert<long double>(p));
    for (int j = 0; j < F::num_states; ++j)
      EXPECT_LE(relative_difference(states(i, j), expected[j], 0.1L), 1e-12)
          << "trajectory " << i << ", state " << j;
  }
}

TEST(Replay, OfTheRecordedValuesIsTheRecordsFinalState) {
  const auto inputs = lotka_volterra(n);
  const auto ensemble = inputs.ensemble(0.0, 10.0);
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, tight);
  const auto replayed = replay_with_error_ratio(Exec(), LotkaVolterra{}, recorded, ensemble);
  const auto expected = on_host(recorded.states), states = on_host(replayed.states);
  const auto ratio = on_host(replayed.error_ratio);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < 2; ++j) EXPECT_LE(relative_difference(states(i, j), expected(i, j)), 1e-13);
    EXPECT_GT(ratio(i), 0.5);  // an I controller comes close to 1 in a hundred steps
    EXPECT_LE(ratio(i), 1 + 1e-9);
  }
}

TEST(Replay, OfNewParametersIsThatOfTheOracle) {
  expect_replay_of_new_parameters_is_that_of_the_oracle(
      LotkaVolterra{}, Tsit5{}, lotka_volterra(n),
      spread_around(n, {1.1, 0.9}, {1.4, 1.1, 2.9, 1.0}, 0.2, 2), 5.0);
  expect_replay_of_new_parameters_is_that_of_the_oracle(
      VanDerPol{}, Verner7{}, van_der_pol(n), spread_around(n, {1.4, 0.6}, {1.9}, 0.2, 2), 5.0);
}

TEST(Replay, ErrorRatioTellsThatTheMeshIsStale) {
  const auto inputs = spread_around(n, {1.5, 0.5}, {1.0});
  const auto recorded =
      record(Exec(), VanDerPol{}, Tsit5{}, inputs.ensemble(0.0, 5.0), {.rtol = 1e-4});
  auto moved = inputs;
  moved.params = matrix<double>(n, 1, [](int, int) { return 8.0; });
  const auto ratio = on_host(
      replay_with_error_ratio(Exec(), VanDerPol{}, recorded, moved.ensemble(0.0, 5.0)).error_ratio);
  for (int i = 0; i < n; ++i) EXPECT_GT(ratio(i), 10);
}

TEST(Replay, ErrorRatioOfAMeshThatLeavesTheNumbersIsInfinite) {
  const auto inputs = spread_around(n, {0.1}, {}, 0.0);
  const auto recorded = record(Exec(), BlowUp{}, Tsit5{}, inputs.ensemble(0.0, 1.0));
  auto moved = inputs;
  moved.u0 = matrix<double>(n, 1, [](int, int) { return 1e6; });
  const auto ratio = on_host(
      replay_with_error_ratio(Exec(), BlowUp{}, recorded, moved.ensemble(0.0, 1.0)).error_ratio);
  for (int i = 0; i < n; ++i) EXPECT_EQ(ratio(i), HUGE_VAL);
}

TEST(Record, LastStepEndsAtT1) {
  const auto inputs = lotka_volterra(n);
  std::vector<double> t0(n), t1(n);
  Uniform uniform(3);
  for (int i = 0; i < n; ++i) {
    t0[i] = uniform(-1, 1);
    t1[i] = t0[i] + uniform(-2, 2);
  }
  const auto recorded = record(Exec(), LotkaVolterra{}, DormandPrince5{},
                               inputs.ensemble(column(t0), column(t1)), tight);
  for (int i = 0; i < n; ++i) {
    const auto ends = step_ends(Exec(), recorded, i);
    ASSERT_FALSE(ends.empty());
    EXPECT_TRUE(same_bits(ends.back(), t1[i])) << i;
    double t = t0[i];
    for (const double end : ends) {
      EXPECT_GT((end - t) * (t1[i] - t0[i]), 0) << i;  // strictly forward, or backward
      t = end;
    }
  }
}

template <class R>
auto addresses(const R& r) {
  return std::vector<const void*>{
      r.states.data(),       r.status.data(),        r.num_steps.data(),
      r.num_rejected.data(), r.num_rhs.data(),       r.mesh.order.data(),
      r.mesh.ends.data(),    r.mesh.num_rows.data(), r.mesh.first_row.data()};
}

template <class A, class B>
void expect_same_records(const A& a, const B& b) {
  expect_same_outcomes(a, b);
  for (int i = 0; i < a.size(); ++i)
    EXPECT_EQ(step_ends(Exec(), a, i), step_ends(Exec(), b, i)) << "trajectory " << i;
}

using LotkaVolterraRecord = Record<Tsit5, double, Memory>;

TEST(Record, IntoTheSameObjectUsesItsMemory) {
  const auto ensemble = lotka_volterra(n).ensemble(0.0, 5.0);
  LotkaVolterraRecord reused;
  record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, tight, reused);
  const auto before = addresses(reused);
  const auto first = on_host(reused.states);
  record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, tight, reused);
  EXPECT_EQ(addresses(reused), before);
  EXPECT_TRUE(same_bits_everywhere(reused.states, first));
  expect_same_records(reused, record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, tight));
}

TEST(Record, ThatOutgrowsItsPlaceIsThatOfAFreshOne) {
  const auto easy = lotka_volterra(n).ensemble(0.0, 0.5);
  const auto hard = spread_around(n, {1.0, 1.0}, {1.5, 1.0, 3.0, 1.0}, 0.4, 7).ensemble(0.0, 20.0);
  LotkaVolterraRecord reused;
  for (const auto& ensemble : {easy, hard, easy, hard}) {
    record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, tight, reused);
    const auto fresh = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, tight);
    expect_same_records(reused, fresh);
    EXPECT_TRUE(same_bits_everywhere(replay(Exec(), LotkaVolterra{}, reused, ensemble).states,
                                     replay(Exec(), LotkaVolterra{}, fresh, ensemble).states));
    const auto a = gradient(Exec(), LotkaVolterra{}, reused, ensemble, SquaredNorm{});
    const auto b = gradient(Exec(), LotkaVolterra{}, fresh, ensemble, SquaredNorm{});
    EXPECT_TRUE(same_bits_everywhere(a.u0, b.u0));
    EXPECT_TRUE(same_bits_everywhere(a.params, b.params));
  }
}

TEST(Record, OfAnotherNumberOfTrajectoriesIntoTheSameObject) {
  LotkaVolterraRecord reused;
  for (const int size : {n, 1, 3 * n, 0, n}) {
    const auto ensemble = lotka_volterra(size).ensemble(0.0, 5.0);
    record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, tight, reused);
    expect_same_records(reused, record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, tight));
  }
}

TEST(Record, OfNoTrajectoryIsEmpty) {
  const auto ensemble = lotka_volterra(0).ensemble(0.0, 5.0);
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, tight);
  EXPECT_EQ(recorded.size(), 0);
  EXPECT_EQ(recorded.states.extent(0), 0u);
  EXPECT_EQ(replay_with_error_ratio(Exec(), LotkaVolterra{}, recorded, ensemble).states.extent(0),
            0u);
  const auto result = gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{});
  EXPECT_EQ(result.u0.extent(0), 0u);
  EXPECT_EQ(result.params.extent(0), 0u);
  const auto counts = count_status(Exec(), recorded);
  for (int value = 0; value < num_status_values; ++value) EXPECT_EQ(counts[value], 0);
}

TEST(Record, SharedGradientOfNoTrajectoryIsZero) {
  const MatrixOf<double> u0("u0", 0, 2);
  const Ensemble ensemble(u0, column<double>({1.5, 1.0, 3.0, 1.0}), 0.0, 1.0);
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, tight);
  const auto sums =
      on_host(gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{}).params);
  ASSERT_EQ(sums.extent(0), 1u);
  for (int j = 0; j < 4; ++j) EXPECT_EQ(sums(0, j), 0.0);
}

TEST(Record, CountsStatuses) {
  auto inputs = lotka_volterra(n);
  inputs.u0 = matrix<double>(n, 2, [](int i, int) { return i == 3 ? NAN : 1.0; });
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, inputs.ensemble(0.0, 1.0), tight);
  const auto counts = count_status(Exec(), recorded);
  EXPECT_EQ(counts[static_cast<int>(Status::success)], n - 1);
  EXPECT_EQ(counts[static_cast<int>(Status::bad_input)], 1);
}

TEST(FixedSteps, D11EndAtMultiplesAndAtT1) {
  const auto inputs = spread_around(n, {1.0}, {0.5});
  const auto ensemble = inputs.ensemble(0.0, 2.0);
  for (const Options& options : {Options{.fixed_step = 0.005}, Options{.fixed_steps = 400}}) {
    const auto recorded = record(Exec(), Decay{}, RK4{}, ensemble, options);
    for (const int i : {0, n - 1}) {
      const auto ends = step_ends(Exec(), recorded, i);
      ASSERT_EQ(ends.size(), 400u);
      for (int k = 0; k < 400; ++k) EXPECT_NEAR(ends[k], (k + 1) * 0.005, 4e-16);
      EXPECT_TRUE(same_bits(ends.back(), 2.0));
    }
  }
}

TEST(FixedSteps, LastOneIsShorterWhereTheSpanIsNoMultiple) {
  const auto inputs = spread_around(n, {1.0}, {0.5});
  const auto recorded =
      record(Exec(), Decay{}, Heun{}, inputs.ensemble(1.0, 0.0), {.fixed_step = 0.3});
  const auto ends = step_ends(Exec(), recorded, n - 1);
  ASSERT_EQ(ends.size(), 4u);
  EXPECT_NEAR(ends[0], 0.7, 1e-15);
  EXPECT_NEAR(ends[2], 0.1, 1e-15);
  EXPECT_TRUE(same_bits(ends[3], 0.0));
}

TEST(FixedSteps, D7AreExactlySoManyHoweverSmallTheSpan) {
  const auto u0 = matrix<double>(1, 1, [](int, int) { return 1.0; });
  for (int power = 3; power <= 30; ++power) {
    const double tau = std::pow(10.0, -power);
    const auto rate = matrix<double>(1, 1, [&](int, int) { return 1 / tau; });
    const auto recorded =
        record(Exec(), Decay{}, Euler{}, Ensemble(u0, rate, 0.0, tau), {.fixed_steps = 1000});
    EXPECT_EQ(on_host(recorded.num_steps)(0), 1000);
    EXPECT_LE(relative_difference(on_host(recorded.states)(0, 0), 0.367695424770964L), 1e-12)
        << "tau = 1e-" << power;
  }
}

TEST(FixedSteps, OfAMethodWithAnErrorEstimateIgnoreTheTolerance) {
  const auto inputs = spread_around<float>(n, {1e20}, {0.5});
  const auto recorded = record(Exec(), Decay{}, Tsit5{}, inputs.ensemble(0.0f, 1.0f),
                               {.rtol = 0, .atol = 1e-30, .fixed_steps = 10});
  const auto status = on_host(recorded.status);
  const auto steps = on_host(recorded.num_steps);
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(status(i), Status::success);
    EXPECT_EQ(steps(i), 10);
  }
}

TEST(FixedSteps, ConvergeWithTheOrderOfTheMethod) {
  const auto inputs = spread_around(3, {1.0}, {1.0}, 0.0);
  auto error = [&](auto method, int steps) {
    const auto recorded =
        record(Exec(), Relaxation{}, method, inputs.ensemble(0.0, 1.0), {.fixed_steps = steps});
    const double exact = (std::cos(1.0) + std::sin(1.0)) / 2 + 0.5 * std::exp(-1.0);
    return std::abs(on_host(recorded.states)(0, 0) - exact);
  };
  EXPECT_NEAR(std::log2(error(Euler{}, 64) / error(Euler{}, 128)), 1, 0.1);
  EXPECT_NEAR(std::log2(error(Heun{}, 64) / error(Heun{}, 128)), 2, 0.1);
  EXPECT_NEAR(std::log2(error(RK4{}, 16) / error(RK4{}, 32)), 4, 0.2);
}

}  // namespace
}  // namespace gradsolve::test
