// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/stepping/error_estimate.hpp>

/// One step of an explicit Runge-Kutta method M from t to t_end, h = t_end - t:
///
///     k_i   = f(t + c_i h, u + h sum_{j<i} a_ij k_j)
///     u_new = u + h sum_i b_i k_i,     error = h sum_i e_i k_i
///
/// its error estimate and its adjoint. A step knows nothing of meshes. T is the number type of the
/// state: a lane, or a dual over one for the tangent of the step.
namespace gradsolve::detail {

/// The state at t_end.
template <class M, class F, class L, class T>
KOKKOS_FORCEINLINE_FUNCTION StateOf<F, T> step(const F& f, const L& t, const L& t_end,
                                               const StateOf<F, T>& u, const ParamsOf<F, T>& p) {
  const L h = t_end - t;
  StateOf<F, T> k[M::num_solution_stages];
  static_for<M::num_solution_stages>([&](auto i) GRADSOLVE_INLINE_LAMBDA {
    copy(evaluate(f, T(stage_time<M, i>(t, t_end, h)), stage_argument<M, i>(u, h, k), p), k[i]);
  });
  return solution<M>(u, h, k);
}

/// Tries the step. k0 = f(t, u) is taken over from the step before where the method is FSAL.
template <class M, class F, class L>
KOKKOS_FORCEINLINE_FUNCTION Attempt<F, L> attempt(const F& f, const L& t, const L& t_end,
                                                  const StateOf<F, L>& u, const ParamsOf<F, L>& p,
                                                  const StateOf<F, L>& k0,
                                                  const Tolerances<ScalarOf<L>>& tol) {
  const L h = t_end - t;
  StateOf<F, L> k[M::num_stages];
  Attempt<F, L> result;
  copy(k0, k[0]);
  auto evaluate_stage = [&](auto i) GRADSOLVE_INLINE_LAMBDA {
    copy(evaluate(f, stage_time<M, i>(t, t_end, h), stage_argument<M, i>(u, h, k), p), k[i]);
  };
  static_for<M::num_solution_stages - 1>(
      [&](auto i) GRADSOLVE_INLINE_LAMBDA { evaluate_stage(Index<i + 1>{}); });
  copy(solution<M>(u, h, k), result.u);
  if constexpr (M::error_order > 0) {
    if constexpr (M::fsal) {
      copy(evaluate(f, t_end, result.u, p), result.k_last);
      copy(result.k_last, k[M::num_stages - 1]);
    } else {
      static_for<M::num_stages - M::num_solution_stages>([&](auto i) GRADSOLVE_INLINE_LAMBDA {
        evaluate_stage(Index<M::num_solution_stages + i>{});
      });
    }
    result.ratio2 = error_ratio2<M>(f, k, h, u, result.u, tol);
  } else {
    result.ratio2 = L(0);
  }
  return result;
}

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
  constexpr int S = Stages::size;
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
        if constexpr (b != 0) add(coefficient<T, b>(), lambda);
      }
      direct(Index<i>{}, add);
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
        if constexpr (M::c[i] != 0) hbar = hbar + coefficient<T, M::c[i]>() * stage_tbar;
        StateOf<F, T> slope;
        if (combine<StageRow<M, i>>(s.k, slope)) hbar = hbar + dot(f, mu[i], slope);
      }
    }
  });
  if constexpr (WithTime) {
    StateOf<F, T> slope;
    combine<SolutionRow<M>>(s.k, slope);
    hbar = hbar + dot(f, lambda, slope);
    tbar.begin = tbar.begin + all_tbar - hbar;
    tbar.end = tbar.end + hbar;
  }
  static_for<S>([&](auto i) GRADSOLVE_INLINE_LAMBDA {
    if constexpr (has_stage_v<Stages, i>) axpy(BaseScalar<T>(1), mu[i], lambda);
  });
}

}  // namespace gradsolve::detail
