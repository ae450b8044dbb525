// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The rest of the library on Rosenbrock methods: kept states, solutions as functions of time, age
// of a mesh, integrals, directions.
#include <gradsolve/gradsolve.hpp>

#include <support/observed.hpp>
#include <support/stiff_systems.hpp>
#include <support/systems.hpp>

namespace gradsolve::test {
namespace {

constexpr int n = 11;
const Options options{.rtol = 1e-6, .atol = 1e-8};
Inputs<double> inputs() { return spread_around(n, {0.5, 1.0}, {40.0, 0.7}); }

TEST(StiffObserved, RecordAndGradient_IsTheTwoCalls_ToTheBit) {
  const auto in = inputs();
  const auto ensemble = in.ensemble(0.0, 1.5);
  Record<Rodas5P, double, Memory> recorded;
  Gradient<double, Memory> together;
  record_and_gradient(Exec(), Forced{}, Rodas5P{}, ensemble, options, SquaredNorm{}, recorded,
                      together);
  const auto apart =
      gradient(Exec(), Forced{}, record(Exec(), Forced{}, Rodas5P{}, ensemble, options), ensemble,
               SquaredNorm{});
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < 2; ++j) {
      EXPECT_EQ(on_host(together.u0)(i, j), on_host(apart.u0)(i, j));
      EXPECT_EQ(on_host(together.params)(i, j), on_host(apart.params)(i, j));
    }
}

template <class S>
struct Ask {
  S solution;
  ColumnOf<double> times;
  Kokkos::View<double***, Kokkos::LayoutLeft, Memory> answers;
  KOKKOS_FUNCTION void operator()(int i) const {
    for (std::size_t k = 0; k < times.extent(0); ++k) {
      const auto u = solution(i, times(k));
      for (int c = 0; c < 2; ++c) answers(i, k, c) = u[c];
    }
  }
};

TEST(StiffObserved, ASolutionInTime_IsThatOfTheSaves) {
  const auto in = inputs();
  const auto ensemble = in.ensemble(0.0, 1.5);
  const std::vector<double> times{0.0, 0.123, 0.5, 1.2, 1.5};
  Options kept = options;
  kept.keep_states = true;
  const auto recorded =
      record(Exec(), Forced{}, Rodas5P{}, ensemble, save_times(Exec(), ensemble, times), kept);
  const auto solution = make_solution(Exec(), Forced{}, recorded, ensemble);
  const Kokkos::View<double***, Kokkos::LayoutLeft, Memory> answers("answers", n, times.size(), 2);
  Kokkos::parallel_for(Kokkos::RangePolicy<Exec>(0, n),
                       Ask<decltype(solution)>{solution, column(times), answers});
  const auto a = cube_on_host(answers), saved = cube_on_host(recorded.saved);
  for (int i = 0; i < n; ++i)
    for (std::size_t k = 0; k < times.size(); ++k)
      for (int c = 0; c < 2; ++c)
        EXPECT_NEAR(a(i, k, c), saved(i, k, c), 1e-14 * (1 + std::abs(saved(i, k, c))));
}

TEST(StiffObserved, AFreshMesh_HasErrorsWithinTheTolerance_AndAnOldOneHasNot) {
  const auto in = inputs();
  const auto ensemble = in.ensemble(0.0, 1.5);
  const auto recorded = record(Exec(), Forced{}, Rodas4{}, ensemble, options);
  const auto fresh =
      on_host(replay_with_error_ratio(Exec(), Forced{}, recorded, ensemble).error_ratio);
  auto moved = in;
  moved.params = spread_around(n, {0.5, 1.0}, {4.0, 3.0}).params;
  const auto old = on_host(
      replay_with_error_ratio(Exec(), Forced{}, recorded, moved.ensemble(0.0, 1.5)).error_ratio);
  for (int i = 0; i < n; ++i) {
    EXPECT_LE(fresh(i), 1 + 1e-12) << i;
    EXPECT_GT(old(i), 1.5) << i;
  }
}

/// x^2 along the solution.
struct Square {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const T&, const State<T, 2>& u,
                                           const Params<T, 2>&) const {
    return u[0] * u[0];
  }
};
/// The integral alone.
struct ThirdState {
  template <class T>
  KOKKOS_FUNCTION T operator()(const State<T, 3>& u) const {
    return u[2];
  }
};

TEST(StiffObserved, AnIntegral_IsTheQuadratureOfASum_WithItsGradient) {
  const auto in = inputs();
  const auto ensemble = in.ensemble(0.0, 1.5);
  const WithIntegral system{Forced{}, Square{}};
  const auto recorded = record(Exec(), system, Rodas5P{}, ensemble, {.rtol = 1e-9, .atol = 1e-11});
  // Simpson's rule on many saves.
  constexpr int intervals = 600;
  std::vector<double> times;
  for (int k = 0; k <= intervals; ++k) times.push_back(1.5 * k / intervals);
  times.back() = 1.5;
  const auto saved =
      cube_on_host(record(Exec(), Forced{}, Rodas5P{}, ensemble,
                          save_times(Exec(), ensemble, times), {.rtol = 1e-9, .atol = 1e-11})
                       .saved);
  const auto u = on_host(recorded.states);
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int k = 0; k <= intervals; ++k)
      sum += saved(i, k, 0) * saved(i, k, 0) * (k == 0 || k == intervals ? 1 : k % 2 ? 4 : 2);
    EXPECT_NEAR(u(i, 2), sum * 1.5 / intervals / 3, 1e-6) << i;
  }
  const auto check = check_gradient(Exec(), system, recorded, ensemble, ThirdState{});
  EXPECT_EQ(check.num_checked, n);
  EXPECT_TRUE(check.passed({1e-10, 1e-6})) << check.report({1e-10, 1e-6});
}

}  // namespace
}  // namespace gradsolve::test
