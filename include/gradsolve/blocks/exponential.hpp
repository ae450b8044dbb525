// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ad/coefficient.hpp>
#include <gradsolve/ad/math.hpp>
#include <gradsolve/detail/unroll.hpp>

#include <Kokkos_BitManipulation.hpp>

/// The exponential function as activations need it: without a branch, so that a CPU computes it for
/// a whole pack (a library function is called for each lane) and a GPU for several units at once.
namespace gradsolve::detail {

/// What the number type of an activation is made of: its scalar, or void for one that the functions
/// below do not know (a dual, long double, std::complex).
template <class T>
using PlainScalar =
    std::conditional_t<std::is_same_v<T, float> || std::is_same_v<T, double> || is_pack<T>,
                       ScalarOf<T>, void>;
template <class T>
concept Plain = !std::is_void_v<PlainScalar<T>>;

/// Of a float or double: e^x = 2^k e^r with k an integer and |r| <= ln(2) / 2.
template <class S>
struct ExpConstants;
template <>
struct ExpConstants<double> {
  static constexpr int degree = 13, fraction_bits = 52;
  static constexpr double lowest = -708;                       // e^x is not subnormal
  static constexpr double shift = 6755399441055744.0;          // 1.5 2^52: x + shift rounds x
  static constexpr double ln2_high = 0.693147180369123816490;  // k ln2_high is exact
  static constexpr double ln2_low = 1.90821492927058770002e-10;
  static constexpr double log2_e = 1.44269504088896340736;
};
template <>
struct ExpConstants<float> {
  static constexpr int degree = 7, fraction_bits = 23;
  static constexpr double lowest = -87;
  static constexpr double shift = 12582912.0;
  static constexpr double ln2_high = 0.693359375;
  static constexpr double ln2_low = -2.12194440e-4;
  static constexpr double log2_e = 1.44269504088896340736;
};

/// 2^k, of k + shift: its last bits are those of k.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T power_of_two(const T& shifted) {
  using S = ScalarOf<T>;
  constexpr int bits = ExpConstants<S>::fraction_bits;
  constexpr SameSizeUnsigned<S> bias = (SameSizeUnsigned<S>(1) << (8 * sizeof(S) - 2 - bits)) - 1;
  if constexpr (is_pack<T>) {
    return from_bits<T>((bits_of(shifted) + bias) << bits);
  } else {
    const auto integer = Kokkos::bit_cast<SameSizeUnsigned<S>>(shifted);
    return Kokkos::bit_cast<S>(static_cast<SameSizeUnsigned<S>>((integer + bias) << bits));
  }
}

/// e^x and e^x - 1 of x <= 0, each to about its last bit; below `lowest` (-708, float: -87) as
/// there.
template <class T>
struct Exponential {
  T value, minus_one;

  KOKKOS_FORCEINLINE_FUNCTION explicit Exponential(const T& argument) {
    using C = ExpConstants<ScalarOf<T>>;
    const T x = select(argument < T(C::lowest), T(C::lowest), argument);
    const T shifted = x * T(coefficient<T, C::log2_e>()) + T(C::shift);
    const T k = shifted - T(C::shift);
    const T r = (x - k * T(coefficient<T, C::ln2_high>())) - k * T(coefficient<T, C::ln2_low>());
    const T p = series<1, C::degree>(r) * r, scale = power_of_two(shifted);
    value = scale * p + scale;
    minus_one = scale * p + (scale - T(1));
  }

 private:
  static KOKKOS_FUNCTION constexpr double inverse_factorial(int n) {
    double product = 1;
    for (int i = 2; i <= n; ++i) product *= i;
    return 1 / product;
  }
  template <int N>
  static constexpr double inverse_factorial_v = inverse_factorial(N);

  /// 1 / First! + r / (First + 1)! + ... + r^(Last - First) / Last!, by Horner's rule. A GPU, with
  /// few threads, waits for each result: there in halves, which do not wait for one another.
  template <int First, int Last>
  static KOKKOS_FORCEINLINE_FUNCTION T series(const T& r) {
    const T first(coefficient<T, inverse_factorial_v<First>>());
    if constexpr (First == Last) {
      return first;
    } else {
#if defined(__CUDA_ARCH__)
      constexpr int half = half_of(Last - First + 1);
      return series<First, First + half - 1>(r) + series<First + half, Last>(r) * power<half>(r);
#else
      return series<First + 1, Last>(r) * r + first;
#endif
    }
  }
  /// The largest power of two below n.
  static KOKKOS_FUNCTION constexpr int half_of(int n) {
    int half = 1;
    while (2 * half < n) half *= 2;
    return half;
  }
  template <int Power>
  static KOKKOS_FORCEINLINE_FUNCTION T power(const T& r) {
    if constexpr (Power == 1)
      return r;
    else
      return square(power<Power / 2>(r));
  }
};

/// x / y of 1 <= y <= 2, which needs no care for the ends of the range.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T quotient(const T& x, const T& y) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, double>) {
    double guess;  // of 1 / y, to 20 bits
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(guess) : "d"(y));
    const double q = x * guess, e = 1 - y * guess;
    return q + q * (e + e * e);  // 1 / (1 - e) to 60 bits
  } else {
    const T r = __fdividef(T(1), y), q = x * r;
    return q + r * (x - y * q);
  }
#else
  return x / y;
#endif
}

/// y >= 0 with the sign of x.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T with_sign_of(const T& x, const T& y) {
#if defined(__CUDA_ARCH__)
  return Kokkos::copysign(y, x);  // one instruction
#else
  return select(x < T(0), -y, y);
#endif
}

}  // namespace gradsolve::detail
