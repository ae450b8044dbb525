// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ad/dual.hpp>
#include <gradsolve/detail/strided.hpp>

/// The number types that a sweep carries a state in: a lane L, or a Dual over one where the sweep
/// differentiates itself forward. What they share.
namespace gradsolve::detail {

/// The lane type beneath T, and its scalar.
template <class T>
struct LaneBeneath {
  using Type = T;
};
template <class T, int K>
struct LaneBeneath<Dual<T, K>> {
  using Type = T;
};
template <class T>
using LaneBeneathT = typename LaneBeneath<T>::Type;
template <class T>
using BaseScalar = ScalarOf<LaneBeneathT<T>>;

/// The number of one lane: a scalar, or a Dual of a scalar.
template <class T>
struct ScalarValue {
  using Type = ScalarOf<T>;
};
template <class L, int K>
struct ScalarValue<Dual<L, K>> {
  using Type = Dual<ScalarOf<L>, K>;
};
template <class T>
using ScalarValueT = typename ScalarValue<T>::Type;

/// Numbers that a lane value holds apart from its lanes: the value, then the tangents.
template <class T>
inline constexpr int num_parts = 1;
template <class L, int K>
inline constexpr int num_parts<Dual<L, K>> = 1 + K;

template <class L>
KOKKOS_FORCEINLINE_FUNCTION const L& part(const L& x, int) {
  return x;
}
template <class L>
KOKKOS_FORCEINLINE_FUNCTION L& part(L& x, int) {
  return x;
}
template <class L, int K>
KOKKOS_FORCEINLINE_FUNCTION const L& part(const Dual<L, K>& x, int i) {
  return i == 0 ? x.value : x.tangent[i - 1];
}
template <class L, int K>
KOKKOS_FORCEINLINE_FUNCTION L& part(Dual<L, K>& x, int i) {
  return i == 0 ? x.value : x.tangent[i - 1];
}

/// One lane of a value, and its assignment.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION ScalarValueT<T> value_of_lane(const T& x, int lane) {
  ScalarValueT<T> y;
  static_for<num_parts<T>>([&](auto i)
                               GRADSOLVE_INLINE_LAMBDA { part(y, i) = lane_of(part(x, i), lane); });
  return y;
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void set_value_of_lane(T& x, int lane, const ScalarValueT<T>& y) {
  static_for<num_parts<T>>([&](auto i)
                               GRADSOLVE_INLINE_LAMBDA { set_lane(part(x, i), lane, part(y, i)); });
}

template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION Vector<ScalarValueT<T>, N> vector_of_lane(const Vector<T, N>& x,
                                                                      int lane) {
  Vector<ScalarValueT<T>, N> y;
  if constexpr (N > 0) for_each_index<N>([&](int i) { y[i] = value_of_lane(x[i], lane); });
  return y;
}
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION void set_vector_of_lane(Vector<T, N>& x, int lane,
                                                    const Vector<ScalarValueT<T>, N>& y) {
  if constexpr (N > 0) for_each_index<N>([&](int i) { set_value_of_lane(x[i], lane, y[i]); });
}

/// Part `I` (0: the values, k + 1: the tangents in direction k) of a vector.
template <int I, class T, int N>
KOKKOS_FORCEINLINE_FUNCTION Vector<LaneBeneathT<T>, N> part_of(const Vector<T, N>& x) {
  Vector<LaneBeneathT<T>, N> y;
  if constexpr (N > 0)
    for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA { y[i] = part(x[i], I); });
  return y;
}

/// x = y where the condition holds.
template <class C, class T, int N>
KOKKOS_FORCEINLINE_FUNCTION void keep_where(const C& condition, const Vector<T, N>& y,
                                            Vector<T, N>& x) {
  if constexpr (N > 0)
    for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA { x[i] = select(condition, y[i], x[i]); });
}

/// x = y() where the condition holds; y is costly: a plain scalar branches, a pack selects.
template <class C, class T, int N, class Y>
KOKKOS_FORCEINLINE_FUNCTION void update_where(const C& condition, Vector<T, N>& x, Y&& y) {
  if constexpr (std::is_same_v<C, bool>) {
    if (condition) copy(y(), x);
  } else {
    keep_where(condition, y(), x);
  }
}

}  // namespace gradsolve::detail
