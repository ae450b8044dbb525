// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// States at save times, in record, replay and solutions.
#include <gradsolve/gradsolve.hpp>

#include <numbers>
#include <support/observed.hpp>
#include <support/systems.hpp>

namespace gradsolve::test {
namespace {

const Options tight{.rtol = 1e-10, .atol = 1e-12};

/// What a test looks at: the saved states of one ensemble, on the host.
template <class M = Tsit5, class F, class Times>
auto saved_states(const F& f, const Inputs<double>& inputs, double t0, double t1,
                  const Times& times, const Options& options = tight) {
  const auto ensemble = inputs.ensemble(t0, t1);
  return cube_on_host(
      record(Exec(), f, M{}, ensemble, save_times(Exec(), ensemble, times), options).saved);
}

TEST(Saves, LieOnTheExactSolution_AtT0_Within_AtT1_AndTwice) {
  const Inputs<double> inputs{matrix<double>({{1.0}, {2.0}}), matrix<double>({{1.0}, {0.5}})};
  const std::vector<double> times{0, 0, 0.5, 1, 1};
  const auto saved = saved_states(Decay{}, inputs, 0.0, 1.0, times);
  for (std::size_t k = 0; k < times.size(); ++k) {
    EXPECT_NEAR(saved(0, k, 0), std::exp(-times[k]), 1e-9);
    EXPECT_NEAR(saved(1, k, 0), 2 * std::exp(-0.5 * times[k]), 1e-9);
  }
  EXPECT_EQ(saved(0, 0, 0), 1.0);
}

// B6: a uniform list keeps its last entry before t1.
TEST(Saves, OfAUniformList_AreAllThere) {
  const Inputs<double> inputs{matrix<double>({{1.0}}), matrix<double>({{-1.0}})};
  const auto saved = saved_states(Decay{}, inputs, 0.0, 15.0, std::vector<double>{0, 4, 8, 12, 15});
  for (int k = 0; k < 5; ++k) {
    const double t = k == 4 ? 15 : 4 * k;
    EXPECT_NEAR(saved(0, k, 0) / std::exp(t), 1, 1e-8) << t;
  }
}

// B7: a float grid whose last point is t1.
TEST(Saves, OfAFloatGrid_EndOnT1) {
  for (const float t1 : {1.0f, 10.0f}) {
    const int count = static_cast<int>(std::lround(t1 / 0.1f)) + 1;
    std::vector<float> times;
    for (int k = 0; k < count; ++k) times.push_back(static_cast<float>(k * 0.1));
    times.back() = t1;
    const Inputs<float> inputs{matrix<float>({{1.0f}}), matrix<float>({{1.0f}})};
    const auto ensemble = inputs.ensemble(0.0f, t1);
    const auto recorded = record(Exec(), Decay{}, Tsit5{}, ensemble,
                                 save_times(Exec(), ensemble, times), {.rtol = 1e-5, .atol = 1e-7});
    const auto saved = cube_on_host(recorded.saved);
    ASSERT_EQ(saved.extent(1), std::size_t(count));
    for (int k = 0; k < count; ++k)
      EXPECT_NEAR(saved(0, k, 0), std::exp(-double(times[k])), 2e-4) << k;
    EXPECT_EQ(saved(0, count - 1, 0), on_host(recorded.states)(0, 0));
  }
}

TEST(Saves, AtStepEnds_AreThoseStatesToTheBit) {
  const auto inputs = lotka_volterra(5);
  const auto ensemble = inputs.ensemble(0.0, 2.0);
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble,
                               {.rtol = 1e-5, .atol = 1e-7, .keep_states = true});
  std::vector<std::vector<double>> ends;
  for (int i = 0; i < 5; ++i) ends.push_back(step_ends(Exec(), recorded, i));
  const auto rows = ragged(ends);
  const auto times = save_times(Exec(), ensemble, rows.times, rows.counts);
  const auto replayed = replay(Exec(), LotkaVolterra{}, recorded, ensemble, times);
  const auto saved = cube_on_host(replayed.saved);
  const auto kept = on_host(recorded.kept);
  const auto states = on_host(recorded.states);
  const auto order = on_host(recorded.mesh.order);
  const auto first_row = on_host(recorded.mesh.first_row);
  const int width = recorded.mesh.width;
  for (int lane = 0; lane < static_cast<int>(order.extent(0)); ++lane) {
    const int i = order(lane);
    if (i < 0) continue;
    const int steps = static_cast<int>(ends[i].size());
    for (int k = 0; k < steps; ++k)
      for (int c = 0; c < 2; ++c) {
        const double expected =
            k + 1 < steps ? kept(((first_row(lane / width) + k + 1) * 2 + c) * width + lane % width)
                          : states(i, c);
        EXPECT_TRUE(same_bits(saved(i, k, c), expected)) << i << ", step " << k;
      }
  }
}

TEST(Saves, OfRecordAndReplay_AgreeToTheBit_AndLeaveTheSolutionAlone) {
  const auto inputs = lotka_volterra(37);
  const auto ensemble = inputs.ensemble(0.0, 3.0);
  const auto times = save_times(Exec(), ensemble, std::vector{0.0, 0.3, 1.1, 1.1, 2.9, 3.0});
  const auto with = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, times, tight);
  const auto without = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, tight);
  EXPECT_TRUE(same_bits_everywhere(with.states, without.states));
  EXPECT_TRUE(same_bits_everywhere(with.num_steps, without.num_steps));
  const auto replayed = replay(Exec(), LotkaVolterra{}, with, ensemble, times);
  const auto a = cube_on_host(with.saved), b = cube_on_host(replayed.saved);
  for (int i = 0; i < 37; ++i)
    for (int k = 0; k < 6; ++k)
      for (int c = 0; c < 2; ++c) EXPECT_TRUE(same_bits(a(i, k, c), b(i, k, c)));
}

/// y' = 1 in time: u(t) = u0 + t - t0.
struct Clock {
  static constexpr int num_states = 1, num_params = 0;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 1> operator()(const T&, const State<T, 1>&,
                                                     const Params<T, 0>&) const {
    return {T(1)};
  }
};

// C3, C4: falling times where the integration goes backward.
TEST(Saves, OfABackwardSolution_ComeInFallingOrder) {
  const Inputs<double> inputs{matrix<double>({{1.0}}), MatrixOf<double>("none", 1, 0)};
  const std::vector<double> times{1, 0.75, 0.5, 0.25, 0};
  const auto saved = saved_states(Clock{}, inputs, 1.0, 0.0, times);
  for (int k = 0; k < 5; ++k) EXPECT_NEAR(saved(0, k, 0), times[k], 1e-14);
  const auto ensemble = inputs.ensemble(1.0, 0.0);
  try {
    save_times(Exec(), ensemble, std::vector{0.0, 0.5, 1.0});
    FAIL() << "rising times of a backward solution";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("fall"), std::string::npos) << error.what();
  }
}

// B1, mixed with spans that are not empty.
TEST(Saves, OfAnEmptySpan_AreTheInitialState) {
  const Inputs<double> inputs{matrix<double>({{3.0}, {3.0}}), matrix<double>({{2.0}, {2.0}})};
  const auto t0 = column(std::vector<double>{1.5, 1.5}), t1 = column(std::vector<double>{1.5, 2.5});
  const auto ensemble = inputs.ensemble(t0, t1);
  const auto times = save_times(Exec(), ensemble, std::vector{1.5});
  const auto recorded = record(Exec(), Decay{}, Tsit5{}, ensemble, times, tight);
  const auto saved = cube_on_host(recorded.saved);
  const auto steps = on_host(recorded.num_steps);
  EXPECT_EQ(saved(0, 0, 0), 3.0);
  EXPECT_EQ(saved(1, 0, 0), 3.0);
  EXPECT_EQ(steps(0), 0);
  EXPECT_GT(steps(1), 0);
}

// A9: what was not reached is marked.
TEST(Saves, ThatWereNotReached_AreNaN_WhateverTheMemoryHeld) {
  const Inputs<double> inputs{matrix<double>({{1.0}, {0.25}}), MatrixOf<double>("none", 2, 0)};
  const auto ensemble = inputs.ensemble(0.0, 2.0);
  const auto times = save_times(Exec(), ensemble, std::vector{0.0, 0.9, 1.5, 2.0});
  Record<Tsit5, double, Memory> recorded;
  recorded.saved = decltype(recorded.saved)("dirty", 2, 4, 1);
  Kokkos::deep_copy(recorded.saved, 77.0);
  record(Exec(), BlowUp{}, Tsit5{}, ensemble, times, tight, recorded);
  const auto saved = cube_on_host(recorded.saved);
  EXPECT_NE(on_host(recorded.status)(0), Status::success);
  EXPECT_EQ(saved(0, 0, 0), 1.0);
  EXPECT_NEAR(saved(0, 1, 0), 10, 1e-6);
  EXPECT_TRUE(std::isnan(saved(0, 2, 0)) && std::isnan(saved(0, 3, 0)));
  EXPECT_NEAR(saved(1, 3, 0), 0.25 / (1 - 0.5), 1e-8);  // the neighbour came through
}

TEST(Saves, OfRaggedLists_AreEachTrajectorysOwn) {
  const auto inputs = lotka_volterra(4);
  const std::vector<std::vector<double>> lists{{0.5}, {}, {0.1, 0.2, 0.9}, {1.0}};
  const auto rows = ragged(lists);
  const auto ensemble = inputs.ensemble(0.0, 1.0);
  const auto times = save_times(Exec(), ensemble, rows.times, rows.counts);
  const auto saved =
      cube_on_host(record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, times, tight).saved);
  const auto u0 = on_host(inputs.u0), params = on_host(inputs.params);
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 3; ++k) {
      if (k >= static_cast<int>(lists[i].size())) {
        EXPECT_TRUE(std::isnan(saved(i, k, 0))) << i << ", " << k;
        continue;
      }
      const auto exact = reference::replay<Verner9, reference::Real>(
          LotkaVolterra{}, reference::equal_steps(0, lists[i][k], 40), reference::Real(0),
          reference::convert<reference::Real>(row<2>(u0, i)),
          reference::convert<reference::Real>(row<4>(params, i)));
      for (int c = 0; c < 2; ++c) EXPECT_NEAR(saved(i, k, c), double(exact[c]), 1e-8);
    }
}

template <class M>
class Interpolant : public ::testing::Test {};
using AllMethods = ::testing::Types<Euler, Heun, RK4, BogackiShampine3, DormandPrince5, Tsit5,
                                    Verner7, Verner9, Dop853>;
TYPED_TEST_SUITE(Interpolant, AllMethods);

/// The slope of log2(error) over halved steps, in long double: double has too few digits for
/// order 9. The library's own interpolation is held against this polynomial by the tests above and
/// by the golden steps.
TYPED_TEST(Interpolant, HasItsOrder) {
  using M = TypeParam;
  using R = reference::Real;
  auto error = [](R h) {
    const R t = 0.3L;
    const State<R, 2> u{std::cos(t), -std::sin(t)};
    R largest = 0;
    for (const R theta : {0.2L, 0.37L, 0.6L, 0.85L}) {
      const auto v =
          reference::interpolate<M, Oscillator, R>(Oscillator{}, t, h, u, Params<R, 0>{}, theta);
      largest = std::max({largest, std::abs(v[0] - std::cos(t + theta * h)),
                          std::abs(v[1] + std::sin(t + theta * h))});
    }
    return largest;
  };
  // Large steps for high orders: the coefficients have the digits of double.
  const R h = M::dense_order > 4 ? 2.0L : 0.05L;
  const double slope = static_cast<double>(std::log2(error(h) / error(h / 2)));
  EXPECT_GT(slope, M::dense_order + 1 - 0.5) << error(h) << ", " << error(h / 2);
}

/// And in the sweep, where double allows it: the error of saves within fixed steps of a solution
/// falls with the order of the method or of its interpolant.
TYPED_TEST(Interpolant, HasItsOrderInTheSweep) {
  using M = TypeParam;
  const Inputs<double> inputs{matrix<double>({{1.0, 0.0}}), MatrixOf<double>("none", 1, 0)};
  auto error = [&](int steps) {
    std::vector<double> times;
    for (int k = 0; k < 7; ++k) times.push_back((0.2 + k + 0.37) * 2.0 / 8);
    const auto saved =
        saved_states<M>(Oscillator{}, inputs, 0.0, 2.0, times, {.fixed_steps = steps});
    double largest = 0;
    for (int k = 0; k < 7; ++k)
      largest = std::max(largest, std::abs(saved(0, k, 0) - std::cos(times[k])));
    return largest;
  };
  const int steps = M::order >= 7 ? 2 : M::order >= 5 ? 8 : 32;
  const double slope = std::log2(error(steps) / error(2 * steps));
  EXPECT_GT(slope, std::min<double>(M::order, M::dense_order + 1) - 0.7) << error(2 * steps);
}

TEST(SaveTimes, ThatMakeNoSense_AreRefused) {
  const auto inputs = lotka_volterra(3);
  const auto ensemble = inputs.ensemble(0.0, 1.0);
  auto refusal = [&](auto&& make) {
    try {
      make();
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  auto shared = [&](std::vector<double> times) {
    return refusal([&] { save_times(Exec(), ensemble, times); });
  };
  EXPECT_EQ(shared({0.5, 0.25}),
            "gradsolve::save_times: times is save 1 of trajectory 0 at 0.25, expected times that "
            "rise");
  EXPECT_EQ(shared({0.5, 1.5}),
            "gradsolve::save_times: times is save 1 of trajectory 0 at 1.5, expected a time within "
            "its span, 0 to 1");
  EXPECT_EQ(
      shared({nan_value}),
      "gradsolve::save_times: times is save 0 of trajectory 0 at nan, expected a finite time");
  EXPECT_EQ(
      shared({infinity}),
      "gradsolve::save_times: times is save 0 of trajectory 0 at inf, expected a finite time");
  const auto rows = ragged<double>({{0.5}, {0.2, 0.1}, {0.1}});
  EXPECT_NE(refusal([&] {
              save_times(Exec(), ensemble, rows.times, rows.counts);
            }).find("save 1 of trajectory 1 at 0.1"),
            std::string::npos);
  const auto counts = column(std::vector<int>{1, 3, 1});
  EXPECT_EQ(refusal([&] { save_times(Exec(), ensemble, rows.times, counts); }),
            "gradsolve::save_times: counts is 3 of trajectory 1, expected 0 to 2");
  EXPECT_NE(refusal([&] {
              save_times(Exec(), ensemble, MatrixOf<double>("t", 2, 1));
            }).find("times is (2, 1), expected 3 rows"),
            std::string::npos);
  const auto times = save_times(Exec(), ensemble, std::vector{0.5});
  const auto others = lotka_volterra(4);
  EXPECT_NE(refusal([&] {
              record(Exec(), LotkaVolterra{}, Tsit5{}, others.ensemble(0.0, 1.0), times, {});
            }).find("save times of 3 trajectories, expected 4"),
            std::string::npos);
}

/// Evaluates a solution on the device.
template <class Solution>
struct Ask {
  Solution solution;
  Kokkos::View<double*, Memory> times;
  Kokkos::View<double***, Kokkos::LayoutLeft, Memory> answers;
  KOKKOS_FUNCTION void operator()(int i) const {
    for (int k = 0; k < static_cast<int>(times.extent(0)); ++k) {
      const auto u = solution(i, times(k));
      for (int c = 0; c < Solution::N; ++c) answers(i, k, c) = u[c];
    }
  }
};

TEST(Solution, IsWhatASaveAtThatTimeIs) {
  constexpr int n = 11;
  const auto inputs = lotka_volterra(n);
  const auto ensemble = inputs.ensemble(0.0, 2.0);
  const std::vector<double> times{0.0, 0.123, 0.5, 1.75, 2.0};
  const auto recorded = record(Exec(), LotkaVolterra{}, Verner7{}, ensemble,
                               save_times(Exec(), ensemble, times), {.keep_states = true});
  const auto solution = make_solution(Exec(), LotkaVolterra{}, recorded, ensemble);
  std::vector<double> asked = times;
  asked.insert(asked.end(), {-0.1, 2.1, nan_value});
  const Kokkos::View<double***, Kokkos::LayoutLeft, Memory> answers("answers", n, asked.size(), 2);
  Kokkos::parallel_for(Kokkos::RangePolicy<Exec>(0, n),
                       Ask<decltype(solution)>{solution, column(asked), answers});
  const auto a = cube_on_host(answers), saved = cube_on_host(recorded.saved);
  for (int i = 0; i < n; ++i)
    for (int c = 0; c < 2; ++c) {
      for (int k = 0; k < 5; ++k)
        EXPECT_NEAR(a(i, k, c), saved(i, k, c), 1e-15 * std::abs(saved(i, k, c))) << i << ", " << k;
      for (int k = 5; k < 8; ++k) EXPECT_TRUE(std::isnan(a(i, k, c))) << i << ", " << asked[k];
    }
}

struct FirstOf {
  template <class T, int N, int P>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const T&, const State<T, N>& u,
                                           const Params<T, P>&) const {
    return u[0];
  }
};
TEST(Solution, OfARecordWithoutStates_OrOfAnotherSystem_IsRefused) {
  const auto inputs = lotka_volterra(2);
  const auto ensemble = inputs.ensemble(0.0, 1.0);
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble);
  EXPECT_THROW(make_solution(Exec(), LotkaVolterra{}, recorded, ensemble), InvalidArgument);
  const auto kept = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, {.keep_states = true});
  const WithIntegral another{LotkaVolterra{}, FirstOf{}};
  EXPECT_THROW(make_solution(Exec(), another, kept, ensemble), InvalidArgument);
}

}  // namespace
}  // namespace gradsolve::test
