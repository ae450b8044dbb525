// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ad/replicated.hpp>
#include <gradsolve/ad/spread.hpp>
#include <gradsolve/detail/strided.hpp>
#include <gradsolve/lanes/lanes.hpp>
#include <gradsolve/mesh/mesh.hpp>
#include <gradsolve/stepping/weights.hpp>

#include <type_traits>

/// How every sweep walks an ensemble: a slice for each thread of a team, and the lanes of the slice
/// over its vector lanes. On a GPU that is a warp a slice and a trajectory a thread, on a CPU one
/// thread with one pack. Of a spread system, a slice is one trajectory, on all threads of a warp.
///
/// A kernel tells its System, its Method and the Number type of its states, from which follows what
/// scratch memory a slice needs.
namespace gradsolve::detail {

/// Of scratch memory, in bytes.
inline constexpr int scratch_alignment = 16;

/// Scratch memory of a slice: on chip, where it fits there.
template <class Kernel>
inline constexpr int scratch_bytes_v = [] {
  if constexpr (is_spread<typename Kernel::System>)
    return int(Kernel::System::template scratch_bytes<typename Kernel::Number>(
        ImplicitMethod<typename Kernel::Method>));
  else if constexpr (requires { Kernel::System::Sums::scratch_bytes; })
    return int(Kernel::System::Sums::scratch_bytes);
  else
    return 0;
}();
template <class Kernel>
inline constexpr int scratch_level_v = scratch_bytes_v<Kernel> <= 39 * 1024 ? 0 : 1;

template <class Kernel, class Exec>
auto slice_policy(const Exec& exec, int num_slices) {
  using B = Backend<Exec>;
  constexpr int bytes = scratch_bytes_v<Kernel>;
  constexpr int slices_per_team = is_spread<typename Kernel::System> ? 1 : B::slices_per_team;
  const int num_teams = (num_slices + slices_per_team - 1) / slices_per_team;
  Kokkos::TeamPolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>> policy(
      exec, num_teams, slices_per_team, B::threads_per_slice);
  if constexpr (bytes > 0)
    policy.set_scratch_size(scratch_level_v<Kernel>, Kokkos::PerThread(bytes + scratch_alignment));
  return policy;
}

template <class Exec, class Kernel>
void launch_slices(const char* label, const Exec& exec, int num_slices, const Kernel& kernel) {
  Kokkos::parallel_for(label, slice_policy<Kernel>(exec, num_slices), kernel);
}

/// The slice (or slot) of this thread.
template <class Member>
KOKKOS_FORCEINLINE_FUNCTION int slice_of(const Member& team) {
  return team.league_rank() * team.team_size() + team.team_rank();
}

template <class Kernel, class Member>
KOKKOS_FORCEINLINE_FUNCTION void* slice_scratch(const Member& team) {
  constexpr int level = scratch_level_v<Kernel>, bytes = scratch_bytes_v<Kernel>;
  if constexpr (bytes > 0)
    return team.thread_scratch(level).get_shmem_aligned(bytes, scratch_alignment);
  else
    return nullptr;
}
/// The kernel as a thread sees it: a copy whose system knows its place, where it asks for that.
template <class Kernel>
KOKKOS_FORCEINLINE_FUNCTION decltype(auto) on_thread(const Kernel& kernel,
                                                     [[maybe_unused]] void* scratch,
                                                     [[maybe_unused]] int thread,
                                                     [[maybe_unused]] int slot = 0) {
  if constexpr (requires(typename Kernel::System f) { f.bind(slot, scratch, thread); }) {
    Kernel own(kernel);
    own.f.bind(slot, scratch, thread);
    return own;
  } else {
    return (kernel);
  }
}
/// The first lane of a thread in its slice.
template <class Kernel>
KOKKOS_FORCEINLINE_FUNCTION constexpr int first_lane_of(int thread) {
  using L = LaneBeneathT<typename Kernel::Number>;
  constexpr int group = group_threads_v<typename Kernel::System>;
  return is_spread<typename Kernel::System> ? 0 : thread / group * LaneTraits<L>::width;
}

/// Threads of a warp that a trajectory takes: one; a group of them, which shares layers of neurons;
/// or all, over which its states are spread.
template <class Exec, class F, class M>
constexpr int threads_per_trajectory() {
  constexpr int all = Backend<Exec>::threads_per_slice, wanted = threads_per_trajectory_v<F>;
  constexpr int group = threads_per_group;
  constexpr bool may_group =
      !ImplicitMethod<M> && SystemOn<F, Replicated<double, WarpGroup<group>>>;
  constexpr bool may_spread =
      !HasMassMatrix<F> && !HasWeights<F> && !EsdirkMethod<M> && SystemOn<F, Dual<double, 1>>;
  static_assert(wanted == 0 || wanted == 1 || wanted == group || wanted == 32,
                "threads_per_trajectory is 1, 4 or 32, or 0 for what is faster");
  static_assert(
      wanted != 32 || may_spread || !Backend<Exec>::can_spread,
      "32 threads a trajectory: not for systems with a mass matrix or weights, ESDIRK methods and "
      "right-hand sides that are no templates");
  if constexpr (!Backend<Exec>::can_spread || wanted == 1) return 1;
  if constexpr (wanted == group) return may_group ? group : 1;
  if constexpr (wanted == 32) return all;
  return may_spread && num_given_states_v<F> >= spread_from ? all : 1;
}
/// The system as the kernels of Exec see it.
template <class Exec, class M, class F>
auto system_on(const F& f) {
  constexpr int threads = threads_per_trajectory<Exec, F, M>();
  if constexpr (threads == 1)
    return f;
  else if constexpr (threads == threads_per_group)
    return OnGroup<F, WarpGroup<threads>>{f};
  else
    return Spread<F, threads>{f, 0, nullptr};
}
template <class Exec, class M, class F>
using SystemOnT = decltype(system_on<Exec, M>(std::declval<const F&>()));

/// Trajectories of a slice.
template <class Exec, class L, class F, class M>
inline constexpr int slice_width =
    Backend<Exec>::threads_per_slice * LaneTraits<L>::width / threads_per_trajectory<Exec, F, M>();

/// Rows of states that sweeps keep: the numbers of a slice's threads side by side.
template <class F>
KOKKOS_INLINE_FUNCTION int row_width(int mesh_width) {
  if constexpr (is_spread<F>)
    return F::threads;
  else
    return mesh_width;
}
/// Numbers in such a row.
template <class F>
std::size_t row_numbers(int mesh_width) {
  return std::size_t(F::num_states) * row_width<F>(mesh_width);
}
template <class F>
KOKKOS_FORCEINLINE_FUNCTION int place_in_row(const F& f, int first_lane) {
  if constexpr (is_spread<F>)
    return f.thread;
  else
    return first_lane;
}

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
  /// The states of a system; those from number `Given` of the user's on start(i).
  template <int Given, class F, class T, class Start>
  KOKKOS_FORCEINLINE_FUNCTION StateOf<F, L> gather_states(const F& f, const StridedMatrix<T>& from,
                                                          const Start& start) const {
    StateOf<F, L> x;
    for_each_index<F::num_states>([&](int place) GRADSOLVE_INLINE_LAMBDA {
      const int i = component_of(f, place);
      x[place] = L(0);
      if (i < 0) return;
      if (i < Given)
        for (int lane = 0; lane < width; ++lane) set_lane(x[place], lane, from(source(lane), i));
      else
        x[place] = start(i - Given);
    });
    return x;
  }
  /// Writes the first `Given` of them.
  template <int Given, class F, class T>
  KOKKOS_FORCEINLINE_FUNCTION void scatter_states(const F& f, const StateOf<F, L>& x,
                                                  const StridedMatrix<T>& to) const {
    for_each_index<F::num_states>([&](int place) GRADSOLVE_INLINE_LAMBDA {
      const int i = component_of(f, place);
      if (i < 0 || i >= Given) return;
      for (int lane = 0; lane < width; ++lane)
        if (used(lane)) to(index[lane], i) = lane_of(x[place], lane);
    });
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
