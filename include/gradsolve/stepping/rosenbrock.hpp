// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/stepping/error_estimate.hpp>
#include <gradsolve/stepping/step_matrix.hpp>

/// One step of a Rosenbrock method M from t to t_end, h = t_end - t, for mass u' = f(t, u, p) with
/// a constant mass matrix (one, or the system's own), J = df/du and f_t = df/dt at (t, u):
///
///     W k_i = f(t + c_i h, u + sum_{j<i} a_ij k_j) + mass sum_{j<i} C_ij k_j / h + h d_i f_t
///     W     = mass / (h gamma) - J
///     u_new = u + sum_i b_i k_i,     error = sum_i e_i k_i
///
/// (Hairer, Wanner, Solving Ordinary Differential Equations II, IV.7; k_i is their U_i): one LU
/// factorisation a step, in the step, its tangent and its adjoint alike, and no inverse of the mass
/// matrix, which may be singular. h = 0 has no meaning here: sweeps leave such lanes alone. A
/// singular W gives a step that is not finite, which a solve rejects and tries again shorter.
namespace gradsolve::detail {

/// The first stage that has the argument of stage I: f is evaluated there.
template <class M, int I>
inline constexpr int argument_of_v = [] {
  auto same = [](int i) {
    if (M::c[i] != M::c[I]) return false;
    for (int j = 0; j < I; ++j)
      if (M::a[I][j] != (j < i ? M::a[i][j] : 0.0)) return false;
    return true;
  };
  int i = 0;
  while (!same(i)) ++i;
  return i;
}();
/// Evaluations of f in a step.
template <class M, int I = M::num_stages - 1>
inline constexpr int num_arguments_v =
    (argument_of_v<M, I> == I ? 1 : 0) + num_arguments_v<M, I - 1>;
template <class M>
inline constexpr int num_arguments_v<M, 0> = 1;

/// The stages k_i, the factors of W, and f_t.
template <class Stages, class F, class T>
  requires RosenbrockMethod<typename Stages::Method>
struct StageValues<Stages, F, T> {
  StateOf<F, T> k[Stages::size], time_slope;
  LuOf<F, T> w;
};

template <bool, class M, class Stages, class F, class L, class T>
  requires RosenbrockMethod<M>
KOKKOS_FORCEINLINE_FUNCTION void evaluate_stages(const F& f, const L& t, const L& t_end,
                                                 const StateOf<F, T>& u, const ParamsOf<F, T>& p,
                                                 StageValues<Stages, F, T>& s) {
  const L h = t_end - t, inverse_h = inverse(h);
  StateOf<F, T> slope[Stages::size];
  {
    MatrixOf<F, T> jacobian;
    linearize(f, T(t), u, p, slope[0], jacobian, s.time_slope);
    factor_step_matrix<T>(f, L(inverse_h * L(coefficient<L, 1 / M::gamma>())), jacobian, s.w);
  }
  static_for<Stages::size>([&](auto i) GRADSOLVE_INLINE_LAMBDA {
    constexpr int first = argument_of_v<M, i>;
    if constexpr (i > 0 && first == i)
      copy(evaluate(f, T(stage_time<M, i>(t, t_end, h)), stage_argument<M, i>(u, h, s.k), p),
           slope[i]);
    StateOf<F, T> r, sum;
    copy(slope[first], r);
    if (combine<CouplingRow<M, i>>(s.k, sum)) add_mass_product<F>(inverse_h, sum, r);
    if constexpr (M::d[i] != 0) axpy(L(coefficient<L, M::d[i]>() * h), s.time_slope, r);
    s.w.solve(r);
    copy(r, s.k[i]);
  });
}

/// Tries the step. f(t, u) comes with the Jacobian: k0 is not asked for.
template <class M, class F, class L>
  requires RosenbrockMethod<M>
KOKKOS_FORCEINLINE_FUNCTION Attempt<F, L> attempt(const F& f, const L& t, const L& t_end,
                                                  const StateOf<F, L>& u, const ParamsOf<F, L>& p,
                                                  const StateOf<F, L>& /*k0*/,
                                                  const Tolerances<ScalarOf<L>>& tol) {
  const L h = t_end - t;
  StageValues<ErrorStages<M>, F, L> s;
  evaluate_stages<true, M>(f, t, t_end, u, p, s);
  Attempt<F, L> result;
  copy(solution<M>(u, h, s.k), result.u);
  // An infinite Jacobian lets nothing move: neither the state nor the estimate shall hide it.
  const L finite = s.w.zero_if_finite();
  result.ratio2 = error_ratio2<M>(f, s.k, h, u, result.u, tol) + finite;
  result.u[0] = result.u[0] + finite;
  return result;
}

/// The adjoint of a step with the given stages, as that of the explicit methods. With g_i the
/// cotangents of k_i from elsewhere (`direct`), for i descending
///
///     W^T l_i = b_i w + g_i + sum_{j>i} (a_ji mu_j + C_ji mass^T l_j / h)
///     mu_i    = (df/du)^T l_i   at stage i
///     ubar = w + sum_i mu_i + d phi/du,   pbar += sum_i (df/dp)^T l_i + d phi/dp
///     tbar = sum_i (df/dt)^T l_i + d phi/dt
///     hbar = sum_i (c_i (df/dt)^T l_i + d_i l_i . f_t
///                   + l_i . mass (k_i / gamma - sum_j C_ij k_j) / h^2)
///
/// where phi = sum_i l_i . (J k_i + h d_i f_t) is a function of (t, u, p) through J and f_t: its
/// derivatives are second derivatives of f.
template <bool WithTime, class M, class Stages, class F, class L, class T, class Direct>
  requires RosenbrockMethod<M>
KOKKOS_FORCEINLINE_FUNCTION void stages_adjoint(const F& f, const L& t, const L& t_end,
                                                const StateOf<F, T>& u, const ParamsOf<F, T>& p,
                                                const StageValues<Stages, F, T>& s,
                                                const Direct& direct, StateOf<F, T>& lambda,
                                                ParamsOf<F, T>& pbar, TimeAdjoints<T>& tbar) {
  constexpr int N = F::num_states, S = Stages::size;
  const L h = t_end - t, inverse_h = inverse(h);
  StateOf<F, T> kbar[S];  // what the stages so far ask of k_i
  StateOf<F, T> pull[S];  // l_i of the later stages with the argument of stage i
  static_for<S>([&](auto i) GRADSOLVE_INLINE_LAMBDA {
    kbar[i] = filled<N>(T(0));
    pull[i] = filled<N>(T(0));
    if constexpr (i < M::num_solution_stages && M::b[i] != 0)
      axpy(coefficient<T, M::b[i]>(), lambda, kbar[i]);
    direct(i, [&](auto weight, const StateOf<F, T>& x)
                  GRADSOLVE_INLINE_LAMBDA { axpy(weight, x, kbar[i]); });
  });
  Curvature<F, T> phi;
  T hbar(0), all_tbar(0);
  static_for<S>([&](auto down) GRADSOLVE_INLINE_LAMBDA {
    constexpr int i = S - 1 - down, first = argument_of_v<M, i>;
    StateOf<F, T>& l = kbar[i];
    s.w.solve_transposed(l);
    axpy(BaseScalar<T>(1), l, pull[first]);
    phi.template add<WithTime>(f, T(t), u, p, l, s.k[i], L(coefficient<L, M::d[i]>() * h),
                               {lambda, pbar, all_tbar});
    StateOf<F, T> mass_l = filled<N>(T(0));
    add_transposed_mass_product<F>(inverse_h, l, mass_l);
    static_for<i>([&](auto j) GRADSOLVE_INLINE_LAMBDA {
      if constexpr (M::C[i][j] != 0) axpy(coefficient<T, M::C[i][j]>(), mass_l, kbar[j]);
    });
    if constexpr (WithTime) {
      StateOf<F, T> sum;
      hbar = hbar + (coefficient<T, 1 / M::gamma>() * inverse_h) * dot(f, mass_l, s.k[i]);
      if (combine<CouplingRow<M, i>>(s.k, sum)) hbar = hbar - inverse_h * dot(f, mass_l, sum);
      if constexpr (M::d[i] != 0) hbar = hbar + coefficient<T, M::d[i]>() * dot(f, l, s.time_slope);
    }
    if constexpr (first == i) {
      StateOf<F, T> mu;
      T stage_tbar(0);
      vjp<WithTime, F, T>(f, T(stage_time<M, i>(t, t_end, h)), stage_argument<M, i>(u, h, s.k), p,
                          pull[i], {mu, pbar, stage_tbar});
      if constexpr (WithTime) {
        all_tbar = all_tbar + stage_tbar;
        if constexpr (M::c[i] != 0) hbar = hbar + coefficient<T, M::c[i]>() * stage_tbar;
      }
      static_for<i>([&](auto j) GRADSOLVE_INLINE_LAMBDA {
        if constexpr (M::a[i][j] != 0) axpy(coefficient<T, M::a[i][j]>(), mu, kbar[j]);
      });
      axpy(BaseScalar<T>(1), mu, lambda);
    }
  });
  phi.template finish<WithTime>(f, T(t), u, p, {lambda, pbar, all_tbar});
  if constexpr (WithTime) {
    tbar.begin = tbar.begin + all_tbar - hbar;
    tbar.end = tbar.end + hbar;
  }
}

}  // namespace gradsolve::detail
