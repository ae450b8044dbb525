// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/kernels/save_states.hpp>
#include <gradsolve/kernels/steps.hpp>
#include <gradsolve/stepping/consistent_start.hpp>
#include <gradsolve/stepping/step.hpp>

namespace gradsolve::detail {

/// Calls sweep(kernel, slice, first_lane) for the slice of this thread, on each of its threads.
template <class Kernel, class Member, class Sweep>
KOKKOS_FORCEINLINE_FUNCTION void for_slice(const Kernel& kernel, const Member& team,
                                           Sweep&& sweep) {
  const int slice = slice_of(team);
  if (slice >= kernel.mesh.num_slices) return;
  constexpr int threads = Backend<typename Member::execution_space>::threads_per_slice;
  void* const scratch = slice_scratch<Kernel>(team);
  Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, threads), [&](int thread) {
    sweep(on_thread(kernel, scratch, thread), slice, first_lane_of<Kernel>(thread));
  });
}

/// The fixed-mesh solve: final states, and those at save times.
template <class M, class F, class L, class Saves>
struct ReplayKernel {
  using System = F;
  using Method = M;
  using Number = L;
  using S = ScalarOf<L>;

  F f;
  bool find_start;  // as Options::find_consistent_start
  Inputs<S> in;
  MeshAccess<S> mesh;
  StridedMatrix<S> states;
  Saves saves;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    for_slice(*this, team,
              [](const auto& kernel, int slice, int lane) { kernel.replay(slice, lane); });
  }

  KOKKOS_FUNCTION GRADSOLVE_FLATTEN void replay(int slice, int first_lane) const {
    const LaneIndices<L> lanes(mesh.order, slice * mesh.width + first_lane);
    const Steps<L> steps(mesh, lanes.gather(in.t0), slice, first_lane);
    StateOf<F, L> u = initial_states<F>(f, lanes, in.u0);
    const ParamsOf<F, L> p = lanes.template gather<F::num_params>(in.params);
    prepare_start(f, find_start, steps.begin(), u, p);
    StateSaver<M, F, L, Saves> saver(f, saves, lanes, steps.begin(), lanes.gather(in.t1));
    saver.start(steps.begin(), u);
    steps.for_each([&](int, const L& t, const L& t_end) GRADSOLVE_INLINE_LAMBDA {
      const MaskOf<L> moves = t_end != t;
      if constexpr (Saves::active) {
        const StateOf<F, L> before = u;
        update_where(moves, u, [&] { return step<M>(f, t, t_end, u, p); });
        saver.step(t, t_end, moves, before, u, p);
      } else {
        update_where(moves, u, [&] { return step<M>(f, t, t_end, u, p); });
      }
    });
    saver.finish();
    lanes.template scatter_states<Whole<F>::num_states>(f, u, states);
  }
};

/// The fixed-mesh solve that watches its mesh: the largest (error / tolerance) of the steps of each
/// trajectory.
template <class M, class F, class L>
struct ErrorRatioKernel {
  using System = F;
  using Method = M;
  using Number = L;
  using S = ScalarOf<L>;

  F f;
  bool find_start;  // as Options::find_consistent_start
  Inputs<S> in;
  MeshAccess<S> mesh;
  Tolerances<S> tolerances;
  StridedMatrix<S> states;
  S* error_ratio;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    for_slice(*this, team,
              [](const auto& kernel, int slice, int lane) { kernel.replay(slice, lane); });
  }

  KOKKOS_FUNCTION GRADSOLVE_FLATTEN void replay(int slice, int first_lane) const {
    const LaneIndices<L> lanes(mesh.order, slice * mesh.width + first_lane);
    const Steps<L> steps(mesh, lanes.gather(in.t0), slice, first_lane);
    StateOf<F, L> u = initial_states<F>(f, lanes, in.u0);
    const ParamsOf<F, L> p = lanes.template gather<F::num_params>(in.params);
    prepare_start(f, find_start, steps.begin(), u, p);
    L largest(0);
    steps.for_each([&](int, const L& t, const L& t_end) GRADSOLVE_INLINE_LAMBDA {
      const MaskOf<L> moves = t_end != t;
      StateOf<F, L> k0;
      if constexpr (takes_slope_v<M>) copy(evaluate(f, t, u, p), k0);
      const Attempt<F, L> a = attempt<M>(f, t, t_end, u, p, k0, tolerances);
      keep_where(moves, a.u, u);
      // A ratio that is not a number counts as infinite.
      const L ratio2 =
          select(a.ratio2 == a.ratio2, a.ratio2, L(Kokkos::Experimental::infinity_v<S>));
      largest = select(moves, max(largest, ratio2), largest);
    });
    lanes.template scatter_states<Whole<F>::num_states>(f, u, states);
    for (int lane = 0; lane < LaneTraits<L>::width; ++lane)
      if (lanes.used(lane)) error_ratio[lanes.index[lane]] = Kokkos::sqrt(lane_of(largest, lane));
  }
};

}  // namespace gradsolve::detail
