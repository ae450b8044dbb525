// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ad/replicated.hpp>
#include <gradsolve/kernels/slice.hpp>
#include <gradsolve/lanes/warp.hpp>
#include <gradsolve/system.hpp>

/// Derivatives in weights that the ensemble shares,
///
///     wbar = sum over trajectories, steps and stages of (df/dw)^T kbar
///
/// in a fixed order, hence the same to the bit from run to run: each slot (a warp on a GPU, a
/// thread on a CPU) takes its slices in a fixed order and adds to numbers of its own, and those are
/// summed slot after slot. On a machine with other slots the order is another.
namespace gradsolve::detail {

/// The sums of a thread that has the trajectories of a slice to itself: one for each lane and
/// weight, (weights, width). Memory is cheaper than a sum over lanes for each term.
template <class L, int Threads, int Group = 1>
class SliceSums {
  using S = ScalarOf<L>;
  static constexpr int width = LaneTraits<L>::width;

 public:
  static constexpr int numbers_a_weight = width;
  static constexpr std::size_t scratch_bytes = 0;

  KOKKOS_FORCEINLINE_FUNCTION SliceSums(S* sums, S*, int) : sums_(sums) {}

  /// Those of the trajectories that count; the others add nothing, whatever their numbers.
  KOKKOS_FORCEINLINE_FUNCTION SliceSums where(const MaskOf<L>& counts) const {
    SliceSums s(*this);
    s.counts_ = counts;
    return s;
  }
  KOKKOS_FORCEINLINE_FUNCTION SliceSums from(int k) const {
    SliceSums s(*this);
    s.sums_ += k * width;
    return s;
  }

  KOKKOS_FORCEINLINE_FUNCTION void add(int k, const L& v) const {
    S* const sum = sums_ + k * width;
    store(sum, L(load<L>(sum) + select(counts_, v, L(0))));
  }
  template <int M>
  KOKKOS_FORCEINLINE_FUNCTION void add(int k, const Vector<L, M>& v) const {
    for (int i = 0; i < M; ++i) add(k + i, v[i]);
  }
  template <int M, int N>
  KOKKOS_FORCEINLINE_FUNCTION void add_outer(int k, const Vector<L, M>& a,
                                             const Vector<L, N>& b) const {
    L row[N];
    for (int j = 0; j < N; ++j) row[j] = select(counts_, b[j], L(0));
    for (int i = 0; i < M; ++i) {
      const L ai = select(counts_, a[i], L(0));
      S* const sum = sums_ + (k + i * N) * width;
      for (int j = 0; j < N; ++j) store(sum + j * width, L(load<L>(sum + j * width) + ai * row[j]));
    }
  }
  template <int M, int N>
  KOKKOS_FORCEINLINE_FUNCTION void add_affine(int k, const Vector<L, M>& a,
                                              const Vector<L, N>& b) const {
    add_outer(k, a, b);
    add(k + M * N, a);
  }

 private:
  S* sums_;
  MaskOf<L> counts_{true};
};

/// The sums of a warp: one for each weight. The vectors of its trajectories are put side by side in
/// team scratch; then each thread owns a few weights and sums them over the trajectories. The
/// threads of a group (T is Replicated then) have one trajectory together.
template <class S, int Threads, int Group>
  requires(Threads > 1)
class SliceSums<S, Threads, Group> {
  static constexpr int trajectories = Threads / Group;
  static constexpr int most_rows = 16, most_columns = 32;
  static KOKKOS_FUNCTION constexpr int power_of_two(int n, int most) {
    int p = 1;
    while (p < n && p < most) p *= 2;
    return p;
  }
  /// Of `size` numbers a trajectory. A little more than that apart, threads write to different
  /// banks; 16 bytes, where few threads write, so that two doubles are read at once.
  static KOKKOS_FORCEINLINE_FUNCTION constexpr int apart(int size) {
    return size + (Group > 1 && size > 1 ? int(16 / sizeof(S)) : 1);
  }

 public:
  static constexpr int numbers_a_weight = 1;
  static constexpr std::size_t scratch_bytes =
      sizeof(S) * trajectories * (apart(most_rows) + apart(most_columns));

  KOKKOS_FORCEINLINE_FUNCTION SliceSums(S* sums, S* scratch, int thread)
      : sums_(sums), scratch_(scratch), thread_(thread) {}

  KOKKOS_FORCEINLINE_FUNCTION SliceSums where(bool counts) const {
    SliceSums s(*this);
    s.counts_ = counts;
    return s;
  }
  KOKKOS_FORCEINLINE_FUNCTION SliceSums from(int k) const {
    SliceSums s(*this);
    s.sums_ += k;
    return s;
  }

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION void add(int k, const T& v) const {
    const S sum = Warp<Threads>::sum(counts_ && thread_ % Group == 0 ? S(plain(v)) : S(0));
    if (thread_ == 0) in_global_memory(sums_)[k] += sum;
  }
  template <class T, int M>
  KOKKOS_FORCEINLINE_FUNCTION void add(int k, const Vector<T, M>& v) const {
    constexpr int rows = power_of_two(M, most_rows);
    S* const scratch = in_scratch(scratch_);
    GRADSOLVE_KEEP_LOOP
    for (int first = 0; first < M; first += rows) {
      put<rows>(v, first, scratch);
      Warp<Threads>::sync();
      if (thread_ < rows && first + thread_ < M) {
        S* const to = in_global_memory(sums_) + k + first + thread_;
        const S before = *to;
        S sum(0);
        GRADSOLVE_UNROLL_BY_4
        for (int t = 0; t < trajectories; ++t) sum += scratch[t * apart(rows) + thread_];
        *to = before + sum;
      }
      Warp<Threads>::sync();
    }
  }
  template <class T, int M, int N>
  KOKKOS_FORCEINLINE_FUNCTION void add_outer(int k, const Vector<T, M>& a,
                                             const Vector<T, N>& b) const {
    add_products<false>(k, a, b);
  }
  template <class T, int M, int N>
  KOKKOS_FORCEINLINE_FUNCTION void add_affine(int k, const Vector<T, M>& a,
                                              const Vector<T, N>& b) const {
    add_products<true>(k, a, b);
  }

 private:
  /// Components first to first + Size - 1 of this thread's vector.
  template <int Size, class T, int M>
  KOKKOS_FORCEINLINE_FUNCTION void put(const Vector<T, M>& v, int first, S* to) const {
    to += thread_ / Group * apart(Size);
    if constexpr (Group == 1) {
      GRADSOLVE_UNROLL_BY_4
      for (int i = 0; i < Size; ++i) to[i] = counts_ && first + i < M ? v[first + i] : S(0);
    } else {
      static_for<Size>([&](auto i) GRADSOLVE_INLINE_LAMBDA {
        if (thread_ % Group == i % Group)
          to[i] = counts_ && first + i < M ? S(v[first + i].value) : S(0);
      });
    }
  }

  /// a b^T, and WithLeft a behind it.
  template <bool WithLeft, class T, int M, int N>
  KOKKOS_FORCEINLINE_FUNCTION void add_products(int k, const Vector<T, M>& a,
                                                const Vector<T, N>& b) const {
    constexpr int rows = power_of_two(M, most_rows), columns = power_of_two(N, most_columns);
    S *const left = in_aligned_scratch(scratch_), *const right = left + trajectories * apart(rows);
    GRADSOLVE_KEEP_LOOP
    for (int i = 0; i < M; i += rows) {
      put<rows>(a, i, left);
      GRADSOLVE_KEEP_LOOP
      for (int j = 0; j < N; j += columns) {
        put<columns>(b, j, right);
        Warp<Threads>::sync();
        add_rectangle<WithLeft, M, N, rows, columns>(k, i, j, left, right);
        Warp<Threads>::sync();
      }
    }
  }

  /// Rows by columns weights, of which each thread has a rectangle.
  template <bool WithLeft, int M, int N, int Rows, int Columns>
  KOKKOS_FORCEINLINE_FUNCTION void add_rectangle(int k, int first_row, int first_column,
                                                 const S* left, const S* right) const {
    constexpr int each = Rows * Columns > Threads ? Rows * Columns / Threads : 1;
    constexpr int wide = each < 4 ? (each < Columns ? each : Columns) : (4 < Columns ? 4 : Columns);
    constexpr int high = each / wide, across = Columns / wide;
    const int row = thread_ / across * high, column = thread_ % across * wide;
    if (row >= Rows) return;
    S* const sums = in_global_memory(sums_) + k;
    auto for_each_own = [&](auto&& visit) GRADSOLVE_INLINE_LAMBDA {
      static_for<high>([&](auto i) GRADSOLVE_INLINE_LAMBDA {
        const int m = first_row + row + i;
        static_for<wide>([&](auto j) GRADSOLVE_INLINE_LAMBDA {
          const int n = first_column + column + j;
          if (m < M && n < N) visit(Index<i * wide + j>{}, sums + m * N + n);
        });
        if constexpr (WithLeft)
          if (m < M && first_column + column == 0)
            visit(Index<high * wide + i>{}, sums + M * N + m);
      });
    };
    // Loaded early: global memory is far.
    constexpr int count = high * wide + (WithLeft ? high : 0);
    Vector<S, count> before = filled<count>(S(0)), sum = before;
    for_each_own([&](auto i, const S* from) GRADSOLVE_INLINE_LAMBDA { before[i] = *from; });
    GRADSOLVE_UNROLL_BY_4
    for (int t = 0; t < trajectories; ++t) {
      const S* const x = left + t * apart(Rows) + row;
      const S* const y = right + t * apart(Columns) + column;
      static_for<high>([&](auto i) GRADSOLVE_INLINE_LAMBDA {
        static_for<wide>([&](auto j) GRADSOLVE_INLINE_LAMBDA { sum[i * wide + j] += x[i] * y[j]; });
        if constexpr (WithLeft) sum[high * wide + i] += x[i];
      });
    }
    for_each_own([&](auto i, S* to) GRADSOLVE_INLINE_LAMBDA { *to = before[i] + sum[i]; });
  }

  S *sums_, *scratch_;
  int thread_;
  bool counts_ = true;
};

/// Whether a system adds derivatives in its weights to such sums.
template <class F, class T, class Sums>
concept HasVjpWithWeights = requires(const F f, const T t, const State<T, F::num_states> u,
                                     const Params<T, F::num_params> p, const Sums weights_bar) {
  {
    f.vjp(t, u, p, u, weights_bar)
  } -> std::convertible_to<Cotangents<T, F::num_states, F::num_params>>;
};

/// A system with weights as the reverse sweep sees it: its vjp adds to the sums of its thread.
template <class F, class L, int Threads>
struct SummingSystem : F {
  static constexpr int threads = Threads;
  using Sums = SliceSums<L, Threads, group_threads_v<F>>;
  using S = ScalarOf<L>;
  static_assert(HasVjpWithWeights<F, L, Sums>,
                "a system with weights has a member template vjp(t, u, p, w, weights_bar) -> "
                "Cotangents<T, N, P>");

  S* sums;     // (slots, weights, Sums::numbers_a_weight); then: of this thread
  S* scratch;  // of this slice
  int thread;

  KOKKOS_FORCEINLINE_FUNCTION void bind(int slot, void* slice_scratch, int thread_of_slice) {
    sums += std::int64_t(slot) * F::num_weights * Sums::numbers_a_weight;
    scratch = static_cast<S*>(slice_scratch);
    thread = thread_of_slice;
  }

  /// A trajectory without a cotangent (it has failed, or has no step here) adds nothing and gets
  /// nothing, not even NaN.
  KOKKOS_FORCEINLINE_FUNCTION Cotangents<L, F::num_states, F::num_params> vjp(
      const L& t, const State<L, F::num_states>& u, const Params<L, F::num_params>& p,
      const State<L, F::num_states>& w) const {
    constexpr int N = F::num_states, P = F::num_params;
    MaskOf<L> counts(false);
    for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA { counts = counts || w[i] != L(0); });
    const Sums weights_bar = Sums(sums, scratch, thread).where(counts);
    Cotangents<L, N, P> c = F::vjp(t, u, p, w, weights_bar);
    for_each_index<N>([&](int i)
                          GRADSOLVE_INLINE_LAMBDA { c.u[i] = select(counts, c.u[i], L(0)); });
    if constexpr (P > 0)
      for_each_index<P>([&](int i)
                            GRADSOLVE_INLINE_LAMBDA { c.p[i] = select(counts, c.p[i], L(0)); });
    return c;
  }
};

/// Whether F is one.
template <class F>
inline constexpr bool sums_weights_v = false;
template <class F, class L, int Threads>
inline constexpr bool sums_weights_v<SummingSystem<F, L, Threads>> = true;

/// Adds to the sums of slots 0, 1, ... `num_groups` - 1 those of the slots num_groups,
/// 2 num_groups, ... further on.
template <class S>
struct SumSlots {
  static constexpr int num_groups = 32;
  S* sums;
  int num_slots, size;  // numbers a slot

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int slot = static_cast<int>(i / size);
    S* const sum = sums + i;
    S total = *sum;
    GRADSOLVE_UNROLL_BY_4
    for (int k = num_groups; slot + k < num_slots; k += num_groups)
      total += sum[std::int64_t(k) * size];
    *sum = total;
  }
};

/// weights(k) = the sum over the groups and the `Width` lanes.
template <class S, int Width>
struct SumGroups {
  const S* sums;
  S* weights;
  int num_groups, num_weights;

  KOKKOS_FUNCTION void operator()(int k) const {
    S total(0);
    GRADSOLVE_UNROLL_BY_4
    for (int group = 0; group < num_groups; ++group)
      static_for<Width>([&](auto lane) GRADSOLVE_INLINE_LAMBDA {
        total += sums[(std::int64_t(group) * num_weights + k) * Width + lane];
      });
    weights[k] = total;
  }
};

/// weights(k) = sum over slots and lanes of sums(slot, k, lane), which are used up.
template <int Width, class Exec, class S>
void sum_weights(const Exec& exec, S* sums, int num_slots, int num_weights, S* weights) {
  const int groups = Kokkos::min(num_slots, SumSlots<S>::num_groups);
  if (num_slots > groups)
    Kokkos::parallel_for("gradsolve::gradient::slots",
                         Kokkos::RangePolicy<Exec>(exec, 0, groups * num_weights * Width),
                         SumSlots<S>{sums, num_slots, num_weights * Width});
  Kokkos::parallel_for("gradsolve::gradient::weights",
                       Kokkos::RangePolicy<Exec>(exec, 0, num_weights),
                       SumGroups<S, Width>{sums, weights, groups, num_weights});
}

/// Rows whose first number is not finite.
template <class S>
struct CountNotFinite {
  StridedMatrix<const S> values;
  KOKKOS_FUNCTION void operator()(int i, int& count) const {
    const S x = values(i, 0);
    if (x - x != S(0)) ++count;
  }
};

}  // namespace gradsolve::detail
