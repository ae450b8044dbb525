// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Gradients of losses at save times, with respect to initial states, parameters, both ends of the
// span and the save times, against complex steps through the recorded steps.
#include <gradsolve/gradsolve.hpp>

#include <support/observed.hpp>
#include <support/systems.hpp>

namespace gradsolve::test {
namespace {

/// Every way in which saves may lie: at t0, inside, at t1, two, duplicates, none; the step ends of
/// a first record are not known here, and come in Saves.AtStepEnds.
std::vector<std::vector<double>> all_kinds(const std::vector<double>& t0,
                                           const std::vector<double>& t1) {
  std::vector<std::vector<double>> saves;
  for (std::size_t i = 0; i < t0.size(); ++i) {
    auto at = [&](double x) { return x == 1 ? t1[i] : t0[i] + x * (t1[i] - t0[i]); };
    const std::vector<std::vector<double>> kinds{{at(0)},
                                                 {at(0.37)},
                                                 {at(1)},
                                                 {at(0.2), at(0.8)},
                                                 {at(0), at(0), at(0.5), at(1), at(1)},
                                                 {at(0.4), at(0.4), at(0.41)},
                                                 {}};
    saves.push_back(kinds[i % kinds.size()]);
  }
  return saves;
}

/// Spans that differ, one of them backward in time.
struct Spans {
  std::vector<double> t0, t1;
  explicit Spans(int n) {
    for (int i = 0; i < n; ++i) {
      t0.push_back(0.1 * i);
      t1.push_back(i == 5 ? t0[i] - 0.75 : t0[i] + 0.5 + 0.125 * i);
    }
  }
};

constexpr int n = 14;

template <class M>
class SavedGradient : public ::testing::Test {};
using Adaptive = ::testing::Types<BogackiShampine3, DormandPrince5, Tsit5, Verner7>;
TYPED_TEST_SUITE(SavedGradient, Adaptive);

TYPED_TEST(SavedGradient, IsThatOfTheOracle_WithTimeInTheSystem) {
  const Spans spans(n);
  const auto inputs = spread_around(n, {0.5, 1.0}, {2.0, 0.7});
  expect_saved_gradient_of_the_oracle<TypeParam>(DrivenPendulum{}, WeightedSaves{}, inputs,
                                                 spans.t0, spans.t1, all_kinds(spans.t0, spans.t1),
                                                 1e-11, {.rtol = 1e-5, .atol = 1e-7});
}

TEST(SavedGradientOf, Tsit5_OnAnAutonomousSystem) {
  const Spans spans(n);
  expect_saved_gradient_of_the_oracle<Tsit5>(LotkaVolterra{}, WeightedSaves{}, lotka_volterra(n),
                                             spans.t0, spans.t1, all_kinds(spans.t0, spans.t1),
                                             1e-11);
}

TEST(SavedGradientOf, SavesAtStepEnds_AsMuchAsWithinSteps) {
  const auto inputs = spread_around(3, {0.5, 1.0}, {2.0, 0.7});
  const std::vector<double> t0(3, 0.0), t1(3, 2.0);
  const Options options{.rtol = 1e-4, .atol = 1e-6};
  const auto recorded =
      record(Exec(), DrivenPendulum{}, Tsit5{}, inputs.ensemble(0.0, 2.0), options);
  std::vector<std::vector<double>> saves;
  for (int i = 0; i < 3; ++i) saves.push_back(step_ends(Exec(), recorded, i));
  expect_saved_gradient_of_the_oracle<Tsit5>(DrivenPendulum{}, WeightedSaves{}, inputs, t0, t1,
                                             saves, 1e-11, options);
}

TEST(SavedGradientOf, ManySavesInOneStep) {
  const auto inputs = spread_around(2, {0.5, 1.0}, {2.0, 0.7});
  std::vector<double> saves;
  for (int k = 0; k <= 40; ++k) saves.push_back(0.5 * k / 40);
  expect_saved_gradient_of_the_oracle<Tsit5>(DrivenPendulum{}, WeightedSaves{}, inputs, {0, 0},
                                             {0.5, 0.5}, {saves, saves}, 1e-11,
                                             {.rtol = 1e-3, .atol = 1e-3});
}

TEST(SavedGradientOf, FixedSteps_WhoseExtensionIsNotSmooth) {
  const Spans spans(n);
  const auto inputs = spread_around(n, {0.5, 1.0}, {2.0, 0.7});
  const auto saves = all_kinds(spans.t0, spans.t1);
  const Options fixed{.fixed_steps = 7};
  expect_saved_gradient_of_the_oracle<Euler>(DrivenPendulum{}, WeightedSaves{}, inputs, spans.t0,
                                             spans.t1, saves, 1e-11, fixed);
  expect_saved_gradient_of_the_oracle<RK4>(DrivenPendulum{}, WeightedSaves{}, inputs, spans.t0,
                                           spans.t1, saves, 1e-11, fixed);
}

// B4: the cotangent of the save at t0 counts.
TEST(SavedGradientOf, ASaveAtTheBegin_Counts) {
  const Inputs<double> inputs{matrix<double>({{2.0}}), matrix<double>({{0.3}})};
  const auto ensemble = inputs.ensemble(0.0, 10.0);
  const auto times = save_times(Exec(), ensemble, std::vector{0.0, 5.0, 10.0});
  const auto recorded = record(Exec(), Decay{}, Tsit5{}, ensemble, {.rtol = 1e-11, .atol = 1e-13});
  const auto g = gradient(Exec(), Decay{}, recorded, ensemble, at_saves(times, SumOfStates{}));
  EXPECT_NEAR(on_host(g.loss)(0), 2.54583445703259, 1e-9);
  EXPECT_NEAR(on_host(g.u0)(0, 0), 1.27291722851629, 1e-9);
  EXPECT_NEAR(on_host(g.params)(0, 0), -3.22704296884158, 1e-9);
}

// B2: duplicates add.
TEST(SavedGradientOf, DuplicatedSaves_Adds) {
  const Inputs<double> inputs{matrix<double>({{1.0}}), matrix<double>({{1.0}})};
  const auto ensemble = inputs.ensemble(0.0, 1.0);
  const auto times = save_times(Exec(), ensemble, std::vector{0.0, 0.0, 0.5, 1.0, 1.0});
  const auto recorded = record(Exec(), Decay{}, Tsit5{}, ensemble, {.rtol = 1e-11, .atol = 1e-13});
  const auto g = gradient(Exec(), Decay{}, recorded, ensemble, at_saves(times, SumOfStates{}));
  EXPECT_NEAR(on_host(g.u0)(0, 0), 2 + std::exp(-0.5) + 2 * std::exp(-1.0), 1e-9);
}

/// sum (1 - u)^2 / 2
struct DistanceFromOne {
  template <class T, int N, int P>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const T&, const State<T, N>& u, const Params<T, P>&,
                                           SaveIndex) const {
    T sum(0);
    static_for<N>([&](auto i) GRADSOLVE_INLINE_LAMBDA {
      const T r = T(1) - u[i];
      sum = sum + T(0.5) * r * r;
    });
    return sum;
  }
};

// C7: the signs of a published case.
TEST(SavedGradientOf, LotkaVolterra_HasTheSignsOfThePublishedCase) {
  const Inputs<double> inputs{matrix<double>({{1.0, 1.0}}), matrix<double>({{1.5, 1.0, 3.0, 1.0}})};
  const auto ensemble = inputs.ensemble(0.0, 1.0);
  const auto times = save_times(Exec(), ensemble, std::vector{0.5, 1.0});
  const auto recorded =
      record(Exec(), LotkaVolterra{}, Verner7{}, ensemble, {.rtol = 1e-12, .atol = 1e-13});
  const auto g =
      gradient(Exec(), LotkaVolterra{}, recorded, ensemble, at_saves(times, DistanceFromOne{}));
  const auto g_u0 = on_host(g.u0), g_params = on_host(g.params);
  const double du0[] = {4.12929614871953, -2.66138170469422};
  const double dp[] = {4.69872237401286, -2.22767423773446, 1.18202200438633, -1.59999199428812};
  for (int i = 0; i < 2; ++i) EXPECT_NEAR(g_u0(0, i), du0[i], 1e-8) << i;
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(g_params(0, i), dp[i], 1e-8) << i;
}

struct NanInOne {
  template <class T>
  KOKKOS_FUNCTION T operator()(const T&, const State<T, 2>& u, const Params<T, 4>&,
                               SaveIndex at) const {
    const T nan(not_a_number());
    return at.trajectory == 3 && at.save == 1 ? nan : u[0] * u[1];
  }
};
struct ProductOfStates {
  template <class T>
  KOKKOS_FUNCTION T operator()(const T&, const State<T, 2>& u, const Params<T, 4>&,
                               SaveIndex) const {
    return u[0] * u[1];
  }
};

TEST(SavedGradientOf, ALossThatIsNotANumber_SpoilsItsTrajectoryAlone_AndIsCounted) {
  const auto inputs = lotka_volterra(n);
  const ColumnOf<double> shared = column<double>({1.5, 1.0, 3.0, 1.0});
  const Ensemble ensemble(inputs.u0, shared, 0.0, 1.0);
  const auto times = save_times(Exec(), ensemble, std::vector{0.25, 0.5, 1.0});
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble);
  const auto spoilt =
      gradient(Exec(), LotkaVolterra{}, recorded, ensemble, at_saves(times, NanInOne{}));
  const auto whole =
      gradient(Exec(), LotkaVolterra{}, recorded, ensemble, at_saves(times, ProductOfStates{}));
  const auto a = on_host(spoilt.u0), b = on_host(whole.u0);
  for (int i = 0; i < n; ++i) {
    if (i == 3)
      EXPECT_TRUE(std::isnan(a(i, 0)) && std::isnan(a(i, 1)));
    else
      EXPECT_TRUE(same_row(a, i, b, i)) << i;
  }
  EXPECT_EQ(on_host(spoilt.left_out)(), 1);
  EXPECT_EQ(on_host(whole.left_out)(), 0);
  const auto each = on_host(whole.workspace.params_each), sum = on_host(spoilt.params);
  double expected = 0;
  for (int i = 0; i < n; ++i)
    if (i != 3) expected += each(i, 0);
  EXPECT_NEAR(sum(0, 0), expected, 1e-13 * std::abs(expected));
}

TEST(SavedGradientOf, LeastSquares_LeavesOutWhatIsMissing) {
  const auto inputs = lotka_volterra(n);
  const auto ensemble = inputs.ensemble(0.0, 1.0);
  const auto times = save_times(Exec(), ensemble, std::vector{0.25, 0.5, 1.0});
  using Cube = Kokkos::View<double***, Kokkos::LayoutLeft, Memory>;
  const Cube data("data", n, 3, 2), weights("weights", n, 3, 2);
  auto d = Kokkos::create_mirror_view(data), w = Kokkos::create_mirror_view(weights);
  Uniform uniform(7);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < 3; ++k)
      for (int c = 0; c < 2; ++c) {
        d(i, k, c) = (i + k + c) % 4 == 0 ? nan_value : uniform(0.5, 2);
        w(i, k, c) = uniform(0.5, 2);
      }
  Kokkos::deep_copy(data, d);
  Kokkos::deep_copy(weights, w);
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, times, {});
  const auto g = gradient(Exec(), LotkaVolterra{}, recorded, ensemble,
                          at_saves(times, least_squares(data, weights)));
  const auto s = sensitivity(Exec(), LotkaVolterra{}, recorded, ensemble, times);
  const auto saved = cube_on_host(recorded.saved);
  const auto slopes = cube_on_host(s.saved_sensitivities);
  const auto loss = on_host(g.loss);
  const auto du0 = on_host(g.u0), dp = on_host(g.params);
  for (int i = 0; i < n; ++i) {
    double value = 0, by[6] = {};
    for (int k = 0; k < 3; ++k)
      for (int c = 0; c < 2; ++c) {
        if (std::isnan(d(i, k, c))) continue;
        const double r = saved(i, k, c) - d(i, k, c);
        value += w(i, k, c) * r * r;
        for (int v = 0; v < 6; ++v) by[v] += 2 * w(i, k, c) * r * slopes(i, k, c, v);
      }
    EXPECT_NEAR(loss(i), value, 1e-13 * value) << i;
    for (int v = 0; v < 2; ++v) EXPECT_NEAR(du0(i, v), by[v], 1e-11) << i;
    for (int v = 0; v < 4; ++v) EXPECT_NEAR(dp(i, v), by[2 + v], 1e-11) << i;
  }
}

TEST(SavedGradientOf, DataOfAnotherShape_IsRefused) {
  const auto inputs = lotka_volterra(n);
  const auto ensemble = inputs.ensemble(0.0, 1.0);
  const auto times = save_times(Exec(), ensemble, std::vector{0.5, 1.0});
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble);
  using Cube = Kokkos::View<double***, Kokkos::LayoutLeft, Memory>;
  auto refusal = [&](auto&& call) {
    try {
      call();
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  auto with_data = [&](const Cube& data) {
    return refusal([&] {
      gradient(Exec(), LotkaVolterra{}, recorded, ensemble, at_saves(times, least_squares(data)));
    });
  };
  EXPECT_EQ(with_data(Cube("data", n, 3, 2)),
            "gradsolve::gradient: data is (14, 3) x 2, expected (14, 2) x at most 2");
  EXPECT_EQ(with_data(Cube("data", n, 2, 3)),
            "gradsolve::gradient: data is (14, 2) x 3, expected (14, 2) x at most 2");
  EXPECT_NE(refusal([&] {
              least_squares(Cube("d", n, 2, 2), Cube("w", n, 2, 1));
            }).find("least_squares: weights"),
            std::string::npos);
  EXPECT_EQ(
      refusal([&] { vjp(Exec(), LotkaVolterra{}, recorded, ensemble, times, Cube("w", n, 2, 1)); }),
      "gradsolve::vjp: cotangents is (14, 2) x 1, expected (14, 2) x 2");
}

/// u' = 1.01 u p0 p1
struct Product {
  static constexpr int num_states = 1, num_params = 2;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 1> operator()(const T&, const State<T, 1>& u,
                                                     const Params<T, 2>& p) const {
    return {T(1.01) * u[0] * p[0] * p[1]};
  }
};
/// (1 - u)^2
struct SquaredDistance {
  template <class T, int P>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const T&, const State<T, 1>& u, const Params<T, P>&,
                                           SaveIndex) const {
    return (T(1) - u[0]) * (T(1) - u[0]);
  }
};

// H11: one loss over the ensemble, parameters shared, against the closed form.
TEST(SavedGradientOf, AnEnsembleWithSharedParameters_IsTheClosedForm_AndTheSameTwice) {
  constexpr int members = 10;
  const auto u0 = matrix<double>(members, 1, [](int i, int) { return 0.5 + (i + 1) / 100.0 * 3; });
  const auto shared = column<double>({1.0, 2.0});
  const Ensemble ensemble(u0, shared, 0.0, 1.0);
  std::vector<double> t;
  for (int k = 0; k <= 10; ++k) t.push_back(k == 10 ? 1.0 : 0.1 * k);
  const auto times = save_times(Exec(), ensemble, t);
  const auto recorded =
      record(Exec(), Product{}, Tsit5{}, ensemble, {.rtol = 1e-11, .atol = 1e-13});
  const auto at = at_saves(times, SquaredDistance{});
  const auto a = gradient(Exec(), Product{}, recorded, ensemble, at);
  const auto b = gradient(Exec(), Product{}, recorded, ensemble, at);
  EXPECT_TRUE(same_bits_everywhere(a.params, b.params));
  double expected = 0;
  const auto start = on_host(u0);
  for (int i = 0; i < members; ++i)
    for (const double s : t) {
      const double u = start(i, 0) * std::exp(2.02 * s);
      expected += -2 * (1 - u) * u * 1.01 * 2 * s;
    }
  const auto sum = on_host(a.params);
  EXPECT_NEAR(sum(0, 0), expected, 1e-8 * std::abs(expected));
  EXPECT_NEAR(sum(0, 1), expected / 2, 1e-8 * std::abs(expected));
}

TEST(SavedGradientOf, CotangentsAtSaves_IsTheTransposeOfTheTangents) {
  const auto inputs = spread_around(n, {0.5, 1.0}, {2.0, 0.7});
  const auto ensemble = inputs.ensemble(0.0, 2.0);
  const auto times = save_times(Exec(), ensemble, std::vector{0.0, 0.4, 0.4, 1.3, 2.0});
  const auto recorded = record(Exec(), DrivenPendulum{}, Tsit5{}, ensemble);
  Uniform uniform(3);
  const auto du0 = matrix<double>(n, 2, [&](int, int) { return uniform(-1, 1); });
  const auto dp = matrix<double>(n, 2, [&](int, int) { return uniform(-1, 1); });
  const Kokkos::View<double***, Kokkos::LayoutLeft, Memory> w("w", n, 5, 2);
  auto w_host = Kokkos::create_mirror_view(w);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < 5; ++k)
      for (int c = 0; c < 2; ++c) w_host(i, k, c) = uniform(-1, 1);
  Kokkos::deep_copy(w, w_host);
  const auto tangent = jvp(Exec(), DrivenPendulum{}, recorded, ensemble, times, du0, dp);
  const auto pulled = vjp(Exec(), DrivenPendulum{}, recorded, ensemble, times, w);
  const auto t = cube_on_host(tangent.saved_tangents);
  const auto pu = on_host(pulled.u0), pp = on_host(pulled.params);
  const auto du = on_host(du0), dq = on_host(dp);
  for (int i = 0; i < n; ++i) {
    double forward = 0, reverse = 0, size = 0;
    for (int k = 0; k < 5; ++k)
      for (int c = 0; c < 2; ++c) {
        forward += w_host(i, k, c) * t(i, k, c);
        size += std::abs(w_host(i, k, c) * t(i, k, c));
      }
    for (int c = 0; c < 2; ++c) reverse += pu(i, c) * du(i, c) + pp(i, c) * dq(i, c);
    EXPECT_NEAR(forward, reverse, 1e-13 * size) << i;
  }
}

}  // namespace
}  // namespace gradsolve::test
