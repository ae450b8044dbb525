// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ad/derivatives.hpp>
#include <gradsolve/stepping/tolerances.hpp>

#include <limits>

namespace gradsolve::detail {

/// The coefficient of e^k in (1 - e)^(-1/M).
template <int M, int K>
inline constexpr double root_coefficient_v = [] {
  double c = 1;
  for (int i = 0; i < K; ++i) c *= (1.0 / M + i) / (i + 1);
  return c;
}();

/// One step of order `Order` from y towards x^(-1/M) = y (1 - e)^(-1/M), e = 1 - x y^M.
template <int M, int Order, class L>
KOKKOS_FORCEINLINE_FUNCTION L root_step(const L& x, const L& y) {
  using S = ScalarOf<L>;
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
  const L e = L(1) - x * power;
  constexpr double last = root_coefficient_v<M, Order - 1>;
  L sum = L(S(last));
  static_for<Order - 2>([&](auto i) GRADSOLVE_INLINE_LAMBDA {
    constexpr double c = root_coefficient_v<M, Order - 2 - i>;
    sum = L(S(c)) + e * sum;
  });
  return y + y * (e * sum);
}

/// A guess at x^(-1/M) for normal x > 0, within (3 + 3 / M) percent. The bits of a number, read as
/// an integer, are its binary logarithm, but for scale, offset and an error in [0, 0.0861]; sigma
/// puts x y^M as far above 1 as below. SSE2 and AVX2 cannot convert 64-bit integers: `one` + i has
/// i in its mantissa, which converts there and back.
template <int M, class L>
KOKKOS_FORCEINLINE_FUNCTION L root_guess(const L& x) {
  using S = ScalarOf<L>;
  constexpr int mantissa = std::numeric_limits<S>::digits - 1;
  constexpr int shift = 8 * sizeof(S) - mantissa;  // makes bits an integer below 2^mantissa
  constexpr S one = SameSizeUnsigned<S>(1) << mantissa;
  constexpr double unit = double(one) / (SameSizeUnsigned<S>(1) << shift);  // log2 to integer
  constexpr double bias = std::numeric_limits<S>::max_exponent - 1;
  constexpr double sigma = 0.0430357 + 0.00064 * (M + 1);
  constexpr S offset = (1 + 1.0 / M) * (one + (bias - sigma) * unit);
  const L log_x = from_bits<L>((bits_of(x) >> shift) | bits_of(one));
  const L log_y = L(offset) - log_x * L(S(1.0 / M));
  return from_bits<L>(bits_of(log_y) << shift);
}

/// The least order of which two steps from root_guess reach rounding, for M to 18.
template <int M, class S>
inline constexpr int root_order = sizeof(S) == sizeof(double) ? 4 + M / 6 : 3 + (M > 8);

/// log2 by the instruction: good to some 16 bits behind the point.
KOKKOS_FORCEINLINE_FUNCTION float rough_log2(float x) {
#if defined(__CUDA_ARCH__)
  return __log2f(x);
#else
  return Kokkos::log2(x);
#endif
}

/// x^(-1/M) for x in [1e-20, 1e30], to rounding, in a tenth of the arithmetic of pow. A GPU has
/// instructions for float logarithms, so that one step is left to do. A CPU would call them lane by
/// lane: there, a guess that costs next to nothing and two steps of higher order are the same in
/// every SIMD width, so that widths agree.
template <int M, class L>
KOKKOS_FORCEINLINE_FUNCTION L inverse_root(const L& x) {
  KOKKOS_IF_ON_HOST((const L y = root_step<M, root_order<M, ScalarOf<L>>>(x, root_guess<M>(x));
                     return root_step<M, root_order<M, ScalarOf<L>>>(x, y);))
  KOKKOS_IF_ON_DEVICE((const float guess = rough_log2(static_cast<float>(x)) * (-1.0f / M);
                       return root_step<M, 3>(x, L(Kokkos::exp2(guess)));))
}

/// Which of the options are in use: found on the host, since each step asks, and comparing doubles
/// costs an FP64 unit as much as arithmetic.
struct StepRules {
  enum class Factor : std::int8_t {
    integral,        // safety e^(-1/q)
    other_integral,  // safety e^(-b/q)
    with_history,
  };

  bool fixed = false;  // steps of fixed size
  bool has_min_step = false, has_max_step = false;
  Factor factor;

  explicit StepRules(const Controller& c)
      : factor(c.proportional != 0 || c.derivative != 0 ? Factor::with_history
               : c.integral != 1                        ? Factor::other_integral
                                                        : Factor::integral) {}
  StepRules(const Options& options, bool fixed_steps) : StepRules(options.controller) {
    fixed = fixed_steps;
    has_min_step = options.min_step > 0;
    has_max_step = options.max_step > 0;
  }
};

/// Controller (options.hpp) for one lane. Works on squared error ratios, which need no root.
template <int Order, class L>
struct StepControl {
  using S = ScalarOf<L>;
  L previous = L(1), before_previous = L(1);  // squared ratios of the last accepted steps

  static KOKKOS_FORCEINLINE_FUNCTION L power(const L& ratio2, double exponent) {
    return pow(ratio2, L(S(-exponent / (2 * Order))));
  }

  /// The factor for the next step after one with this ratio.
  KOKKOS_FORCEINLINE_FUNCTION L factor(const Controller& c, const StepRules& rules, const L& ratio2,
                                       const MaskOf<L>& accepted, const MaskOf<L>& finite) {
    // The reference floors the ratio at 1e-10; above 1e30 every factor is clipped anyway.
    const L r = min(max(select(finite, ratio2, L(1)), L(S(1e-20))), L(S(1e30)));
    L f = L(S(c.safety)) * inverse_root<2 * Order>(r);
    if (rules.factor == StepRules::Factor::with_history) {
      const L with_history = L(S(c.safety)) * power(r, c.integral + c.proportional + c.derivative) *
                             power(previous, -(c.proportional + 2 * c.derivative)) *
                             power(before_previous, c.derivative);
      f = select(accepted, with_history, f);
      before_previous = select(accepted, previous, before_previous);
      previous = select(accepted, r, previous);
    } else if (rules.factor == StepRules::Factor::other_integral) {
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
                                                const StateOf<F, L>& f0,
                                                const Tolerances<ScalarOf<L>>& tol) {
  constexpr int N = F::num_states;
  using S = ScalarOf<L>;
  StateOf<F, L> scale, u1;
  for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA {
    scale[i] = tol.scale(f, i, abs(u[i]));
    scale[i] = select(scale[i] == L(0), L(1), scale[i]);
  });
  auto norm = [&](const StateOf<F, L>& x) {
    L sum(0);
    for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA {
      if (tol.holds_for(f, i)) sum = sum + square(L(x[i] / scale[i]));
    });
    return sqrt(L(sum_of_threads(f, sum) * L(tol.template inverse_count<F>())));
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
