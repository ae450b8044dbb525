// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/lanes/lanes.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

#include <concepts>

/// The functions a right-hand side may call, for numbers, packs, duals and tape variables: write
/// `exp(x)` after `using gradsolve::exp;`, or `gradsolve::exp(x)`.
///
/// Each line is a function and its derivative, in terms of the argument x and the value y.
#define GRADSOLVE_FOR_EACH_FUNCTION(F)        \
  F(sqrt, T(0.5) / y)                         \
  F(cbrt, T(1.0) / (T(3) * y * y))            \
  F(exp, y)                                   \
  F(exp2, T(0.693147180559945309417232) * y)  \
  F(expm1, y + T(1.0))                        \
  F(log, T(1.0) / x)                          \
  F(log2, T(1.442695040888963407359925) / x)  \
  F(log10, T(0.434294481903251827651129) / x) \
  F(log1p, T(1.0) / (x + T(1.0)))             \
  F(sin, cos(x))                              \
  F(cos, -sin(x))                             \
  F(tan, T(1.0) + y * y)                      \
  F(asin, T(1.0) / sqrt(T(1) - x * x))        \
  F(acos, -T(1.0) / sqrt(T(1) - x * x))       \
  F(atan, T(1.0) / (T(1) + x * x))            \
  F(sinh, cosh(x))                            \
  F(cosh, sinh(x))                            \
  F(tanh, T(1.0) - y * y)                     \
  F(erf, T(1.128379167095512573896159) * exp(-(x * x)))

namespace gradsolve {

#define GRADSOLVE_SCALAR_AND_PACK(NAME, SLOPE)                \
  template <std::floating_point T>                            \
  KOKKOS_FORCEINLINE_FUNCTION T NAME(T x) {                   \
    return Kokkos::NAME(x);                                   \
  }                                                           \
  template <class T, int W>                                   \
  KOKKOS_FORCEINLINE_FUNCTION Pack<T, W> NAME(Pack<T, W> x) { \
    Pack<T, W> y;                                             \
    for (int i = 0; i < W; ++i) y.set(i, Kokkos::NAME(x[i])); \
    return y;                                                 \
  }
GRADSOLVE_FOR_EACH_FUNCTION(GRADSOLVE_SCALAR_AND_PACK)
#undef GRADSOLVE_SCALAR_AND_PACK

template <std::floating_point T>
KOKKOS_FORCEINLINE_FUNCTION T abs(T x) {
  return Kokkos::abs(x);
}
template <class T, int W>
KOKKOS_FORCEINLINE_FUNCTION Pack<T, W> abs(Pack<T, W> x) {
  return select(x <= Pack<T, W>(0), Pack<T, W>(0) - x, x);  // -0 becomes 0, as in a scalar
}

template <std::floating_point T>
KOKKOS_FORCEINLINE_FUNCTION T pow(T x, std::type_identity_t<T> y) {
  return Kokkos::pow(x, y);
}
template <class T, int W>
KOKKOS_FORCEINLINE_FUNCTION Pack<T, W> pow(Pack<T, W> x, std::type_identity_t<Pack<T, W>> y) {
  Pack<T, W> z;
  for (int i = 0; i < W; ++i) z.set(i, Kokkos::pow(x[i], y[i]));
  return z;
}
template <class A, class T, int W>
  requires std::is_arithmetic_v<A>
KOKKOS_FORCEINLINE_FUNCTION Pack<T, W> pow(A x, Pack<T, W> y) {
  return pow(Pack<T, W>(x), y);
}

/// The smaller and the larger of two; a NaN in b is dropped, as `std::min(a, b)` does.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T min(const T& a, const std::type_identity_t<T>& b) {
  return select(b < a, b, a);
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T max(const T& a, const std::type_identity_t<T>& b) {
  return select(a < b, b, a);
}

/// x times x.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T square(const T& x) {
  return x * x;
}

/// The Euclidean length of (x, y) or (x, y, z). Its derivative at the origin is taken as 0, where
/// `sqrt(x * x + y * y)` would give infinity times zero.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T hypot(const T& x, const std::type_identity_t<T>& y) {
  const T s = x * x + y * y;
  const auto origin = s == T(0);
  return select(origin, T(0), sqrt(select(origin, T(1), s)));
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T hypot(const T& x, const std::type_identity_t<T>& y,
                                    const std::type_identity_t<T>& z) {
  const T s = x * x + y * y + z * z;
  const auto origin = s == T(0);
  return select(origin, T(0), sqrt(select(origin, T(1), s)));
}

namespace detail {
/// 1 / x of a positive number, where the smallest normal number stands for 0, so
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T reciprocal(const T& x) {
  using S = ScalarOf<T>;
  const T y = max(x, T(Kokkos::Experimental::norm_min_v<S>));
  return T(1) / y;
}
}  // namespace detail

/// Whether x is neither infinite nor NaN.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION auto is_finite(const T& x) {
  return x - x == T(0);
}

}  // namespace gradsolve
