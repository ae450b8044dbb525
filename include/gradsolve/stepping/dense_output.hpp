// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/stepping/step.hpp>

/// The continuous extension of a step,
///
///     u(t + theta h) = u + h sum_i b_i(theta) k_i
///
/// over the method's dense stages (without the h for the increments k_i of an implicit method),
/// and its adjoint. b_i is a polynomial, dense_coefficient(). At theta = 1 it is u_new.
namespace gradsolve::detail {

template <class M, int I>
inline constexpr bool in_dense_output_v = [] {
  for (int m = 0; m < M::dense_degree; ++m)
    if (dense_coefficient<M>(I, m) != 0) return true;
  return false;
}();
template <class M, int I, int Power>
inline constexpr double dense_v = dense_coefficient<M>(I, Power);

/// b_i(theta), by Horner's rule.
template <class M, int I, class L>
KOKKOS_FORCEINLINE_FUNCTION L dense_weight(const L& theta) {
  constexpr int degree = M::dense_degree;
  L sum(coefficient<L, (dense_v<M, I, degree - 1>)>());
  static_for<degree - 1>([&](auto m) GRADSOLVE_INLINE_LAMBDA {
    sum = sum * theta + L(coefficient<L, (dense_v<M, I, degree - 2 - m>)>());
  });
  return sum * theta;
}
/// d b_i / d theta
template <class M, int I, class L>
KOKKOS_FORCEINLINE_FUNCTION L dense_slope(const L& theta) {
  constexpr int degree = M::dense_degree;
  L sum(coefficient<L, (degree * dense_v<M, I, degree - 1>)>());
  static_for<degree - 1>([&](auto m) GRADSOLVE_INLINE_LAMBDA {
    constexpr int power = degree - 2 - m;
    sum = sum * theta + L(coefficient<L, ((power + 1) * dense_v<M, I, power>)>());
  });
  return sum;
}

/// Calls visit(i) for the stages that the continuous extension adds up.
template <class M, class Visit>
KOKKOS_FORCEINLINE_FUNCTION void for_each_dense_stage(Visit&& visit) {
  static_for<M::num_dense_stages>([&](auto i) GRADSOLVE_INLINE_LAMBDA {
    if constexpr (in_dense_output_v<M, i>) visit(i);
  });
}

/// sum_i b_i(theta) k_i
template <class M, class F, class L, class T>
KOKKOS_FORCEINLINE_FUNCTION StateOf<F, T> dense_sum(const StageValues<DenseStages<M>, F, T>& s,
                                                    const L& theta) {
  StateOf<F, T> sum = filled<F::num_states>(T(0));
  for_each_dense_stage<M>(
      [&](auto i) GRADSOLVE_INLINE_LAMBDA { axpy(dense_weight<M, i>(theta), s.k[i], sum); });
  return sum;
}

/// u(t + theta h)
template <class M, class F, class L, class T>
KOKKOS_FORCEINLINE_FUNCTION StateOf<F, T> interpolated(const StateOf<F, T>& u, const L& h,
                                                       const StageValues<DenseStages<M>, F, T>& s,
                                                       const L& theta) {
  return advanced(u, increment_factor<M>(h), dense_sum<M, F>(s, theta));
}

/// du/dt at t + theta h.
template <class M, class F, class L, class T>
KOKKOS_FORCEINLINE_FUNCTION StateOf<F, T> interpolated_slope(
    const L& h, const StageValues<DenseStages<M>, F, T>& s, const L& theta) {
  StateOf<F, T> sum = filled<F::num_states>(T(0));
  for_each_dense_stage<M>(
      [&](auto i) GRADSOLVE_INLINE_LAMBDA { axpy(dense_slope<M, i>(theta), s.k[i], sum); });
  if constexpr (ImplicitMethod<M>) scale(L(1) / h, sum, sum);
  return sum;
}

/// The derivative of w . u(t + theta h) to h, where theta and the stages stay.
template <class M, class F, class L, class T>
KOKKOS_FORCEINLINE_FUNCTION T dense_size_slope(const F& f, const StateOf<F, T>& w,
                                               const StageValues<DenseStages<M>, F, T>& s,
                                               const L& theta) {
  if constexpr (ImplicitMethod<M>)
    return T(0);
  else
    return dot(f, w, dense_sum<M, F>(s, theta));
}

/// Cotangents that the states interpolated within one step leave behind.
template <class M, class F, class T>
struct DenseAdjoint {
  StateOf<F, T> k[M::num_dense_stages];  // of k_i / increment_factor
  StateOf<F, T> u;                       // of u at the begin of the step

  KOKKOS_FORCEINLINE_FUNCTION DenseAdjoint() {
    u = filled<F::num_states>(T(0));
    static_for<M::num_dense_stages>([&](auto i) GRADSOLVE_INLINE_LAMBDA { copy(u, k[i]); });
  }

  /// Adds the cotangent w of the state at theta.
  template <class L>
  KOKKOS_FORCEINLINE_FUNCTION void add(const StateOf<F, T>& w, const L& theta) {
    axpy(BaseScalar<T>(1), w, u);
    for_each_dense_stage<M>(
        [&](auto i) GRADSOLVE_INLINE_LAMBDA { axpy(dense_weight<M, i>(theta), w, k[i]); });
  }

  /// For stages_adjoint().
  template <int I, class Add>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Index<I>, Add&& add_to) const {
    if constexpr (in_dense_output_v<M, I>) add_to(BaseScalar<T>(1), k[I]);
  }
};

}  // namespace gradsolve::detail
