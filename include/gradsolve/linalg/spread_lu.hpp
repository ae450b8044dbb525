// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ad/spread.hpp>
#include <gradsolve/linalg/lane_lu.hpp>

namespace gradsolve::detail {

/// P A = L U of the matrix in the scratch memory of a spread system F, by the threads of a warp
/// together; rows are exchanged as LaneLu does. Thread i % G owns row and column i. A singular
/// matrix gives solutions that are not finite.
template <class T, class F>
class SpreadLu {
  using L = LaneBeneathT<T>;
  using Threads = typename F::Threads;
  static constexpr int N = F::N, G = F::threads, slots = F::num_states, stride = F::stride;
  static_assert(std::is_floating_point_v<L>);

 public:
  /// Overwrites the matrix with its factors.
  KOKKOS_FORCEINLINE_FUNCTION void factor(const F& f) {
    vector_ = f.template vector<T>(0);
    a_ = f.template matrix<T>();
    row_of_ = f.template permutation<T>();
    thread_ = f.thread;
    for_own([&](int, int i) { row_of_[i] = i; });
    Threads::sync();
    for (int k = 0; k < N; ++k) eliminate(k);
    for_own([&](int slot, int i) { inverse_[slot] = inverse(at(i, i)); });
  }

  /// 0, or not a number where the matrix had an infinite entry: its solutions would hide that.
  KOKKOS_FORCEINLINE_FUNCTION T zero_if_finite() const {
    T sum(0);
    for_own([&](int, int i) { sum = sum + T(0) * at(i, i); });
    return sum_of_parts(sum);
  }

  /// x = A^-1 x
  GRADSOLVE_NOINLINE KOKKOS_FUNCTION void solve(Vector<T, slots>& x) const {
    exchange_rows(x);
    upwards(
        x, [&](int, const T& x_j) { return x_j; },
        [&](int i, int j) GRADSOLVE_INLINE_LAMBDA { return at(i, j); });
    downwards(
        x, [&](int slot, const T& x_j) { return T(x_j * inverse_[slot]); },
        [&](int i, int j) GRADSOLVE_INLINE_LAMBDA { return at(i, j); });
  }

  /// x = A^-T x, on the same factors: A^T = U^T L^T P.
  GRADSOLVE_NOINLINE KOKKOS_FUNCTION void solve_transposed(Vector<T, slots>& x) const {
    upwards(
        x, [&](int slot, const T& x_j) { return T(x_j * inverse_[slot]); },
        [&](int i, int j) GRADSOLVE_INLINE_LAMBDA { return at(j, i); });
    downwards(
        x, [&](int, const T& x_j) { return x_j; },
        [&](int i, int j) GRADSOLVE_INLINE_LAMBDA { return at(j, i); });
    Threads::sync();
    for_own([&](int slot, int i) { vector_[row_of_[i]] = x[slot]; });
    Threads::sync();
    for_own([&](int slot, int i) { x[slot] = vector_[i]; });
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION T& at(int i, int j) const { return a_[i * stride + j]; }

  /// visit(slot, i) for the rows, or columns, of this thread.
  template <class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void for_own(Visit&& visit) const {
    for_each_index<slots>([&](int slot) GRADSOLVE_INLINE_LAMBDA {
      if (slot * G + thread_ < N) visit(slot, slot * G + thread_);
    });
  }

  template <class X>
  static KOKKOS_FORCEINLINE_FUNCTION X sum_of_parts(const X& x) {
    X sum;
    static_for<num_parts<X>>(
        [&](auto k) GRADSOLVE_INLINE_LAMBDA { part(sum, k) = Threads::sum(part(x, k)); });
    return sum;
  }
  static KOKKOS_FORCEINLINE_FUNCTION T from(const T& x, int thread) {
    T y;
    static_for<num_parts<T>>(
        [&](auto k) GRADSOLVE_INLINE_LAMBDA { part(y, k) = Threads::from(part(x, k), thread); });
    return y;
  }

  KOKKOS_FORCEINLINE_FUNCTION void eliminate(int k) {
    const int row = pivot_row(k);
    if (row != k) {
      for_own([&](int, int j) {
        const T keep = at(k, j);
        at(k, j) = at(row, j);
        at(row, j) = keep;
      });
      if (thread_ == 0) {
        const int keep = row_of_[k];
        row_of_[k] = row_of_[row];
        row_of_[row] = keep;
      }
      Threads::sync();
    }
    const T inverse = detail::inverse(at(k, k));
    for_own([&](int, int i) {
      if (i > k) at(i, k) = at(i, k) * inverse;
    });
    Threads::sync();
    for_own([&](int, int j) {
      if (j <= k) return;
      const T a_kj = at(k, j);
      for (int i = k + 1; i < N; ++i) at(i, j) = at(i, j) - at(i, k) * a_kj;
    });
    Threads::sync();
  }

  KOKKOS_FORCEINLINE_FUNCTION L size_of(int i, int j) const { return abs(part(at(i, j), 0)); }

  /// As LaneLu: k where the diagonal is large enough, else the row whose entry is the largest
  /// beside the rest of that row.
  KOKKOS_FORCEINLINE_FUNCTION int pivot_row(int k) const {
    L largest(0);
    for_own([&](int, int i) {
      if (i >= k) largest = max(largest, size_of(i, k));
    });
    if (!(size_of(k, k) < L(least_pivot) * Threads::max(largest))) return k;
    L best(-1);
    int row = N;
    for_own([&](int, int i) {
      if (i < k) return;
      L rest(0);
      for (int j = k; j < N; ++j) rest = max(rest, size_of(i, j));
      const L share = size_of(i, k) / rest / (i == k ? L(least_pivot) : L(1));
      if (share > best) {
        best = share;
        row = i;
      }
    });
    const L best_of_all = Threads::max(best);
    row = Threads::min(best == best_of_all ? row : N);
    return row < N ? row : k;
  }

  KOKKOS_FORCEINLINE_FUNCTION void exchange_rows(Vector<T, slots>& x) const {
    Threads::sync();
    for_own([&](int slot, int i) { vector_[i] = x[slot]; });
    Threads::sync();
    for_own([&](int slot, int i) { x[slot] = vector_[row_of_[i]]; });
  }

  /// Substitution: x_j is finished and takes its share of the x_i to come, j rising ...
  template <class Finish, class Entry>
  KOKKOS_FORCEINLINE_FUNCTION void upwards(Vector<T, slots>& x, Finish&& finish,
                                           Entry&& entry) const {
    static_for<slots>([&](auto slot) GRADSOLVE_INLINE_LAMBDA {
      const int end = Kokkos::min(G, N - slot * G);
      for (int owner = 0; owner < end; ++owner)
        take_share<true, slot, slots>(x, owner, finish, entry);
    });
  }
  /// ... or falling.
  template <class Finish, class Entry>
  KOKKOS_FORCEINLINE_FUNCTION void downwards(Vector<T, slots>& x, Finish&& finish,
                                             Entry&& entry) const {
    static_for<slots>([&](auto down) GRADSOLVE_INLINE_LAMBDA {
      constexpr int slot = slots - 1 - down;
      for (int owner = Kokkos::min(G, N - slot * G) - 1; owner >= 0; --owner)
        take_share<false, 0, slot + 1>(x, owner, finish, entry);
    });
  }
  template <bool Up, int Begin, int End, class Finish, class Entry>
  KOKKOS_FORCEINLINE_FUNCTION void take_share(Vector<T, slots>& x, int owner, Finish&& finish,
                                              Entry&& entry) const {
    constexpr int slot = Up ? Begin : End - 1;
    const int j = slot * G + owner;
    const T x_j = from(finish(slot, x[slot]), owner);
    if (thread_ == owner) x[slot] = x_j;
    static_for<End - Begin>([&](auto s) GRADSOLVE_INLINE_LAMBDA {
      constexpr int other = Begin + s;
      const int i = other * G + thread_;
      const bool to_come = i < N && (other != slot || (Up ? i > j : i < j));
      if (to_come) x[other] = x[other] - entry(i, j) * x_j;
    });
  }

  T *vector_, *a_;
  int* row_of_;  // the row of the matrix that is row i of the factors
  int thread_;
  T inverse_[slots];  // of the diagonal
};

}  // namespace gradsolve::detail
