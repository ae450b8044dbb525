// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ad/replicated.hpp>
#include <gradsolve/blocks/activations.hpp>

namespace gradsolve {

namespace detail {

/// Components that are computed together: each number loaded feeds as many multiplications.
inline constexpr int block_rows = 8;

/// Calls f(first, count) for [0, N) in tiles of block_rows, in a loop, and for what is left; count
/// is an Index.
template <int N, class F>
KOKKOS_FORCEINLINE_FUNCTION void for_each_tile(F&& f) {
  constexpr int whole = N / block_rows * block_rows;
  GRADSOLVE_KEEP_LOOP
  for (int first = 0; first < whole; first += block_rows) f(first, Index<block_rows>{});
  if constexpr (whole < N) f(whole, Index<N - whole>{});
}

template <class T, int N>
inline constexpr bool unit_in_registers_v = false;
template <class T, class Group, int N>
inline constexpr bool unit_in_registers_v<Replicated<T, Group>, N> = in_registers_v<Group, N>;

/// Calls f(i) for i in [0, N), in tiles; unrolled where a group's thread has them in registers.
template <class T, int N, class F>
KOKKOS_FORCEINLINE_FUNCTION void for_each_unit(F&& f) {
  if constexpr (unit_in_registers_v<T, N>)
    static_for<N>(f);
  else
    for_each_tile<N>([&](int first, auto count) GRADSOLVE_INLINE_LAMBDA {
      static_for<count>([&](auto r) GRADSOLVE_INLINE_LAMBDA { f(first + r); });
    });
}

/// Terms of a sum that are taken at once: a GPU has the loads of all of them under way.
#if defined(__CUDA_ARCH__)
inline constexpr int block_terms = 4;
#else
inline constexpr int block_terms = 1;
#endif

/// A weight, in the precision of T.
template <class T, class W>
KOKKOS_FORCEINLINE_FUNCTION BaseScalar<T> weight(const W* from) {
  return static_cast<BaseScalar<T>>(load_uniform(from));
}

/// sum_r += sum_k w_rk x_k over `Terms` terms, with w_rk at from[r Apart + k Next]. All weights are
/// loaded before the first is used, from one address and offsets that instructions have room for.
template <int Terms, int Apart, int Next, class W, class T, int Count>
KOKKOS_FORCEINLINE_FUNCTION void add_terms(const W* from, const T* x,
                                           Vector<PlainT<T>, Count>& sum) {
  BaseScalar<T> w[Terms][Count];
  static_for<Terms>([&](auto k) GRADSOLVE_INLINE_LAMBDA {
    static_for<Count>([&](auto r) GRADSOLVE_INLINE_LAMBDA {
      w[k][r] = weight<T>(from + (r * Apart + k * Next));
    });
  });
  static_for<Terms>([&](auto k) GRADSOLVE_INLINE_LAMBDA {
    const PlainT<T> xk = plain(x[k]);
    static_for<Count>([&](auto r) GRADSOLVE_INLINE_LAMBDA { sum[r] = sum[r] + w[k][r] * xk; });
  });
}
/// The same over all components of x; unrolled, they are in registers.
template <bool Unrolled, int Apart, int Next, class W, class T, int N, int Count>
KOKKOS_FORCEINLINE_FUNCTION void add_all_terms(const W* from, const Vector<T, N>& x,
                                               Vector<PlainT<T>, Count>& sum) {
  constexpr int each = Count <= block_rows ? block_terms : 1, tiles = N / each,
                whole = tiles * each;
  auto add = [&](int k) GRADSOLVE_INLINE_LAMBDA {
    add_terms<each, Apart, Next>(from + k * Next, &x[k], sum);
  };
  if constexpr (Unrolled) {
    static_for<tiles>([&](auto tile) GRADSOLVE_INLINE_LAMBDA { add(tile * each); });
  } else {
    GRADSOLVE_KEEP_LOOP
    for (int k = 0; k < whole; k += each) add(k);
  }
  if constexpr (whole < N) add_terms<N - whole, Apart, Next>(from + whole * Next, &x[whole], sum);
}

/// y_r = finish(start(r) + sum_k w_rk x_k) for the rows r of y, with w_rk at weights[r Apart + k
/// Next].
template <int Apart, int Next, class W, class T, int Terms, int Rows, class Start, class Finish>
  requires(!is_replicated<T>)
KOKKOS_FORCEINLINE_FUNCTION void multiply(const W* weights, const Vector<T, Terms>& x,
                                          const Start& start, const Finish& finish,
                                          Vector<T, Rows>& y) {
  for_each_tile<Rows>([&](int first, auto count) GRADSOLVE_INLINE_LAMBDA {
    Vector<T, count> z;
    static_for<count>([&](auto r) GRADSOLVE_INLINE_LAMBDA { z[r] = start(first + r); });
    add_all_terms<false, Apart, Next>(weights + first * Apart, x, z);
    static_for<count>([&](auto r) GRADSOLVE_INLINE_LAMBDA { y[first + r] = finish(z[r]); });
  });
}

/// How the threads of a group share a multiplication. The weights that they load at once should be
/// neighbours, or they come from as many lines of the cache: where the terms of a row are, or where
/// there are few rows, each thread takes some of the terms, else some of the rows.
template <class Group, int Rows, int Terms, bool TermsAreNeighbours>
struct GroupShares {
  static constexpr int share(int n) { return (n + Group::size - 1) / Group::size; }
  static constexpr bool few_rows = Rows <= Group::size;
  static constexpr bool of_terms = few_rows || (TermsAreNeighbours && Terms >= 2 * Group::size);
  static constexpr int terms = of_terms ? share(Terms) : Terms;
  // Of a thread, and of all threads at once.
  static constexpr int rows = share(Rows) < 4 ? share(Rows) : 4;
  static constexpr int tile = rows * Group::size < Rows ? rows * Group::size : Rows;
  static constexpr bool unrolled = (of_terms ? tile : rows) * terms <= 128;
};

template <int Apart, int Next, class W, class U, class Group, int Terms, int Rows, class Start,
          class Finish>
KOKKOS_FORCEINLINE_FUNCTION void multiply(const W* weights,
                                          const Vector<Replicated<U, Group>, Terms>& x,
                                          const Start& start, const Finish& finish,
                                          Vector<Replicated<U, Group>, Rows>& y) {
  using Shares = GroupShares<Group, Rows, Terms, Next == 1>;
  constexpr int rows = Shares::rows, tile = Shares::tile;
  const int rank = Group::rank();
  /// The part of the sums of rows first, first + 1, ... that this thread's terms make.
  auto part_of_sums = [&](int first, auto& sums) GRADSOLVE_INLINE_LAMBDA {
    static_for<tile>([&](auto r) GRADSOLVE_INLINE_LAMBDA { sums[r] = U(0); });
    add_all_terms<Shares::unrolled, Apart, Next>(
        weights + first * Apart + begin_of_part<Terms, Shares::terms>(rank) * Next,
        own_part<Group, Shares::terms>(x), sums);
  };
  auto multiply_tile = [&](int first) GRADSOLVE_INLINE_LAMBDA {
    Vector<U, rows> z;
    Vector<U, Group::size * rows> all;
    if constexpr (Shares::of_terms) {
      Vector<U, tile> sums;
      part_of_sums(first, sums);
      static_for<Group::size * rows>(
          [&](auto i) GRADSOLVE_INLINE_LAMBDA { all[i] = sums[i < tile ? int(i) : 0]; });
      copy(sum_of_own<Group, rows>(all), z);
      static_for<rows>([&](auto i) GRADSOLVE_INLINE_LAMBDA {
        z[i] = finish(start(first + Kokkos::min(rank * rows + i, tile - 1)) + z[i]);
      });
    } else {
      const int own = first + begin_of_part<tile, rows>(rank);
      static_for<rows>([&](auto i) GRADSOLVE_INLINE_LAMBDA { z[i] = start(own + i); });
      add_all_terms<Shares::unrolled, Apart, Next>(weights + own * Apart, x, z);
      static_for<rows>([&](auto i) GRADSOLVE_INLINE_LAMBDA { z[i] = finish(z[i]); });
    }
    gather<Group>(z, all);
    static_for<Group::size * rows>([&](auto i) GRADSOLVE_INLINE_LAMBDA {
      constexpr int of = i / rows;
      constexpr int row = (Shares::of_terms ? of * rows : begin_of_part<tile, rows>(of)) + i % rows;
      if constexpr (row < tile) y[first + row].value = all[i];
    });
  };
  if constexpr (Shares::few_rows) {
    Vector<U, Rows> sums;
    part_of_sums(0, sums);
    copy(sum_of_all<Group>(sums), sums);
    static_for<Rows>([&](auto r)
                         GRADSOLVE_INLINE_LAMBDA { y[r].value = finish(start(r) + sums[r]); });
  } else if constexpr (tile == Rows) {
    multiply_tile(0);
  } else {
    GRADSOLVE_KEEP_LOOP
    for (int first = 0; first < Rows; first += tile)
      multiply_tile(Kokkos::min(first, Rows - tile));  // rows may be computed twice
  }
}

}  // namespace detail

/// A dense layer, a block of right-hand sides (blocks/chain.hpp):
///
///     y = s(z),  z = W x + b,     W (Out, In) row by row, then b (Out), in `weights`
///
/// and its adjoint, with zbar = s'(z) ybar,
///
///     xbar = W^T zbar,   Wbar += zbar x^T,   bbar += zbar
template <int In, int Out, class Activation = Identity>
struct Dense {
  static constexpr int num_in = In, num_out = Out, num_weights = Out * (In + 1);
  static constexpr bool adjoint_reads_y =
      !Activation::needs_input && !std::is_same_v<Activation, Identity>;

  template <class W, class T>
  static KOKKOS_FORCEINLINE_FUNCTION void forward(const W* weights, const Vector<T, In>& x,
                                                  Vector<T, Out>& y) {
    affine(weights, x, y,
           [](const auto& z) GRADSOLVE_INLINE_LAMBDA { return Activation::value(z); });
  }

  template <class W, class T, class Sums>
  static KOKKOS_FORCEINLINE_FUNCTION void adjoint(const W* weights, const Vector<T, In>& x,
                                                  const Vector<T, Out>& y, Vector<T, Out>& ybar,
                                                  Vector<T, In>& xbar, const Sums& weights_bar) {
    using U = detail::PlainT<T>;
    Vector<T, Out> slope;
    if constexpr (Activation::needs_input)
      affine(weights, x, slope, [](const auto& z) GRADSOLVE_INLINE_LAMBDA {
        return Activation::slope(z, Activation::value(z));
      });
    if constexpr (!std::is_same_v<Activation, Identity>)
      detail::for_each_unit<T, Out>([&](int i) GRADSOLVE_INLINE_LAMBDA {
        if constexpr (!Activation::needs_input)
          slope[i] = T(Activation::slope(U(0), detail::plain(y[i])));
        ybar[i] = ybar[i] * slope[i];
      });
    detail::multiply<1, In>(
        weights, ybar, [](int) GRADSOLVE_INLINE_LAMBDA { return U(0); },
        [](const U& sum) GRADSOLVE_INLINE_LAMBDA { return sum; }, xbar);
    weights_bar.add_affine(0, ybar, x);
  }

 private:
  /// y = f(W x + b)
  template <class W, class T, class F>
  static KOKKOS_FORCEINLINE_FUNCTION void affine(const W* weights, const Vector<T, In>& x,
                                                 Vector<T, Out>& y, const F& f) {
    const W* const b = weights + Out * In;
    detail::multiply<In, 1>(
        weights, x,
        [&](int r) GRADSOLVE_INLINE_LAMBDA { return detail::PlainT<T>(detail::weight<T>(b + r)); },
        f, y);
  }
};

}  // namespace gradsolve
