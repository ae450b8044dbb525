// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ad/derivatives.hpp>
#include <gradsolve/ad/lane_dual.hpp>
#include <gradsolve/kernels/slice.hpp>

/// States and parameters of one thread's trajectories as numbers of type T: lanes, or duals over
/// lanes, whose tangents are read and written like values.
namespace gradsolve::detail {

/// Initial states, parameters and time spans.
template <class S>
struct Inputs {
  StridedMatrix<const S> u0, params;
  PerTrajectory<S> t0, t1;
};

/// Derivatives of the inputs in one direction; without memory: zero.
template <class S>
struct Direction {
  StridedMatrix<const S> u0, params;
};

template <class F>
KOKKOS_FORCEINLINE_FUNCTION double extra_start_of(const F& f, int i) {
  if constexpr (num_extra_states_v<F> > 0) return f.extra_start(i);
  return 0;
}

template <class L, int N>
KOKKOS_FORCEINLINE_FUNCTION Vector<Dual<L, 1>, N> with_tangent(const Vector<L, N>& x,
                                                               const Vector<L, N>& dx) {
  Vector<Dual<L, 1>, N> r;
  for_each_index<N>([&](int i)
                        GRADSOLVE_INLINE_LAMBDA { r[i] = Dual<L, 1>(x[i], Vector<L, 1>{dx[i]}); });
  return r;
}

/// The initial states of a system.
template <class F, class L, class S>
KOKKOS_FORCEINLINE_FUNCTION StateOf<F, L> initial_states(const F& f, const LaneIndices<L>& lanes,
                                                         const StridedMatrix<const S>& u0) {
  return lanes.template gather_states<num_given_states_v<Whole<F>>>(
      f, u0, [&](int i) { return L(S(extra_start_of(whole(f), i))); });
}

/// States with the tangents of a direction.
template <class F, class L, class S>
KOKKOS_FORCEINLINE_FUNCTION StateOf<F, Dual<L, 1>> states_in_direction(
    const F& f, const LaneIndices<L>& lanes, const StateOf<F, L>& u,
    const StridedMatrix<const S>& direction) {
  StateOf<F, L> du = filled<F::num_states>(L(0));
  if (direction.data != nullptr)
    du = lanes.template gather_states<num_given_states_v<Whole<F>>>(f, direction,
                                                                    [](int) { return L(0); });
  return with_tangent(u, du);
}
/// Parameters likewise.
template <int P, class L, class S>
KOKKOS_FORCEINLINE_FUNCTION Params<Dual<L, 1>, P> params_in_direction(
    const LaneIndices<L>& lanes, const Params<L, P>& p, const StridedMatrix<const S>& direction) {
  Params<L, P> dp = filled<P>(L(0));
  if (direction.data != nullptr) dp = lanes.template gather<P>(direction);
  return with_tangent(p, dp);
}

}  // namespace gradsolve::detail
