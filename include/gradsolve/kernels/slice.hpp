// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ad/vector.hpp>
#include <gradsolve/detail/strided.hpp>
#include <gradsolve/lanes/lanes.hpp>
#include <gradsolve/mesh/mesh.hpp>

#include <type_traits>

/// How every sweep walks an ensemble: a slice for each thread of a team, and the lanes of the slice
/// over its vector lanes. On a GPU that is a warp a slice and a trajectory a thread, on a CPU one
/// thread with one pack.
namespace gradsolve::detail {

template <class Exec>
auto slice_policy(const Exec& exec, int num_slices) {
  using B = Backend<Exec>;
  const int num_teams = (num_slices + B::slices_per_team - 1) / B::slices_per_team;
  return Kokkos::TeamPolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>>(
      exec, num_teams, B::slices_per_team, B::threads_per_slice);
}

/// The slice (or slot) of this thread.
template <class Member>
KOKKOS_FORCEINLINE_FUNCTION int slice_of(const Member& team) {
  return team.league_rank() * team.team_size() + team.team_rank();
}

template <class Exec, class L>
inline constexpr int slice_width = Backend<Exec>::threads_per_slice * LaneTraits<L>::width;

/// The trajectories of one thread.
template <class L>
struct LaneIndices {
  static constexpr int width = LaneTraits<L>::width;
  int index[width];  // -1: none

  KOKKOS_FORCEINLINE_FUNCTION LaneIndices(const int* order, int first) {
    for (int lane = 0; lane < width; ++lane) index[lane] = order[first + lane];
  }
  KOKKOS_FORCEINLINE_FUNCTION bool used(int lane) const { return index[lane] >= 0; }
  /// A lane without a trajectory reads those of the first and writes nothing.
  KOKKOS_FORCEINLINE_FUNCTION int source(int lane) const { return used(lane) ? index[lane] : 0; }

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION L gather(const PerTrajectory<T>& from) const {
    L x;
    for (int lane = 0; lane < width; ++lane) set_lane(x, lane, from(source(lane)));
    return x;
  }
  template <int N, class T>
  KOKKOS_FORCEINLINE_FUNCTION Vector<L, N> gather(const StridedMatrix<T>& from) const {
    Vector<L, N> x;
    for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA {
      for (int lane = 0; lane < width; ++lane) set_lane(x[i], lane, from(source(lane), i));
    });
    return x;
  }
  template <int N, class T>
  KOKKOS_FORCEINLINE_FUNCTION void scatter(const Vector<L, N>& x,
                                           const StridedMatrix<T>& to) const {
    for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA {
      for (int lane = 0; lane < width; ++lane)
        if (used(lane)) to(index[lane], i) = lane_of(x[i], lane);
    });
  }
};

}  // namespace gradsolve::detail
