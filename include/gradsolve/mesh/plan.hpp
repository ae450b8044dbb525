// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/mesh/mesh.hpp>

#include <Kokkos_Core.hpp>
#include <Kokkos_NestedSort.hpp>

#include <algorithm>
#include <string>

/// Lays out a mesh once the number of steps of every trajectory is known.
namespace gradsolve::detail {

/// Trajectories are sorted within windows of this many: enough to fill every slice evenly, and the
/// inputs of a slice stay near one another. (Not those of the few that LongOnesFirst moves.)
inline constexpr int sort_window = 2048;

/// Puts the trajectories that take much longer than the mean before the others, by falling powers
/// of two: slices start in their order, and the longest must not start last. Otherwise the order is
/// that of the ensemble, so that neighbours stay near one another.
template <class MemorySpace>
struct LongOnesFirst {
  static constexpr int num_classes = 8;

  int n;
  double mean;
  Kokkos::View<const int*, MemorySpace> num_steps;
  Kokkos::View<int*, MemorySpace> order;

  KOKKOS_FUNCTION int class_of(int j) const {
    int c = 0;
    for (double bound = 2 * mean; c < num_classes - 1 && num_steps(j) > bound; bound *= 2) ++c;
    return c;
  }
  /// A scan over all trajectories for each class, in one.
  KOKKOS_FUNCTION void operator()(std::int64_t i, int& place, bool final) const {
    const int j = static_cast<int>(i % n), c = num_classes - 1 - static_cast<int>(i / n);
    if (class_of(j) != c) return;
    if (final) order(place) = j;
    ++place;
  }
};

/// Sorts the trajectories of a window by falling number of steps, equal ones by index.
template <class MemorySpace>
struct SortWindow {
  using Key = std::uint64_t;
  template <class Exec>
  using Keys = Kokkos::View<Key*, typename Exec::scratch_memory_space,
                            Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  int n, num_lanes;
  bool reordered;  // whether `order` holds the order to start from, and not that of the ensemble
  Kokkos::View<const int*, MemorySpace> num_steps;
  Kokkos::View<int*, MemorySpace> order;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    using Exec = typename Member::execution_space;
    const int begin = team.league_rank() * sort_window;
    const int left = num_lanes - begin, count = left < sort_window ? left : sort_window;
    Keys<Exec> keys(team.team_scratch(0), count);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count), [&](int i) {
      if (begin + i < n) {
        const int j = reordered ? order(begin + i) : begin + i;
        keys(i) = ((~static_cast<Key>(num_steps(j))) << 32) | static_cast<Key>(j);
      } else {
        keys(i) = ~Key(0);
      }
    });
    team.team_barrier();
    Kokkos::Experimental::sort_team(team, keys);
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count), [&](int i) {
      order(begin + i) = keys(i) == ~Key(0) ? -1 : static_cast<int>(keys(i) & 0xffffffffu);
    });
  }
};

/// Rows of each slice, with room to grow, summed up.
template <class MemorySpace>
struct SliceRows {
  int width;
  double slack;
  Kokkos::View<const int*, MemorySpace> num_steps;
  Kokkos::View<const int*, MemorySpace> order;
  Kokkos::View<std::int64_t*, MemorySpace> first_row;

  KOKKOS_FUNCTION int rows(int slice) const {
    int longest = 0;
    for (int lane = 0; lane < width; ++lane) {
      const int j = order(slice * width + lane);
      if (j >= 0) longest = Kokkos::max(longest, num_steps(j));
    }
    return longest + static_cast<int>(slack * longest + (slack > 0 ? 2 : 0));
  }
  KOKKOS_FUNCTION void operator()(int slice, std::int64_t& sum, bool final) const {
    if (final) first_row(slice) = sum;
    sum += rows(slice);
    if (final) first_row(slice + 1) = sum;
  }
  struct Longest {
    SliceRows plan;
    KOKKOS_FUNCTION void operator()(int slice, int& longest) const {
      longest = Kokkos::max(longest, plan.rows(slice));
    }
  };
};

/// Allocates `view` to hold at least `size` elements; keeps what is there where it is enough.
template <class Exec, class View>
void reserve(const Exec& exec, View& view, std::size_t size, const std::string& label) {
  if (view.extent(0) < size) {
    view = View();  // never both at once
    view = View(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label), size);
  }
}

/// Puts trajectories of like numbers of steps side by side. Synchronises exec.
template <class Exec, class Scalar, class MemorySpace>
void sort_by_steps(const Exec& exec, const Mesh<Scalar, MemorySpace>& mesh,
                   const Kokkos::View<int*, MemorySpace>& num_steps) {
  const int n = mesh.num_trajectories, num_lanes = mesh.num_slices * mesh.width;
  // A host's threads take slices from both ends of the ensemble, in chunks: there, nothing moves.
  constexpr bool on_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Exec::memory_space>::accessible;
  bool uneven = false;
  if (!on_host) {
    std::int64_t total = 0;
    int longest = 0;
    Kokkos::parallel_reduce(
        "gradsolve::plan::steps", Kokkos::RangePolicy<Exec>(exec, 0, n),
        KOKKOS_LAMBDA(int j, std::int64_t& sum, int& most) {
          sum += num_steps(j);
          most = Kokkos::max(most, num_steps(j));
        },
        total, Kokkos::Max<int>(longest));
    using First = LongOnesFirst<MemorySpace>;
    const First first{n, double(total) / n, num_steps, mesh.order};
    uneven = longest > 2 * first.mean;
    using Scan = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
    if (uneven)
      Kokkos::parallel_scan("gradsolve::plan::long_ones_first",
                            Scan(exec, 0, std::int64_t(n) * First::num_classes), first);
  }

  const int num_windows = (num_lanes + sort_window - 1) / sort_window;
  using Sort = SortWindow<MemorySpace>;
  using Policy = Kokkos::TeamPolicy<Exec>;
  Sort sort{n, num_lanes, uneven, num_steps, mesh.order};
  const int scratch = Sort::template Keys<Exec>::shmem_size(sort_window);
  Policy policy(exec, num_windows, Kokkos::AUTO);
  policy.set_scratch_size(0, Kokkos::PerTeam(scratch));
  Kokkos::parallel_for("gradsolve::plan::sort", policy, sort);
}

/// Sorts, where asked to, and slices. Slices have `slack` (a share of their rows) to spare, for the
/// next record into the same mesh. Synchronises exec.
template <class Exec, class Scalar, class MemorySpace>
void plan(const Exec& exec, Mesh<Scalar, MemorySpace>& mesh,
          const Kokkos::View<int*, MemorySpace>& num_steps, bool sort, double slack) {
  if (sort) sort_by_steps(exec, mesh, num_steps);

  SliceRows<MemorySpace> rows{mesh.width, slack, num_steps, mesh.order, mesh.first_row};
  const Kokkos::RangePolicy<Exec> slices(exec, 0, mesh.num_slices);
  Kokkos::parallel_scan("gradsolve::plan::rows", slices, rows, mesh.total_rows);
  Kokkos::parallel_reduce("gradsolve::plan::longest", slices,
                          typename SliceRows<MemorySpace>::Longest{rows},
                          Kokkos::Max<int>(mesh.max_rows));
}

}  // namespace gradsolve::detail
