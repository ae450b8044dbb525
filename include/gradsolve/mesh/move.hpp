// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/detail/strided.hpp>
#include <gradsolve/mesh/mesh.hpp>
#include <gradsolve/mesh/plan.hpp>

/// Where a trajectory has another time span now than when it was recorded, its steps move with it:
/// what was recorded at t of [t0, t1] is at
///
///     t0' + (t - t0) (t1' - t0') / (t1 - t0)
///
/// of [t0', t1'], and at t1' exactly where t was t1.
namespace gradsolve::detail {

/// The moved steps, beside the recorded ones. Workspace of a sweep; without memory unless a
/// span moves or is given as a View, of which the host cannot tell.
template <class Scalar, class MemorySpace>
struct MovedMesh {
  Kokkos::View<Scalar*, MemorySpace> ends;
  Kokkos::View<int*, MemorySpace> slices;  // 1: it has moved
};

template <class S>
struct MoveSlices {
  MeshAccess<S> mesh;
  const S *old_t0, *old_t1;  // as recorded
  PerTrajectory<S> t0, t1;
  int* moved;

  KOKKOS_FUNCTION bool has_moved(int trajectory) const {
    return trajectory >= 0 &&
           (old_t0[trajectory] != t0(trajectory) || old_t1[trajectory] != t1(trajectory));
  }
  KOKKOS_FUNCTION void operator()(int slice) const {
    moved[slice] = 0;
    for (int lane = 0; lane < mesh.width; ++lane)
      if (has_moved(mesh.order[slice * mesh.width + lane])) moved[slice] = 1;
  }
};

template <class S>
struct MoveEnds {
  MoveSlices<S> spans;
  S* ends;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const MeshAccess<S>& mesh = spans.mesh;
    const int slice = static_cast<int>(i / mesh.width), lane = static_cast<int>(i % mesh.width);
    if (spans.moved[slice] == 0) return;
    const int j = mesh.order[i];
    const std::int64_t first = mesh.first_row[slice] * mesh.width + lane;
    S old_t0(0), old_t1(0), new_t0(0), new_t1(0);
    if (j >= 0) {
      old_t0 = spans.old_t0[j];
      old_t1 = spans.old_t1[j];
      new_t0 = spans.t0(j);
      new_t1 = spans.t1(j);
    }
    const bool still = !spans.has_moved(j);
    const S ratio = old_t1 == old_t0 ? S(0) : (new_t1 - new_t0) / (old_t1 - old_t0);
    for (int row = 0; row < mesh.num_rows[slice]; ++row) {
      const S t = mesh.ends[first + std::int64_t(row) * mesh.width];
      S& end = ends[first + std::int64_t(row) * mesh.width];
      if (still)
        end = t;
      else if (old_t0 == old_t1)
        end = new_t0;  // it has no steps
      else
        end = t == old_t1 ? new_t1 : new_t0 + (t - old_t0) * ratio;
    }
  }
};

/// The mesh on the ensemble's time spans. Costs nothing where they are two numbers, the recorded
/// ones. Asynchronous in exec.
template <class Exec, class S, class MemorySpace>
MeshAccess<S> mesh_on_span(const Exec& exec, const Mesh<S, MemorySpace>& mesh,
                           const PerTrajectory<S>& t0, const PerTrajectory<S>& t1,
                           MovedMesh<S, MemorySpace>& moved) {
  MeshAccess<S> access(mesh);
  auto same = [](const PerTrajectory<S>& a, const PerTrajectory<S>& b) {
    return a.data == nullptr && b.data == nullptr && a.value == b.value;
  };
  if (mesh.num_trajectories == 0 || (same(t0, mesh.recorded_t0) && same(t1, mesh.recorded_t1)))
    return access;
  reserve(exec, moved.slices, mesh.num_slices, "gradsolve::MovedMesh::slices");
  reserve(exec, moved.ends, mesh.ends.extent(0), "gradsolve::MovedMesh::ends");
  const MoveSlices<S> slices{access, mesh.t0.data(), mesh.t1.data(), t0, t1, moved.slices.data()};
  Kokkos::parallel_for("gradsolve::move::slices",
                       Kokkos::RangePolicy<Exec>(exec, 0, mesh.num_slices), slices);
  Kokkos::parallel_for("gradsolve::move",
                       Kokkos::RangePolicy<Exec>(exec, 0, mesh.num_slices * mesh.width),
                       MoveEnds<S>{slices, moved.ends.data()});
  access.moved_slices = moved.slices.data();
  access.moved_ends = moved.ends.data();
  return access;
}

}  // namespace gradsolve::detail
