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

/// P A = L U by Gaussian elimination, of a matrix of compile-time size. Rows are exchanged where
/// the diagonal is small, which is rare: that has its own code, out of line and in loops, so that
/// the usual way is short. T is a lane, or a dual over one. Lanes pivot apart: rows are exchanged
/// by selection. A singular matrix gives solutions that are not finite.
template <class T, int N>
class LaneLu {
  using L = LaneBeneathT<T>;

 public:
  /// Overwrites the matrix that was here. Loops are unrolled up to max_unrolled_lu.
  KOKKOS_FORCEINLINE_FUNCTION void factor(const Matrix<T, N>& matrix) {
    for_range<0, N>([&](auto i) GRADSOLVE_INLINE_LAMBDA {
      pivot_[i] = L(ScalarOf<L>(int(i)));
      for_range<0, N>([&](auto j) GRADSOLVE_INLINE_LAMBDA { a_[i][j] = matrix[i][j]; });
    });
    int small_at = N;
    for_range<0, N>([&](auto k) GRADSOLVE_INLINE_LAMBDA {
      if (small_at < N) return;
      if (any(is_small(a_, k))) {
        small_at = k;
      } else {
        inverse_[k] = inverse(a_[k][k]);
        eliminate(a_, k, inverse_[k]);
      }
    });
    exchanged_ = small_at < N;
    if (exchanged_)
      out_of_registers(a_, [&](Matrix<T, N>& a) GRADSOLVE_INLINE_LAMBDA {
        Vector<T, N> inverse;
        L pivot[N];
        factor_with_exchanges(a, inverse, pivot, small_at);
        inverse_ = inverse;
        for (int k = 0; k < N; ++k) pivot_[k] = pivot[k];
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
    if (exchanged_) exchange_all(x, true);
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
    if (exchanged_) exchange_all(x, false);
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
    if constexpr (N > 1) {  // and counted down: g++ takes k for anything, and warns
      GRADSOLVE_KEEP_LOOP
      for (int left = N - 1 - k; left > 0; --left) visit(N - left);
    }
  }
  template <int K, class Visit>
  static KOKKOS_FORCEINLINE_FUNCTION void above(Index<K>, Visit&& visit) {
    for_range<0, K>(visit);
  }
  template <class Visit>
  static KOKKOS_FORCEINLINE_FUNCTION void above(int k, Visit&& visit) {
    for (int i = 0; i < k; ++i) visit(i);
  }

  /// Whether the entry on the diagonal is no pivot.
  template <class K>
  static KOKKOS_FORCEINLINE_FUNCTION MaskOf<L> is_small(const Matrix<T, N>& a, K k) {
    L largest = size(a[k][k]);
    below(k, [&](auto i)
                 GRADSOLVE_INLINE_LAMBDA { largest = larger_size(largest, part(a[i][k], 0)); });
    return size(a[k][k]) < L(ScalarOf<L>(least_pivot)) * largest;
  }
  template <class K>
  static KOKKOS_FORCEINLINE_FUNCTION void eliminate(Matrix<T, N>& a, K k, const T& inverse) {
    below(k, [&](auto i) GRADSOLVE_INLINE_LAMBDA {
      const T factor = a[i][k] * inverse;
      a[i][k] = factor;
      below(k, [&](auto j) GRADSOLVE_INLINE_LAMBDA { a[i][j] = a[i][j] - factor * a[k][j]; });
    });
  }
  static KOKKOS_FORCEINLINE_FUNCTION L size(const T& x) { return abs(part(x, 0)); }

  /// Calls f(x), or f of a copy where x lives in registers, which code out of line cannot see.
  template <class X, class F>
  static KOKKOS_FORCEINLINE_FUNCTION void out_of_registers(X& x, F&& f) {
    if constexpr (N <= max_unrolled_lu) {
      X copy(x);
      f(copy);
      x = copy;
    } else {
      f(x);
    }
  }

  /// Goes on from column `from`; sets all of `inverse` and `pivot`.
  GRADSOLVE_NOINLINE static KOKKOS_FUNCTION void factor_with_exchanges(Matrix<T, N>& a,
                                                                       Vector<T, N>& inverse,
                                                                       L (&pivot)[N], int from) {
    GRADSOLVE_KEEP_LOOP
    for (int k = 0; k < N; ++k) {
      pivot[k] = L(ScalarOf<L>(k));
      if (k >= from) {
        const auto small = is_small(a, k);
        if (any(small)) pivot[k] = select(small, pivot_row(a, k), pivot[k]);
        below(k, [&](int i) {
          const auto here = pivot[k] == L(ScalarOf<L>(i));
          GRADSOLVE_KEEP_LOOP
          for (int j = 0; j < N; ++j) exchange(here, a[k][j], a[i][j]);
        });
      }
      inverse[k] = detail::inverse(a[k][k]);
      if (k >= from) eliminate(a, k, inverse[k]);
    }
  }
  /// The row whose entry in column k is the largest beside the rest of that row; row k itself where
  /// that is not by much. The rows of a stiff W differ by orders of magnitude, as the units of the
  /// states do: among plain sizes, an exchange makes x of differences of large numbers.
  static KOKKOS_FUNCTION L pivot_row(const Matrix<T, N>& a, int k) {
    auto share = [&](int i) {
      L largest = size(a[i][k]);
      below(k, [&](int j) { largest = larger_size(largest, part(a[i][j], 0)); });
      return L(size(a[i][k]) / largest);
    };
    L best = share(k) / L(ScalarOf<L>(least_pivot)), row = L(ScalarOf<L>(k));
    below(k, [&](int i) {
      const L mine = share(i);
      const auto larger = mine > best;
      best = select(larger, mine, best);
      row = select(larger, L(ScalarOf<L>(i)), row);
    });
    return row;
  }

  /// Exchanges the components of x as the rows were, in that order or the other way round.
  KOKKOS_FORCEINLINE_FUNCTION void exchange_all(Vector<T, N>& x, bool in_order) const {
    L pivot[N];
    for (int k = 0; k < N; ++k) pivot[k] = pivot_[k];
    out_of_registers(x, [&](Vector<T, N>& y)
                            GRADSOLVE_INLINE_LAMBDA { exchange_components(y, pivot, in_order); });
  }
  GRADSOLVE_NOINLINE static KOKKOS_FUNCTION void exchange_components(Vector<T, N>& x,
                                                                     const L (&pivot)[N],
                                                                     bool in_order) {
    GRADSOLVE_KEEP_LOOP
    for (int step = 0; step < N; ++step) {
      const int k = in_order ? step : N - 1 - step;
      below(k, [&](int i) { exchange(pivot[k] == L(ScalarOf<L>(i)), x[k], x[i]); });
    }
  }
  template <class C>
  static KOKKOS_FORCEINLINE_FUNCTION void exchange(const C& condition, T& x, T& y) {
    const T keep = x;
    x = select(condition, y, x);
    y = select(condition, keep, y);
  }

  Matrix<T, N> a_;  // L below the diagonal, U on and above it
  Vector<T, N> inverse_;
  L pivot_[N];  // the row exchanged with row k, as a number; where exchanged_
  bool exchanged_;
};

}  // namespace gradsolve::detail
