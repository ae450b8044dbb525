// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ad/derivatives.hpp>
#include <gradsolve/ad/lane_dual.hpp>
#include <gradsolve/stepping/tolerances.hpp>

/// One step of an explicit Runge-Kutta method M from t to t_end, h = t_end - t:
///
///     k_i   = f(t + c_i h, u + h sum_{j<i} a_ij k_j)
///     u_new = u + h sum_i b_i k_i,     error = h sum_i e_i k_i
///
/// its error estimate and its adjoint. A step knows nothing of meshes. T is the number type of the
/// state: a lane, or a dual over one for the tangent of the step.
namespace gradsolve::detail {

// Sets of stages.
template <class M>
struct SolutionStages {
  static constexpr int size = M::num_solution_stages;
  static constexpr bool has(int) { return true; }
};
/// Those of the continuous extension: with them everything that they are made of.
template <class M>
struct DenseStages {
  static constexpr int size = M::num_dense_stages;
  static constexpr bool has(int i) {
    if (i < M::num_solution_stages) return true;
    for (int m = 0; m < M::dense_degree; ++m)
      if (M::dense[i][m] != 0) return true;
    for (int j = i + 1; j < size; ++j)
      if (M::a[j][i] != 0 && has(j)) return true;
    return false;
  }
};

// Sequences of weights, each a type, so that zeros vanish at compile time: a stage with weight zero
// is never touched, whatever it holds.
template <class M, int I>
struct StageRow {  // a_Ij over j
  static constexpr int size = I;
  static constexpr double at(int j) { return M::a[I][j]; }
};
template <class M, int I, class Stages>
struct StageColumn {  // a_jI over the later stages j
  static constexpr int size = Stages::size;
  static constexpr double at(int j) { return j > I && Stages::has(j) ? M::a[j][I] : 0.0; }
};
template <class M>
struct SolutionRow {
  static constexpr int size = M::num_solution_stages;
  static constexpr double at(int j) { return M::b[j]; }
};
template <class M>
struct ErrorRow {
  static constexpr int size = M::num_stages;
  static constexpr double at(int j) { return M::e[j]; }
};
template <class M>
struct ThirdOrderErrorRow {
  static constexpr int size = M::num_stages;
  static constexpr double at(int j) { return M::e3[j]; }
};

// Variables, not functions: device code may read them.
template <class Weights, int J>
inline constexpr double weight_v = Weights::at(J);
template <class Stages, int I>
inline constexpr bool has_stage_v = Stages::has(I);
template <class Weights>
inline constexpr int first_nonzero_v = [] {
  int j = 0;
  while (j < Weights::size && Weights::at(j) == 0) ++j;
  return j;
}();

/// sum = sum_j weight_j x_j over the nonzero weights; false, and sum untouched, if there are none.
template <class Weights, class T, int N, int S>
KOKKOS_FORCEINLINE_FUNCTION constexpr bool combine(const Vector<T, N> (&x)[S], Vector<T, N>& sum) {
  static_for<Weights::size>([&](auto j) GRADSOLVE_INLINE_LAMBDA {
    constexpr double weight = weight_v<Weights, j>;
    if constexpr (weight != 0) {
      if constexpr (j == first_nonzero_v<Weights>)
        scale(coefficient<T>(weight), x[j], sum);
      else
        axpy(coefficient<T>(weight), x[j], sum);
    }
  });
  return first_nonzero_v<Weights> < Weights::size;
}

template <class M, int I, class L>
KOKKOS_FORCEINLINE_FUNCTION L stage_time(const L& t, const L& t_end, const L& h) {
  constexpr double c = M::c[I];
  if constexpr (c == 0) return t;
  if constexpr (c == 1) return t_end;
  return t + coefficient<L>(c) * h;
}

/// u + h sum_j a_Ij k_j
template <class M, int I, class L, class T, int N, int S>
KOKKOS_FORCEINLINE_FUNCTION Vector<T, N> stage_argument(const Vector<T, N>& u, const L& h,
                                                        const Vector<T, N> (&k)[S]) {
  if constexpr (first_nonzero_v<StageRow<M, I>> == I) {
    return u;
  } else {
    Vector<T, N> sum;
    combine<StageRow<M, I>>(k, sum);
    return advanced(u, h, sum);
  }
}

/// The state at t_end.
template <class M, class F, class L, class T>
KOKKOS_FORCEINLINE_FUNCTION StateOf<F, T> step(const F& f, const L& t, const L& t_end,
                                               const StateOf<F, T>& u, const ParamsOf<F, T>& p) {
  const L h = t_end - t;
  StateOf<F, T> k[M::num_solution_stages];
  static_for<M::num_solution_stages>([&](auto i) GRADSOLVE_INLINE_LAMBDA {
    copy(evaluate(f, T(stage_time<M, i>(t, t_end, h)), stage_argument<M, i>(u, h, k), p), k[i]);
  });
  StateOf<F, T> sum;
  combine<SolutionRow<M>>(k, sum);
  return advanced(u, h, sum);
}

/// A step with its error estimate.
template <class F, class L>
struct Attempt {
  StateOf<F, L> u;       // at t_end
  StateOf<F, L> k_last;  // f at t_end, where the method is first-same-as-last
  /// (error / tolerance)^2: the mean over the components of (e_i / (atol + rtol |u_i|))^2, with the
  /// larger of |u_i| at the two ends. The step is acceptable where it is at most 1.
  L ratio2;
};

/// sum_i (e_i / scale_i)^2 where inverse_scale = 1 / scale.
template <class F, class L>
KOKKOS_FORCEINLINE_FUNCTION L square_sum(const StateOf<F, L>& e,
                                         const StateOf<F, L>& inverse_scale) {
  L sum(0);
  for_each_index<F::num_states>([&](int i) GRADSOLVE_INLINE_LAMBDA {
    const L r = e[i] * inverse_scale[i];
    sum = sum + r * r;
  });
  return sum;
}

/// Hairer's combination of a fifth- and a third-order estimate (DOP853):
/// ratio = e5^2 / sqrt(e5^2 + 0.01 e3^2) in the norm above.
template <class M>
concept HasTwoEstimates = requires { M::e3; };

template <class M, class F, class L>
KOKKOS_FORCEINLINE_FUNCTION L error_ratio2(const StateOf<F, L> (&k)[M::num_stages], const L& h,
                                           const StateOf<F, L>& inverse_scale,
                                           ScalarOf<L> inverse_count) {
  StateOf<F, L> sum;
  combine<ErrorRow<M>>(k, sum);
  const L ratio2 = h * h * (square_sum<F, L>(sum, inverse_scale) * inverse_count);
  if constexpr (HasTwoEstimates<M>) {
    combine<ThirdOrderErrorRow<M>>(k, sum);
    const L third = h * h * (square_sum<F, L>(sum, inverse_scale) * inverse_count);
    const L both = ratio2 + coefficient<L>(0.01) * third;
    return ratio2 * (ratio2 / select(both == L(0), L(1), both));
  }
  return ratio2;
}

/// Tries the step. k0 = f(t, u) is taken over from the step before where the method is FSAL.
template <class M, class F, class L>
KOKKOS_FORCEINLINE_FUNCTION Attempt<F, L> attempt(const F& f, const L& t, const L& t_end,
                                                  const StateOf<F, L>& u, const ParamsOf<F, L>& p,
                                                  const StateOf<F, L>& k0,
                                                  const Tolerances<ScalarOf<L>>& tol) {
  const L h = t_end - t;
  StateOf<F, L> k[M::num_stages], sum;
  Attempt<F, L> result;
  copy(k0, k[0]);
  auto evaluate_stage = [&](auto i) GRADSOLVE_INLINE_LAMBDA {
    copy(evaluate(f, stage_time<M, i>(t, t_end, h), stage_argument<M, i>(u, h, k), p), k[i]);
  };
  static_for<M::num_solution_stages - 1>(
      [&](auto i) GRADSOLVE_INLINE_LAMBDA { evaluate_stage(Index<i + 1>{}); });
  combine<SolutionRow<M>>(k, sum);
  copy(advanced(u, h, sum), result.u);
  if constexpr (M::error_order > 0) {
    if constexpr (M::fsal) {
      copy(evaluate(f, t_end, result.u, p), result.k_last);
      copy(result.k_last, k[M::num_stages - 1]);
    } else {
      static_for<M::num_stages - M::num_solution_stages>([&](auto i) GRADSOLVE_INLINE_LAMBDA {
        evaluate_stage(Index<M::num_solution_stages + i>{});
      });
    }
    StateOf<F, L> inverse_scale;
    for_each_index<F::num_states>([&](int i) GRADSOLVE_INLINE_LAMBDA {
      inverse_scale[i] = reciprocal(L(tol.atol) + L(tol.rtol) * max(abs(u[i]), abs(result.u[i])));
      if (!tol.template holds_for<F>(i)) inverse_scale[i] = L(0);
    });
    result.ratio2 = error_ratio2<M, F, L>(k, h, inverse_scale, tol.template inverse_count<F>());
  } else {
    result.ratio2 = L(0);
  }
  return result;
}

/// Cotangents of the two ends of a step.
template <class T>
struct TimeAdjoints {
  T begin = T(0), end = T(0);
};

/// The stages of a step: arguments y_i and slopes k_i.
template <class Stages, class F, class T>
struct StageValues {
  StateOf<F, T> y[Stages::size], k[Stages::size];
};

template <bool AllSlopes, class M, class Stages, class F, class L, class T>
KOKKOS_FORCEINLINE_FUNCTION void evaluate_stages(const F& f, const L& t, const L& t_end,
                                                 const StateOf<F, T>& u, const ParamsOf<F, T>& p,
                                                 StageValues<Stages, F, T>& s) {
  const L h = t_end - t;
  static_for<Stages::size>([&](auto i) GRADSOLVE_INLINE_LAMBDA {
    if constexpr (has_stage_v<Stages, i>) {
      copy(stage_argument<M, i>(u, h, s.k), s.y[i]);
      if constexpr (AllSlopes || i + 1 < Stages::size)
        copy(evaluate(f, T(stage_time<M, i>(t, t_end, h)), s.y[i], p), s.k[i]);
    }
  });
}

/// The adjoint of a step with the given stages. lambda holds the cotangent w of u_new on entry and
/// that of u on return; the cotangents of p, and WithTime those of t and t_end, are added to. For i
/// descending, with g_i the cotangents of k_i / h from elsewhere (`direct`: states interpolated
/// within the step)
///
///     kbar_i = h (b_i w + g_i + sum_{j>i} a_ji mu_j),   mu_i = (df/du)^T kbar_i   at stage i
///     ubar = w + sum mu_i,   pbar += sum (df/dp)^T kbar_i,   tbar = sum (df/dt)^T kbar_i
///     hbar = sum b_i w.k_i + sum (c_i (df/dt)^T kbar_i + mu_i . sum_j a_ij k_j)
template <bool WithTime, class M, class Stages, class F, class L, class T, class Direct>
KOKKOS_FORCEINLINE_FUNCTION void stages_adjoint(const F& f, const L& t, const L& t_end,
                                                const StateOf<F, T>& u, const ParamsOf<F, T>& p,
                                                const StageValues<Stages, F, T>& s,
                                                const Direct& direct, StateOf<F, T>& lambda,
                                                ParamsOf<F, T>& pbar, TimeAdjoints<T>& tbar) {
  constexpr int N = F::num_states, S = Stages::size;
  const L h = t_end - t;
  StateOf<F, T> mu[S];
  T hbar(0), all_tbar(0);
  static_for<S>([&](auto down) GRADSOLVE_INLINE_LAMBDA {
    constexpr int i = S - 1 - down;
    if constexpr (has_stage_v<Stages, i>) {
      StateOf<F, T> kbar;
      bool nonzero = combine<StageColumn<M, i, Stages>>(mu, kbar);
      auto add = [&](auto weight, const StateOf<F, T>& x) GRADSOLVE_INLINE_LAMBDA {
        if (nonzero)
          axpy(weight, x, kbar);
        else
          scale(weight, x, kbar);
        nonzero = true;
      };
      if constexpr (i < M::num_solution_stages) {
        constexpr double b = M::b[i];
        if constexpr (b != 0) add(coefficient<T>(b), lambda);
      }
      direct(i, add);
      scale(h, kbar, kbar);
      T stage_tbar(0);
      if constexpr (!WithTime) {
        vjp<false, F, T>(f, T(stage_time<M, i>(t, t_end, h)), s.y[i], p, kbar,
                         {mu[i], pbar, stage_tbar});
      } else {  // with the slopes at hand anyway, arguments need no registers
        vjp<true, F, T>(f, T(stage_time<M, i>(t, t_end, h)), stage_argument<M, i>(u, h, s.k), p,
                        kbar, {mu[i], pbar, stage_tbar});
        all_tbar = all_tbar + stage_tbar;
        // f may have an infinite derivative in time at t0, as sqrt(t) at 0.
        if constexpr (M::c[i] != 0) hbar = hbar + coefficient<T>(M::c[i]) * stage_tbar;
        StateOf<F, T> slope;
        if (combine<StageRow<M, i>>(s.k, slope))
          for_each_index<N>([&](int n)
                                GRADSOLVE_INLINE_LAMBDA { hbar = hbar + mu[i][n] * slope[n]; });
      }
    }
  });
  if constexpr (WithTime) {
    StateOf<F, T> slope;
    combine<SolutionRow<M>>(s.k, slope);
    for_each_index<N>([&](int n) GRADSOLVE_INLINE_LAMBDA { hbar = hbar + lambda[n] * slope[n]; });
    tbar.begin = tbar.begin + all_tbar - hbar;
    tbar.end = tbar.end + hbar;
  }
  static_for<S>([&](auto i) GRADSOLVE_INLINE_LAMBDA {
    if constexpr (has_stage_v<Stages, i>) axpy(BaseScalar<T>(1), mu[i], lambda);
  });
}

/// The adjoint of a step from which nothing but u_new is observed.
template <bool WithTime, class M, class F, class L, class T>
KOKKOS_FORCEINLINE_FUNCTION void step_adjoint(const F& f, const L& t, const L& t_end,
                                              const StateOf<F, T>& u, const ParamsOf<F, T>& p,
                                              StateOf<F, T>& lambda, ParamsOf<F, T>& pbar,
                                              TimeAdjoints<T>& tbar) {
  using Stages = SolutionStages<M>;
  StageValues<Stages, F, T> s;
  evaluate_stages<WithTime, M>(f, t, t_end, u, p, s);
  auto nothing = [](int, auto&&) GRADSOLVE_INLINE_LAMBDA {};
  stages_adjoint<WithTime, M>(f, t, t_end, u, p, s, nothing, lambda, pbar, tbar);
}

}  // namespace gradsolve::detail
