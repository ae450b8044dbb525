// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/kernels/slice.hpp>
#include <gradsolve/stepping/explicit_rk.hpp>

namespace gradsolve::detail {

/// Walks the recorded steps of one thread's trajectories, t from t0 on: calls visit(row, t, t_end)
/// for each row, in order. The next end is loaded before the step that hides the wait.
template <class L, class Mesh, class Visit>
KOKKOS_FORCEINLINE_FUNCTION void for_each_step(const Mesh& mesh, int slice, int first_lane,
                                               const L& t0, Visit&& visit) {
  const int rows = mesh.num_rows[slice];
  if (rows == 0) return;
  const auto* const ends = mesh.ends_of(slice, first_lane);
  L t = t0, t_end = load<L>(ends);
  for (int row = 0; row < rows; ++row) {
    const L next = load<L>(ends + std::int64_t(row + 1 < rows ? row + 1 : row) * mesh.width);
    visit(row, t, t_end);
    t = t_end;
    t_end = next;
  }
}

/// The fixed-mesh solve: final states, and with `error_ratio` the largest (error / tolerance) of
/// the steps of each trajectory.
template <bool WithErrorRatio, class M, class F, class L>
struct ReplayKernel {
  using S = ScalarOf<L>;
  static constexpr int N = F::num_states, P = F::num_params;

  F f;
  StridedMatrix<const S> u0, params;
  PerTrajectory<S> t0;
  MeshAccess<S> mesh;
  S rtol, atol;
  StridedMatrix<S> states;
  S* error_ratio;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const int slice = slice_of(team);
    if (slice >= mesh.num_slices) return;
    constexpr int threads = Backend<typename Member::execution_space>::threads_per_slice;
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, threads),
                         [&](int thread) { replay(slice, thread * LaneTraits<L>::width); });
  }

  KOKKOS_FUNCTION GRADSOLVE_FLATTEN void replay(int slice, int first_lane) const {
    const LaneIndices<L> lanes(mesh.order, slice * mesh.width + first_lane);
    StateOf<F, L> u = lanes.template gather<N>(u0);
    const ParamsOf<F, L> p = lanes.template gather<P>(params);
    L largest(0);
    for_each_step(mesh, slice, first_lane, lanes.gather(t0),
                  [&](int, const L& t, const L& t_end) GRADSOLVE_INLINE_LAMBDA {
                    const MaskOf<L> moves = t_end != t;
                    if constexpr (WithErrorRatio) {
                      const StateOf<F, L> k0 = evaluate(f, t, u, p);
                      const Attempt<F, L> a = attempt<M>(f, t, t_end, u, p, k0, rtol, atol);
                      update_where(moves, u, [&] { return a.u; });
                      // A ratio that is not a number counts as infinite.
                      const L ratio2 = select(a.ratio2 == a.ratio2, a.ratio2,
                                              L(Kokkos::Experimental::infinity_v<S>));
                      largest = select(moves, max(largest, ratio2), largest);
                    } else {
                      update_where(moves, u, [&] { return step<M>(f, t, t_end, u, p); });
                    }
                  });
    lanes.scatter(u, states);
    if constexpr (WithErrorRatio) {
      for (int lane = 0; lane < LaneTraits<L>::width; ++lane)
        if (lanes.used(lane)) error_ratio[lanes.index[lane]] = Kokkos::sqrt(lane_of(largest, lane));
    }
  }
};

/// The tangent of the replay in one direction (du0, dp): the same steps with dual numbers.
template <class M, class F, class L>
struct TangentKernel {
  using S = ScalarOf<L>;
  using D = Dual<L, 1>;
  static constexpr int N = F::num_states, P = F::num_params;

  F f;
  StridedMatrix<const S> u0, params, du0, dparams;
  PerTrajectory<S> t0;
  MeshAccess<S> mesh;
  StridedMatrix<S> states, tangents;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const int slice = slice_of(team);
    if (slice >= mesh.num_slices) return;
    constexpr int threads = Backend<typename Member::execution_space>::threads_per_slice;
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, threads),
                         [&](int thread) { replay(slice, thread * LaneTraits<L>::width); });
  }

  /// Values and tangents of inputs; where there are no tangents, constants.
  template <int K>
  KOKKOS_FORCEINLINE_FUNCTION Vector<D, K> gather(const LaneIndices<L>& lanes,
                                                  const StridedMatrix<const S>& values,
                                                  const StridedMatrix<const S>& tangent) const {
    const Vector<L, K> x = lanes.template gather<K>(values);
    Vector<L, K> dx = filled<K>(L(0));
    if (tangent.data != nullptr) dx = lanes.template gather<K>(tangent);
    Vector<D, K> r;
    for_each_index<K>([&](int i) GRADSOLVE_INLINE_LAMBDA { r[i] = D(x[i], Vector<L, 1>{dx[i]}); });
    return r;
  }

  KOKKOS_FUNCTION GRADSOLVE_FLATTEN void replay(int slice, int first_lane) const {
    const LaneIndices<L> lanes(mesh.order, slice * mesh.width + first_lane);
    StateOf<F, D> u = gather<N>(lanes, u0, du0);
    const ParamsOf<F, D> p = gather<P>(lanes, params, dparams);
    for_each_step(mesh, slice, first_lane, lanes.gather(t0),
                  [&](int, const L& t, const L& t_end) GRADSOLVE_INLINE_LAMBDA {
                    update_where(t_end != t, u, [&] { return step<M>(f, t, t_end, u, p); });
                  });
    Vector<L, N> value, tangent;
    for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA {
      value[i] = u[i].value;
      tangent[i] = u[i].tangent[0];
    });
    lanes.scatter(value, states);
    lanes.scatter(tangent, tangents);
  }
};

}  // namespace gradsolve::detail
