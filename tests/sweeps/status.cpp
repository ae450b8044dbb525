// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gradsolve/gradsolve.hpp>

#include <gtest/gtest.h>

#include <support/ensembles.hpp>
#include <support/host.hpp>
#include <support/solved.hpp>
#include <support/systems.hpp>

/// Trajectories that end early, or nearly do: problems that users of other solvers have reported.
/// Most names begin with the number of the report in our collection.
namespace gradsolve::test {
namespace {

// ---- A: values that are not numbers ----

/// y' = y, which does not exist above 20.
struct GrowthBelow20 {
  static constexpr int num_states = 1, num_params = 0;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 1> operator()(const T&, const State<T, 1>& u,
                                                     const Params<T, 0>&) const {
    return {select(u[0] > T(20), T(not_a_number()), u[0])};
  }
};

TEST(NonFinite, A1ATrialOutsideTheDomainIsRejected) {
  const auto r = solve(GrowthBelow20{}, {1.0}, {}, 0.0, std::log(19.9),
                       {.rtol = 1e-4, .atol = 1e-4, .first_step = std::log(19.9)});
  EXPECT_EQ(r.status, Status::success);
  EXPECT_GT(r.rejected, 0);
  EXPECT_NEAR(r.u[0], 19.9, 2e-2);
  EXPECT_NEAR(r.du0[0], 19.9, 2e-2);
}

struct Cubic {
  static constexpr int num_states = 1, num_params = 0;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 1> operator()(const T&, const State<T, 1>& u,
                                                     const Params<T, 0>&) const {
    return {T(-50) * u[0] * u[0] * u[0]};
  }
};

TEST(NonFinite, A3AFirstTrialThatOverflowsIsRejected) {
  const Options options{.rtol = 1e-6, .atol = 1e-6, .first_step = 45};
  const auto r = solve(Cubic{}, {1.0}, {}, 0.0, 1.0, options);
  EXPECT_EQ(r.status, Status::success);
  EXPECT_NEAR(r.u[0], 1 / std::sqrt(101.0), 1e-5);
  EXPECT_NEAR(r.du0[0], std::pow(101.0, -1.5), 1e-5);
  const auto narrow = solve<Tsit5, Cubic, float>(Cubic{}, {1.0f}, {}, 0.0f, 1.0f, options);
  EXPECT_EQ(narrow.status, Status::success);
  EXPECT_NEAR(narrow.u[0], 1 / std::sqrt(101.0), 1e-5);
  EXPECT_NEAR(narrow.du0[0], std::pow(101.0, -1.5), 1e-5);
}

TEST(NonFinite, A3AFirstTrialAsLongAsTheSpanIsRejected) {
  const auto r =
      solve(Cubic{}, {1e60}, {}, 0.0, 45.0, {.rtol = 1e-6, .atol = 1e-6, .first_step = 45});
  EXPECT_NE(r.status, Status::non_finite);
  EXPECT_GT(r.rejected, 0);
  EXPECT_TRUE(std::isfinite(r.u[0]));
}

TEST(NonFinite, A4NeverBeforeT0) {
  const auto r = solve(SquareRootOfTime{}, {1.0}, {0.5}, 0.0, 8e-3, {.rtol = 1e-6, .atol = 1e-9});
  EXPECT_EQ(r.status, Status::success);
  EXPECT_NEAR(r.u[0], 1.0002385139176, 1e-7);
  EXPECT_NEAR(r.dparams[0], 4.77027835199950e-4, 1e-7);
  EXPECT_EQ(r.du0[0], 1.0);
}

TEST(NonFinite, A4AForwardDerivativeThatDoesNotTouchTimeIsFinite) {
  const auto u0 = matrix<double>(1, 1, [](int, int) { return 1.0; });
  const auto p = matrix<double>(1, 1, [](int, int) { return 0.5; });
  const Ensemble ensemble(u0, p, 0.0, 8e-3);
  const auto recorded = record(Exec(), SquareRootOfTime{}, Tsit5{}, ensemble);
  const auto forward = jvp(Exec(), SquareRootOfTime{}, recorded, ensemble, MatrixOf<double>(), u0);
  EXPECT_NEAR(on_host(forward.tangents)(0, 0), 4.77027835199950e-4, 1e-7);
}

/// 1 at t = 0, NaN after.
struct OneThenNaN {
  static constexpr int num_states = 1, num_params = 0;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 1> operator()(const T& t, const State<T, 1>&,
                                                     const Params<T, 0>&) const {
    return {select(t == T(0), T(1), T(not_a_number()))};
  }
};

template <class M>
void expect_a6() {
  const auto r = solve<M>(OneThenNaN{}, {0.0}, {}, 0.0, 1.0, {.max_steps = 2000});
  EXPECT_EQ(r.status, Status::non_finite) << M::name;
  EXPECT_EQ(r.steps, 0) << M::name;
  EXPECT_LT(r.rejected, 1000) << M::name;
  EXPECT_EQ(r.u[0], 0.0) << M::name;
  EXPECT_TRUE(std::isnan(r.du0[0])) << M::name;
}
TEST(NonFinite, A6NaNAfterTheFirstCallEndsSoon) {
  expect_a6<Tsit5>();
  expect_a6<BogackiShampine3>();
  expect_a6<Verner7>();
  expect_a6<Dop853>();
  const auto fixed = solve<RK4>(OneThenNaN{}, {0.0}, {}, 0.0, 1.0, {.fixed_steps = 10});
  EXPECT_EQ(fixed.status, Status::non_finite);
  EXPECT_EQ(fixed.steps, 0);
}

/// Drag: v' = -c |v| v
struct Drag {
  static constexpr int num_states = 2, num_params = 1;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 2> operator()(const T&, const State<T, 2>& v,
                                                     const Params<T, 1>& p) const {
    const T speed = hypot(v[0], v[1]);
    return {-p[0] * speed * v[0], -p[0] * speed * v[1]};
  }
};
struct NaiveDrag {
  static constexpr int num_states = 2, num_params = 1;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 2> operator()(const T&, const State<T, 2>& v,
                                                     const Params<T, 1>& p) const {
    using gradsolve::sqrt;
    const T speed = sqrt(v[0] * v[0] + v[1] * v[1]);
    return {-p[0] * speed * v[0], -p[0] * speed * v[1]};
  }
};
/// v0 + v1 + 7 c
struct SumAndDrag {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const State<T, 2>& v, const Params<T, 1>& p) const {
    return v[0] + v[1] + T(7) * p[0];
  }
};

TEST(NonFinite, A7AHypotAtZeroHasADerivative) {
  const int n = 6;
  Inputs<double> inputs{matrix<double>(n, 2, [](int i, int) { return i == 2 ? 0.0 : 1.0 + i; }),
                        matrix<double>(n, 1, [](int, int) { return 0.3; })};
  const auto ensemble = inputs.ensemble(0.0, 1.0);
  const auto recorded = record(Exec(), Drag{}, Tsit5{}, ensemble);
  const auto slopes = gradient(Exec(), Drag{}, recorded, ensemble, SumAndDrag{});
  const auto du0 = on_host(slopes.u0), dc = on_host(slopes.params);
  EXPECT_EQ(du0(2, 0), 1.0);
  EXPECT_EQ(du0(2, 1), 1.0);
  EXPECT_EQ(dc(2, 0), 7.0);

  // So has a naive square root: where its argument does not move, neither does it.
  const auto naive = gradient(Exec(), NaiveDrag{}, recorded, ensemble, SumAndDrag{});
  const auto naive_du0 = on_host(naive.u0), naive_dc = on_host(naive.params);
  for (int i = 0; i < n; ++i) {
    EXPECT_LE(relative_difference(naive_du0(i, 0), du0(i, 0)), 1e-12);
    EXPECT_LE(relative_difference(naive_dc(i, 0), dc(i, 0)), 1e-12);
  }
}

TEST(NonFinite, A9ABlowUpEndsWithTheLastGoodState) {
  const auto r = solve(BlowUp{}, {1.0}, {}, 0.0, 2.0, {.rtol = 1e-6, .atol = 1e-9});
  EXPECT_TRUE(r.status == Status::stalled || r.status == Status::non_finite) << name(r.status);
  EXPECT_LT(r.steps + r.rejected, 10'000);  // D22
  ASSERT_FALSE(r.ends.empty());
  EXPECT_GT(r.ends.back(), 0.99);
  EXPECT_LE(r.ends.back(), 1 + 1e-6);
  EXPECT_TRUE(std::isfinite(r.u[0]));
  EXPECT_TRUE(std::isnan(r.du0[0]));

  const auto before = solve(BlowUp{}, {1.0}, {}, 0.0, 0.9, {.rtol = 1e-9, .atol = 1e-9});
  EXPECT_EQ(before.status, Status::success);
  EXPECT_NEAR(before.u[0], 10, 1e-5);
  EXPECT_NEAR(before.du0[0], 100, 1e-4);
}

/// y' = log y where y > 0, else 0: by select with its argument guarded, as documented.
struct GuardedLog {
  static constexpr int num_states = 1, num_params = 0;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 1> operator()(const T&, const State<T, 1>& u,
                                                     const Params<T, 0>&) const {
    using gradsolve::log;
    const auto positive = u[0] > T(0);
    return {select(positive, log(select(positive, u[0], T(1))), T(0))};
  }
};
/// The same by an `if`.
struct BranchingLog {
  static constexpr int num_states = 1, num_params = 0;
  static constexpr bool branches = true;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 1> operator()(const T&, const State<T, 1>& u,
                                                     const Params<T, 0>&) const {
    using gradsolve::log;
    if (u[0] > T(0)) return {log(u[0])};
    return {T(0)};
  }
};

TEST(NonFinite, A10AnUntakenBranchDoesNotLeak) {
  for (const auto& r : {solve(GuardedLog{}, {0.0}, {}, 0.0, 1.0, {}).du0,
                        solve(BranchingLog{}, {0.0}, {}, 0.0, 1.0, {}).du0})
    EXPECT_EQ(r[0], 1.0);
}

// ---- C: backward time ----

TEST(BackwardTime, C2IsTimeToo) {
  const auto r = solve(Decay{}, {1.0}, {1.0}, -1.0, -3.0, {.rtol = 1e-9, .atol = 1e-9});
  EXPECT_EQ(r.status, Status::success);
  EXPECT_NEAR(r.u[0], 7.38905609893065, 1e-7);
  EXPECT_NEAR(r.du0[0], 7.38905609893065, 1e-7);

  const int n = 5;  // the Lorenz system backward blows up: its neighbours do not notice
  const auto inputs = spread_around(n, {1.0, 1.0, 1.0}, {10.0, 28.0, 8.0 / 3.0});
  std::vector<double> t1(n, 1.0);
  t1[2] = -10.0;
  const auto recorded = record(Exec(), Lorenz{}, Tsit5{}, inputs.ensemble(0.0, column(t1)));
  const auto status = on_host(recorded.status);
  const auto states = on_host(recorded.states);
  for (int i = 0; i < n; ++i) {
    if (i != 2) {
      EXPECT_EQ(status(i), Status::success);
    }
    for (int j = 0; j < 3; ++j) EXPECT_TRUE(std::isfinite(states(i, j)));
  }
}

/// y' = 1 / sqrt(t)
struct InverseSquareRoot {
  static constexpr int num_states = 1, num_params = 0;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 1> operator()(const T& t, const State<T, 1>&,
                                                     const Params<T, 0>&) const {
    using gradsolve::sqrt;
    return {T(1) / sqrt(t)};
  }
};

TEST(NonFinite, D14AnInfiniteStartIsNoSuccess) {
  const auto r = solve(InverseSquareRoot{}, {0.0}, {}, 0.0, 900.0, {});
  EXPECT_EQ(r.status, Status::non_finite);
  EXPECT_EQ(r.steps, 0);
  EXPECT_EQ(r.u[0], 0.0);
  const auto later =
      solve(InverseSquareRoot{}, {0.0}, {}, 1e-12, 900.0, {.rtol = 1e-8, .atol = 1e-10});
  EXPECT_EQ(later.status, Status::success);
  EXPECT_NEAR(later.u[0], 2 * (30 - 1e-6), 1e-5);
}

// ---- G, H: a failure and its neighbours ----

TEST(Tolerance, G6AComponentThatStaysZeroNeedsNoAtol) {
  const auto r =
      solve(Linear{}, {1.0, 0.0}, {-1.0, 0.0, 0.0, 0.0}, 0.0, 1.0, {.rtol = 1e-6, .atol = 0});
  EXPECT_EQ(r.status, Status::success);
  EXPECT_NEAR(r.u[0], std::exp(-1.0), 1e-5);
  EXPECT_EQ(r.u[1], 0.0);
  const auto leaves =
      solve(ConstantAndDecay{}, {0.0, 1.0}, {1e-20}, 0.0, 1.0, {.rtol = 1e-6, .atol = 0});
  EXPECT_FALSE(std::isnan(leaves.u[0]));
  if (leaves.status == Status::success) {
    EXPECT_NEAR(leaves.u[0] / 1e-20, 1, 1e-12);
  }
}

/// y' = p y^2: with p < 0 it decays from y > 0, and from y < 0 it blows up.
struct ScaledBlowUp {
  static constexpr int num_states = 1, num_params = 1;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 1> operator()(const T&, const State<T, 1>& u,
                                                     const Params<T, 1>& p) const {
    return {p[0] * u[0] * u[0]};
  }
};

TEST(Failure, LeavesItsNeighboursAndTheSharedSumAlone) {
  const int n = 40, bad = 17;
  auto states = [&](bool with_bad) {
    return matrix<double>(n, 1,
                          [=](int i, int) { return with_bad && i == bad ? -3.0 : 0.5 + 0.01 * i; });
  };
  const auto p = column<double>({-1.0});
  const auto broken_u0 = states(true), whole_u0 = states(false);
  const Ensemble broken(broken_u0, p, 0.0, 2.0);
  const Ensemble whole(whole_u0, p, 0.0, 2.0);
  const auto a = record(Exec(), ScaledBlowUp{}, Tsit5{}, broken);
  const auto b = record(Exec(), ScaledBlowUp{}, Tsit5{}, whole);
  const auto ga = gradient(Exec(), ScaledBlowUp{}, a, broken, SquaredNorm{});
  const auto gb = gradient(Exec(), ScaledBlowUp{}, b, whole, SquaredNorm{});
  const auto status = on_host(a.status);
  const auto ua = on_host(a.states), ub = on_host(b.states);
  const auto da = on_host(ga.u0), db = on_host(gb.u0);
  const auto each = on_host(gb.workspace.params_each);
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    if (i == bad) {
      EXPECT_NE(status(i), Status::success);
      EXPECT_TRUE(std::isfinite(ua(i, 0)));
      EXPECT_TRUE(std::isnan(da(i, 0)));
      continue;
    }
    EXPECT_EQ(status(i), Status::success);
    EXPECT_TRUE(same_row(ua, i, ub, i));
    EXPECT_TRUE(same_row(da, i, db, i));
    sum += each(i, 0);
  }
  EXPECT_LE(relative_difference(on_host(ga.params)(0, 0), sum), 1e-13);
  EXPECT_EQ(count_status(Exec(), a)[static_cast<int>(Status::success)], n - 1);
}

TEST(Failure, EveryStatusHasAText) {
  for (int value = 0; value < num_status_values; ++value) {
    const auto status = static_cast<Status>(value);
    EXPECT_FALSE(name(status).empty());
    EXPECT_NE(name(status), "unknown");
    EXPECT_GT(describe(status).size(), name(status).size());
  }
}

TEST(Accuracy, H8EnergyOfALongPendulum) {
  const auto r = solve<Tsit5>(DrivenPendulum{}, {0.1, 0.0}, {1.0, 0.0}, 0.0, 1000.0,
                              {.rtol = 1e-9, .atol = 1e-11});
  EXPECT_EQ(r.status, Status::success);
  const double before = 1 - std::cos(0.1), after = r.u[1] * r.u[1] / 2 + 1 - std::cos(r.u[0]);
  EXPECT_LT(std::abs(after - before) / before, 1e-4);
}

}  // namespace
}  // namespace gradsolve::test
