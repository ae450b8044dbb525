// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ad/lane_dual.hpp>
#include <gradsolve/blocks/activations.hpp>
#include <gradsolve/lanes/warp.hpp>

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
KOKKOS_FORCEINLINE_FUNCTION void add_terms(const W* from, const T* x, Vector<T, Count>& sum) {
  BaseScalar<T> w[Terms][Count];
  static_for<Terms>([&](auto k) GRADSOLVE_INLINE_LAMBDA {
    static_for<Count>([&](auto r) GRADSOLVE_INLINE_LAMBDA {
      w[k][r] = weight<T>(from + (r * Apart + k * Next));
    });
  });
  static_for<Terms>([&](auto k) GRADSOLVE_INLINE_LAMBDA {
    const T xk = x[k];
    static_for<Count>([&](auto r) GRADSOLVE_INLINE_LAMBDA { sum[r] = sum[r] + w[k][r] * xk; });
  });
}
/// The same over all components of x.
template <int Apart, int Next, class W, class T, int N, int Count>
KOKKOS_FORCEINLINE_FUNCTION void add_all_terms(const W* from, const Vector<T, N>& x,
                                               Vector<T, Count>& sum) {
  constexpr int whole = N / block_terms * block_terms;
  GRADSOLVE_KEEP_LOOP
  for (int k = 0; k < whole; k += block_terms)
    add_terms<block_terms, Apart, Next>(from + k * Next, &x[k], sum);
  if constexpr (whole < N) add_terms<N - whole, Apart, Next>(from + whole * Next, &x[whole], sum);
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

  template <class W, class T>
  static KOKKOS_FORCEINLINE_FUNCTION void forward(const W* weights, const Vector<T, In>& x,
                                                  Vector<T, Out>& y) {
    detail::for_each_tile<Out>([&](int first, auto count) GRADSOLVE_INLINE_LAMBDA {
      Vector<T, count> z;
      affine(weights, x, first, z);
      static_for<count>([&](auto r)
                            GRADSOLVE_INLINE_LAMBDA { y[first + r] = Activation::value(z[r]); });
    });
  }

  template <class W, class T, class Sums>
  static KOKKOS_FORCEINLINE_FUNCTION void adjoint(const W* weights, const Vector<T, In>& x,
                                                  const Vector<T, Out>& y, Vector<T, Out>& ybar,
                                                  Vector<T, In>& xbar, const Sums& weights_bar) {
    if constexpr (!std::is_same_v<Activation, Identity>)
      detail::for_each_tile<Out>([&](int first, auto count) GRADSOLVE_INLINE_LAMBDA {
        Vector<T, count> z;
        if constexpr (Activation::needs_input)
          affine(weights, x, first, z);
        else
          z = detail::filled<count>(T(0));
        static_for<count>([&](auto r) GRADSOLVE_INLINE_LAMBDA {
          ybar[first + r] = ybar[first + r] * Activation::slope(z[r], y[first + r]);
        });
      });
    detail::for_each_tile<In>([&](int first, auto count) GRADSOLVE_INLINE_LAMBDA {
      Vector<T, count> sum = detail::filled<count>(T(0));
      detail::add_all_terms<1, In>(weights + first, ybar, sum);
      static_for<count>([&](auto c) GRADSOLVE_INLINE_LAMBDA { xbar[first + c] = sum[c]; });
    });
    weights_bar.add_outer(0, ybar, x);
    weights_bar.add(Out * In, ybar);
  }

 private:
  /// Rows first, first + 1, ... of W x + b.
  template <class W, class T, int Count>
  static KOKKOS_FORCEINLINE_FUNCTION void affine(const W* weights, const Vector<T, In>& x,
                                                 int first, Vector<T, Count>& z) {
    static_for<Count>([&](auto r) GRADSOLVE_INLINE_LAMBDA {
      z[r] = T(detail::weight<T>(weights + Out * In + first + r));
    });
    detail::add_all_terms<In, 1>(weights + first * In, x, z);
  }
};

}  // namespace gradsolve
