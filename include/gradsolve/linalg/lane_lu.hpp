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
      for_range<0, N>([&](auto j) GRADSOLVE_INLINE_LAMBDA { f_.a[i][j] = matrix[i][j]; });
    });
    int small_at = N;
    for_range<0, N>([&](auto k) GRADSOLVE_INLINE_LAMBDA {
      if (small_at < N) return;
      if (any(f_.is_small(k)))
        small_at = k;
      else
        f_.eliminate(k);
    });
    exchanged_ = small_at < N;
    if (exchanged_) {
      Factors copy(f_);  // in memory, unlike f_
      factor_with_exchanges(copy, small_at);
      f_ = copy;
    }
  }

  /// 0, or not a number where the matrix had an infinite entry: its solutions would hide that.
  KOKKOS_FORCEINLINE_FUNCTION T zero_if_finite() const {
    T sum(0);
    for_range<0, N>([&](auto k) GRADSOLVE_INLINE_LAMBDA { sum = sum + T(0) * f_.a[k][k]; });
    return sum;
  }

  /// x = A^-1 x
  KOKKOS_FORCEINLINE_FUNCTION void solve(Vector<T, N>& x) const {
    if (exchanged_) exchange_all(x, 0, 1);
    for_range<0, N>([&](auto j) GRADSOLVE_INLINE_LAMBDA {
      below(j, [&](auto i) GRADSOLVE_INLINE_LAMBDA { x[i] = x[i] - f_.a[i][j] * x[j]; });
    });
    upwards([&](auto j) GRADSOLVE_INLINE_LAMBDA {
      x[j] = x[j] * f_.inverse[j];
      above(j, [&](auto i) GRADSOLVE_INLINE_LAMBDA { x[i] = x[i] - f_.a[i][j] * x[j]; });
    });
  }

  /// x = A^-T x, on the same factors: A^T = U^T L^T P.
  KOKKOS_FORCEINLINE_FUNCTION void solve_transposed(Vector<T, N>& x) const {
    for_range<0, N>([&](auto j) GRADSOLVE_INLINE_LAMBDA {
      x[j] = x[j] * f_.inverse[j];
      below(j, [&](auto i) GRADSOLVE_INLINE_LAMBDA { x[i] = x[i] - f_.a[j][i] * x[j]; });
    });
    upwards([&](auto j) GRADSOLVE_INLINE_LAMBDA {
      above(j, [&](auto i) GRADSOLVE_INLINE_LAMBDA { x[i] = x[i] - f_.a[j][i] * x[j]; });
    });
    if (exchanged_) exchange_all(x, N - 1, -1);
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
    GRADSOLVE_KEEP_LOOP
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

  struct Factors {
    Matrix<T, N> a;  // L below the diagonal, U on and above it
    Vector<T, N> inverse;
    L pivot[N];  // the row exchanged with row k, as a number; where some were exchanged

    /// Whether the entry on the diagonal is no pivot.
    template <class K>
    KOKKOS_FORCEINLINE_FUNCTION MaskOf<L> is_small(K k) const {
      L largest = size_of(k, k);
      below(k, [&](auto i)
                   GRADSOLVE_INLINE_LAMBDA { largest = larger_size(largest, part(a[i][k], 0)); });
      return size_of(k, k) < L(ScalarOf<L>(least_pivot)) * largest;
    }
    template <class K>
    KOKKOS_FORCEINLINE_FUNCTION void eliminate(K k) {
      inverse[k] = detail::inverse(a[k][k]);
      below(k, [&](auto i) GRADSOLVE_INLINE_LAMBDA {
        const T factor = a[i][k] * inverse[k];
        a[i][k] = factor;
        below(k, [&](auto j) GRADSOLVE_INLINE_LAMBDA { a[i][j] = a[i][j] - factor * a[k][j]; });
      });
    }
    /// The row whose entry in column k is the largest beside the rest of that row; row k itself
    /// where that is not by much. The rows of a stiff W differ by orders of magnitude, as the units
    /// of the states do: among plain sizes, an exchange makes x of differences of large numbers.
    KOKKOS_FUNCTION L pivot_row(int k) const {
      auto share = [&](int i) {
        L largest = size_of(i, k);
        below(k, [&](int j) { largest = larger_size(largest, part(a[i][j], 0)); });
        return L(size_of(i, k) / largest);
      };
      L best = share(k) / L(ScalarOf<L>(least_pivot)), row = L(ScalarOf<L>(k));
      below(k, [&](int i) {
        const L size = share(i);
        const auto larger = size > best;
        best = select(larger, size, best);
        row = select(larger, L(ScalarOf<L>(i)), row);
      });
      return row;
    }
    template <class I, class J>
    KOKKOS_FORCEINLINE_FUNCTION L size_of(I i, J j) const {
      return abs(part(a[i][j], 0));
    }
  };

  /// Goes on from column `from`.
  GRADSOLVE_NOINLINE static KOKKOS_FUNCTION void factor_with_exchanges(Factors& f, int from) {
    for (int k = 0; k < N; ++k) f.pivot[k] = L(ScalarOf<L>(k));
    GRADSOLVE_KEEP_LOOP
    for (int k = from; k < N; ++k) {
      const auto small = f.is_small(k);
      if (any(small)) f.pivot[k] = select(small, f.pivot_row(k), f.pivot[k]);
      below(k, [&](int i) {
        const auto here = f.pivot[k] == L(ScalarOf<L>(i));
        GRADSOLVE_KEEP_LOOP
        for (int j = 0; j < N; ++j) exchange(here, f.a[k][j], f.a[i][j]);
      });
      f.eliminate(k);
    }
  }
  /// Exchanges the components of x as the rows were, from row `first` on.
  KOKKOS_FORCEINLINE_FUNCTION void exchange_all(Vector<T, N>& x, int first, int step) const {
    Vector<T, N> copy(x);
    L pivot[N];
    for (int k = 0; k < N; ++k) pivot[k] = f_.pivot[k];
    exchange_components(copy, pivot, first, step);
    x = copy;
  }
  GRADSOLVE_NOINLINE static KOKKOS_FUNCTION void exchange_components(Vector<T, N>& x,
                                                                     const L (&pivot)[N], int first,
                                                                     int step) {
    GRADSOLVE_KEEP_LOOP
    for (int k = first; 0 <= k && k < N; k += step)
      below(k, [&](int i) { exchange(pivot[k] == L(ScalarOf<L>(i)), x[k], x[i]); });
  }
  template <class C>
  static KOKKOS_FORCEINLINE_FUNCTION void exchange(const C& condition, T& x, T& y) {
    const T keep = x;
    x = select(condition, y, x);
    y = select(condition, keep, y);
  }

  Factors f_;
  bool exchanged_;
};

}  // namespace gradsolve::detail
