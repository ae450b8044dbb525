// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Constant mass matrices: diagonal, full, singular (algebraic constraints of index 1), consistent
// starts, and gradients through all of it.
#include <gradsolve/gradsolve.hpp>

#include <support/all_methods.hpp>
#include <support/ensembles.hpp>
#include <support/gradients.hpp>
#include <support/hessian_products.hpp>
#include <support/observed.hpp>
#include <support/stiff_systems.hpp>
#include <support/systems.hpp>

namespace gradsolve::test {
namespace {

/// M u' = M f of a system, with a full matrix M: the same solutions.
struct MassLotkaVolterra {
  static constexpr int num_states = 2, num_params = 4;
  static constexpr Matrix<double, 2> mass_matrix{{{{2, 1}}, {{-1, 3}}}};
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 2> operator()(const T& t, const State<T, 2>& u,
                                                     const Params<T, 4>& p) const {
    const State<T, 2> f = LotkaVolterra{}(t, u, p);
    return {T(2.0) * f[0] + f[1], T(3.0) * f[1] - f[0]};
  }
};
/// The same with a diagonal one.
struct DiagonalLotkaVolterra {
  static constexpr int num_states = 2, num_params = 4;
  static constexpr Matrix<double, 2> mass_matrix{{{{2, 0}}, {{0, 0.5}}}};
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 2> operator()(const T& t, const State<T, 2>& u,
                                                     const Params<T, 4>& p) const {
    const State<T, 2> f = LotkaVolterra{}(t, u, p);
    return {T(2.0) * f[0], T(0.5) * f[1]};
  }
};

template <class M>
class MassMatrix : public ::testing::Test {};
TYPED_TEST_SUITE(MassMatrix, SomeImplicitMethods, NameOfMethod);

TYPED_TEST(MassMatrix, OfFullRank_IsSolvedAway) {
  using M = TypeParam;
  const auto inputs = lotka_volterra(11);
  const auto ensemble = inputs.ensemble(0.0, 2.0);
  const Options fixed{.fixed_steps = 20};
  const auto plain = on_host(record(Exec(), LotkaVolterra{}, M{}, ensemble, fixed).states);
  const auto full = on_host(record(Exec(), MassLotkaVolterra{}, M{}, ensemble, fixed).states);
  const auto diagonal =
      on_host(record(Exec(), DiagonalLotkaVolterra{}, M{}, ensemble, fixed).states);
  for (int i = 0; i < 11; ++i)
    for (int j = 0; j < 2; ++j) {
      EXPECT_NEAR(full(i, j), plain(i, j), 1e-12 * std::abs(plain(i, j)));
      EXPECT_NEAR(diagonal(i, j), plain(i, j), 1e-12 * std::abs(plain(i, j)));
    }
}

TEST(MassMatrixOf, FullRank_HasTheGradientOfTheOracle) {
  const auto inputs = lotka_volterra(3);
  const std::vector<double> t0(3, 0.0), t1(3, 1.0);
  expect_saved_gradient_of_the_oracle<Rodas4>(MassLotkaVolterra{}, WeightedSaves{}, inputs, t0, t1,
                                              {{0.3, 1.0}, {0.5}, {}}, 1e-10,
                                              {.rtol = 1e-4, .atol = 1e-6});
}

/// Robertson's reactions with the mass as an algebraic constraint in place of the third equation,
/// in rates p that are 1 for the published ones.
struct RobertsonDae {
  static constexpr int num_states = 3, num_params = 3;
  static constexpr Matrix<double, 3> mass_matrix{{{{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 0}}}};
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 3> operator()(const T&, const State<T, 3>& u,
                                                     const Params<T, 3>& p) const {
    const T r1 = T(0.04) * p[0] * u[0], r2 = T(3e7) * p[1] * u[1] * u[1],
            r3 = T(1e4) * p[2] * u[1] * u[2];
    return {r3 - r1, r1 - r3 - r2, u[0] + u[1] + u[2] - T(1.0)};
  }
};

Inputs<double> robertson_dae(int n, double last = 0) {
  return {matrix<double>(n, 3, [&](int, int j) { return j == 0   ? 1.0
                                                        : j == 2 ? last
                                                                 : 0.0; }),
          matrix<double>(n, 3, [](int i, int j) { return 1 + 0.05 * i * (j + 1); })};
}

TYPED_TEST(MassMatrix, OfRobertsonWithAConstraint_GivesThePublishedValues) {
  using M = TypeParam;
  const auto inputs = robertson_dae(1);
  const auto r = record(Exec(), RobertsonDae{}, M{}, inputs.ensemble(0.0, 40.0),
                        {.rtol = 1e-6, .atol = 1e-10});
  const auto u = on_host(r.states);
  ASSERT_EQ(on_host(r.status)(0), Status::success);
  const double expected[] = {.715827068719426, 9.18553476455872e-6, .284163745745811};
  for (int j = 0; j < 3; ++j) EXPECT_NEAR(u(0, j), expected[j], 2e-4 * expected[j]) << j;
  EXPECT_NEAR(u(0, 0) + u(0, 1) + u(0, 2), 1, M::order > 3 ? 1e-12 : 1e-6);
}

TYPED_TEST(MassMatrix, OfRobertsonWithAConstraint_HasTheGradientOfTheOracle) {
  const auto inputs = robertson_dae(3);
  expect_gradient_of_the_oracle<TypeParam>(RobertsonDae{}, SquaredNorm{}, inputs, 0.0, 1e3,
                                           {.rtol = 1e-4, .atol = 1e-8}, 1e-9);
}

/// x' = -p0 x y, 0 = y - exp-free constraint: y^2 + p1 y = x + t: y is moved to it.
struct Constrained {
  static constexpr int num_states = 2, num_params = 2;
  static constexpr Matrix<double, 2> mass_matrix{{{{1, 0}}, {{0, 0}}}};
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 2> operator()(const T& t, const State<T, 2>& u,
                                                     const Params<T, 2>& p) const {
    return {-p[0] * u[0] * u[1], u[1] * u[1] + p[1] * u[1] - u[0] - t};
  }
};
double on_the_constraint(double t, double x, double p1) {
  return (-p1 + std::sqrt(p1 * p1 + 4 * (x + t))) / 2;
}

/// The same with its equations and its states mixed: the mass matrix is full.
struct MixedConstrained {
  static constexpr int num_states = 2, num_params = 2;
  // L diag(1, 0) R with L = (1, 2; 3, 1), R = (1, 0.5; -1, 1); u = R v.
  static constexpr Matrix<double, 2> mass_matrix{{{{1, 0.5}}, {{3, 1.5}}}};
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 2> operator()(const T& t, const State<T, 2>& v,
                                                     const Params<T, 2>& p) const {
    const State<T, 2> f = Constrained{}(t, State<T, 2>{v[0] + T(0.5) * v[1], v[1] - v[0]}, p);
    return {f[0] + T(2.0) * f[1], T(3.0) * f[0] + f[1]};
  }
};

TYPED_TEST(MassMatrix, WithAConstraint_HasTheOrderOfTheMethod) {
  using M = TypeParam;
  const double t0 = 0.25, x = 1, p1 = 0.7;
  const Inputs<double> inputs{matrix<double>({{x, on_the_constraint(t0, x, p1)}}),
                              matrix<double>({{2.0, p1}})};
  auto solved = [&](auto method, int steps) {
    return on_host(
        record(Exec(), Constrained{}, method, inputs.ensemble(t0, 1.5), {.fixed_steps = steps})
            .states);
  };
  const auto exact = solved(Rodas5P{}, 400);
  auto error = [&](int steps) {
    const auto u = solved(M{}, steps);
    return std::max(std::abs(u(0, 0) - exact(0, 0)), std::abs(u(0, 1) - exact(0, 1)));
  };
  const double slope = std::log2(error(16) / error(32));
  EXPECT_GT(slope, M::order - 0.3) << error(16) << ", " << error(32);
  EXPECT_LT(slope, M::order + 0.8) << error(16) << ", " << error(32);
}

/// Where a component is a small difference of large terms, stages stand at a rounding far above
/// that of the numbers. Beside another method.
TEST(Kvaerno5, GoesOnWhereStagesStandAtTheirRounding) {
  const auto r = record(Exec(), RobertsonDae{}, Kvaerno5{}, robertson_dae(1).ensemble(0.0, 1e8),
                        {.rtol = 1e-8, .atol = 1e-14});
  EXPECT_EQ(on_host(r.status)(0), Status::success);
  const auto u = on_host(record(Exec(), RobertsonDae{}, Rodas5P{},
                                robertson_dae(1).ensemble(0.0, 1e8), {.rtol = 1e-9, .atol = 1e-15})
                             .states);
  EXPECT_NEAR(on_host(r.states)(0, 0) / u(0, 0), 1, 1e-4);
}

/// x' = -0.3 x, y' = -0.1 y - 0.2 x, z' = p (x - y - z): from x = y on, x - y is rounding.
struct Difference {
  static constexpr int num_states = 3, num_params = 1;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 3> operator()(const T&, const State<T, 3>& u,
                                                     const Params<T, 1>& p) const {
    return {T(-0.3) * u[0], T(-0.1) * u[1] - T(0.2) * u[0], p[0] * (u[0] - u[1] - u[2])};
  }
};
TEST(Kvaerno5, GoesOnWhereAComponentIsRoundingAlone) {
  const Inputs<double> inputs{matrix<double>({{1, 1, 0}, {1, 1, 1}, {1, 1, 1}}),
                              matrix<double>({{10.0}, {1e3}, {1e6}})};
  const auto r = record(Exec(), Difference{}, Kvaerno5{}, inputs.ensemble(0.0, 10.0),
                        {.rtol = 1e-6, .atol = 1e-9});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(on_host(r.status)(i), Status::success) << i;
    EXPECT_LT(on_host(r.num_steps)(i), 100) << i;
    EXPECT_NEAR(on_host(r.states)(i, 0), std::exp(-3.0), 1e-6) << i;
    EXPECT_NEAR(on_host(r.states)(i, 2), 0, 1e-8) << i;
  }
}

/// x' = 0, y' = -p y^3
struct Apart {
  static constexpr int num_states = 2, num_params = 1;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 2> operator()(const T&, const State<T, 2>& u,
                                                     const Params<T, 1>& p) const {
    return {T(0) * u[0], -p[0] * u[1] * u[1] * u[1]};
  }
};
TEST(Kvaerno5, SolvesAComponentAsWell_BesideALargeOneThatDoesNotTouchIt) {
  const Inputs<double> inputs{matrix<double>({{0, 1}, {1e16, 1}}), matrix<double>({{1e3}, {1e3}})};
  const auto r = record(Exec(), Apart{}, Kvaerno5{}, inputs.ensemble(0.0, 10.0),
                        {.rtol = 1e-8, .atol = 1e-10});
  const auto u = on_host(r.states);
  EXPECT_NEAR(u(0, 1) * std::sqrt(1 + 2e4), 1, 1e-7);
  EXPECT_EQ(u(1, 1), u(0, 1));
}

TEST(ConsistentStart, OfAComponentThatIsZeroNeedsNoAtol_G6) {
  const auto inputs = robertson_dae(2);
  const auto r = record(Exec(), RobertsonDae{}, Rodas5P{}, inputs.ensemble(0.0, 1.0),
                        {.rtol = 1e-6, .atol = 0});
  EXPECT_EQ(on_host(r.status)(0), Status::success);
}

TEST(ConsistentStart, MovesAComponentThatIsZero) {
  const Inputs<double> inputs{matrix<double>({{0.9, 0, 0}, {1, 0, -0.0}}),
                              matrix<double>({{1, 1, 1}, {1, 1, 1}})};
  const auto ensemble = inputs.ensemble(0.0, 40.0);
  const auto r = record(Exec(), RobertsonDae{}, Rodas5P{}, ensemble,
                        {.rtol = 1e-6, .atol = 1e-10, .find_consistent_start = true});
  const auto u = on_host(r.states);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(on_host(r.status)(i), Status::success);
    EXPECT_NEAR(u(i, 0) + u(i, 1) + u(i, 2), 1, 1e-12);
  }
  EXPECT_TRUE(finite_everywhere(gradient(Exec(), RobertsonDae{}, r, ensemble, SquaredNorm{}).u0));
}

/// u' = -u, 0 = sqrt(z) + u - 1: at z = 0 the constraint's slope is infinite, and no step of
/// Newton's moves z.
struct UnderARoot {
  static constexpr int num_states = 2, num_params = 0;
  static constexpr Matrix<double, 2> mass_matrix{{{{1, 0}}, {{0, 0}}}};
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 2> operator()(const T&, const State<T, 2>& u,
                                                     const Params<T, 0>&) const {
    using gradsolve::sqrt;
    return {-u[0], sqrt(u[1]) + u[0] - T(1.0)};
  }
};
TEST(InconsistentStart, OfAnInfiniteSlopeIsNotHidden) {
  const Inputs<double> inputs{matrix<double>({{0.5, 0.0}, {0.5, 0.25}}),
                              MatrixOf<double>("none", 2, 0)};
  const auto r = record(Exec(), UnderARoot{}, Rodas4{}, inputs.ensemble(0.0, 0.1));
  EXPECT_EQ(on_host(r.status)(0), Status::inconsistent_start);
  EXPECT_EQ(on_host(r.status)(1), Status::success);
}

TEST(InconsistentStart, IsRefused_AndLeavesNeighboursAlone) {
  auto inputs = robertson_dae(3);
  const auto good =
      on_host(record(Exec(), RobertsonDae{}, Rodas4{}, inputs.ensemble(0.0, 1.0)).states);
  inputs.u0 = matrix<double>({{1, 0, 0}, {1, 0, 0.5}, {1, 0, 0}});
  const auto ensemble = inputs.ensemble(0.0, 1.0);
  const auto r = record(Exec(), RobertsonDae{}, Rodas4{}, ensemble);
  const auto status = on_host(r.status);
  EXPECT_EQ(status(0), Status::success);
  EXPECT_EQ(status(1), Status::inconsistent_start);
  EXPECT_EQ(status(2), Status::success);
  EXPECT_EQ(on_host(r.num_steps)(1), 0);
  for (int j = 0; j < 3; ++j) {
    EXPECT_EQ(on_host(r.states)(0, j), good(0, j));
    EXPECT_EQ(on_host(r.states)(2, j), good(2, j));
  }
  const auto g = gradient(Exec(), RobertsonDae{}, r, ensemble, SquaredNorm{});
  EXPECT_TRUE(std::isnan(on_host(g.params)(1, 0)));
  EXPECT_FALSE(std::isnan(on_host(g.params)(0, 0)));
}

// G4.
struct LorenzOnACone {
  static constexpr int num_states = 5, num_params = 0;
  static constexpr Matrix<double, 5> mass_matrix{{{{1, 0, 0, 0, 0}},
                                                  {{0, 1, 0, 0, 0}},
                                                  {{0, 0, 1, 0, 0}},
                                                  {{0, 0, 0, 1, 0}},
                                                  {{0, 0, 0, 0, 0}}}};
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 5> operator()(const T&, const State<T, 5>& u,
                                                     const Params<T, 0>&) const {
    return {T(28.0) * (u[1] - u[0]), u[0] * (T(10.0) - u[2]) - u[1],
            u[0] * u[1] - T(8.0 / 3) * u[2], u[0], u[0] * u[0] + u[1] * u[1] - u[4] * u[4]};
  }
};

TEST(InconsistentStart, OfASingularConstraint_IsNotSuccess_G4) {
  for (const bool find : {false, true}) {
    const Inputs<double> inputs{matrix<double>({{2, 0, 0, 1, 0}, {2, 0, 0, 1, 1.5}}),
                                MatrixOf<double>("none", 2, 0)};
    const auto r = record(Exec(), LorenzOnACone{}, Rodas4{}, inputs.ensemble(0.0, 10.0),
                          {.find_consistent_start = find});
    const auto status = on_host(r.status);
    EXPECT_EQ(status(0), Status::inconsistent_start);  // df/dw = 0 there: Newton has no direction
    EXPECT_EQ(status(1), find ? Status::success : Status::inconsistent_start);
    if (find) {
      const auto u = on_host(r.states);
      EXPECT_NEAR(u(1, 4), std::hypot(u(1, 0), u(1, 1)), 1e-6);
    }
  }
}

template <class F>
void expect_gradient_through_the_start(const Matrix<double, 2>& states_of) {
  // v = states_of u, so that both systems start from the same (x, y).
  constexpr int n = 3;
  const double t0 = 0.25;
  const auto inputs = Inputs<double>{
      matrix<double>(n, 2,
                     [&](int i, int j) {
                       const double u[] = {1 + 0.2 * i, 0.3};
                       return states_of[j][0] * u[0] + states_of[j][1] * u[1];
                     }),
      matrix<double>(n, 2, [](int i, int j) { return j == 0 ? 2 - 0.3 * i : 0.7 + 0.1 * i; })};
  const Options options{.rtol = 1e-6, .atol = 1e-8, .find_consistent_start = true};
  const auto ensemble = inputs.ensemble(t0, 1.5);
  const auto recorded = record(Exec(), F{}, Rodas4{}, ensemble, options);
  for (int i = 0; i < n; ++i) ASSERT_EQ(on_host(recorded.status)(i), Status::success);
  const auto check = check_gradient(Exec(), F{}, recorded, ensemble, SquaredNorm{});
  EXPECT_EQ(check.num_checked, n);
  EXPECT_TRUE(check.passed({1e-11, 1e-7})) << check.report({1e-11, 1e-7});

  const auto g = gradient_with_times(Exec(), F{}, recorded, ensemble, SquaredNorm{});
  auto loss = [&](double begin, double end) {
    return on_host(
        gradient(Exec(), F{}, recorded, inputs.ensemble(begin, end), SquaredNorm{}).loss);
  };
  const double h = 1e-4;
  for (int i = 0; i < n; ++i) {
    auto slope = [&](auto&& at) {
      return (8 * (at(h)(i) - at(-h)(i)) - (at(2 * h)(i) - at(-2 * h)(i))) / (12 * h);
    };
    EXPECT_NEAR(on_host(g.t0)(i), slope([&](double e) { return loss(t0 + e, 1.5); }), 1e-9);
    EXPECT_NEAR(on_host(g.t1)(i), slope([&](double e) { return loss(t0, 1.5 + e); }), 1e-9);
  }

  expect_hessian_product_of_differences(F{}, inputs, recorded, t0, 1.5);
}

TEST(ConsistentStart, IsFound_AndDifferentiated) {
  expect_gradient_through_the_start<Constrained>({{{{1, 0}}, {{0, 1}}}});
}
TEST(ConsistentStart, OfAFullMassMatrix_IsFound_AndDifferentiated) {
  // R^-1 = (1, -0.5; 1, 1) / 1.5
  expect_gradient_through_the_start<MixedConstrained>(
      {{{{2.0 / 3, -1.0 / 3}}, {{2.0 / 3, 2.0 / 3}}}});
}

TEST(ConsistentStart, IsWhatAnyWouldCompute) {
  const auto inputs = Inputs<double>{matrix<double>({{1.0, 0.3}}), matrix<double>({{2.0, 0.7}})};
  const auto ensemble = inputs.ensemble(0.25, 1.0);
  const auto times = save_times(Exec(), ensemble, std::vector{0.25});
  const auto r =
      record(Exec(), Constrained{}, Rodas4{}, ensemble, times, {.find_consistent_start = true});
  EXPECT_EQ(cube_on_host(r.saved)(0, 0, 0), 1.0);
  EXPECT_NEAR(cube_on_host(r.saved)(0, 0, 1), on_the_constraint(0.25, 1.0, 0.7), 1e-15);
}

// G3: diag(1, 1, 0, 0).
struct Circuit {
  static constexpr int num_states = 4, num_params = 0;
  static constexpr Matrix<double, 4> mass_matrix{
      {{{1, 0, 0, 0}}, {{0, 1, 0, 0}}, {{0, 0, 0, 0}}, {{0, 0, 0, 0}}}};
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 4> operator()(const T& t, const State<T, 4>& u,
                                                     const Params<T, 0>&) const {
    using gradsolve::sin;
    return {u[2], u[3], u[0] - u[1] - u[3], sin(t) - u[0] - u[1] - T(1e-3) * u[2]};
  }
};

// The error estimates of Rosenbrock23 and ROS3P see the algebraic states with a lower order, and
// ask for many steps: 100,000 are not enough at rtol 1e-6.
TYPED_TEST(MassMatrix, OfTheCircuit_G3) {
  using M = TypeParam;
  const double expected[] = {.199679100960948, -.200279342200349, .60024123940, .399958443161296};
  const Inputs<double> inputs{matrix<double>({{0, 0, 0, 0}}), MatrixOf<double>("none", 1, 0)};
  const bool low = M::order < 4;
  const auto r = record(Exec(), Circuit{}, M{}, inputs.ensemble(0.0, 2 * std::acos(-1.0)),
                        {.rtol = low ? 1e-4 : 1e-8, .atol = low ? 1e-5 : 1e-10});
  ASSERT_EQ(on_host(r.status)(0), Status::success);
  for (int j = 0; j < 4; ++j)
    EXPECT_NEAR(on_host(r.states)(0, j), expected[j], low ? 2e-4 : 1e-6) << j;
}

/// The integral of x beside a constrained system, and its sensitivities.
struct FirstComponent {
  template <class T, int N, int P>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const T&, const State<T, N>& u,
                                           const Params<T, P>&) const {
    return u[0];
  }
};

TEST(MassMatrixOf, AWrappedSystem_IsThatOfTheSystem) {
  using Integral = WithIntegral<Constrained, FirstComponent>;
  using Sensitive = WithSensitivities<Constrained, 2>;
  const double m[2][2] = {{1, 0}, {0, 0}};
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      EXPECT_EQ(mass_entry_of<Integral>(i, j), m[i][j]);
      EXPECT_EQ(mass_entry_of<Sensitive>(i, j), m[i][j]);
      EXPECT_EQ(mass_entry_of<Sensitive>(2 + i, 2 + j), m[i][j]);
      EXPECT_EQ(mass_entry_of<Sensitive>(i, 2 + j), 0);
    }
  EXPECT_EQ(mass_entry_of<Integral>(2, 2), 1);
  EXPECT_EQ(detail::num_constraints_v<Integral>, 1);
  EXPECT_EQ(detail::num_constraints_v<Sensitive>, 2);

  const auto inputs = Inputs<double>{matrix<double>({{1.0, 0.3}}), matrix<double>({{2.0, 0.7}})};
  const auto ensemble = inputs.ensemble(0.25, 1.0);
  const Options options{.rtol = 1e-9, .atol = 1e-11, .find_consistent_start = true};
  const auto with = record(Exec(), Sensitive{}, Rodas5P{}, ensemble, options);
  const auto u = on_host(with.states);
  const auto moved = [&](double e) {
    auto other = inputs;
    other.params = matrix<double>({{2.0 + e, 0.7}});
    return on_host(
        record(Exec(), Constrained{}, Rodas5P{}, other.ensemble(0.25, 1.0), options).states);
  };
  const double e = 1e-3;
  const auto a = moved(e), b = moved(-e);
  for (int j = 0; j < 2; ++j) EXPECT_NEAR(u(0, 2 + j), (a(0, j) - b(0, j)) / (2 * e), 1e-6) << j;
}

}  // namespace
}  // namespace gradsolve::test
