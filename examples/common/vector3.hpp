// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ad/vector.hpp>

/// Vectors in space, for right-hand sides: of numbers, packs or duals.
namespace examples {

template <class T>
using Vector3 = gradsolve::Vector<T, 3>;

template <class T>
KOKKOS_FORCEINLINE_FUNCTION T dot(const Vector3<T>& a, const Vector3<T>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION Vector3<T> cross(const Vector3<T>& a, const Vector3<T>& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
/// a x + b y
template <class T>
KOKKOS_FORCEINLINE_FUNCTION Vector3<T> combined(const T& a, const Vector3<T>& x, const T& b,
                                                const Vector3<T>& y) {
  return {a * x[0] + b * y[0], a * x[1] + b * y[1], a * x[2] + b * y[2]};
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION Vector3<T> scaled(const T& a, const Vector3<T>& x) {
  return {a * x[0], a * x[1], a * x[2]};
}

/// The first, second, ... three of the components of a longer vector.
template <int Which, class T, int N>
KOKKOS_FORCEINLINE_FUNCTION Vector3<T> triple(const gradsolve::Vector<T, N>& u) {
  return {u[3 * Which], u[3 * Which + 1], u[3 * Which + 2]};
}

}  // namespace examples
