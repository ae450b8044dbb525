// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ad/vector.hpp>

/// Right-hand sides composed of differentiable blocks with weights that the whole ensemble shares.
/// A block maps x to y and is a struct of static members:
///
///     struct Scale {                                            // y_i = w_i x_i
///       static constexpr int num_in = 2, num_out = 2, num_weights = 2;
///       template <class W, class T>
///       static KOKKOS_FUNCTION void forward(const W* weights, const gradsolve::Vector<T, 2>& x,
///                                           gradsolve::Vector<T, 2>& y) {
///         for (int i = 0; i < 2; ++i) y[i] = weights[i] * x[i];
///       }
///       template <class W, class T, class Sums>
///       static KOKKOS_FUNCTION void adjoint(const W* weights, const gradsolve::Vector<T, 2>& x,
///                                           const gradsolve::Vector<T, 2>& y,
///                                           gradsolve::Vector<T, 2>& ybar,
///                                           gradsolve::Vector<T, 2>& xbar,
///                                           const Sums& weights_bar) {
///         for (int i = 0; i < 2; ++i) {
///           xbar[i] = weights[i] * ybar[i];
///           weights_bar.add(i, ybar[i] * x[i]);
///         }
///       }
///     };
///
/// forward  y = f(x; weights). T is any number type of the library: double, float, a
///          Pack, a part of a group's vector (Replicated), a dual of one of them.
/// adjoint  gets x, y = f(x) and the cotangent ybar, which it may overwrite; sets
///          xbar = (df/dx)^T ybar  and adds  (df/dw)^T ybar  to weights_bar:
///            .add(k, v)           a number, weight k; or a Vector<T, M>, weights k to k + M - 1
///            .add_outer(k, a, b)  a b^T of a Vector<T, M> and a Vector<T, N>, row by row from k on
///            .add_affine(k, a, b) a b^T, then a behind it: of W x + b, with a = ybar and b = x
///          In a warp these sum over its trajectories: all threads call them, in the same order (no
///          `if` on values around them).
///
/// Optional: `static constexpr bool adjoint_reads_y = false;` spares computing the y of the last
/// block of a chain.
namespace gradsolve {

namespace detail {
template <class Block>
inline constexpr bool adjoint_reads_y = [] {
  if constexpr (requires { Block::adjoint_reads_y; }) return bool(Block::adjoint_reads_y);
  return true;
}();
}  // namespace detail

/// Blocks one after the other, and a block itself; their weights lie one after the other:
///
///     using Net = Chain<Dense<2, 16, Tanh>, Dense<16, 16, Tanh>, Dense<16, 2>>;
///
/// The adjoint goes forward first and keeps what each block puts out. Compiled once and called, not
/// inlined at every stage of a step.
template <class First, class... Rest>
struct Chain {
 private:
  static constexpr bool is_last = sizeof...(Rest) == 0;

 public:
  static constexpr int num_in = First::num_in;
  static constexpr int num_out = [] {
    int out = First::num_out;
    ((out = Rest::num_out), ...);
    return out;
  }();
  static constexpr int num_weights = (First::num_weights + ... + Rest::num_weights);

  /// y = f(x; weights)
  template <class W, class T>
  GRADSOLVE_NOINLINE static KOKKOS_FUNCTION void forward(const W* weights,
                                                         const Vector<T, num_in>& x,
                                                         Vector<T, num_out>& y) {
    forward_from(weights, x, y);
  }

  /// xbar = (df/dx)^T ybar, weights_bar += (df/dw)^T ybar. ybar is lost.
  template <class W, class T, class Sums>
  GRADSOLVE_NOINLINE static KOKKOS_FUNCTION void adjoint(const W* weights,
                                                         const Vector<T, num_in>& x,
                                                         Vector<T, num_out>& ybar,
                                                         Vector<T, num_in>& xbar,
                                                         const Sums& weights_bar) {
    adjoint_from(weights, x, ybar, xbar, weights_bar);
  }
  /// The same as a block of another chain, which keeps y.
  template <class W, class T, class Sums>
  static KOKKOS_FORCEINLINE_FUNCTION void adjoint(const W* weights, const Vector<T, num_in>& x,
                                                  const Vector<T, num_out>&,
                                                  Vector<T, num_out>& ybar, Vector<T, num_in>& xbar,
                                                  const Sums& weights_bar) {
    adjoint(weights, x, ybar, xbar, weights_bar);
  }

 private:
  template <class, class...>
  friend struct Chain;

  template <class W, class T>
  static KOKKOS_FORCEINLINE_FUNCTION void forward_from(const W* weights, const Vector<T, num_in>& x,
                                                       Vector<T, num_out>& y) {
    if constexpr (is_last) {
      First::forward(weights, x, y);
    } else {
      Vector<T, First::num_out> z;
      First::forward(weights, x, z);
      Chain<Rest...>::forward_from(weights + First::num_weights, z, y);
    }
  }

  template <class W, class T, class Sums>
  static KOKKOS_FORCEINLINE_FUNCTION void adjoint_from(const W* weights, const Vector<T, num_in>& x,
                                                       Vector<T, num_out>& ybar,
                                                       Vector<T, num_in>& xbar,
                                                       const Sums& weights_bar) {
    Vector<T, First::num_out> z;
    if constexpr (!is_last || detail::adjoint_reads_y<First>) First::forward(weights, x, z);
    if constexpr (is_last) {
      First::adjoint(weights, x, z, ybar, xbar, weights_bar);
    } else {
      Vector<T, First::num_out> zbar;
      Chain<Rest...>::adjoint_from(weights + First::num_weights, z, ybar, zbar,
                                   weights_bar.from(First::num_weights));
      First::adjoint(weights, x, z, zbar, xbar, weights_bar);
    }
  }
};

}  // namespace gradsolve
