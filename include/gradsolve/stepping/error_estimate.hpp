// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ad/spread.hpp>
#include <gradsolve/stepping/tolerances.hpp>
#include <gradsolve/stepping/weights.hpp>

/// The size of a step's error beside the tolerances.
namespace gradsolve::detail {

/// A step with its error estimate.
template <class F, class L>
struct Attempt {
  StateOf<F, L> u;       // at t_end
  StateOf<F, L> k_last;  // f at t_end, where the method is first-same-as-last
  /// (error / tolerance)^2: the mean over the components of (e_i / (atol + rtol |u_i|))^2, with the
  /// larger of |u_i| at the two ends. The step is acceptable where it is at most 1.
  L ratio2;
  IntOf<L> num_evaluations;  // of f, where Newton's method decides
};

/// sum_i (e_i / scale_i)^2 where inverse_scale = 1 / scale.
template <class F, class L>
KOKKOS_FORCEINLINE_FUNCTION L square_sum(const F& f, const StateOf<F, L>& e,
                                         const StateOf<F, L>& inverse_scale) {
  L sum(0);
  for_each_index<F::num_states>([&](int i) GRADSOLVE_INLINE_LAMBDA {
    const L r = e[i] * inverse_scale[i];
    sum = sum + r * r;
  });
  return sum_of_threads(f, sum);
}

/// Hairer's combination of a fifth- and a third-order estimate (DOP853):
/// ratio = e5^2 / sqrt(e5^2 + 0.01 e3^2) in the norm above.
template <class M>
concept HasTwoEstimates = requires { M::e3; };

/// Attempt::ratio2 of a step of size h from u to u_new with the stages k.
template <class M, class F, class L>
KOKKOS_FORCEINLINE_FUNCTION L error_ratio2(const F& f, const StateOf<F, L> (&k)[M::num_stages],
                                           const L& h, const StateOf<F, L>& u,
                                           const StateOf<F, L>& u_new,
                                           const Tolerances<ScalarOf<L>>& tol) {
  StateOf<F, L> inverse_scale;
  for_each_index<F::num_states>([&](int i) GRADSOLVE_INLINE_LAMBDA {
    inverse_scale[i] = reciprocal(tol.scale(f, i, larger_size(u[i], u_new[i])));
    if (!tol.holds_for(f, i)) inverse_scale[i] = L(0);
  });
  const L factor = increment_factor<M>(h);
  const ScalarOf<L> inverse_count = tol.template inverse_count<F>();
  StateOf<F, L> sum;
  combine<ErrorRow<M>>(k, sum);
  const L ratio2 = factor * factor * (square_sum(f, sum, inverse_scale) * inverse_count);
  if constexpr (HasTwoEstimates<M>) {
    combine<ThirdOrderErrorRow<M>>(k, sum);
    const L third = factor * factor * (square_sum(f, sum, inverse_scale) * inverse_count);
    const L both = ratio2 + coefficient<L, 0.01>() * third;
    return ratio2 * (ratio2 / select(both == L(0), L(1), both));
  }
  return ratio2;
}

}  // namespace gradsolve::detail
