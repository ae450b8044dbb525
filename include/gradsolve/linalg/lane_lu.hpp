// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ad/lane_dual.hpp>
#include <gradsolve/system.hpp>

/// Small dense linear systems, one in each lane.
namespace gradsolve::detail {

/// Up to here a matrix is factorised in registers.
inline constexpr int max_unrolled_lu = 10;

/// The share of the largest entry of a column from which on the diagonal one is its pivot.
inline constexpr double least_pivot = 0.25;

/// P A = L U by Gaussian elimination, of a matrix of compile-time size; rows are exchanged where
/// the diagonal is small. T is a lane, or a dual over one. Lanes pivot apart: rows are exchanged by
/// selection. A singular matrix gives solutions that are not finite.
template <class T, int N>
class LaneLu {
  using L = LaneBeneathT<T>;

 public:
  /// Overwrites the matrix that was here. Loops are unrolled up to max_unrolled_lu.
  KOKKOS_FORCEINLINE_FUNCTION void factor(const Matrix<T, N>& matrix) {
    for_range<0, N>([&](auto i) GRADSOLVE_INLINE_LAMBDA {
      for_range<0, N>([&](auto j) GRADSOLVE_INLINE_LAMBDA { a_[i][j] = matrix[i][j]; });
    });
    for_range<0, N>([&](auto k) GRADSOLVE_INLINE_LAMBDA {
      pivot(k);
      inverse_[k] = T(1) / a_[k][k];
      below(k, [&](auto i) GRADSOLVE_INLINE_LAMBDA {
        const T factor = a_[i][k] * inverse_[k];
        a_[i][k] = factor;
        below(k, [&](auto j) GRADSOLVE_INLINE_LAMBDA { a_[i][j] = a_[i][j] - factor * a_[k][j]; });
      });
    });
  }

  /// 0, or not a number where the matrix had an infinite entry: its solutions would hide that.
  KOKKOS_FORCEINLINE_FUNCTION T zero_if_finite() const {
    T sum(0);
    for_range<0, N>([&](auto k) GRADSOLVE_INLINE_LAMBDA { sum = sum + T(0) * a_[k][k]; });
    return sum;
  }

  /// x = A^-1 x
  KOKKOS_FORCEINLINE_FUNCTION void solve(Vector<T, N>& x) const {
    for_range<0, N>([&](auto k) GRADSOLVE_INLINE_LAMBDA { exchange_rows(k, x); });
    for_range<0, N>([&](auto j) GRADSOLVE_INLINE_LAMBDA {
      below(j, [&](auto i) GRADSOLVE_INLINE_LAMBDA { x[i] = x[i] - a_[i][j] * x[j]; });
    });
    upwards([&](auto j) GRADSOLVE_INLINE_LAMBDA {
      x[j] = x[j] * inverse_[j];
      above(j, [&](auto i) GRADSOLVE_INLINE_LAMBDA { x[i] = x[i] - a_[i][j] * x[j]; });
    });
  }

  /// x = A^-T x, on the same factors: A^T = U^T L^T P.
  KOKKOS_FORCEINLINE_FUNCTION void solve_transposed(Vector<T, N>& x) const {
    for_range<0, N>([&](auto j) GRADSOLVE_INLINE_LAMBDA {
      x[j] = x[j] * inverse_[j];
      below(j, [&](auto i) GRADSOLVE_INLINE_LAMBDA { x[i] = x[i] - a_[j][i] * x[j]; });
    });
    upwards([&](auto j) GRADSOLVE_INLINE_LAMBDA {
      above(j, [&](auto i) GRADSOLVE_INLINE_LAMBDA { x[i] = x[i] - a_[j][i] * x[j]; });
    });
    upwards([&](auto k) GRADSOLVE_INLINE_LAMBDA { exchange_rows(k, x); });
  }

 private:
  // Loops over indices: Index<i> where they are unrolled, int beyond.
  template <int Begin, int End, class Visit>
  static KOKKOS_FORCEINLINE_FUNCTION void for_range(Visit&& visit) {
    if constexpr (N <= max_unrolled_lu)
      static_for<End - Begin>([&](auto i) GRADSOLVE_INLINE_LAMBDA { visit(Index<Begin + i>{}); });
    else
      for (int i = Begin; i < End; ++i) visit(i);
  }
  template <class Visit>
  static KOKKOS_FORCEINLINE_FUNCTION void upwards(Visit&& visit) {
    if constexpr (N <= max_unrolled_lu)
      static_for<N>([&](auto i) GRADSOLVE_INLINE_LAMBDA { visit(Index<N - 1 - i>{}); });
    else
      for (int i = N - 1; i >= 0; --i) visit(i);
  }
  template <int K, class Visit>
  static KOKKOS_FORCEINLINE_FUNCTION void below(Index<K>, Visit&& visit) {
    for_range<K + 1, N>(visit);
  }
  template <class Visit>
  static KOKKOS_FORCEINLINE_FUNCTION void below(int k, Visit&& visit) {
    for (int i = k + 1; i < N; ++i) visit(i);
  }
  template <int K, class Visit>
  static KOKKOS_FORCEINLINE_FUNCTION void above(Index<K>, Visit&& visit) {
    for_range<0, K>(visit);
  }
  template <class Visit>
  static KOKKOS_FORCEINLINE_FUNCTION void above(int k, Visit&& visit) {
    for (int i = 0; i < k; ++i) visit(i);
  }

  /// Exchanges row k with the one that is pivot_row. Most steps need none, and then the exchange is
  /// a branch that is not taken.
  template <class K>
  KOKKOS_FORCEINLINE_FUNCTION void pivot(K k) {
    const L diagonal = size_of(k, k);
    L largest = diagonal;
    below(k, [&](auto i) GRADSOLVE_INLINE_LAMBDA { largest = max(largest, L(size_of(i, k))); });
    L row = L(ScalarOf<L>(int(k)));
    const auto small = diagonal < L(ScalarOf<L>(least_pivot)) * largest;
    if (any(small)) row = select(small, pivot_row(k), row);
    pivot_[k] = row;
    if (!any(row != L(ScalarOf<L>(int(k))))) return;
    below(k, [&](auto i) GRADSOLVE_INLINE_LAMBDA {
      const auto here = row == L(ScalarOf<L>(int(i)));
      for_range<0, N>([&](auto j) GRADSOLVE_INLINE_LAMBDA { exchange(here, a_[k][j], a_[i][j]); });
    });
  }
  /// The row whose entry in column k is the largest beside the rest of that row; row k itself where
  /// that is not by much. The rows of a stiff W differ by orders of magnitude, as the units of the
  /// states do: among plain sizes, an exchange makes x of differences of large numbers.
  template <class K>
  KOKKOS_FORCEINLINE_FUNCTION L pivot_row(K k) const {
    auto share = [&](auto i) GRADSOLVE_INLINE_LAMBDA {
      L largest = size_of(i, k);
      below(k, [&](auto j) GRADSOLVE_INLINE_LAMBDA { largest = max(largest, L(size_of(i, j))); });
      return L(size_of(i, k) / largest);
    };
    L best = share(k) / L(ScalarOf<L>(least_pivot)), row = L(ScalarOf<L>(int(k)));
    below(k, [&](auto i) GRADSOLVE_INLINE_LAMBDA {
      const L size = share(i);
      const auto larger = size > best;
      best = select(larger, size, best);
      row = select(larger, L(ScalarOf<L>(int(i))), row);
    });
    return row;
  }
  template <class I, class J>
  KOKKOS_FORCEINLINE_FUNCTION L size_of(I i, J j) const {
    return abs(part(a_[i][j], 0));
  }
  template <class K>
  KOKKOS_FORCEINLINE_FUNCTION void exchange_rows(K k, Vector<T, N>& x) const {
    if (!any(pivot_[k] != L(ScalarOf<L>(int(k))))) return;
    below(k, [&](auto i) GRADSOLVE_INLINE_LAMBDA {
      exchange(pivot_[k] == L(ScalarOf<L>(int(i))), x[k], x[i]);
    });
  }
  template <class C>
  static KOKKOS_FORCEINLINE_FUNCTION void exchange(const C& condition, T& x, T& y) {
    const T keep = x;
    x = select(condition, y, x);
    y = select(condition, keep, y);
  }

  Matrix<T, N> a_;  // L below the diagonal, U on and above it
  Vector<T, N> inverse_;
  L pivot_[N];  // the row exchanged with row k, as a number
};

}  // namespace gradsolve::detail
