// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ad/dual.hpp>
#include <gradsolve/blocks/exponential.hpp>

/// Activations y = s(z) of a Dense layer: a struct with value(z) and the derivative slope(z, y).
/// Where needs_input is false, slope() gets no z to look at: the layer keeps y alone, and would
/// have to compute z = W x + b anew.
namespace gradsolve {

/// s(z) = z
struct Identity {
  static constexpr bool needs_input = false;
  template <class T>
  static KOKKOS_FORCEINLINE_FUNCTION T value(const T& z) {
    return z;
  }
  template <class T>
  static KOKKOS_FORCEINLINE_FUNCTION T slope(const T&, const T&) {
    return T(1);
  }
};

/// s(z) = tanh z,   s' = 1 - y^2
struct Tanh {
  static constexpr bool needs_input = false;
  template <class T>
  static KOKKOS_FORCEINLINE_FUNCTION T value(const T& z) {
    using gradsolve::abs, gradsolve::select, gradsolve::tanh;
    if constexpr (detail::Plain<T>) {
      const detail::Exponential<T> e(T(-2) * abs(z));
      return detail::with_sign_of(z, detail::quotient(T(-e.minus_one), T(T(2) + e.minus_one)));
    } else {
      return tanh(z);
    }
  }
  template <class T>
  static KOKKOS_FORCEINLINE_FUNCTION T slope(const T&, const T& y) {
    return T(1) - y * y;
  }
};

/// s(z) = ln(1 + e^z),   s' = 1 / (1 + e^-z) = 1 - e^-y
struct Softplus {
  static constexpr bool needs_input = false;
  template <class T>
  static KOKKOS_FORCEINLINE_FUNCTION T value(const T& z) {
    using gradsolve::abs, gradsolve::exp, gradsolve::log1p, gradsolve::max;
    return max(z, T(0)) + log1p(exp(-abs(z)));
  }
  template <class T>
  static KOKKOS_FORCEINLINE_FUNCTION T slope(const T&, const T& y) {
    using gradsolve::expm1;
    if constexpr (detail::Plain<T>)
      return -detail::Exponential<T>(-y).minus_one;
    else
      return -expm1(-y);
  }
};

/// s(z) = z r,   s' = r + y (1 - r)   with r = 1 / (1 + e^-z); also known as SiLU
struct Swish {
  static constexpr bool needs_input = true;
  template <class T>
  static KOKKOS_FORCEINLINE_FUNCTION T value(const T& z) {
    return z * sigmoid(z);
  }
  template <class T>
  static KOKKOS_FORCEINLINE_FUNCTION T slope(const T& z, const T& y) {
    const T r = sigmoid(z);
    return r + y * (T(1) - r);
  }

 private:
  template <class T>
  static KOKKOS_FORCEINLINE_FUNCTION T sigmoid(const T& z) {
    using gradsolve::abs, gradsolve::exp, gradsolve::select;
    if constexpr (detail::Plain<T>) {
      const T e = detail::Exponential<T>(-abs(z)).value;
      return detail::quotient(T(select(z < T(0), e, T(1))), T(T(1) + e));
    } else {
      const T e = exp(-abs(z));  // never overflows
      return select(z < T(0), e, T(1)) / (T(1) + e);
    }
  }
};

}  // namespace gradsolve
