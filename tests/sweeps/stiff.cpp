// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Stiff systems by implicit methods: step counts, published values, orders, failures.
#include <gradsolve/gradsolve.hpp>

#include <support/all_methods.hpp>
#include <support/ensembles.hpp>
#include <support/reference.hpp>
#include <support/solved.hpp>
#include <support/stiff_systems.hpp>
#include <tool/systems/hires.hpp>

namespace gradsolve::test {
namespace {

const std::vector<double> robertson_start{1, 0, 0}, robertson_rates{0.04, 3e7, 1e4};

/// Accepted and rejected steps of one trajectory.
struct Counts {
  int accepted, rejected;
  bool operator==(const Counts&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Counts& c) {
  return out << c.accepted << "/" << c.rejected;
}
template <class M, class F>
Counts counts(const F& f, const std::vector<double>& u0, const std::vector<double>& p, double t1,
              double rtol) {
  const Inputs<double> inputs{matrix<double>(1, F::num_states, [&](int, int j) { return u0[j]; }),
                              matrix<double>(1, F::num_params, [&](int, int j) { return p[j]; })};
  const auto r =
      record(Exec(), f, M{}, inputs.ensemble(0.0, t1), {.rtol = rtol, .atol = 1e-3 * rtol});
  EXPECT_EQ(on_host(r.status)(0), Status::success);
  return {on_host(r.num_steps)(0), on_host(r.num_rejected)(0)};
}

// Counted by an independent program with the same controller (first step span / 100, integral
// control, atol = rtol / 1000).
TEST(StepCounts, OfRobertson_AreThoseOfAnotherProgram) {
  const Robertson f;
  auto rosenbrock23 = [&](double t1, double rtol) {
    return counts<Rosenbrock23>(f, robertson_start, robertson_rates, t1, rtol);
  };
  auto rodas5p = [&](double t1, double rtol) {
    return counts<Rodas5P>(f, robertson_start, robertson_rates, t1, rtol);
  };
  EXPECT_EQ(rosenbrock23(1, 1e-6), (Counts{56, 4}));
  EXPECT_EQ(rosenbrock23(1, 1e-8), (Counts{300, 5}));
  EXPECT_EQ(rosenbrock23(1e2, 1e-6), (Counts{166, 6}));
  EXPECT_EQ(rosenbrock23(1e2, 1e-8), (Counts{1300, 7}));
  EXPECT_EQ(rosenbrock23(1e4, 1e-5), (Counts{106, 9}));
  EXPECT_EQ(rosenbrock23(1e4, 1e-6), (Counts{252, 9}));
  EXPECT_EQ(rosenbrock23(1e4, 1e-8), (Counts{1850, 10}));
  EXPECT_EQ(rosenbrock23(1e5, 1e-6), (Counts{324, 11}));
  EXPECT_EQ(rosenbrock23(1e11, 1e-6), (Counts{554, 19}));
  EXPECT_EQ(rodas5p(1, 1e-6), (Counts{18, 4}));
  EXPECT_EQ(rodas5p(1, 1e-8), (Counts{38, 7}));
  EXPECT_EQ(rodas5p(1e2, 1e-6), (Counts{38, 6}));
  EXPECT_EQ(rodas5p(1e2, 1e-8), (Counts{88, 10}));
  EXPECT_EQ(rodas5p(1e4, 1e-5), (Counts{50, 8}));
  EXPECT_EQ(rodas5p(1e4, 1e-6), (Counts{67, 9}));
  EXPECT_EQ(rodas5p(1e4, 1e-8), (Counts{152, 12}));
  EXPECT_EQ(rodas5p(1e5, 1e-6), (Counts{89, 12}));
  EXPECT_EQ(rodas5p(1e11, 1e-6), (Counts{178, 19}));
}

TEST(StepCounts, OfHires_AreThoseOfAnotherProgram) {
  const std::vector<double> u0{1, 0, 0, 0, 0, 0, 0, 0.0057},
      p{1.71, 0.43, 8.32, 0.69, 0.035, 8.32, 280, 0.69, 0.69, 0.0007};
  const tool::Hires f;
  EXPECT_EQ(counts<Rosenbrock23>(f, u0, p, 321.8122, 1e-6), (Counts{1261, 6}));
  EXPECT_EQ(counts<Rosenbrock23>(f, u0, p, 321.8122, 1e-8), (Counts{7190, 7}));
  EXPECT_EQ(counts<Rodas5P>(f, u0, p, 321.8122, 1e-6), (Counts{147, 22}));
  EXPECT_EQ(counts<Rodas5P>(f, u0, p, 321.8122, 1e-8), (Counts{554, 10}));
}

/// The sum of all components.
struct Total {
  template <class T, int N>
  KOKKOS_FUNCTION T operator()(const State<T, N>& u) const {
    T sum(0);
    static_for<N>([&](auto i) GRADSOLVE_INLINE_LAMBDA { sum = sum + u[i]; });
    return sum;
  }
};

/// One component.
struct Component {
  int which;
  template <class T>
  KOKKOS_FUNCTION T operator()(const State<T, 3>& u) const {
    return which == 0 ? u[0] : which == 1 ? u[1] : u[2];
  }
};

template <class M>
class Stiff : public ::testing::Test {};
TYPED_TEST_SUITE(Stiff, ImplicitMethods, NameOfMethod);

TYPED_TEST(Stiff, HasTheOrderOfTheMethod_WithTimeInTheSystem) {
  using M = TypeParam;
  const Inputs<double> inputs{matrix<double>({{0.5, 1.0}}), matrix<double>({{2.0, 0.7}})};
  const auto exact = reference::replay<Verner9, reference::Real>(
      Forced{}, reference::equal_steps(0, 2, 1000), reference::Real(0), {0.5L, 1.0L}, {2.0L, 0.7L});
  auto error = [&](int steps) {
    const auto recorded =
        record(Exec(), Forced{}, M{}, inputs.ensemble(0.0, 2.0), {.fixed_steps = steps});
    const auto u = on_host(recorded.states);
    return std::hypot(u(0, 0) - double(exact[0]), u(0, 1) - double(exact[1]));
  };
  const double slope = std::log2(error(64) / error(128));
  EXPECT_GT(slope, M::order - 0.3) << error(64) << ", " << error(128);
  EXPECT_LT(slope, M::order + 0.7) << error(64) << ", " << error(128);
}

/// The largest error of saves within fixed steps.
TYPED_TEST(Stiff, ContinuousExtensionHasItsOrder) {
  using M = TypeParam;
  using R = reference::Real;
  auto error = [](R h) {
    const State<R, 2> u{0.5L, 1.0L};
    const Params<R, 2> p{2.0L, 0.7L};
    R largest = 0;
    for (const R theta : {0.2L, 0.37L, 0.6L, 0.85L}) {
      const auto v = reference::interpolate<M, Forced, R>(Forced{}, R(0.3L), h, u, p, theta);
      const auto exact = reference::replay<Verner9, R>(
          Forced{}, reference::equal_steps(0.3L, 0.3L + theta * h, 20), R(0.3L), u, p);
      largest = std::max({largest, std::abs(v[0] - exact[0]), std::abs(v[1] - exact[1])});
    }
    return largest;
  };
  const double slope = static_cast<double>(std::log2(error(0.02L) / error(0.01L)));
  EXPECT_GT(slope, M::dense_order + 1 - 0.3);
}

// Published values at t = 40 and log-sensitivities k du/dk (G1).
TYPED_TEST(Stiff, SolvesRobertson_AndItsLogSensitivities) {
  using M = TypeParam;
  constexpr int n = 5;
  const Inputs<double> inputs{matrix<double>(n, 3, [](int, int j) { return robertson_start[j]; }),
                              matrix<double>(n, 3, [](int, int j) { return robertson_rates[j]; })};
  const auto ensemble = inputs.ensemble(0.0, 40.0);
  const bool low = M::order < 4;
  const auto recorded = record(Exec(), Robertson{}, M{}, ensemble,
                               {.rtol = low ? 1e-6 : 1e-8, .atol = low ? 1e-10 : 1e-12});
  const double u[] = {.715827068719426, 9.18553476455872e-6, .284163745745811};
  const double to_rates[3][3] = {{-.169902350868, -.0686506526670, .137308079734},
                                 {1.8364785e-6, -3.4141785e-6, -2.3571921e-6},
                                 {.169900514390, .0686540668455, -.137305722542}};
  const double to_start[] = {.784484495787, .721206418410, .721212890879};  // of u[0]
  const auto states = on_host(recorded.states);
  const double bound = low ? 2e-4 : 1e-6;
  for (int component = 0; component < 3; ++component) {
    const auto g = gradient(Exec(), Robertson{}, recorded, ensemble, Component{component});
    const auto dp = on_host(g.params), du0 = on_host(g.u0);
    for (int i = 0; i < n; ++i) {
      EXPECT_EQ(on_host(recorded.status)(i), Status::success);
      EXPECT_NEAR(states(i, component), u[component], bound * u[component]);
      for (int j = 0; j < 3; ++j)
        EXPECT_NEAR(robertson_rates[j] * dp(i, j), to_rates[component][j],
                    10 * bound * std::abs(to_rates[component][j]))
            << component << ", k" << j + 1;
      for (int j = 0; component == 0 && j < 3; ++j) EXPECT_NEAR(du0(i, j), to_start[j], bound) << j;
    }
  }
}

TYPED_TEST(Stiff, KeepsTheMass_AndItsDerivatives) {
  using M = TypeParam;
  const Inputs<double> inputs{matrix<double>({{1.0, 0.0, 0.0}}),
                              matrix<double>({{0.04, 3e7, 1e4}})};
  const auto ensemble = inputs.ensemble(0.0, 1e4);
  const auto recorded = record(Exec(), Robertson{}, M{}, ensemble, {.rtol = 1e-5, .atol = 1e-9});
  const auto states = on_host(recorded.states);
  EXPECT_NEAR(states(0, 0) + states(0, 1) + states(0, 2), 1, 1e-13);
  const auto g = gradient(Exec(), Robertson{}, recorded, ensemble, Total{});
  const auto du0 = on_host(g.u0), dp = on_host(g.params);
  for (int j = 0; j < 3; ++j) {
    EXPECT_NEAR(du0(0, j), 1, 1e-12) << j;
    EXPECT_NEAR(robertson_rates[j] * dp(0, j), 0, 1e-13) << j;
  }
}

// D13: what an explicit method cannot do.
TEST(StiffRelaxation, IsFollowedInFewSteps) {
  const auto r = solve<Rodas4>(Relaxation{}, {1.0}, {1e6}, 0.0, 10.0, {.rtol = 1e-6, .atol = 1e-8});
  EXPECT_EQ(r.status, Status::success);
  EXPECT_LT(r.steps, 200);
  EXPECT_NEAR(r.u[0], (1e12 * std::cos(10.0) + 1e6 * std::sin(10.0)) / (1e12 + 1), 1e-6);
}

/// y' = p y
struct Growth {
  static constexpr int num_states = 1, num_params = 1;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 1> operator()(const T&, const State<T, 1>& u,
                                                     const Params<T, 1>& p) const {
    return {p[0] * u[0]};
  }
};

// W = 1 / (h gamma) - p vanishes at the first trial, h = span / 100.
TEST(SingularW, ShrinksTheStep) {
  const double gamma = 0.25, h = 0.01;
  const auto r =
      solve<Rodas4>(Growth{}, {1.0}, {1 / (gamma * h)}, 0.0, 1e2 * h, {.rtol = 1e-8, .atol = 1e-8});
  EXPECT_EQ(r.status, Status::success);
  EXPECT_GE(r.rejected, 1);
  EXPECT_NEAR(r.u[0] / std::exp(400.0), 1, 1e-4);
}

/// sqrt(u): its Jacobian is infinite at 0, and not a number below.
struct Root {
  static constexpr int num_states = 1, num_params = 1;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 1> operator()(const T&, const State<T, 1>& u,
                                                     const Params<T, 1>& p) const {
    using gradsolve::sqrt;
    return {p[0] * sqrt(u[0])};
  }
};

TEST(NonFiniteJacobian, EndsInAStatus_AndLeavesNeighboursAlone) {
  const Inputs<double> inputs{matrix<double>({{1.0}, {0.0}, {1.0}}),
                              matrix<double>({{0.5}, {0.5}, {0.25}})};
  const auto ensemble = inputs.ensemble(0.0, 1.0);
  const auto r = record(Exec(), Root{}, Rodas5P{}, ensemble, {.rtol = 1e-8, .atol = 1e-10});
  const auto status = on_host(r.status);
  const auto u = on_host(r.states);
  EXPECT_EQ(status(0), Status::success);
  EXPECT_EQ(status(1), Status::non_finite);
  EXPECT_EQ(status(2), Status::success);
  EXPECT_NEAR(u(0, 0), 1.25 * 1.25, 1e-8);
  EXPECT_NEAR(u(2, 0), 1.125 * 1.125, 1e-8);
  const auto g = gradient(Exec(), Root{}, r, ensemble, Total{});
  EXPECT_NEAR(on_host(g.params)(0, 0), 1.25, 1e-7);
  EXPECT_TRUE(std::isnan(on_host(g.params)(1, 0)));
}

/// Whatever hides the infinite entry: no move of Newton's, no error estimate of fixed steps.
template <class M>
Status status_at_the_root(const Options& options) {
  const Inputs<double> inputs{matrix<double>({{0.0}}), matrix<double>({{0.5}})};
  return on_host(record(Exec(), Root{}, M{}, inputs.ensemble(0.0, 1.0), options).status)(0);
}
TEST(NonFiniteJacobian, IsNoSuccessOfOtherMethodsAndOfFixedStepsEither) {
  EXPECT_EQ(status_at_the_root<Kvaerno5>({.rtol = 1e-6}), Status::non_finite);
  EXPECT_EQ(status_at_the_root<Kvaerno5>({.fixed_steps = 10}), Status::non_finite);
  EXPECT_EQ(status_at_the_root<Rodas4>({.fixed_steps = 10}), Status::non_finite);
  EXPECT_EQ(status_at_the_root<Rosenbrock23>({.fixed_step = 0.1}), Status::non_finite);
}

/// t + dt rounds onto t1, from which dt is a little less away.
TEST(LastStep, EndsAtT1_WhereAnotherOneWouldBeOfNoLength) {
  ASSERT_GT(1.1 - 1.0, 0.1);
  ASSERT_EQ(1.0 + 0.1, 1.1);
  const Options options{.rtol = 1e-3, .first_step = 0.1};
  const auto stiff = solve<Rodas5P>(Relaxation{}, {1.0}, {1.0}, 1.0, 1.1, options);
  EXPECT_EQ(stiff.status, Status::success);
  EXPECT_EQ(stiff.steps, 1);
  const auto explicit_one = solve<Tsit5>(Relaxation{}, {1.0}, {1.0}, 1.0, 1.1, options);
  EXPECT_EQ(explicit_one.status, Status::success);
  EXPECT_EQ(explicit_one.steps, 1);
}

TEST(StiffInFloat, FollowsTheDoubleSolution) {
  constexpr int n = 8;
  auto rate = [](int i) { return 0.04 * (1 + 0.1 * i); };
  const Inputs<double> inputs{
      matrix<double>(n, 3, [](int, int j) { return robertson_start[j]; }),
      matrix<double>(n, 3, [&](int i, int j) { return j == 0 ? rate(i) : robertson_rates[j]; })};
  const Inputs<float> single{
      matrix<float>(n, 3, [](int, int j) { return float(robertson_start[j]); }),
      matrix<float>(n, 3,
                    [&](int i, int j) { return float(j == 0 ? rate(i) : robertson_rates[j]); })};
  const Options options{.rtol = 1e-5, .atol = 1e-8};
  const auto e = inputs.ensemble(0.0, 1e4);
  const auto f = single.ensemble(0.0f, 1e4f);
  const auto a = record(Exec(), Robertson{}, Rodas4{}, e, options);
  const auto b = record(Exec(), Robertson{}, Rodas4{}, f, options);
  const auto ga = gradient(Exec(), Robertson{}, a, e, SquaredNorm{});
  const auto gb = gradient(Exec(), Robertson{}, b, f, SquaredNorm{});
  for (int i = 0; i < n; ++i) {
    ASSERT_EQ(on_host(b.status)(i), Status::success);
    for (int j = 0; j < 3; ++j) {
      const double x = on_host(a.states)(i, j), d = on_host(ga.params)(i, j);
      EXPECT_NEAR(on_host(b.states)(i, j), x, 1e-3 * x) << i << ", " << j;
      EXPECT_NEAR(on_host(gb.params)(i, j), d, 2e-3 * std::abs(d)) << i << ", " << j;
    }
  }
}

}  // namespace
}  // namespace gradsolve::test
