// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/lanes/lanes.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

#include <concepts>
#include <type_traits>

/// The functions a right-hand side may call, for numbers, packs and duals: write
/// `exp(x)` after `using gradsolve::exp;`, or `gradsolve::exp(x)`.
///
/// Each line is a function and its derivative, in terms of the argument x and the value y.
#define GRADSOLVE_FOR_EACH_FUNCTION(F)                  \
  F(sqrt, T(0.5) / y)                                   \
  F(cbrt, T(1.0) / (T(3) * y * y))                      \
  F(exp, y)                                             \
  F(exp2, T(0.693147180559945309417232) * y)            \
  F(expm1, y + T(1.0))                                  \
  F(log, T(1.0) / x)                                    \
  F(log2, T(1.442695040888963407359925) / x)            \
  F(log10, T(0.434294481903251827651129) / x)           \
  F(log1p, T(1.0) / (x + T(1.0)))                       \
  F(sin, cos(x))                                        \
  F(cos, -sin(x))                                       \
  F(tan, T(1.0) + y * y)                                \
  F(asin, T(1.0) / sqrt((T(1) - x) * (T(1) + x)))       \
  F(acos, -T(1.0) / sqrt((T(1) - x) * (T(1) + x)))      \
  F(atan, T(1.0) / (T(1) + x * x))                      \
  F(sinh, cosh(x))                                      \
  F(cosh, sinh(x))                                      \
  F(tanh, T(1.0) - y * y)                               \
  F(asinh, T(1.0) / sqrt(x * x + T(1)))                 \
  F(acosh, T(1.0) / sqrt((x - T(1)) * (x + T(1))))      \
  F(atanh, T(1.0) / ((T(1) - x) * (T(1) + x)))          \
  F(erf, T(1.128379167095512573896159) * exp(-(x * x))) \
  F(erfc, T(-1.128379167095512573896159) * exp(-(x * x)))

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
template <std::floating_point T, int W>
KOKKOS_FORCEINLINE_FUNCTION Pack<T, W> abs(Pack<T, W> x) {
  return detail::from_bits<Pack<T, W>>(detail::bits_of(x) & ~detail::sign_bit<T>);
}

namespace detail {

/// The number type of a function of an A and a B: a plain number becomes what the pack or dual
/// beside it is, an integer what the floating-point number is. Of a float and a double, the first
/// counts: a constant behind a float leaves it a float.
template <class A, class B>
consteval auto joined() {
  if constexpr (std::is_arithmetic_v<A> && std::is_arithmetic_v<B>) {
    if constexpr (std::is_floating_point_v<A>)
      return std::type_identity<A>();
    else if constexpr (std::is_floating_point_v<B>)
      return std::type_identity<B>();
    else
      return std::type_identity<std::common_type_t<A, B>>();
  } else if constexpr (std::is_convertible_v<B, A>) {
    return std::type_identity<A>();
  } else if constexpr (std::is_convertible_v<A, B>) {
    return std::type_identity<B>();
  } else {
    return std::type_identity<void>();
  }
}
template <class A, class B>
using Joined = typename decltype(joined<A, B>())::type;

/// Two types that make a number together; in particular, numbers without derivatives.
template <class A, class B>
concept Joinable = !std::is_void_v<Joined<A, B>>;
template <class A, class B>
concept JoinableToLane = std::is_floating_point_v<Joined<A, B>> || is_pack<Joined<A, B>>;

}  // namespace detail

// Functions of two numbers without derivatives.
#define GRADSOLVE_OF_TWO(NAME)                                                    \
  template <class A, class B>                                                     \
    requires detail::JoinableToLane<A, B>                                         \
  KOKKOS_FORCEINLINE_FUNCTION detail::Joined<A, B> NAME(const A& a, const B& b) { \
    using L = detail::Joined<A, B>;                                               \
    const L x(a), y(b);                                                           \
    L z;                                                                          \
    for (int i = 0; i < LaneTraits<L>::width; ++i)                                \
      set_lane(z, i, Kokkos::NAME(lane_of(x, i), lane_of(y, i)));                 \
    return z;                                                                     \
  }
GRADSOLVE_OF_TWO(pow)
GRADSOLVE_OF_TWO(atan2)
#undef GRADSOLVE_OF_TWO

/// The smaller and the larger of two; a NaN in b is dropped, as `std::min(a, b)` does. Of equal
/// ones it is a, with its derivatives. Either may be a plain number beside a pack or a dual.
template <class A, class B>
  requires detail::Joinable<A, B>
KOKKOS_FORCEINLINE_FUNCTION detail::Joined<A, B> min(const A& a, const B& b) {
  using T = detail::Joined<A, B>;
  const T x(a), y(b);
  return select(y < x, y, x);
}
template <class A, class B>
  requires detail::Joinable<A, B>
KOKKOS_FORCEINLINE_FUNCTION detail::Joined<A, B> max(const A& a, const B& b) {
  using T = detail::Joined<A, B>;
  const T x(a), y(b);
  return select(x < y, y, x);
}

/// x times x.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T square(const T& x) {
  return x * x;
}

namespace detail {
/// The root of the sum of squares. Where the largest is so large or small that its square would
/// overflow or vanish, all are multiplied by a power of two: exact, and without a division.
template <class L, class... X>
KOKKOS_FORCEINLINE_FUNCTION L length(const L& largest, const X&... x) {
  constexpr bool single = sizeof(ScalarOf<L>) == sizeof(float);
  constexpr double limit = single ? 0x1p60 : 0x1p500, factor = single ? 0x1p90 : 0x1p600;
  const auto large = largest > L(limit), small = largest < L(1 / limit);
  const L scale = select(large, L(1 / factor), select(small, L(factor), L(1)));
  const L unscale = select(large, L(factor), select(small, L(1 / factor), L(1)));
  return sqrt(L((square(L(x * scale)) + ...))) * unscale;
}
}  // namespace detail

/// The Euclidean length of (x, y) or (x, y, z), whatever its size. Its derivative at the origin is
/// taken as 0.
template <class A, class B>
  requires detail::JoinableToLane<A, B>
KOKKOS_FORCEINLINE_FUNCTION detail::Joined<A, B> hypot(const A& a, const B& b) {
  using L = detail::Joined<A, B>;
  const L x(a), y(b);
  return detail::length(max(abs(x), abs(y)), x, y);
}
template <class A, class B, class C>
  requires detail::JoinableToLane<detail::Joined<A, B>, C>
KOKKOS_FORCEINLINE_FUNCTION detail::Joined<detail::Joined<A, B>, C> hypot(const A& a, const B& b,
                                                                          const C& c) {
  using L = detail::Joined<detail::Joined<A, B>, C>;
  const L x(a), y(b), z(c);
  return detail::length(max(max(abs(x), abs(y)), abs(z)), x, y, z);
}

namespace detail {
/// The larger of |a| and |b|; a NaN in b is dropped.
template <class L>
KOKKOS_FORCEINLINE_FUNCTION L larger_size(const L& a, const L& b) {
  const L x = select(abs(a) < abs(b), b, a);
#if defined(__CUDA_ARCH__)  // its FP64 unit would be asked for abs()
  if constexpr (std::is_same_v<L, double>)
    return __hiloint2double(__double2hiint(x) & 0x7fffffff, __double2loint(x));
#endif
  return abs(x);
}

/// 1 / x. On an NVIDIA GPU within a unit in the last place for |x| in [2^-1022, 2^1022], 0 for
/// larger finite ones and NaN for smaller and infinite ones: a division does two iterations from
/// the same guess, of 20 bits, and has another way for such numbers; one iteration of third order
/// is enough.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T inverse(const T& x) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, double>) {
    double guess;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(guess) : "d"(x));
    const double e = 1 - x * guess;
    return guess + guess * (e + e * e);
  }
#endif
  return T(1) / x;
}
/// 1 / x of a positive number, where the smallest normal number stands for 0, so that it is finite.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T reciprocal(const T& x) {
  return inverse(max(x, T(Kokkos::Experimental::norm_min_v<ScalarOf<T>>)));
}
}  // namespace detail

/// Whether x is neither infinite nor NaN.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION auto is_finite(const T& x) {
#if defined(__CUDA_ARCH__)  // by the exponent: integers cost it less
  if constexpr (std::is_same_v<T, double>) return (__double2hiint(x) & 0x7ff00000) != 0x7ff00000;
#endif
  return x - x == T(0);
}

}  // namespace gradsolve
