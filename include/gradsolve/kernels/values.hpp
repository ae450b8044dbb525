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

/// Reads the columns of a matrix; those from `Given` on start at start(i).
template <int N, int Given, class L, class S, class Start>
KOKKOS_FORCEINLINE_FUNCTION Vector<L, N> gather(const LaneIndices<L>& lanes,
                                                const StridedMatrix<const S>& from,
                                                const Start& start) {
  Vector<L, N> x;
  for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA {
    if (i < Given)
      for (int lane = 0; lane < LaneIndices<L>::width; ++lane)
        set_lane(x[i], lane, from(lanes.source(lane), i));
    else
      x[i] = start(i - Given);
  });
  return x;
}

/// The initial states of a system.
template <class F, class L, class S>
KOKKOS_FORCEINLINE_FUNCTION StateOf<F, L> initial_states(const F& f, const LaneIndices<L>& lanes,
                                                         const StridedMatrix<const S>& u0) {
  constexpr int given = num_given_states_v<F>;
  if constexpr (given == F::num_states)
    return lanes.template gather<given>(u0);
  else
    return gather<F::num_states, given>(lanes, u0, [&](int i) { return L(S(f.extra_start(i))); });
}

/// Values with the tangents of a direction.
template <int Given, class L, int N, class S>
KOKKOS_FORCEINLINE_FUNCTION Vector<Dual<L, 1>, N> with_direction(
    const LaneIndices<L>& lanes, const Vector<L, N>& x, const StridedMatrix<const S>& direction) {
  Vector<L, N> dx = filled<N>(L(0));
  if (direction.data != nullptr) dx = gather<N, Given>(lanes, direction, [](int) { return L(0); });
  Vector<Dual<L, 1>, N> r;
  for_each_index<N>([&](int i)
                        GRADSOLVE_INLINE_LAMBDA { r[i] = Dual<L, 1>(x[i], Vector<L, 1>{dx[i]}); });
  return r;
}

}  // namespace gradsolve::detail
