// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/kernels/replay_kernel.hpp>

/// Forward derivatives of the replay: the same steps, with duals.
namespace gradsolve::detail {

/// Numbers by (trajectory, component, direction), or (trajectory, save, component, direction).
template <class S>
struct TangentSink {
  using Scalar = S;
  StridedCube<S> states;  // (n, saves, N)
  S* tangents = nullptr;  // at [trajectory s0 + save s1 + component s2 + direction s3]
  Stride s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  int first = 0, size = 1;  // directions that this pass is at, and their number in all

  KOKKOS_FORCEINLINE_FUNCTION void operator()(int trajectory, int save, int i, int part,
                                              S x) const {
    if (part == 0)
      states(trajectory, save, i) = x;
    else if (first + part - 1 < size)
      tangents[std::size_t(trajectory) * s0 + std::size_t(save) * s1 + std::size_t(i) * s2 +
               std::size_t(first + part - 1) * s3] = x;
  }
};

/// One direction for all states and parameters, given in arrays.
template <class S>
struct GivenDirection {
  static constexpr int chunk = 1;
  Direction<S> direction;

  template <class F, class L>
  KOKKOS_FORCEINLINE_FUNCTION void seed(const F& f, const LaneIndices<L>& lanes, int, int,
                                        const StateOf<F, L>& u, const ParamsOf<F, L>& p,
                                        StateOf<F, Dual<L, 1>>& ud,
                                        ParamsOf<F, Dual<L, 1>>& pd) const {
    copy(states_in_direction(f, lanes, u, direction.u0), ud);
    if constexpr (F::num_params > 0) copy(params_in_direction(lanes, p, direction.params), pd);
  }
};

/// Chosen variables of (u0, params), a chunk of them at a time: direction k is the unit vector of
/// variable[k].
template <int Chunk>
struct UnitDirections {
  static constexpr int chunk = Chunk;
  const int* variable;

  template <class F, class L>
  KOKKOS_FORCEINLINE_FUNCTION void seed(const F& f, const LaneIndices<L>&, int first, int size,
                                        const StateOf<F, L>& u, const ParamsOf<F, L>& p,
                                        StateOf<F, Dual<L, Chunk>>& ud,
                                        ParamsOf<F, Dual<L, Chunk>>& pd) const {
    for_each_index<F::num_states>([&](int i) GRADSOLVE_INLINE_LAMBDA { ud[i] = u[i]; });
    if constexpr (F::num_params > 0)
      for_each_index<F::num_params>([&](int i) GRADSOLVE_INLINE_LAMBDA { pd[i] = p[i]; });
    static_for<Chunk>([&](auto k) GRADSOLVE_INLINE_LAMBDA {
      const int v = first + k < size ? variable[first + k] : -1;
      constexpr int given = num_given_states_v<Whole<F>>;
      for_each_index<F::num_states>([&](int i) GRADSOLVE_INLINE_LAMBDA {
        const int component = component_of(f, i);
        ud[i].tangent[k] = L(v >= 0 && v < given && v == component ? 1 : 0);
      });
      if constexpr (F::num_params > 0)
        for_each_index<F::num_params>(
            [&](int i) GRADSOLVE_INLINE_LAMBDA { pd[i].tangent[k] = L(v == given + i ? 1 : 0); });
    });
  }
};

/// The states and their derivatives in all directions, a chunk of directions after the other.
template <class M, class F, class L, class Directions, class Saves>
struct TangentKernel {
  using S = ScalarOf<L>;
  using T = Dual<L, Directions::chunk>;
  using System = F;
  using Method = M;
  using Number = T;
  static constexpr int N = F::num_states;

  F f;
  bool find_start;  // as Options::find_consistent_start
  Inputs<S> in;
  MeshAccess<S> mesh;
  Directions directions;
  StridedMatrix<S> states;
  TangentSink<S> final_tangents;  // save 0
  Saves saves;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    for_slice(*this, team, [](const auto& kernel, int slice, int lane) {
      for (int first = 0; first < kernel.final_tangents.size; first += Directions::chunk)
        kernel.replay(slice, lane, first);
    });
  }

  KOKKOS_FUNCTION GRADSOLVE_FLATTEN void replay(int slice, int first_lane, int first) const {
    const LaneIndices<L> lanes(mesh.order, slice * mesh.width + first_lane);
    const Steps<L> steps(mesh, lanes.gather(in.t0), slice, first_lane);
    StateOf<F, T> u;
    ParamsOf<F, T> p;
    directions.seed(f, lanes, first, final_tangents.size, initial_states<F>(f, lanes, in.u0),
                    lanes.template gather<F::num_params>(in.params), u, p);
    prepare_start(f, find_start, T(steps.begin()), u, p);
    Saves saves_now = saves;
    if constexpr (Saves::active) saves_now.sink.first = first;
    StateSaver<M, F, T, Saves> saver(f, saves_now, lanes, steps.begin(), lanes.gather(in.t1));
    saver.start(steps.begin(), u);
    steps.for_each([&](int, const L& t, const L& t_end) GRADSOLVE_INLINE_LAMBDA {
      const MaskOf<L> moves = t_end != t;
      if constexpr (Saves::active) {
        StateOf<F, T> before;
        copy(u, before);
        update_where(moves, u, [&] { return step<M>(f, t, t_end, u, p); });
        saver.step(t, t_end, moves, before, u, p);
      } else {
        update_where(moves, u, [&] { return step<M>(f, t, t_end, u, p); });
      }
    });
    saver.finish();
    lanes.template scatter_states<Whole<F>::num_states>(f, part_of<0>(u), states);
    TangentSink<S> sink = final_tangents;
    sink.first = first;
    for (int lane = 0; lane < LaneTraits<L>::width; ++lane) {
      if (!lanes.used(lane)) continue;
      for_each_index<N>([&](int place) GRADSOLVE_INLINE_LAMBDA {
        const int i = component_of(f, place);
        if (i < 0) return;
        static_for<Directions::chunk>([&](auto k) GRADSOLVE_INLINE_LAMBDA {
          sink(lanes.index[lane], 0, i, k + 1, lane_of(u[place].tangent[k], lane));
        });
      });
    }
  }
};

}  // namespace gradsolve::detail
