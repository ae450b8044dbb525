// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/kernels/replay_kernel.hpp>
#include <gradsolve/status.hpp>

namespace gradsolve::detail {

/// Replay and adjoint in one launch. Each of `num_slots` threads (warps on a GPU) takes slice after
/// slice, keeps the states of the slice it is at in a buffer of its own, and sweeps back over them:
/// the buffer is as long as the tallest slice and stays in cache, whatever the size of the
/// ensemble.
///
/// The reverse sweep counts rows down from the slice's longest trajectory, so that the lanes of a
/// warp load adjacent states; a lane idles (h = 0) until its own last step.
template <class M, class F, class L, class Seed>
struct GradientKernel {
  using S = ScalarOf<L>;
  static constexpr int N = F::num_states, P = F::num_params;
  static constexpr int width = LaneTraits<L>::width;

  F f;
  StridedMatrix<const S> u0, params;
  PerTrajectory<S> t0;
  MeshAccess<S> mesh;
  const Status* status;
  Seed seed;
  int num_slots;
  S* buffer;        // (num_slots, max_rows, N, mesh.width)
  unsigned* taken;  // slices taken so far, in this and in all earlier launches
  unsigned taken_before;

  StridedMatrix<S> states, du0, dparams;
  S* loss;  // null: not wanted

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    constexpr int threads = Backend<typename Member::execution_space>::threads_per_slice;
    const int slot = slice_of(team);
    if (slot >= num_slots) return;
    for (int slice = slot; slice < mesh.num_slices; slice = next_slice(team))
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, threads),
                           [&](int thread) { sweep(slot, slice, thread * width); });
  }

  /// Slices differ in length: a slot that is through takes the next one that nobody has.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION int next_slice(const Member& team) const {
    int slice = 0;
    Kokkos::single(
        Kokkos::PerThread(team),
        [&](int& next) {
          next = num_slots + static_cast<int>(Kokkos::atomic_fetch_add(taken, 1u) - taken_before);
        },
        slice);
    return slice;
  }

  KOKKOS_FUNCTION GRADSOLVE_FLATTEN void sweep(int slot, int slice, int first_lane) const {
    const LaneIndices<L> lanes(mesh.order, slice * mesh.width + first_lane);
    const ParamsOf<F, L> p = lanes.template gather<P>(params);
    const L t_begin = lanes.gather(t0);
    S* const kept = buffer + std::int64_t(slot) * mesh.max_rows * N * mesh.width + first_lane;

    StateOf<F, L> u = lanes.template gather<N>(u0);
    for_each_step(mesh, slice, first_lane, t_begin,
                  [&](int row, const L& t, const L& t_end) GRADSOLVE_INLINE_LAMBDA {
                    for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA {
                      store(kept + (std::int64_t(row) * N + i) * mesh.width, u[i]);
                    });
                    update_where(t_end != t, u, [&] { return step<M>(f, t, t_end, u, p); });
                  });
    if (states.data != nullptr) lanes.scatter(u, states);

    StateOf<F, L> lambda;
    ParamsOf<F, L> pbar;
    const L value = seed(lanes, u, p, lambda, pbar);
    reverse(slice, first_lane, kept, t_begin, p, lambda, pbar);
    write(lanes, value, lambda, pbar);
  }

  KOKKOS_FORCEINLINE_FUNCTION void reverse(int slice, int first_lane, const S* kept,
                                           const L& t_begin, const ParamsOf<F, L>& p,
                                           StateOf<F, L>& lambda, ParamsOf<F, L>& pbar) const {
    const int rows = mesh.num_rows[slice];
    if (rows == 0) return;
    const S* const ends = mesh.ends_of(slice, first_lane);
    auto start_of = [&](int row) GRADSOLVE_INLINE_LAMBDA {
      return row > 0 ? load<L>(ends + std::int64_t(row - 1) * mesh.width) : t_begin;
    };
    auto state_at = [&](int row) GRADSOLVE_INLINE_LAMBDA {
      StateOf<F, L> u;
      for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA {
        u[i] = load<L>(kept + (std::int64_t(row) * N + i) * mesh.width);
      });
      return u;
    };
    L t_end = load<L>(ends + std::int64_t(rows - 1) * mesh.width);
    L t = start_of(rows - 1);
    StateOf<F, L> u = state_at(rows - 1);
    for (int row = rows - 1; row >= 0; --row) {
      const int next = row > 0 ? row - 1 : 0;
      const L t_next = start_of(next);
      const StateOf<F, L> u_next = state_at(next);
      step_back(t, t_end, u, p, lambda, pbar);
      t_end = t;
      t = t_next;
      copy(u_next, u);
    }
  }

  /// Lanes without a step here (h = 0) keep their cotangents, whatever f does there.
  KOKKOS_FORCEINLINE_FUNCTION void step_back(const L& t, const L& t_end, const StateOf<F, L>& u,
                                             const ParamsOf<F, L>& p, StateOf<F, L>& lambda,
                                             ParamsOf<F, L>& pbar) const {
    const MaskOf<L> moves = t_end != t;
    TimeAdjoints<L> unused{};
    if constexpr (std::is_same_v<MaskOf<L>, bool>) {
      if (moves) step_adjoint<false, M, F, L>(f, t, t_end, u, p, lambda, pbar, unused);
    } else {
      StateOf<F, L> new_lambda;
      ParamsOf<F, L> new_pbar;
      copy(lambda, new_lambda);
      if constexpr (P > 0) copy(pbar, new_pbar);
      step_adjoint<false, M, F, L>(f, t, t_end, u, p, new_lambda, new_pbar, unused);
      keep_where(moves, new_lambda, lambda);
      if constexpr (P > 0) keep_where(moves, new_pbar, pbar);
    }
  }

  /// A trajectory that did not reach t1 has no gradient: NaN, which cannot be taken for one.
  KOKKOS_FUNCTION void write(const LaneIndices<L>& lanes, L value, StateOf<F, L>& lambda,
                             ParamsOf<F, L>& pbar) const {
    const S nan = Kokkos::Experimental::quiet_NaN_v<S>;
    for (int lane = 0; lane < width; ++lane) {
      if (!lanes.used(lane)) continue;
      if (status[lanes.index[lane]] != Status::success) {
        set_lane(value, lane, nan);
        for_each_index<N>([&](int i) { set_lane(lambda[i], lane, nan); });
        for_each_index<P>([&](int i) { set_lane(pbar[i], lane, nan); });
      }
      if (loss != nullptr) loss[lanes.index[lane]] = lane_of(value, lane);
    }
    lanes.scatter(lambda, du0);
    lanes.scatter(pbar, dparams);
  }
};

}  // namespace gradsolve::detail
