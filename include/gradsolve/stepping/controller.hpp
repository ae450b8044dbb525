// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ad/derivatives.hpp>
#include <gradsolve/options.hpp>

namespace gradsolve::detail {

/// x^(-1/M) for x in [1e-20, 1e30], to rounding: a guess in float, then one step of third order on
/// y^-M = x. A tenth of the arithmetic of pow, which a GPU does in double precision.
template <int M, class L>
KOKKOS_FORCEINLINE_FUNCTION L inverse_root(const L& x) {
  L y;
  for (int lane = 0; lane < LaneTraits<L>::width; ++lane) {
    const float guess = Kokkos::log2(static_cast<float>(lane_of(x, lane))) * (-1.0f / M);
    set_lane(y, lane, Kokkos::exp2(guess));
  }
  L power = y;  // y^M by squaring, high bit first
  constexpr int bits = [] {
    int n = 0;
    while ((M >> n) > 1) ++n;
    return n;
  }();
  static_for<bits>([&](auto i) GRADSOLVE_INLINE_LAMBDA {
    power = power * power;
    if constexpr ((M >> (bits - 1 - i)) & 1) power = power * y;
  });
  using S = ScalarOf<L>;
  const L e = L(1) - x * power;
  return y + y * (e * (L(S(1.0 / M)) + e * L(S((M + 1.0) / (2.0 * M * M)))));
}

/// Controller (options.hpp) for one lane. Works on squared error ratios, which need no root.
template <int Order, class L>
struct StepControl {
  using S = ScalarOf<L>;
  L previous = L(1), before_previous = L(1);  // squared ratios of the last accepted steps

  static KOKKOS_FORCEINLINE_FUNCTION L power(const L& ratio2, double exponent) {
    return pow(ratio2, L(S(-exponent / (2 * Order))));
  }

  /// The factor for the next step after one with this ratio.
  KOKKOS_FORCEINLINE_FUNCTION L factor(const Controller& c, const L& ratio2,
                                       const MaskOf<L>& accepted, const MaskOf<L>& finite) {
    // The reference floors the ratio at 1e-10; above 1e30 every factor is clipped anyway.
    const L r = min(max(select(finite, ratio2, L(1)), L(S(1e-20))), L(S(1e30)));
    L f = L(S(c.safety)) * inverse_root<2 * Order>(r);
    if (c.proportional != 0 || c.derivative != 0) {
      const L with_history = L(S(c.safety)) * power(r, c.integral + c.proportional + c.derivative) *
                             power(previous, -(c.proportional + 2 * c.derivative)) *
                             power(before_previous, c.derivative);
      f = select(accepted, with_history, f);
      before_previous = select(accepted, previous, before_previous);
      previous = select(accepted, r, previous);
    } else if (c.integral != 1) {
      f = select(accepted, L(S(c.safety)) * power(r, c.integral), f);
    }
    f = min(max(f, L(S(c.min_factor))), L(S(c.max_factor)));
    return select(finite, f, L(S(c.min_factor)));
  }
};

/// Hairer's first step, without its sign (Hairer, Norsett, Wanner I, II.4). The probing Euler step
/// stays within the span.
template <int Order, class F, class L>
KOKKOS_FORCEINLINE_FUNCTION L hairer_first_step(const F& f, const L& t0, const L& t1,
                                                const StateOf<F, L>& u, const ParamsOf<F, L>& p,
                                                const StateOf<F, L>& f0, ScalarOf<L> rtol,
                                                ScalarOf<L> atol) {
  constexpr int N = F::num_states;
  using S = ScalarOf<L>;
  StateOf<F, L> scale, u1;
  for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA {
    scale[i] = L(atol) + L(rtol) * abs(u[i]);
    scale[i] = select(scale[i] == L(0), L(1), scale[i]);
  });
  auto norm = [&](const StateOf<F, L>& x) {
    L sum(0);
    for_each_index<N>([&](int i)
                          GRADSOLVE_INLINE_LAMBDA { sum = sum + square(L(x[i] / scale[i])); });
    return sqrt(L(sum * L(S(1.0 / N))));
  };
  const L span = abs(t1 - t0), direction = select(t1 < t0, L(-1), L(1));
  const L d0 = norm(u), d1 = norm(f0);
  const auto tiny = d0 < L(S(1e-5)) || d1 < L(S(1e-5));
  const L h0 = min(select(tiny, L(S(1e-6)), L(S(0.01)) * (d0 / select(tiny, L(1), d1))), span);
  for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA { u1[i] = u[i] + direction * h0 * f0[i]; });
  // t0 + span may round to beyond t1.
  const StateOf<F, L> f1 = evaluate(f, select(h0 == span, t1, L(t0 + direction * h0)), u1, p);
  for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA { u1[i] = f1[i] - f0[i]; });
  const L d = max(d1, L(norm(u1) / h0));
  const L h1 = select(d <= L(S(1e-15)), max(L(S(1e-6)), L(h0 * L(S(1e-3)))),
                      pow(L(L(S(0.01)) / select(d <= L(S(1e-15)), L(1), d)), L(S(1.0 / Order))));
  const L h = min(min(L(S(100)) * h0, h1), span);
  return select(h > L(0), h, L(S(0.01)) * span);
}

}  // namespace gradsolve::detail
