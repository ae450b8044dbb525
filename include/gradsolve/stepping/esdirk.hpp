// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/stepping/error_estimate.hpp>
#include <gradsolve/stepping/step_matrix.hpp>

/// One step of an ESDIRK method M from t to t_end, h = t_end - t, for mass u' = f(t, u, p): the
/// increments k_i of its stages solve
///
///     mass k_i = h sum_{j<=i} a_ij f_j,     f_j = f(t + c_j h, u + k_j),     a_ii = gamma, k_0 = 0
///     u_new = u + k_last,     error = k_last - k_embedded
///
/// by Newton's method with one matrix W = mass / (h gamma) - J(t, u) for all stages of the step, in
/// the step, its tangent and the solve alike. The iteration of a stage goes on until rounding, so
/// that what the adjoint takes for granted, that each stage solves its equation, holds. A stage
/// that does not converge gives a step that is not finite, which a solve rejects and tries again
/// shorter.
namespace gradsolve::detail {

/// The increments k_i, and f_i at the stages.
template <class Stages, class F, class T>
  requires EsdirkMethod<typename Stages::Method>
struct StageValues<Stages, F, T> {
  StateOf<F, T> k[Stages::size], slope[Stages::size];
  IntOf<LaneBeneathT<T>> num_evaluations;  // of f
};

/// The first guess of k_I: the polynomial through the stages before it, or one of them at the same
/// time.
template <class M, int I>
struct StageGuess {
  static constexpr int size = I;
  static constexpr double at(int j) {
    if (M::c[I - 1] == M::c[I]) return j == I - 1;
    double weight = 1;
    for (int k = 0; k < I; ++k)
      if (k != j) weight *= (M::c[I] - M::c[k]) / (M::c[j] - M::c[k]);
    return j == 0 ? 0 : weight;  // k_0 is zero
  }
};

/// When Newton's iteration of a stage ends, by the sizes of its steps (relative_size2).
template <class S>
struct NewtonLimits {
  static constexpr int iterations = 25;
  static constexpr S epsilon = Kokkos::Experimental::epsilon_v<S>;
  static constexpr S square(S x) { return x * x; }
  /// Converged: the error left, by the last rate of convergence.
  static constexpr S rounding2 = square(16 * epsilon);
  /// Converged too: steps as short as this that hardly get shorter.
  static constexpr S rough2 = square(512 * epsilon), stalls2 = square(S(0.8));
};

/// The mean of (dk_i / size_i)^2, where size_i is the larger of the two ends of component i, or
/// what the rounding of the other components reaches in it: a component that is a small difference
/// of large ones is not known to better than that.
template <class F, class L>
KOKKOS_FORCEINLINE_FUNCTION L relative_size2(const StateOf<F, L>& dk, const StateOf<F, L>& u,
                                             const StateOf<F, L>& k, const StateOf<F, L>& reach) {
  using S = ScalarOf<L>;
  L sum(0);
  for_each_index<F::num_states>([&](int i) GRADSOLVE_INLINE_LAMBDA {
    const L size =
        max(max(abs(u[i]), abs(u[i] + k[i])), reach[i]) + L(Kokkos::Experimental::norm_min_v<S>);
    const L r = dk[i] / size;
    sum = sum + r * r;
  });
  return sum * L(S(1) / S(F::num_states));
}

/// |J| |u|: a relative error of all u_j changes f_i by that much, at most.
template <class F, class L>
KOKKOS_FORCEINLINE_FUNCTION StateOf<F, L> slopes_by_size(const MatrixOf<F, L>& jacobian,
                                                         const StateOf<F, L>& u) {
  constexpr int N = F::num_states;
  StateOf<F, L> sum = filled<N>(L(0));
  for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA {
    for_each_index<N>(
        [&](int j) GRADSOLVE_INLINE_LAMBDA { sum[i] = sum[i] + abs(jacobian[i][j]) * abs(u[j]); });
  });
  return sum;
}

/// What is left of a stage's equation, in units of f: f(t_i, u + k) + known - mass k / (h gamma),
/// known = sum_{j<i} a_ij f_j / gamma.
template <class F, class L, class T>
KOKKOS_FORCEINLINE_FUNCTION StateOf<F, T> stage_residual(
    const F& f, const L& t_i, const L& inverse_hg, const StateOf<F, T>& u, const ParamsOf<F, T>& p,
    const StateOf<F, T>& known, const StateOf<F, T>& k) {
  StateOf<F, T> r;
  copy(evaluate(f, T(t_i), advanced(u, L(1), k), p), r);
  axpy(BaseScalar<T>(1), known, r);
  add_mass_product<F>(L(-inverse_hg), k, r);
  return r;
}

/// Solves the equation of one stage from the guess in k; reach: W^-1 |J| |u| / 16. Each lane
/// iterates by itself; k of one that does not converge is not a number.
template <class F, class L>
KOKKOS_FORCEINLINE_FUNCTION void solve_stage(const F& f, const L& t_i, const L& inverse_hg,
                                             const StateOf<F, L>& u, const ParamsOf<F, L>& p,
                                             const LuOf<F, L>& w, const StateOf<F, L>& reach,
                                             const StateOf<F, L>& known, StateOf<F, L>& k,
                                             IntOf<L>& num_evaluations) {
  using S = ScalarOf<L>;
  using Limits = NewtonLimits<S>;
  MaskOf<L> moves(true), converged(false);
  L last2(1);
  for (int step = 0; step < Limits::iterations && any(moves); ++step) {
    StateOf<F, L> dk = stage_residual(f, t_i, inverse_hg, u, p, known, k);
    w.solve(dk);
    StateOf<F, L> next = advanced(k, L(1), dk);
    keep_where(moves, next, k);
    num_evaluations = num_evaluations + select(moves, IntOf<L>(1), IntOf<L>(0));
    const L size2 = relative_size2<F>(dk, u, next, reach);
    const L rate2 = step == 0 ? L(1) : size2 / last2;
    const MaskOf<L> later(step > 0);
    const MaskOf<L> at_rounding = later && size2 <= L(Limits::rough2) && rate2 > L(Limits::stalls2);
    converged = converged || (moves && (size2 * rate2 <= L(Limits::rounding2) || at_rounding));
    const MaskOf<L> diverges = !(rate2 <= L(4));  // or is not a number
    moves = moves && !converged && !(later && diverges);
    last2 = size2;
  }
  const S nan = Kokkos::Experimental::quiet_NaN_v<S>;
  keep_where(!converged, filled<F::num_states>(L(nan)), k);
}

/// sum_{j<I} a_Ij f_j / gamma
template <class M, int I, class T, int N, int S>
KOKKOS_FORCEINLINE_FUNCTION Vector<T, N> known_slopes(const Vector<T, N> (&slope)[S]) {
  Vector<T, N> sum;
  combine<StageRow<M, I>>(slope, sum);
  scale(coefficient<T, 1 / M::gamma>(), sum, sum);
  return sum;
}

/// f_i of a stage that solves its equation: mass k_i / (h gamma) - known.
template <class F, class L, class T>
KOKKOS_FORCEINLINE_FUNCTION void slope_of_stage(const L& inverse_hg, const StateOf<F, T>& known,
                                                const StateOf<F, T>& k, StateOf<F, T>& slope) {
  scale(BaseScalar<T>(-1), known, slope);
  add_mass_product<F>(inverse_hg, k, slope);
}

template <class M, class Stages, class F, class L>
KOKKOS_FORCEINLINE_FUNCTION void solve_stages(const F& f, const L& t, const L& t_end,
                                              const StateOf<F, L>& u, const ParamsOf<F, L>& p,
                                              StageValues<Stages, F, L>& s) {
  const L h = t_end - t, inverse_hg = L(coefficient<L, 1 / M::gamma>()) / h;
  LuOf<F, L> w;
  StateOf<F, L> reach;
  {
    MatrixOf<F, L> jacobian;
    StateOf<F, L> time_slope;
    linearize(f, t, u, p, s.slope[0], jacobian, time_slope);
    reach = slopes_by_size<F>(jacobian, u);
    factor_step_matrix<L>(f, inverse_hg, jacobian, w);
    w.solve(reach);
    // One eps of them is 16 eps of a sixteenth: the iteration's rounding.
    constexpr ScalarOf<L> share = ScalarOf<L>(1.0 / 16);
    for_each_index<F::num_states>(
        [&](int i) GRADSOLVE_INLINE_LAMBDA { reach[i] = abs(reach[i]) * L(share); });
  }
  // An infinite Jacobian lets nothing move, which looks like convergence.
  const L finite = w.zero_if_finite();
  s.k[0] = filled<F::num_states>(L(0));
  s.num_evaluations = IntOf<L>(1);
  static_for<Stages::size - 1>([&](auto before) GRADSOLVE_INLINE_LAMBDA {
    constexpr int i = before + 1;
    const StateOf<F, L> known = known_slopes<M, i>(s.slope);
    if (!combine<StageGuess<M, i>>(s.k, s.k[i])) s.k[i] = filled<F::num_states>(L(0));
    s.k[i][0] = s.k[i][0] + finite;
    solve_stage(f, stage_time<M, i>(t, t_end, h), inverse_hg, u, p, w, reach, known, s.k[i],
                s.num_evaluations);
    slope_of_stage<F>(inverse_hg, known, s.k[i], s.slope[i]);
  });
}

/// W = mass / (h gamma) - J at stage i, factorised, and J.
template <class F, class L, class T>
KOKKOS_FORCEINLINE_FUNCTION void factor_at_stage(const F& f, const L& t_i, const L& inverse_hg,
                                                 const StateOf<F, T>& stage,
                                                 const ParamsOf<F, T>& p, MatrixOf<F, T>& jacobian,
                                                 LuOf<F, T>& w) {
  StateOf<F, T> slope, time_slope;
  linearize(f, T(t_i), stage, p, slope, jacobian, time_slope);
  MatrixOf<F, T> matrix = jacobian;
  factor_step_matrix<T>(f, inverse_hg, matrix, w);
}

/// Of duals: the values converge, then the tangent of each stage's equation is solved: W dk = the
/// tangent of the residual where k stands still, W with J at the stage.
template <bool, class M, class Stages, class F, class L, class T>
  requires EsdirkMethod<M>
KOKKOS_FORCEINLINE_FUNCTION void evaluate_stages(const F& f, const L& t, const L& t_end,
                                                 const StateOf<F, T>& u, const ParamsOf<F, T>& p,
                                                 StageValues<Stages, F, T>& s) {
  if constexpr (!is_dual<T>) {
    solve_stages<M>(f, t, t_end, u, p, s);
  } else {
    constexpr int N = F::num_states;
    const L h = t_end - t, inverse_hg = L(coefficient<L, 1 / M::gamma>()) / h;
    const StateOf<F, L> u_value = part_of<0>(u);
    const ParamsOf<F, L> p_value = part_of<0>(p);
    StageValues<Stages, F, L> values;
    solve_stages<M>(f, t, t_end, u_value, p_value, values);
    s.num_evaluations = values.num_evaluations;
    s.k[0] = filled<N>(T(0));
    copy(evaluate(f, T(t), u, p), s.slope[0]);
    static_for<Stages::size - 1>([&](auto before) GRADSOLVE_INLINE_LAMBDA {
      constexpr int i = before + 1;
      const L t_i = stage_time<M, i>(t, t_end, h);
      const StateOf<F, T> known = known_slopes<M, i>(s.slope);
      for_each_index<N>([&](int n) GRADSOLVE_INLINE_LAMBDA { s.k[i][n] = T(values.k[i][n]); });
      const StateOf<F, T> r = stage_residual(f, t_i, inverse_hg, u, p, known, s.k[i]);
      MatrixOf<F, L> jacobian;
      LuOf<F, L> w;
      factor_at_stage(f, t_i, inverse_hg, advanced(u_value, L(1), values.k[i]), p_value, jacobian,
                      w);
      static_for<num_parts<T> - 1>([&](auto direction) GRADSOLVE_INLINE_LAMBDA {
        StateOf<F, L> dk = part_of<direction + 1>(r);
        w.solve(dk);
        for_each_index<N>([&](int n)
                              GRADSOLVE_INLINE_LAMBDA { part(s.k[i][n], direction + 1) = dk[n]; });
      });
      slope_of_stage<F>(inverse_hg, known, s.k[i], s.slope[i]);
    });
  }
}

/// Tries the step. f(t, u) comes with the Jacobian: k0 is not asked for.
template <class M, class F, class L>
  requires EsdirkMethod<M>
KOKKOS_FORCEINLINE_FUNCTION Attempt<F, L> attempt(const F& f, const L& t, const L& t_end,
                                                  const StateOf<F, L>& u, const ParamsOf<F, L>& p,
                                                  const StateOf<F, L>& /*k0*/,
                                                  const Tolerances<ScalarOf<L>>& tol) {
  const L h = t_end - t;
  StageValues<ErrorStages<M>, F, L> s;
  evaluate_stages<true, M>(f, t, t_end, u, p, s);
  Attempt<F, L> result;
  copy(solution<M>(u, h, s.k), result.u);
  result.ratio2 = error_ratio2<M>(f, s.k, h, u, result.u, tol);
  result.num_evaluations = s.num_evaluations;
  return result;
}

/// The adjoint of a step with the given stages, as that of the explicit methods. The stages solve
/// their equations, so the implicit function theorem gives, with g_i the cotangents of k_i from
/// elsewhere (`direct`), W_i = mass / (h gamma) - J_i and J_i = df/du at stage i, for i descending
///
///     q_i = sum_{j>i} a_ji l_j / gamma                     the cotangent of f_i from later stages
///     W_i^T l_i = b_i w + g_i + J_i^T q_i   (l_0 = 0)
///     mu_i = (df/du)^T (q_i + l_i)
///     ubar = w + sum_i mu_i,     pbar += sum_i (df/dp)^T (q_i + l_i)
///     tbar = sum_i (df/dt)^T (q_i + l_i)
///     hbar = sum_i (c_i (df/dt)^T (q_i + l_i) + l_i . mass k_i / (h^2 gamma))
template <bool WithTime, class M, class Stages, class F, class L, class T, class Direct>
  requires EsdirkMethod<M>
KOKKOS_FORCEINLINE_FUNCTION void stages_adjoint(const F& f, const L& t, const L& t_end,
                                                const StateOf<F, T>& u, const ParamsOf<F, T>& p,
                                                const StageValues<Stages, F, T>& s,
                                                const Direct& direct, StateOf<F, T>& lambda,
                                                ParamsOf<F, T>& pbar, TimeAdjoints<T>& tbar) {
  constexpr int N = F::num_states, S = Stages::size;
  const L h = t_end - t, inverse_hg = L(coefficient<L, 1 / M::gamma>()) / h;
  StateOf<F, T> l[S], ubar;
  copy(lambda, ubar);
  T hbar(0), all_tbar(0);
  static_for<S>([&](auto down) GRADSOLVE_INLINE_LAMBDA {
    constexpr int i = S - 1 - down;
    const L t_i = stage_time<M, i>(t, t_end, h);
    const StateOf<F, T> stage = stage_argument<M, i>(u, h, s.k);
    StateOf<F, T> q;
    if (combine<StageColumn<M, i, Stages>>(l, q))
      scale(coefficient<T, 1 / M::gamma>(), q, q);
    else
      q = filled<N>(T(0));
    if constexpr (i > 0) {
      MatrixOf<F, T> jacobian;
      LuOf<F, T> w;
      factor_at_stage(f, t_i, inverse_hg, stage, p, jacobian, w);
      l[i] = filled<N>(T(0));
      if constexpr (M::b[i] != 0) axpy(coefficient<T, M::b[i]>(), lambda, l[i]);
      direct(Index<i>{}, [&](auto weight, const StateOf<F, T>& x)
                             GRADSOLVE_INLINE_LAMBDA { axpy(weight, x, l[i]); });
      for_each_index<N>([&](int n) GRADSOLVE_INLINE_LAMBDA { axpy(q[n], jacobian[n], l[i]); });
      w.solve_transposed(l[i]);
      axpy(BaseScalar<T>(1), l[i], q);
      if constexpr (WithTime) {
        StateOf<F, T> mass_k = filled<N>(T(0));
        add_mass_product<F>(inverse_hg, s.k[i], mass_k);
        hbar = hbar + (L(1) / h) * dot(l[i], mass_k);
      }
    }
    StateOf<F, T> mu;
    T stage_tbar(0);
    vjp<WithTime, F, T>(f, T(t_i), stage, p, q, {mu, pbar, stage_tbar});
    axpy(BaseScalar<T>(1), mu, ubar);
    if constexpr (WithTime) {
      all_tbar = all_tbar + stage_tbar;
      if constexpr (M::c[i] != 0) hbar = hbar + coefficient<T, M::c[i]>() * stage_tbar;
    }
  });
  copy(ubar, lambda);
  if constexpr (WithTime) {
    tbar.begin = tbar.begin + all_tbar - hbar;
    tbar.end = tbar.end + hbar;
  }
}

}  // namespace gradsolve::detail
