// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/observe/loss.hpp>

/// Losses of states that are in memory already, and their derivatives in one direction.
namespace gradsolve::detail {

/// The terms of a trajectory's loss: one of its final state,
template <class Loss, class S>
struct FinalTerm {
  static constexpr bool at_saves = false;
  Loss loss;
  PerTrajectory<S> t1;

  KOKKOS_FORCEINLINE_FUNCTION int count(int) const { return 1; }
  template <class T, int N, int P>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(int trajectory, int, const State<T, N>& u,
                                           const Params<T, P>& p) const {
    return FinalLoss<Loss>{loss, trajectory}(T(t1(trajectory)), u, p)[0];
  }
};
/// or one at each of its save times.
template <class Loss, class S>
struct SavedTerms {
  static constexpr bool at_saves = true;
  Loss loss;
  SaveTimesAccess<S> saves;

  KOKKOS_FORCEINLINE_FUNCTION int count(int trajectory) const { return saves.count(trajectory); }
  template <class T, int N, int P>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(int trajectory, int save, const State<T, N>& u,
                                           const Params<T, P>& p) const {
    return SavedLoss<Loss>{loss, {trajectory, save}}(T(saves.time(trajectory, save)), u, p)[0];
  }
};

template <class Loss, class States, class Parameters>
auto terms_of(const Loss& loss, const Ensemble<States, Parameters>& ensemble) {
  return FinalTerm<Loss, typename States::non_const_value_type>{loss, ensemble.t1()};
}
template <class Loss, class S, class MemorySpace, class States, class Parameters>
auto terms_of(const LossAtSaves<Loss, S, MemorySpace>& loss, const Ensemble<States, Parameters>&) {
  return SavedTerms<Loss, S>{loss.loss, loss.times.access()};
}

/// Final states (n, N) or saved ones (n, saves, N) as (n, saves, N).
template <class V>
auto as_saves(const V& view) {
  if constexpr (V::rank() == 3) {
    return strided_const(view);
  } else {
    const auto m = strided_const(view);
    return StridedCube<const typename V::non_const_value_type>{m.data, m.stride0, 0, m.stride1};
  }
}

/// T = S: the losses. T = Dual<S, 1>: their derivatives in the direction of the tangents of the
/// states and of one parameter.
template <class T, int N, int P, class Terms, class S>
struct LossKernel {
  Terms terms;
  StridedMatrix<const S> params;
  StridedCube<const S> states, tangents;
  int parameter;  // whose tangent is 1; -1: of none
  S* result;      // (n)

  KOKKOS_FUNCTION void operator()(int trajectory) const {
    Params<T, P> p;
    if constexpr (P > 0)
      for (int j = 0; j < P; ++j) p[j] = number(params(trajectory, j), S(j == parameter ? 1 : 0));
    S sum(0);
    for (int save = 0; save < terms.count(trajectory); ++save) {
      State<T, N> u;
      for (int i = 0; i < N; ++i)
        u[i] = number(states(trajectory, save, i), tangent(trajectory, save, i));
      const T term = terms(trajectory, save, u, p);
      sum += part(term, num_parts<T> - 1);
    }
    result[trajectory] = sum;
  }

 private:
  static KOKKOS_FORCEINLINE_FUNCTION T number(S value, S tangent) {
    T x(value);
    if constexpr (is_dual<T>) x.tangent[0] = tangent;
    return x;
  }
  KOKKOS_FORCEINLINE_FUNCTION S tangent(int trajectory, int save, int i) const {
    if constexpr (is_dual<T>)
      return tangents(trajectory, save, i);
    else
      return S(0);
  }
};

/// The derivatives of the losses of states whose tangents are known, into `result` (n).
template <class F, class Exec, class Loss, class States, class Parameters, class S>
void loss_tangents(const Exec& exec, const Loss& loss, const Ensemble<States, Parameters>& ensemble,
                   const StridedCube<const S>& states, const StridedCube<const S>& tangents,
                   int parameter, S* result) {
  const auto terms = terms_of(loss, ensemble);
  Kokkos::parallel_for(
      "gradsolve::loss::tangents", Kokkos::RangePolicy<Exec>(exec, 0, ensemble.size()),
      LossKernel<Dual<S, 1>, F::num_states, F::num_params, std::decay_t<decltype(terms)>, S>{
          terms, strided_const(ensemble.params()), states, tangents, parameter, result});
}

/// The losses of states, into `result` (n).
template <class F, class Exec, class Loss, class States, class Parameters, class S>
void losses(const Exec& exec, const Loss& loss, const Ensemble<States, Parameters>& ensemble,
            const StridedCube<const S>& states, S* result) {
  const auto terms = terms_of(loss, ensemble);
  Kokkos::parallel_for(
      "gradsolve::loss", Kokkos::RangePolicy<Exec>(exec, 0, ensemble.size()),
      LossKernel<S, F::num_states, F::num_params, std::decay_t<decltype(terms)>, S>{
          terms, strided_const(ensemble.params()), states, {}, -1, result});
}

}  // namespace gradsolve::detail
