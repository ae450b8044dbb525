// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Forward derivatives of every function and operator, and the vector-Jacobian products that reverse
// sweeps are made of.
#ifdef __CUDACC__
// The references run on the host alone, in long double; `branches` is read by other code.
#pragma nv_diag_suppress 20014, 20208, 177
#endif

#include "support/on_device.hpp"
#include <gradsolve/ad/derivatives.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace {

using gradsolve::Dual;
using gradsolve::LaneTraits;
using gradsolve::Pack;
using gradsolve::Params;
using gradsolve::SparseDual;
using gradsolve::State;
using gradsolve::static_for;
using gradsolve::Vector;

// ---- functions and operators

/// A function of x in (0, 1) and of y, for any number type.
#define FUNCTION(NAME, EXPRESSION)                                                                 \
  struct NAME {                                                                                    \
    static constexpr const char* name = #NAME;                                                     \
    template <class T>                                                                             \
    KOKKOS_FUNCTION T operator()([[maybe_unused]] const T& x, [[maybe_unused]] const T& y) const { \
      using gradsolve::abs, gradsolve::asinh, gradsolve::atan, gradsolve::atan2, gradsolve::cbrt,  \
          gradsolve::erfc, gradsolve::exp, gradsolve::hypot, gradsolve::log, gradsolve::max,       \
          gradsolve::min, gradsolve::pow, gradsolve::select, gradsolve::sin, gradsolve::sqrt,      \
          gradsolve::square, gradsolve::tanh;                                                      \
      return EXPRESSION;                                                                           \
    }                                                                                              \
  };

/// Where the functions of one argument are defined: in (0, 1), but for one of them.
constexpr int shift_of(std::string_view function) { return function == "acosh" ? 1 : 0; }

// The function f(x): F(sqrt) defines of::sqrt.
namespace of {
#define NAMED(NAME, SLOPE) \
  FUNCTION(NAME, gradsolve::NAME(x + int(gradsolve::Index<shift_of(#NAME)>{})))
GRADSOLVE_FOR_EACH_FUNCTION(NAMED)
#undef NAMED
}  // namespace of

FUNCTION(Plus, x + y)
FUNCTION(PlusConstant, x + 2.5)
FUNCTION(ConstantPlus, 2.5 + x)
FUNCTION(Minus, x - y)
FUNCTION(MinusConstant, x - 2.5)
FUNCTION(ConstantMinus, 2.5 - x)
FUNCTION(Times, x* y)
FUNCTION(TimesConstant, x * 2.5)
FUNCTION(ConstantTimes, 3 * x)
FUNCTION(TimesItself, x* x)
FUNCTION(Over, y / x)
FUNCTION(OverConstant, x / 2.5)
FUNCTION(ConstantOver, 3 / x)
FUNCTION(Negated, -x)
FUNCTION(Unchanged, +x)
FUNCTION(Square, square(x))
FUNCTION(AbsOfPositive, abs(x))
FUNCTION(AbsOfNegative, abs(x - 2.0))
FUNCTION(CbrtOfNegative, cbrt(-x))
FUNCTION(AtanOfLarge, atan(-7.0 * x))
FUNCTION(TanhOfLarge, tanh(4.0 * x))
FUNCTION(AsinhOfLarge, asinh(-40.0 * x))
FUNCTION(ErfcOfNegative, erfc(-x))
FUNCTION(PowTwo, pow(x, 2))
FUNCTION(PowReal, pow(x, 2.5))
FUNCTION(PowNegative, pow(x, -1.5))
FUNCTION(PowOfNegative, pow(-x, 3))
FUNCTION(PowVariable, pow(x, y))
FUNCTION(Hypot, hypot(x, y))
FUNCTION(HypotOfThree, hypot(x, y, x* y))
FUNCTION(HypotOfConstant, hypot(2, x))
FUNCTION(HypotOfThreeAndConstant, hypot(x, 2, y))
FUNCTION(Atan2, atan2(y, x))
FUNCTION(Atan2ToTheLeft, atan2(y, -x))
FUNCTION(Atan2OfConstant, atan2(2, x))
FUNCTION(Atan2OverConstant, atan2(x, 2))
FUNCTION(SmallerIsX, min(x, 2.0 + x))
FUNCTION(SmallerIsY, min(y + 5.0, y))
FUNCTION(LargerIsX, max(x + 5.0, x))
FUNCTION(LargerIsY, max(x, y + 5.0))
FUNCTION(SmallerIsXBeforeConstant, min(x, 1))
FUNCTION(SmallerIsXBehindConstant, min(1, x))
FUNCTION(SmallerIsConstant, min(x, 0))
FUNCTION(LargerIsXBeforeConstant, max(x, 0))
FUNCTION(LargerIsXBehindConstant, max(0, x))
FUNCTION(LargerIsConstant, max(1, x))
FUNCTION(SelectFirst, select(x < 2.0, x* y, x))
FUNCTION(SelectSecond, select(x > 2.0, x* y, y))
FUNCTION(SelectConstant, select(x > 2.0, x, 1))
FUNCTION(ConstantSelected, select(x > 2.0, 1, x))
FUNCTION(Composite, exp(-x* y) * sin(x / (y * y + 1.0)) - log(x + square(y)) / sqrt(x))

struct PowOfConstant {
  static constexpr const char* name = "PowOfConstant";
  template <class T>
  KOKKOS_FUNCTION T operator()(const T&, const T& y) const {
    if constexpr (std::is_same_v<T, long double>)
      return gradsolve::pow(2.5L, y);
    else
      return gradsolve::pow(2.5, y);
  }
};
struct PlusEquals {
  static constexpr const char* name = "PlusEquals";
  template <class T>
  KOKKOS_FUNCTION T operator()(const T& x, const T& y) const {
    T z = x;
    z += x * y;
    z += 0.5;
    return z;
  }
};
struct MinusEquals {
  static constexpr const char* name = "MinusEquals";
  template <class T>
  KOKKOS_FUNCTION T operator()(const T& x, const T& y) const {
    T z = x;
    z -= x * y;
    z -= 0.5;
    return z;
  }
};
struct TimesEquals {
  static constexpr const char* name = "TimesEquals";
  template <class T>
  KOKKOS_FUNCTION T operator()(const T& x, const T& y) const {
    T z = x;
    z *= y;
    z *= 3;
    z *= z;
    return z;
  }
};
struct OverEquals {
  static constexpr const char* name = "OverEquals";
  template <class T>
  KOKKOS_FUNCTION T operator()(const T& x, const T& y) const {
    T z = y;
    z /= x;
    z /= 3;
    return z;
  }
};

#define NAMED(NAME, SLOPE) of::NAME,
using MathFunctions =
    std::tuple<GRADSOLVE_FOR_EACH_FUNCTION(NAMED) AbsOfPositive, AbsOfNegative, CbrtOfNegative,
               AtanOfLarge, TanhOfLarge, AsinhOfLarge, ErfcOfNegative, PowTwo, PowReal, PowNegative,
               PowOfNegative, PowVariable, PowOfConstant, Hypot, HypotOfThree, HypotOfConstant,
               HypotOfThreeAndConstant, Atan2, Atan2ToTheLeft, Atan2OfConstant, Atan2OverConstant,
               Square>;
#undef NAMED
using Operators =
    std::tuple<Plus, PlusConstant, ConstantPlus, Minus, MinusConstant, ConstantMinus, Times,
               TimesConstant, ConstantTimes, TimesItself, Over, OverConstant, ConstantOver, Negated,
               Unchanged, SmallerIsX, SmallerIsY, LargerIsX, LargerIsY, SmallerIsXBeforeConstant,
               SmallerIsXBehindConstant, SmallerIsConstant, LargerIsXBeforeConstant,
               LargerIsXBehindConstant, LargerIsConstant, SelectFirst, SelectSecond, SelectConstant,
               ConstantSelected, Composite, PlusEquals, MinusEquals, TimesEquals, OverEquals>;

constexpr double points[][2] = {{0.7, 1.3}, {0.2, 0.6}, {0.9, -1.1}, {0.45, 0.9}};

struct Reference {
  const char* name;
  long double value, x, y;
};

/// Differences of eighth order in long double: exact to about 1e-15.
template <class F>
Reference reference(double x, double y) {
  using Real = long double;
  const F f;
  const Real h = Real(1) / 2048;
  auto slope = [&](Real dx, Real dy) {
    auto pair = [&](int k) { return f(x + k * dx, y + k * dy) - f(x - k * dx, y - k * dy); };
    return (Real(4) / 5 * pair(1) - pair(2) / 5 + Real(4) / 105 * pair(3) - pair(4) / 280) / h;
  };
  return {F::name, f(Real(x), Real(y)), slope(h, 0), slope(0, h)};
}

template <class T>
struct Derivatives {
  Dual<T, 3> dual;
  SparseDual<T, 2> sparse;
};

/// All functions in one kernel: one a function takes minutes to compile.
template <class T, class... F>
struct AllDerivatives {
  Vector<T, 2> at;

  KOKKOS_FUNCTION Vector<Derivatives<T>, sizeof...(F)> operator()() const {
    Vector<Derivatives<T>, sizeof...(F)> r;
    int k = 0;
    ((r[k++] = of<F>()), ...);
    return r;
  }
  template <class G>
  KOKKOS_FUNCTION Derivatives<T> of() const {
    // Two directions of their own, and one along both: derivatives are linear in the tangents.
    return {G{}(Dual<T, 3>(at[0], Vector<T, 3>{T(1), T(0), T(2)}),
                Dual<T, 3>(at[1], Vector<T, 3>{T(0), T(1), T(2)})),
            G{}(SparseDual<T, 2>::variable(at[0], 0), SparseDual<T, 2>::variable(at[1], 1))};
  }
};

/// The lanes of a pack are different points, so that each has a result of its own.
template <class T, class... F>
void expect_all_derivatives(std::tuple<F...>, double tolerance) {
  for (int first = 0; first < 4; ++first) {
    AllDerivatives<T, F...> work;
    for (int lane = 0; lane < LaneTraits<T>::width; ++lane)
      for (int i = 0; i < 2; ++i)
        gradsolve::set_lane(work.at[i], lane, points[(first + lane) % 4][i]);
    Vector<Derivatives<T>, sizeof...(F)> ours;
    if constexpr (LaneTraits<T>::width == 1)
      ours = on_device(work);
    else
      ours = work();

    for (int lane = 0; lane < LaneTraits<T>::width; ++lane) {
      auto of_lane = [&](const T& x) { return double(gradsolve::lane_of(x, lane)); };
      const double x = of_lane(work.at[0]), y = of_lane(work.at[1]);
      int k = 0;
      for (const Reference& exact : {reference<F>(x, y)...}) {
        auto near = [&](const T& value, long double expected, const char* what) {
          EXPECT_NEAR(of_lane(value), double(expected),
                      tolerance * std::max(1.0, std::abs(double(expected))))
              << exact.name << ": " << what << " at x = " << x << ", y = " << y;
        };
        const Dual<T, 3>& dual = ours[k].dual;
        const SparseDual<T, 2>& sparse = ours[k++].sparse;
        near(dual.value, exact.value, "value");
        near(dual.tangent[0], exact.x, "d/dx");
        near(dual.tangent[1], exact.y, "d/dy");
        near(dual.tangent[2], 2 * (exact.x + exact.y), "d along (2, 2)");
        near(sparse.value, exact.value, "value of the sparse dual");
        near(sparse.depends[0] ? sparse.partial[0] : T(0), exact.x, "sparse d/dx");
        near(sparse.depends[1] ? sparse.partial[1] : T(0), exact.y, "sparse d/dy");
      }
    }
  }
}

TEST(Derivative, EqualDifferences_OfFunctionsInDouble) {
  expect_all_derivatives<double>(MathFunctions{}, 1e-14);
}
TEST(Derivative, EqualDifferences_OfOperatorsInDouble) {
  expect_all_derivatives<double>(Operators{}, 1e-14);
}
TEST(Derivative, EqualDifferences_OfFunctionsInFloat) {
  expect_all_derivatives<float>(MathFunctions{}, 2e-6);
}
TEST(Derivative, EqualDifferences_OfOperatorsInFloat) {
  expect_all_derivatives<float>(Operators{}, 2e-6);
}
#ifndef __CUDACC__  // nvcc refuses packs
TEST(Derivative, EqualDifferences_OfFunctionsInEachLaneOfAPack) {
  expect_all_derivatives<Pack<double, 4>>(MathFunctions{}, 1e-14);
}
TEST(Derivative, EqualDifferences_OfOperatorsInEachLaneOfAPack) {
  expect_all_derivatives<Pack<double, 4>>(Operators{}, 1e-14);
}
#endif

using D1 = Dual<double, 1>;
D1 variable(double x) { return D1(x, Vector<double, 1>{1}); }

TEST(Derivative, AreZero_OfHypotAtTheOrigin) {
  const D1 zero = variable(0);
  for (const D1& length : {gradsolve::hypot(zero, zero), gradsolve::hypot(zero, zero, zero)}) {
    EXPECT_EQ(length.value, 0);
    EXPECT_EQ(length.tangent[0], 0);
  }
  EXPECT_EQ(gradsolve::hypot(0.0, 0.0), 0);
}

#ifndef __CUDACC__  // nvcc refuses packs
TEST(Derivative, AreZeroOfHypotInThatLaneAlone_WhereOneLaneIsAtTheOrigin) {
  using L = Pack<double, 2>;
  L x(0), y(0);
  x.set(1, 3);
  y.set(1, 4);
  const auto length =
      gradsolve::hypot(Dual<L, 1>(x, Vector<L, 1>{L(1)}), Dual<L, 1>(y, Vector<L, 1>{L(0)}));
  EXPECT_EQ(length.value[0], 0);
  EXPECT_EQ(length.tangent[0][0], 0);
  EXPECT_EQ(length.value[1], 5);
  EXPECT_NEAR(length.tangent[0][1], 0.6, 1e-15);
}
#endif

TEST(Derivative, AreThoseOfALength_OfHypotOfAllSizes) {
  // The squares of all but one overflow or vanish.
  for (double size : {1e-300, 1e-160, 1.0, 1e160, 1e300}) {
    const D1 flat = gradsolve::hypot(variable(3 * size), 4 * size);
    EXPECT_DOUBLE_EQ(flat.value, 5 * size);
    EXPECT_DOUBLE_EQ(flat.tangent[0], 0.6);
    const D1 deep = gradsolve::hypot(3 * size, -4 * size, variable(-12 * size));
    EXPECT_DOUBLE_EQ(deep.value, 13 * size);
    EXPECT_DOUBLE_EQ(deep.tangent[0], -12.0 / 13);
  }
  for (float size : {1e-35f, 1e-20f, 1e20f, 1e35f})
    EXPECT_FLOAT_EQ(gradsolve::hypot(3 * size, 4 * size), 5 * size);
  EXPECT_EQ(gradsolve::hypot(3 * std::numeric_limits<double>::denorm_min(), 0.0),
            3 * std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(gradsolve::hypot(std::numeric_limits<double>::infinity(), 1.0),
            std::numeric_limits<double>::infinity());
}

TEST(Derivative, AreThoseOfAnAngle_OfAtan2OfAllSizesAndInAllQuadrants) {
  for (double size : {1e-300, 1e-160, 1.0, 1e160})
    for (double x : {3 * size, -3 * size})
      for (double y : {4 * size, -4 * size}) {
        const D1 along_y = gradsolve::atan2(variable(y), x),
                 along_x = gradsolve::atan2(y, variable(x));
        EXPECT_EQ(along_y.value, std::atan2(y, x));
        EXPECT_EQ(along_x.value, std::atan2(y, x));
        EXPECT_DOUBLE_EQ(along_y.tangent[0] * size, x / size / 25);
        EXPECT_DOUBLE_EQ(along_x.tangent[0] * size, -y / size / 25);
      }
}

TEST(Derivative, AreZero_OfAtan2AtTheOrigin) {
  const D1 angle = gradsolve::atan2(variable(0), variable(0));
  EXPECT_EQ(angle.value, 0);
  EXPECT_EQ(angle.tangent[0], 0);
}

// Where the argument does not move, neither does the result, in whatever type: no infinity times 0.
template <class D>
void expect_no_derivative(const D& still) {
  using gradsolve::detail::vanishes;
  ASSERT_EQ(still.value, typename D::T(0));
  for (const D& y : {gradsolve::sqrt(still), gradsolve::cbrt(still), gradsolve::pow(still, 0.5),
                     gradsolve::pow(still, D(0.5)), gradsolve::acos(still + 1)})
    EXPECT_TRUE(vanishes(y));
}
TEST(Derivative, AreZeroWhereTheArgumentDoesNotMove_InEveryType) {
  using Sparse = SparseDual<double, 1>;
  expect_no_derivative(D1(0));
  expect_no_derivative(Sparse(0));
  expect_no_derivative(Dual<D1, 1>(0));
  expect_no_derivative(Dual<Sparse, 1>(0));
  const D1 x = variable(0);
  expect_no_derivative(x * x);
  const Sparse s = Sparse::variable(0.0, 0);
  expect_no_derivative(s * s);
}

TEST(Derivative, OfSecondOrderAreRight_OfHypotAndAtan2) {
  using D2 = Dual<D1, 1>;
  auto twice = [](double x) { return D2(variable(x), Vector<D1, 1>{D1(1)}); };
  auto second = [](const D2& y) { return y.tangent[0].tangent[0]; };
  const double x = 3, y = 4, r = 5;
  EXPECT_NEAR(second(gradsolve::hypot(twice(x), y)), y * y / (r * r * r), 1e-16);
  EXPECT_NEAR(second(gradsolve::hypot(0, twice(0), 2)), 0.5, 1e-16);
  EXPECT_NEAR(second(gradsolve::atan2(twice(y), x)), -2 * x * y / (r * r * r * r), 1e-16);
  EXPECT_NEAR(second(gradsolve::atan2(y, twice(x))), 2 * x * y / (r * r * r * r), 1e-16);
  for (const D2& origin : {gradsolve::hypot(twice(0), 0), gradsolve::atan2(twice(0), twice(0))}) {
    EXPECT_EQ(origin.tangent[0].value, 0);
    EXPECT_EQ(second(origin), 0);
  }
}

/// A plain number, of any type, before and behind x = 0.25 with the derivative 1.
template <class D, class A>
void expect_functions_of_x_and_constant(const D& x, auto slope) {
  using gradsolve::atan2, gradsolve::hypot, gradsolve::max, gradsolve::min, gradsolve::pow;
  auto expect = [&](const D& z, double value, double derivative) {
    EXPECT_NEAR(gradsolve::lane_of(z.value, 0), value, 1e-15);
    EXPECT_NEAR(slope(z), derivative, 1e-15);
  };
  const A zero(0), two(2);
  expect(min(x, two), 0.25, 1);
  expect(min(two, x), 0.25, 1);
  expect(min(x, zero), 0, 0);
  expect(min(zero, x), 0, 0);
  expect(max(x, two), 2, 0);
  expect(max(two, x), 2, 0);
  expect(max(x, zero), 0.25, 1);
  expect(max(zero, x), 0.25, 1);
  expect(pow(x, two), 0.0625, 0.5);
  expect(pow(two, x), std::exp2(0.25), std::log(2) * std::exp2(0.25));
  const double r = std::hypot(0.25, 2);
  expect(hypot(x, two), r, 0.25 / r);
  expect(hypot(two, x), r, 0.25 / r);
  expect(hypot(zero, two, x), r, 0.25 / r);
  expect(hypot(x, zero, two), r, 0.25 / r);
  expect(atan2(x, two), std::atan2(0.25, 2), 2 / (r * r));
  expect(atan2(two, x), std::atan2(2, 0.25), -2 / (r * r));
}
template <class D>
void expect_functions_of_x_and_constants(const D& x, auto slope) {
  expect_functions_of_x_and_constant<D, int>(x, slope);
  expect_functions_of_x_and_constant<D, float>(x, slope);
  expect_functions_of_x_and_constant<D, double>(x, slope);
  expect_functions_of_x_and_constant<D, typename D::T>(x, slope);
}

TEST(Derivative, AreThoseOfTheVariable_BesideAPlainNumber) {
  auto of_dual = [](const auto& z) { return gradsolve::lane_of(z.tangent[0], 0); };
  auto of_sparse = [](const auto& z) {
    return z.depends[0] ? gradsolve::lane_of(z.partial[0], 0) : 0.0;
  };
  expect_functions_of_x_and_constants(variable(0.25), of_dual);
  expect_functions_of_x_and_constants(SparseDual<double, 2>::variable(0.25, 0), of_sparse);
#ifndef __CUDACC__  // nvcc refuses packs
  using P = Pack<double, 4>;
  expect_functions_of_x_and_constants(Dual<P, 1>(P(0.25), Vector<P, 1>{P(1)}), of_dual);
  expect_functions_of_x_and_constants(SparseDual<P, 2>::variable(P(0.25), 0), of_sparse);
#endif
}

TEST(Functions, OfPlainNumbersHaveTheTypeOfTheFloatingOne_WhicheverSideItIsOn) {
  // The same right-hand side runs on plain numbers: max(0, x) must not become an integer.
  EXPECT_EQ(gradsolve::max(0, 0.5), 0.5);
  EXPECT_EQ(gradsolve::min(0.5, 1), 0.5);
  EXPECT_EQ(gradsolve::pow(2, -1.0), 0.5);
  EXPECT_EQ(gradsolve::hypot(3, 4.0), 5);
  EXPECT_EQ(gradsolve::hypot(3, 4, 12.0), 13);
  EXPECT_EQ(gradsolve::atan2(1, 1.0), std::atan2(1, 1.0));
  static_assert(std::is_same_v<decltype(gradsolve::max(0, 0.5f)), float>);
  static_assert(std::is_same_v<decltype(gradsolve::max(0.5f, 0.0)), float>);
  static_assert(std::is_same_v<decltype(gradsolve::pow(0.5f, 2.5)), float>);
}

TEST(Functions, AreNotAmbiguous_BesideThoseOfStd) {
  using gradsolve::atan2, gradsolve::hypot, gradsolve::max, gradsolve::min, gradsolve::pow;
  using std::max, std::min;
  const double x = 0.5;
  EXPECT_EQ(min(x, 1.0), 0.5);
  EXPECT_EQ(max(x, 0.0), 0.5);
  EXPECT_EQ(min(1, variable(x)).value, 0.5);
  EXPECT_EQ(max(variable(x), variable(x)).value, 0.5);
}

TEST(Derivative, AreFinite_WhereSelectGuardsTheArgument) {
  using gradsolve::log, gradsolve::select;
  for (double x : {0.0, -1.0}) {
    const D1 v = variable(x);
    const D1 guarded = select(v > 0, log(select(v > 0, v, 1)), 0);
    EXPECT_EQ(guarded.value, 0);
    EXPECT_EQ(guarded.tangent[0], 0);
  }
  const D1 inside = variable(4);
  EXPECT_EQ(select(inside > 0, log(select(inside > 0, inside, 1)), 0).tangent[0], 0.25);
}

TEST(SecondDerivative, OfPowOfANegativeNumber_IsThatOfThePolynomial) {
  using gradsolve::pow;
  using D2 = gradsolve::Dual<D1, 1>;
  for (const double x : {-1.5, 0.0, 2.0}) {
    D2 v(variable(x));
    v.tangent[0] = D1(1);
    const D2 square = pow(v, 2), cube = pow(v, 3.0), line = pow(v, 1);
    EXPECT_EQ(square.tangent[0].value, 2 * x);
    EXPECT_EQ(square.tangent[0].tangent[0], 2);
    EXPECT_EQ(cube.tangent[0].tangent[0], 6 * x);
    EXPECT_EQ(line.tangent[0].tangent[0], 0);
  }
}

// What is written pow(x, T(2)): the exponent is a dual, but a constant.
TEST(Derivative, OfPowOfANegativeNumber_AsksNoLogarithmForAConstantExponent) {
  using gradsolve::pow;
  EXPECT_EQ(pow(variable(-2), D1(3)).value, -8);
  EXPECT_EQ(pow(variable(-2), D1(3)).tangent[0], 12);
  EXPECT_EQ(pow(-2.0, D1(3)).tangent[0], 0);
  EXPECT_TRUE(std::isnan(pow(variable(-2), variable(3)).tangent[0]));  // it does vary
  EXPECT_TRUE(std::isnan(pow(-2.0, variable(3)).tangent[0]));

  using Two = gradsolve::Dual<double, 2>;  // one direction each
  const Two x(-2.0, {1, 0}), y(3.0, {0, 1});
  EXPECT_EQ(pow(x, y).tangent[0], 12);
  EXPECT_TRUE(std::isnan(pow(x, y).tangent[1]));

  using D2 = gradsolve::Dual<D1, 1>;
  D2 v(variable(-1.5));
  v.tangent[0] = D1(1);
  const D2 cube = pow(v, D2(3)), constant = pow(-1.5, D2(D1(3)));
  EXPECT_EQ(cube.tangent[0].value, 3 * 1.5 * 1.5);
  EXPECT_EQ(cube.tangent[0].tangent[0], -9);
  EXPECT_EQ(constant.tangent[0].value, 0);
  EXPECT_EQ(constant.tangent[0].tangent[0], 0);

  using Sparse = gradsolve::SparseDual<D1, 1>;
  const Sparse of_dual = pow(Sparse::variable(variable(-1.5), 0), Sparse(3));
  EXPECT_EQ(of_dual.partial[0].value, 3 * 1.5 * 1.5);
  EXPECT_EQ(of_dual.partial[0].tangent[0], -9);
}

// A10: the derivative of the branch that was not taken is infinite, and must not leak.
template <class D>
void expect_safe_select(const D& zero, const D& four) {
  using gradsolve::log, gradsolve::select, gradsolve::sqrt;
  auto slope = [](const D& x) {
    if constexpr (requires { x.tangent; })
      return x.tangent[0];
    else
      return x.depends[0] ? x.partial[0] : 0.0;
  };
  EXPECT_EQ(slope(select(zero > 0, log(zero), 0)), 0);
  EXPECT_EQ(slope(select(zero > 0, sqrt(zero), zero)), 1);
  EXPECT_EQ(slope(select(zero <= 0, zero, sqrt(zero))), 1);
  EXPECT_EQ(slope(select(zero <= 0, 0, sqrt(zero))), 0);
  EXPECT_EQ(slope(select(four > 0, log(four), 0)), 0.25);
}
TEST(Derivative, OfASelect_IsThatOfTheChosenSideAlone) {
  expect_safe_select(variable(0), variable(4));
  using S1 = gradsolve::SparseDual<double, 1>;
  expect_safe_select(S1::variable(0, 0), S1::variable(4, 0));
}

TEST(Derivative, OfPowAreThoseOfThePolynomial_AtZero) {
  using gradsolve::pow;
  const D1 zero = variable(0);
  EXPECT_EQ(pow(zero, 2).tangent[0], 0);
  EXPECT_EQ(pow(zero, 1).tangent[0], 1);
  EXPECT_EQ(pow(zero, 1).value, 0);
  // Exponents that are parameters, as in a Hill function, of a species that is not there yet.
  EXPECT_EQ(pow(zero, D1(2)).tangent[0], 0);
  EXPECT_EQ(pow(D1(0), variable(2)).tangent[0], 0);
  EXPECT_EQ(pow(zero, 0).tangent[0], 0);
  EXPECT_EQ(pow(zero, 0).value, 1);
}

TEST(Derivative, OfMinAndMaxDropNaN_InTheSecondArgument) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(gradsolve::min(1.0, nan), 1);
  EXPECT_EQ(gradsolve::max(1.0, nan), 1);
  EXPECT_EQ(gradsolve::min(variable(1), D1(nan)).value, 1);
  EXPECT_TRUE(std::isnan(gradsolve::max(nan, 1.0)));
}

TEST(IsFinite, TellsNumbers_FromInfinityAndNaN) {
  EXPECT_TRUE(gradsolve::is_finite(1e308));
  EXPECT_TRUE(gradsolve::is_finite(-0.0));
  EXPECT_FALSE(gradsolve::is_finite(std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(gradsolve::is_finite(-std::numeric_limits<float>::infinity()));
  EXPECT_FALSE(gradsolve::is_finite(std::nan("")));
}

template <class D>
void expect_comparisons() {
  for (double a : {1.0, 2.0, 3.0}) {
    const double b = 2;
    const D x(a), y(b);
    EXPECT_EQ(x < y, a < b);
    EXPECT_EQ(x <= y, a <= b);
    EXPECT_EQ(x > y, a > b);
    EXPECT_EQ(x >= y, a >= b);
    EXPECT_EQ(x == y, a == b);
    EXPECT_EQ(x != y, a != b);
    EXPECT_EQ(x < b, a < b);
    EXPECT_EQ(x <= 2, a <= b);
    EXPECT_EQ(x > b, a > b);
    EXPECT_EQ(x >= 2, a >= b);
    EXPECT_EQ(x == b, a == b);
    EXPECT_EQ(x != 2, a != b);
    EXPECT_EQ(a < y, a < b);
    EXPECT_EQ(a <= y, a <= b);
    EXPECT_EQ(a > y, a > b);
    EXPECT_EQ(a >= y, a >= b);
    EXPECT_EQ(a == y, a == b);
    EXPECT_EQ(a != y, a != b);
  }
}

TEST(Comparisons, CompareValues_OfDualsAndConstants) {
  expect_comparisons<Dual<double, 2>>();
  expect_comparisons<SparseDual<double, 2>>();
  // Whatever the derivatives are.
  EXPECT_TRUE(variable(1) == D1(1));
}

// ---- structure of sparse duals

using S3 = SparseDual<double, 3>;
std::string pattern(const S3& x) {
  std::string s;
  for (int k = 0; k < 3; ++k) s += x.depends[k] ? '1' : '0';
  return s;
}

TEST(SparseDuals, KnowWhatTheyDependOn_ThroughFunctionsAndOperators) {
  const S3 x = S3::variable(1, 0), y = S3::variable(2, 1), z = S3::variable(3, 2), c(4);
  EXPECT_EQ(pattern(c), "000");
  EXPECT_EQ(pattern(x), "100");
  EXPECT_EQ(pattern(z), "001");
  EXPECT_EQ(pattern(2 * x), "100");
  EXPECT_EQ(pattern(x * c), "100");
  EXPECT_EQ(pattern(gradsolve::sin(y) - 1), "010");
  EXPECT_EQ(pattern(x * z), "101");
  EXPECT_EQ(pattern(x + y / z), "111");
  EXPECT_EQ(pattern(gradsolve::pow(x, y)), "110");
  EXPECT_EQ(pattern(-(c * c)), "000");
}

TEST(SparseDuals, DependOnBothBranchesAndNotOnTheCondition_OfASelect) {
  const S3 x = S3::variable(1, 0), y = S3::variable(2, 1), z = S3::variable(3, 2);
  const S3 r = gradsolve::select(x < 2, y, z);
  EXPECT_EQ(pattern(r), "011");
  EXPECT_EQ(r.partial[1], 1);
  EXPECT_EQ(r.partial[2], 0);
}

TEST(SparseDuals, StayDependent_WhereTermsCancel) {
  const S3 x = S3::variable(1, 0);
  const S3 r = x - x;
  EXPECT_EQ(pattern(r), "100");
  EXPECT_EQ(r.partial[0], 0);
}

TEST(SparseDuals, AreConstants_WhereTheVariableIsOutOfRange) {
  // Variables of another pass.
  for (int k : {-5, -1, 3, 40}) {
    EXPECT_EQ(pattern(S3::variable(2, k)), "000") << k;
    EXPECT_EQ(S3::variable(2, k).value, 2);
  }
}

// ---- vector-Jacobian products

struct Lorenz {
  static constexpr int num_states = 3, num_params = 3;
  template <class T>
  KOKKOS_FUNCTION State<T, 3> operator()(T, const State<T, 3>& u, const Params<T, 3>& p) const {
    return {p[0] * (u[1] - u[0]), u[0] * (p[1] - u[2]) - u[1], u[0] * u[1] - p[2] * u[2]};
  }
};

/// A ring of N, driven through P parameters and time. A loop that stays one: its sparse duals
/// decide at run time what they depend on.
template <int N, int P>
struct Ring {
  static constexpr int num_states = N, num_params = P;
  template <class T>
  KOKKOS_FUNCTION State<T, N> operator()(T t, const State<T, N>& u, const Params<T, P>& p) const {
    State<T, N> r;
    for (int i = 0; i < N; ++i) r[i] = p[i % P] * u[i] * u[(i + 1) % N] - 0.5 * t * u[i];
    return r;
  }
};

/// One layer of a network: loops within loops.
struct Layer {
  static constexpr int num_states = 4, num_params = 16;
  template <class T>
  KOKKOS_FUNCTION State<T, 4> operator()(T t, const State<T, 4>& u, const Params<T, 16>& p) const {
    State<T, 4> r;
    static_for<4>([&](auto i) {
      T sum = gradsolve::sin(t);
      static_for<4>([&](auto j) { sum += p[4 * i + j] * u[j]; });
      r[i] = gradsolve::tanh(sum);
    });
    return r;
  }
};

/// The two branches depend on different variables, and so does the pattern of the Jacobian.
struct Branching {
  static constexpr int num_states = 2, num_params = 2;
  static constexpr bool branches = true;
  template <class T>
  KOKKOS_FUNCTION State<T, 2> operator()(T t, const State<T, 2>& u, const Params<T, 2>& p) const {
    T r = p[0] * u[1];
    if (u[0] > 1.0)
      r = u[0] * u[0] * p[1];
    else if (t < 10.0)
      r = r * t;
    int n = 0;
    for (T x = u[1]; x > 0.5 && n < 20; ++n, x = x * 0.5) r = r + x;
    return {r, -r};
  }
};

/// Lorenz with a vjp of its own, times `factor` so that a test sees who was asked.
struct OwnVjp : Lorenz {
  double factor = 1;
  template <class T>
  KOKKOS_FUNCTION gradsolve::Cotangents<T, 3, 3> vjp(T, const State<T, 3>& u, const Params<T, 3>& p,
                                                     const State<T, 3>& w) const {
    const T a(factor);
    return {{a * (-p[0] * w[0] + (p[1] - u[2]) * w[1] + u[1] * w[2]),
             a * (p[0] * w[0] - w[1] + u[0] * w[2]), a * (-u[0] * w[1] - p[2] * w[2])},
            {a * (u[1] - u[0]) * w[0], a * u[0] * w[1], -a * u[2] * w[2]},
            T(0)};
  }
};

/// Lorenz with a Jacobian of its own, times `factor`.
struct OwnJacobian : Lorenz {
  double factor = 1;
  template <class T>
  KOKKOS_FUNCTION gradsolve::Matrix<T, 3> jacobian(T, const State<T, 3>& u,
                                                   const Params<T, 3>& p) const {
    const T a(factor);
    return {{{-a * p[0], a * p[0], T(0)},
             {a * (p[1] - u[2]), -a, -a * u[0]},
             {a * u[1], a * u[0], -a * p[2]}}};
  }
};

template <class F, class T>
struct Point {
  T t;
  State<T, F::num_states> u, w;
  Params<T, F::num_params> p;
};

/// Some numbers; `shift` moves them, as does the lane.
template <class F, class T>
Point<F, T> some_point(double shift = 0) {
  Point<F, T> x;
  for (int lane = 0; lane < LaneTraits<T>::width; ++lane) {
    auto set = [&](T& value, double number) {
      gradsolve::set_lane(value, lane, number + shift + 0.125 * lane);
    };
    set(x.t, 0.3);
    for (int i = 0; i < F::num_states; ++i) {
      set(x.u[i], std::sin(1.0 + i));
      set(x.w[i], std::cos(2.0 * i + 0.5));
    }
    for (int i = 0; i < F::num_params; ++i) set(x.p[i], 1 + std::sin(3.0 * i));
  }
  return x;
}

template <class F, class T>
struct Products {
  State<T, F::num_states> u;
  Params<T, F::num_params> p;
  T t;
};

/// Before: ubar is not a number, for it is to be set, and pbar = 0.5, tbar = 0.25, to be added to.
template <bool WithTime, class F, class T>
struct Vjp {
  F f;
  Point<F, T> at;
  KOKKOS_FUNCTION Products<F, T> operator()() const {
    Products<F, T> bar;
    bar.u = gradsolve::detail::filled<F::num_states>(T(0) / T(0));
    bar.p = gradsolve::detail::filled<F::num_params>(T(0.5));
    bar.t = T(0.25);
    gradsolve::detail::vjp<WithTime, F, T>(f, at.t, at.u, at.p, at.w, {bar.u, bar.p, bar.t});
    return bar;
  }
};

/// J v by duals of the right-hand side alone.
template <class F>
double dot_of_tangent(const F& f, const Point<F, double>& at, double dt,
                      const State<double, F::num_states>& du,
                      const Params<double, F::num_params>& dp) {
  State<D1, F::num_states> u;
  Params<D1, F::num_params> p;
  for (int i = 0; i < F::num_states; ++i) u[i] = D1(at.u[i], Vector<double, 1>{du[i]});
  for (int i = 0; i < F::num_params; ++i) p[i] = D1(at.p[i], Vector<double, 1>{dp[i]});
  const auto r = f(D1(at.t, Vector<double, 1>{dt}), u, p);
  double dot = 0;
  for (int i = 0; i < F::num_states; ++i) dot += at.w[i] * r[i].tangent[0];
  return dot;
}

/// The three parts of w^T J one by one from the columns of J.
template <class F>
Products<F, double> vjp_from_duals(const F& f, const Point<F, double>& at) {
  const auto no_u = gradsolve::detail::filled<F::num_states>(0.0);
  const auto no_p = gradsolve::detail::filled<F::num_params>(0.0);
  Products<F, double> bar;
  bar.t = dot_of_tangent(f, at, 1, no_u, no_p);
  for (int i = 0; i < F::num_states; ++i) {
    auto du = no_u;
    du[i] = 1;
    bar.u[i] = dot_of_tangent(f, at, 0, du, no_p);
  }
  for (int i = 0; i < F::num_params; ++i) {
    auto dp = no_p;
    dp[i] = 1;
    bar.p[i] = dot_of_tangent(f, at, 0, no_u, dp);
  }
  return bar;
}

template <bool WithTime, class F>
void expect_vjp_of_duals(const F& f, const Point<F, double>& at) {
  const Products<F, double> ours = on_device(Vjp<WithTime, F, double>{f, at});
  const Products<F, double> expected = vjp_from_duals(f, at);

  auto near = [](double x, double y, const std::string& what) {
    EXPECT_NEAR(x, y, 1e-14 * std::max(1.0, std::abs(y))) << what;
  };
  for (int i = 0; i < F::num_states; ++i)
    near(ours.u[i], expected.u[i], "u[" + std::to_string(i) + "]");
  for (int i = 0; i < F::num_params; ++i)
    near(ours.p[i] - 0.5, expected.p[i], "p[" + std::to_string(i) + "]");
  near(ours.t - 0.25, WithTime ? expected.t : 0, "t");
}

template <class F>
void expect_vjp(const F& f, double shift = 0) {
  const auto at = some_point<F, double>(shift);
  expect_vjp_of_duals<true>(f, at);
  expect_vjp_of_duals<false>(f, at);
}

TEST(Vjp, EqualsTheJacobianOfDuals_ForLorenz) { expect_vjp(Lorenz{}); }
TEST(Vjp, EqualsTheJacobianOfDuals_ForLoops) { expect_vjp(Layer{}); }
TEST(Vjp, EqualsTheJacobianOfDuals_ForItsOwnVjp) { expect_vjp(OwnVjp{}); }
TEST(Vjp, EqualsTheJacobianOfDuals_ForItsOwnJacobian) { expect_vjp(OwnJacobian{}); }
TEST(Vjp, EqualsTheJacobianOfDuals_OnEachSideOfABranch) {
  for (double shift : {-2.0, -0.5, 0.0, 0.9, 3.0}) expect_vjp(Branching{}, shift);
}
// 48 variables are one pass: the last parameter, and time, need a second one.
TEST(Vjp, EqualsTheJacobianOfDuals_WhereOnePassIsNotEnough) { expect_vjp(Ring<3, 46>{}); }

/// w^T J in passes of K variables. More than 48 states would do it too, and take minutes to
/// compile.
template <int K>
struct Passes {
  Point<Layer, double> at;
  KOKKOS_FUNCTION Products<Layer, double> operator()() const {
    Products<Layer, double> bar = {};
    static_for<(4 + 16 + 1 + K - 1) / K>([&](auto pass) {
      constexpr int first = pass * K, rest = 4 + 16 + 1 - first;
      gradsolve::detail::add_pullback<true, first, (rest < K ? rest : K)>(
          Layer{}, at.t, at.u, at.p, at.w, {bar.u, bar.p, bar.t});
    });
    return bar;
  }
};

template <int K>
void expect_passes() {
  const auto at = some_point<Layer, double>();
  const auto bar = on_device(Passes<K>{at});
  const auto expected = vjp_from_duals(Layer{}, at);
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(bar.u[i], expected.u[i], 1e-14) << K << ": u " << i;
  for (int i = 0; i < 16; ++i) EXPECT_NEAR(bar.p[i], expected.p[i], 1e-14) << K << ": p " << i;
  EXPECT_NEAR(bar.t, expected.t, 1e-14) << K;
}

TEST(Vjp, EqualsTheJacobianOfDuals_HoweverThePassesCutTheVariables) {
  expect_passes<1>();
  expect_passes<3>();
  expect_passes<5>();
  expect_passes<8>();
}

TEST(Vjp, AsksTheSystem_WhereItHasItsOwn) {
  OwnVjp twice;
  twice.factor = 2;
  const auto at = some_point<OwnVjp, double>();
  const auto ours = on_device(Vjp<true, OwnVjp, double>{twice, at});
  const auto once = vjp_from_duals(twice, at);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(ours.u[i], 2 * once.u[i], 1e-14);
    EXPECT_NEAR(ours.p[i] - 0.5, 2 * once.p[i], 1e-14);
  }
}

TEST(Tangent, AsksTheSystemForItsJacobian_WhereItHasItsOwn) {
  // The state's part comes from the Jacobian, the parameters' part from duals.
  OwnJacobian twice;
  twice.factor = 2;
  const auto at = some_point<OwnJacobian, double>();
  const Vector<double, 1> one{1};
  State<D1, 3> u;
  Params<D1, 3> p;
  for (int i = 0; i < 3; ++i) {
    u[i] = D1(at.u[i], one);
    p[i] = D1(at.p[i], one);
  }
  const State<D1, 3> r = gradsolve::detail::evaluate(twice, D1(at.t), u, p);
  const State<double, 3> value = twice(at.t, at.u, at.p);

  const auto jacobian = OwnJacobian{}.jacobian(at.t, at.u, at.p);
  const double of_p[3] = {at.u[1] - at.u[0], at.u[0], -at.u[2]};
  for (int i = 0; i < 3; ++i) {
    const double of_u = jacobian[i][0] + jacobian[i][1] + jacobian[i][2];
    EXPECT_EQ(r[i].value, value[i]);
    EXPECT_NEAR(r[i].tangent[0], 2 * of_u + of_p[i], 1e-14);
  }
}

template <class F>
void expect_transposed(const F& f) {
  const auto at = some_point<F, double>();
  const auto v = some_point<F, double>(0.375);
  const double forward = dot_of_tangent(f, at, v.t, v.u, v.p);

  const auto bar = on_device(Vjp<true, F, double>{f, at});
  double backward = (bar.t - 0.25) * v.t;
  for (int i = 0; i < F::num_states; ++i) backward += bar.u[i] * v.u[i];
  for (int i = 0; i < F::num_params; ++i) backward += (bar.p[i] - 0.5) * v.p[i];

  EXPECT_NEAR(forward, backward, 1e-13 * std::max(1.0, std::abs(forward)));
}

TEST(Vjp, IsTheTransposedTangent_ForEverySystem) {
  expect_transposed(Lorenz{});
  expect_transposed(Layer{});
  expect_transposed(Branching{});
  expect_transposed(OwnVjp{});
  expect_transposed(OwnJacobian{});
  expect_transposed(Ring<3, 46>{});
}

#ifndef __CUDACC__  // nvcc refuses packs
TEST(Vjp, EqualsThatOfScalars_InEachLaneOfAPack) {
  using L = Pack<double, 4>;
  const Layer f;
  const auto at = some_point<Layer, L>();
  const Products<Layer, L> ours = Vjp<true, Layer, L>{f, at}();
  for (int lane = 0; lane < L::width; ++lane) {
    const auto alone = Vjp<true, Layer, double>{f, some_point<Layer, double>(0.125 * lane)}();
    for (int i = 0; i < 4; ++i) EXPECT_NEAR(ours.u[i][lane], alone.u[i], 1e-14) << lane;
    for (int i = 0; i < 16; ++i) EXPECT_NEAR(ours.p[i][lane], alone.p[i], 1e-14) << lane;
    EXPECT_NEAR(ours.t[lane], alone.t, 1e-14) << lane;
  }
}
#endif

TEST(Vjp, EqualsThatOfDouble_InFloat) {
  const auto ours = on_device(Vjp<true, Layer, float>{Layer{}, some_point<Layer, float>()});
  const auto expected = vjp_from_duals(Layer{}, some_point<Layer, double>());
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(ours.u[i], expected.u[i], 2e-6);
  for (int i = 0; i < 16; ++i) EXPECT_NEAR(ours.p[i] - 0.5f, expected.p[i], 2e-6);
  EXPECT_NEAR(ours.t - 0.25f, expected.t, 2e-6);
}

}  // namespace
