// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/detail/unroll.hpp>

namespace gradsolve {

/// N numbers, an aggregate: `Vector<T, 3> v{a, b, c};`. States and parameters are Vectors.
template <class T, int N>
struct Vector {
  T values[N];

  KOKKOS_FORCEINLINE_FUNCTION constexpr T& operator[](int i) { return values[i]; }
  KOKKOS_FORCEINLINE_FUNCTION constexpr const T& operator[](int i) const { return values[i]; }
  static KOKKOS_FORCEINLINE_FUNCTION constexpr int size() { return N; }
};

template <class T>
struct Vector<T, 0> {
  /// Never called: what makes a loop over no parameters compile.
  KOKKOS_FORCEINLINE_FUNCTION T& operator[](int) { return *reinterpret_cast<T*>(this); }
  KOKKOS_FORCEINLINE_FUNCTION constexpr T operator[](int) const { return T(0); }
  static KOKKOS_FORCEINLINE_FUNCTION constexpr int size() { return 0; }
};

/// The state u of one trajectory.
template <class T, int N>
using State = Vector<T, N>;
/// The parameters p of one trajectory.
template <class T, int P>
using Params = Vector<T, P>;

namespace detail {

template <int N, class T>
KOKKOS_FORCEINLINE_FUNCTION Vector<T, N> filled(const T& value) {
  Vector<T, N> v;
  for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA { v[i] = value; });
  return v;
}

// Vectors of packs are copied and combined component by component: g++ copies a struct through
// memory in 16-byte pieces, and a wider load right behind waits for all of them.

/// y = x
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION void copy(const Vector<T, N>& x, Vector<T, N>& y) {
  for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA { y[i] = x[i]; });
}

/// x + a y
template <class A, class T, int N>
KOKKOS_FORCEINLINE_FUNCTION Vector<T, N> advanced(const Vector<T, N>& x, const A& a,
                                                  const Vector<T, N>& y) {
  Vector<T, N> z;
  for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA { z[i] = x[i] + a * y[i]; });
  return z;
}

/// y += a x
template <class A, class T, int N>
KOKKOS_FORCEINLINE_FUNCTION void axpy(const A& a, const Vector<T, N>& x, Vector<T, N>& y) {
  for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA { y[i] = y[i] + a * x[i]; });
}

/// y = a x
template <class A, class T, int N>
KOKKOS_FORCEINLINE_FUNCTION void scale(const A& a, const Vector<T, N>& x, Vector<T, N>& y) {
  for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA { y[i] = a * x[i]; });
}

/// sum_i x_i y_i
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION T dot(const Vector<T, N>& x, const Vector<T, N>& y) {
  T sum = x[0] * y[0];
  for_each_index<N - 1>([&](int i) GRADSOLVE_INLINE_LAMBDA { sum = sum + x[i + 1] * y[i + 1]; });
  return sum;
}

}  // namespace detail
}  // namespace gradsolve
