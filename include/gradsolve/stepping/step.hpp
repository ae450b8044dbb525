// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/stepping/esdirk.hpp>
#include <gradsolve/stepping/explicit_rk.hpp>
#include <gradsolve/stepping/rosenbrock.hpp>

/// A step of any method: step(), attempt(), evaluate_stages(), stages_adjoint() of its family, and
/// what follows from them.
namespace gradsolve::detail {

/// The state at t_end, of an implicit method.
template <class M, class F, class L, class T>
  requires ImplicitMethod<M>
KOKKOS_FORCEINLINE_FUNCTION StateOf<F, T> step(const F& f, const L& t, const L& t_end,
                                               const StateOf<F, T>& u, const ParamsOf<F, T>& p) {
  StageValues<SolutionStages<M>, F, T> s;
  evaluate_stages<true, M>(f, t, t_end, u, p, s);
  return solution<M>(u, L(t_end - t), s.k);
}

/// The adjoint of a step from which nothing but u_new is observed.
template <bool WithTime, class M, class F, class L, class T>
KOKKOS_FORCEINLINE_FUNCTION void step_adjoint(const F& f, const L& t, const L& t_end,
                                              const StateOf<F, T>& u, const ParamsOf<F, T>& p,
                                              StateOf<F, T>& lambda, ParamsOf<F, T>& pbar,
                                              TimeAdjoints<T>& tbar) {
  StageValues<SolutionStages<M>, F, T> s;
  evaluate_stages<WithTime, M>(f, t, t_end, u, p, s);
  auto nothing = [](int, auto&&) GRADSOLVE_INLINE_LAMBDA {};
  stages_adjoint<WithTime, M>(f, t, t_end, u, p, s, nothing, lambda, pbar, tbar);
}

/// Whether attempt() asks for k0: implicit methods find it with the Jacobian.
template <class M>
inline constexpr bool takes_slope_v = !ImplicitMethod<M>;

/// Evaluations of f in a record, that at the start and those inside Jacobians' among them. Of an
/// ESDIRK method each attempt tells.
template <class M>
KOKKOS_FORCEINLINE_FUNCTION int num_evaluations(int accepted, int rejected) {
  if constexpr (RosenbrockMethod<M>)
    return 1 + (accepted + rejected) * num_arguments_v<M>;
  else
    return 1 + accepted * (M::fsal ? M::num_stages - 1 : M::num_stages) +
           rejected * (M::num_stages - 1);
}

}  // namespace gradsolve::detail
