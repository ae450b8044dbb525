// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gradsolve/gradsolve.hpp>

#include <gtest/gtest.h>

#include <support/ensembles.hpp>
#include <support/gradients.hpp>
#include <support/host.hpp>
#include <support/systems.hpp>

/// What gradients are of, and in what they may differ: losses, spans, shared parameters, precision,
/// derivatives by hand.
namespace gradsolve::test {
namespace {

constexpr int n = 13;  // no multiple of any width
const Options tight{.rtol = 1e-6, .atol = 1e-8};

// ---- Losses ----

/// (|u - target_j|^2 + p0 u0) weight_j
template <class Targets, class Weights>
struct Misfit {
  Targets targets;
  Weights weights;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const State<T, 2>& u, const Params<T, 4>& p,
                                           int j) const {
    const T x = u[0] - T(targets(j, 0)), y = u[1] - T(targets(j, 1));
    return (x * x + y * y + p[0] * u[0]) * T(weights(j));
  }
};
template <class Targets, class Weights>
Misfit(Targets, Weights) -> Misfit<Targets, Weights>;

struct StateTimesParameter {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const State<T, 2>& u, const Params<T, 4>& p) const {
    using gradsolve::exp;
    return exp(-u[0]) * p[1] + u[1] * p[3] * p[3];
  }
};

TEST(Loss, OfStateAndParameters) {
  expect_gradient_of_the_oracle<Tsit5>(LotkaVolterra{}, StateTimesParameter{}, lotka_volterra(n),
                                       0.0, 3.0, tight, 1e-11);
}

TEST(Loss, OfStateParametersAndTrajectoryReadsViews) {
  const auto inputs = lotka_volterra(n);
  const auto ensemble = inputs.ensemble(0.0, 2.0);
  Uniform uniform(5);
  const auto targets = matrix<double>(n, 2, [&](int, int) { return uniform(0, 2); });
  std::vector<double> each(n);
  for (double& weight : each) weight = uniform(-1, 1);
  const auto weights = column(each);
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, tight);
  const auto result =
      gradient(Exec(), LotkaVolterra{}, recorded, ensemble, Misfit{targets, weights});
  const auto loss = on_host(result.loss);
  const auto du0 = on_host(result.u0), dparams = on_host(result.params);
  const auto u0 = on_host(inputs.u0), params = on_host(inputs.params);
  const Misfit on_the_host{on_host(targets), on_host(weights)};
  for (int i = 0; i < n; ++i) {
    const auto expected = reference::gradient<Tsit5>(
        LotkaVolterra{}, [&](const auto& u, const auto& p) { return on_the_host(u, p, i); },
        step_ends(Exec(), recorded, i), 0.0, row<2>(u0, i), row<4>(params, i));
    EXPECT_LE(relative_difference(loss(i), expected.loss), 1e-11);
    for (int j = 0; j < 2; ++j)
      EXPECT_LE(relative_difference(du0(i, j), expected.u0[j], 0.01L), 1e-11);
    for (int j = 0; j < 4; ++j)
      EXPECT_LE(relative_difference(dparams(i, j), expected.params[j], 0.01L), 1e-11);
  }
}

TEST(Loss, ElsewhereComesBackAsCotangents) {
  const auto ensemble = lotka_volterra(n).ensemble(0.0, 3.0);
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, tight);
  const auto fused = gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{});
  const auto u = on_host(fused.states);
  const auto cotangents = matrix<double>(n, 2, [&](int i, int j) { return 2 * u(i, j); });
  const auto pulled = vjp(Exec(), LotkaVolterra{}, recorded, ensemble, cotangents);
  const auto a = on_host(fused.u0), b = on_host(pulled.u0);
  const auto c = on_host(fused.params), d = on_host(pulled.params);
  EXPECT_EQ(pulled.loss.extent(0), 0u);
  EXPECT_TRUE(same_bits_everywhere(fused.states, pulled.states));
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < 2; ++j) EXPECT_LE(relative_difference(b(i, j), a(i, j)), 1e-13);
    for (int j = 0; j < 4; ++j) EXPECT_LE(relative_difference(d(i, j), c(i, j)), 1e-13);
  }
}

// ---- Spans ----

TEST(Span, Backward) {
  expect_gradient_of_the_oracle<Tsit5>(LotkaVolterra{}, SquaredNorm{}, lotka_volterra(n), 2.0, -1.0,
                                       tight, 1e-11);
}

TEST(Span, OfEachTrajectoryItsOwn) {
  std::vector<double> t0(n), t1(n);
  Uniform uniform(9);
  for (int i = 0; i < n; ++i) {
    t0[i] = uniform(-1, 1);
    t1[i] = i % 4 == 0 ? t0[i] : t0[i] + uniform(-2, 2);  // none, forward and backward
  }
  expect_gradient_of_the_oracle<DormandPrince5>(DrivenPendulum{}, SquaredNorm{},
                                                spread_around(n, {1.0, 0.5}, {2.0, 0.7}),
                                                column(t0), column(t1), tight, 1e-11);
}

TEST(Span, B1OfLengthZeroIsAnIdentity) {
  // y' = -2 y + p as a linear system with a constant second state.
  std::vector<double> t1(n, 1.5);
  for (int i = 1; i < n; i += 2) t1[i] = 2.5;
  const auto inputs = spread_around(n, {3.0, 1.0}, {-2.0, 0.5, 0.0, 0.0}, 0.0);
  const auto ensemble = inputs.ensemble(1.5, column(t1));
  const auto recorded = record(Exec(), Linear{}, Tsit5{}, ensemble, tight);
  const auto result = gradient(Exec(), Linear{}, recorded, ensemble, FirstState{});
  const auto replayed = replay_with_error_ratio(Exec(), Linear{}, recorded, ensemble);
  const auto status = on_host(recorded.status);
  const auto steps = on_host(recorded.num_steps), rejected = on_host(recorded.num_rejected);
  const auto states = on_host(recorded.states), again = on_host(replayed.states);
  const auto ratio = on_host(replayed.error_ratio);
  const auto du0 = on_host(result.u0), dparams = on_host(result.params);
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(status(i), Status::success);
    if (i % 2 == 1) {
      EXPECT_GT(steps(i), 0);
      EXPECT_NEAR(states(i, 0), 0.25 + 2.75 * std::exp(-2.0), 1e-5);
      EXPECT_NEAR(du0(i, 0), std::exp(-2.0), 1e-5);
      continue;
    }
    EXPECT_EQ(steps(i), 0);
    EXPECT_EQ(rejected(i), 0);
    EXPECT_EQ(ratio(i), 0.0);
    EXPECT_TRUE(same_bits(states(i, 0), 3.0));
    EXPECT_TRUE(same_bits(again(i, 0), 3.0));
    EXPECT_EQ(du0(i, 0), 1.0);
    EXPECT_EQ(du0(i, 1), 0.0);
    for (int j = 0; j < 4; ++j) EXPECT_EQ(dparams(i, j), 0.0);
  }
}

TEST(Span, OfLengthZeroForAllIsAnIdentity) {
  const auto ensemble = lotka_volterra(n).ensemble(0.5, 0.5);
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, tight);
  EXPECT_TRUE(same_bits_everywhere(recorded.states, ensemble.states()));
  const auto result = gradient(Exec(), LotkaVolterra{}, recorded, ensemble, FirstState{});
  const auto du0 = on_host(result.u0);
  for (int i = 0; i < n; ++i) EXPECT_EQ(du0(i, 0), 1.0);
}

// ---- Shared parameters ----

TEST(SharedParameters, GradientIsTheSumAndTwoRunsAreBitwiseEqual) {
  const int many = 3000;  // more than there are partial sums
  const std::vector<double> p{1.5, 1.0, 3.0, 1.0};
  const auto u0 = spread_around(many, {1.0, 1.0}, {0.0}).u0;
  const auto repeated = matrix<double>(many, 4, [&](int, int j) { return p[j]; });
  const Ensemble shared(u0, column(p), 0.0, 3.0);
  const Ensemble each(u0, repeated, 0.0, 3.0);
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, shared, tight);
  const auto sums = gradient(Exec(), LotkaVolterra{}, recorded, shared, SquaredNorm{});
  const auto single = gradient(Exec(), LotkaVolterra{}, recorded, each, SquaredNorm{});
  const auto total = on_host(sums.params), parts = on_host(single.params);
  ASSERT_EQ(total.extent(0), 1u);
  ASSERT_EQ(total.extent(1), 4u);
  for (int j = 0; j < 4; ++j) {
    long double sum = 0, size = 0;
    for (int i = 0; i < many; ++i) {
      sum += parts(i, j);
      size += std::abs(parts(i, j));
    }
    EXPECT_LE(std::abs(total(0, j) - sum), 1e-14L * size);
  }
  EXPECT_TRUE(same_bits_everywhere(sums.u0, single.u0));
  const auto again = gradient(Exec(), LotkaVolterra{}, recorded, shared, SquaredNorm{});
  EXPECT_TRUE(same_bits_everywhere(sums.params, again.params));
}

/// u' = 1.01 u p0 p1
struct Growth {
  static constexpr int num_states = 1, num_params = 2;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 1> operator()(const T&, const State<T, 1>& u,
                                                     const Params<T, 2>& p) const {
    return {T(1.01) * u[0] * p[0] * p[1]};
  }
};
struct SquaredDistanceToOne {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const State<T, 1>& u) const {
    return (T(1) - u[0]) * (T(1) - u[0]);
  }
};

TEST(SharedParameters, H11GradientOfAnEnsembleLoss) {
  const auto u0 = matrix<double>(10, 1, [](int i, int) { return 0.5 + i * 0.03; });
  const Ensemble ensemble(u0, column<double>({1.0, 2.0}), 0.0, 1.0);
  const auto recorded = record(Exec(), Growth{}, Tsit5{}, ensemble, {.rtol = 1e-11, .atol = 1e-13});
  const auto sums =
      on_host(gradient(Exec(), Growth{}, recorded, ensemble, SquaredDistanceToOne{}).params);
  double slope = 0;  // d loss / d (p0 p1)
  for (int i = 0; i < 10; ++i) {
    const double u = (0.5 + i * 0.03) * std::exp(2.02);
    slope += -2 * (1 - u) * u * 1.01;
  }
  EXPECT_LE(relative_difference(sums(0, 0), 2 * slope), 1e-9);
  EXPECT_LE(relative_difference(sums(0, 1), slope), 1e-9);
}

// ---- Precision ----

TEST(Float32, GradientIsCloseToThatOfTheSameMeshInFloat64) {
  const int many = 64;
  const auto inputs = spread_around<float>(many, {1.0, 0.5, 0.5}, {28.0}, 0.05);
  const auto ensemble = inputs.ensemble(0.0f, 1.0f);
  const Options options{.rtol = 1e-5, .atol = 1e-7};
  const auto recorded = record(Exec(), LorenzRho{}, Tsit5{}, ensemble, options);
  const auto result = gradient(Exec(), LorenzRho{}, recorded, ensemble, SquaredNorm{});
  const auto du0 = on_host(result.u0), dparams = on_host(result.params);
  const auto u0 = on_host(inputs.u0), params = on_host(inputs.params);
  const auto status = on_host(recorded.status);
  long double error = 0, size = 0;
  for (int i = 0; i < many; ++i) {
    ASSERT_EQ(status(i), Status::success);
    const auto expected =
        reference::gradient<Tsit5>(LorenzRho{}, SquaredNorm{}, step_ends(Exec(), recorded, i), 0.0f,
                                   row<3>(u0, i), row<1>(params, i));
    auto add = [&](float got, long double wanted) {
      error += (got - wanted) * (got - wanted);
      size += wanted * wanted;
    };
    for (int j = 0; j < 3; ++j) add(du0(i, j), expected.u0[j]);
    add(dparams(i, 0), expected.params[0]);
  }
  EXPECT_LE(std::sqrt(error / size), 1e-4L);
  EXPECT_GT(std::sqrt(error / size), 1e-9L);  // it is float32

  // The adaptive loop takes the same path, within the rounding of its error estimates.
  Inputs<double> wide{matrix<double>(many, 3, [&](int i, int j) { return u0(i, j); }),
                      matrix<double>(many, 1, [&](int i, int j) { return params(i, j); })};
  const auto steps = on_host(recorded.num_steps);
  const auto expected =
      on_host(record(Exec(), LorenzRho{}, Tsit5{}, wide.ensemble(0.0, 1.0), options).num_steps);
  for (int i = 0; i < many; ++i) EXPECT_NEAR(steps(i), expected(i), 2);
}

// ---- Right-hand sides ----

TEST(System, WithItsOwnVjpGivesTheSameGradient) {
  const auto ensemble = lotka_volterra(n).ensemble(0.0, 3.0);
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, tight);
  const auto automatic = gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{});
  const auto by_hand = gradient(Exec(), LotkaVolterraByHand{}, recorded, ensemble, SquaredNorm{});
  const auto a = on_host(automatic.u0), b = on_host(by_hand.u0);
  const auto c = on_host(automatic.params), d = on_host(by_hand.params);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < 2; ++j) EXPECT_LE(relative_difference(b(i, j), a(i, j), 0.01L), 1e-12);
    for (int j = 0; j < 4; ++j) EXPECT_LE(relative_difference(d(i, j), c(i, j), 0.01L), 1e-12);
  }
}

/// Its own vjp is wrong on purpose: twice the right one.
struct LotkaVolterraTwice : LotkaVolterra {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION Cotangents<T, 2, 4> vjp(const T& t, const State<T, 2>& u,
                                                      const Params<T, 4>& p,
                                                      const State<T, 2>& w) const {
    return LotkaVolterraByHand{}.vjp(t, u, p, State<T, 2>{T(2) * w[0], T(2) * w[1]});
  }
};

TEST(System, OwnVjpIsTheOneThatIsUsed) {
  const auto ensemble = lotka_volterra(n).ensemble(0.0, 1.0);
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, tight);
  const auto right =
      on_host(gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{}).params);
  const auto wrong =
      on_host(gradient(Exec(), LotkaVolterraTwice{}, recorded, ensemble, SquaredNorm{}).params);
  EXPECT_GT(relative_difference(wrong(0, 0), right(0, 0)), 0.1);
}

TEST(System, ThatBranchesWorks) {
  expect_gradient_of_the_oracle<Tsit5>(Branching{}, SquaredNorm{},
                                       spread_around(n, {1.5}, {0.6}, 0.5), 0.0, 2.0, tight, 1e-9);
}

TEST(System, WithoutParametersWorks) {
  expect_gradient_of_the_oracle<Verner7>(Oscillator{}, SquaredNorm{},
                                         spread_around(n, {1.0, 0.5}, {}), 0.0, 2.0, tight, 1e-11);
}

TEST(System, GradientOfTheDecayIsAnalytic) {
  const auto inputs = spread_around(n, {1.0}, {0.7});
  const auto ensemble = inputs.ensemble(0.0, 2.0);
  const auto recorded =
      record(Exec(), Decay{}, DormandPrince5{}, ensemble, {.rtol = 1e-10, .atol = 1e-12});
  const auto slopes = on_host(gradient(Exec(), Decay{}, recorded, ensemble, SquaredNorm{}).params);
  const auto u0 = on_host(inputs.u0), rate = on_host(inputs.params);
  for (int i = 0; i < n; ++i) {
    const double y0 = u0(i, 0), k = rate(i, 0);
    EXPECT_LE(relative_difference(slopes(i, 0), -4 * y0 * y0 * std::exp(-4 * k)), 1e-8);
  }
}

// ---- Other values than were recorded ----

TEST(Gradient, AtNewValuesIsThatOfTheReplayThere) {
  const auto recorded_at = lotka_volterra(n);
  const auto recorded =
      record(Exec(), LotkaVolterra{}, Tsit5{}, recorded_at.ensemble(0.0, 3.0), tight);
  const auto inputs = spread_around(n, {1.05, 0.95}, {1.45, 1.0, 2.9, 1.1}, 0.2, 3);
  const auto result =
      gradient(Exec(), LotkaVolterra{}, recorded, inputs.ensemble(0.0, 3.0), SquaredNorm{});
  const auto du0 = on_host(result.u0), dparams = on_host(result.params);
  const auto u0 = on_host(inputs.u0), params = on_host(inputs.params);
  for (int i = 0; i < n; ++i) {
    const auto expected =
        reference::gradient<Tsit5>(LotkaVolterra{}, SquaredNorm{}, step_ends(Exec(), recorded, i),
                                   0.0, row<2>(u0, i), row<4>(params, i));
    for (int j = 0; j < 2; ++j)
      EXPECT_LE(relative_difference(du0(i, j), expected.u0[j], 0.01L), 1e-11);
    for (int j = 0; j < 4; ++j)
      EXPECT_LE(relative_difference(dparams(i, j), expected.params[j], 0.01L), 1e-11);
  }
}

TEST(Gradient, IntoTheSameObjectUsesItsMemory) {
  const auto ensemble = lotka_volterra(n).ensemble(0.0, 3.0);
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, tight);
  Gradient<double, Memory> out;
  gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{}, out);
  const auto first = on_host(out.params);
  const void* const before[] = {out.loss.data(), out.u0.data(), out.params.data(),
                                out.workspace.buffer.data()};
  gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{}, out);
  EXPECT_EQ(out.loss.data(), before[0]);
  EXPECT_EQ(out.u0.data(), before[1]);
  EXPECT_EQ(out.params.data(), before[2]);
  EXPECT_EQ(out.workspace.buffer.data(), before[3]);
  EXPECT_TRUE(same_bits_everywhere(first, out.params));
}

}  // namespace
}  // namespace gradsolve::test
