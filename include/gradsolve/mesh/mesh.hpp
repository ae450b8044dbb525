// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/detail/strided.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace gradsolve {

/// The accepted steps of an ensemble: the end time of every step, 8 bytes (float: 4) a step.
///
/// Trajectories are sorted by their number of steps and cut into slices of `width`, one warp on a
/// GPU or one SIMD pack on a CPU. A slice is as many rows as its longest trajectory has steps; row
/// r holds, for each of its lanes, where step r ends (SELL-C-sigma, as sparse matrices are stored).
/// A lane that is through repeats its last time: its remaining steps have h = 0. h = 0 is an
/// identity.
template <class Scalar, class MemorySpace>
struct Mesh {
  bool planned = false;  ///< Whether it is laid out, and its record whole.
  int num_trajectories = 0;
  int width = 0;
  int num_slices = 0;
  int max_rows = 0;             ///< Rows of the tallest slice that the storage has room for.
  std::int64_t total_rows = 0;  ///< Rows that the storage has room for.

  Kokkos::View<int*, MemorySpace> order;  ///< (num_slices * width) trajectory of a lane; -1: none.
  Kokkos::View<std::int64_t*, MemorySpace> first_row;      ///< (num_slices + 1)
  Kokkos::View<int*, MemorySpace> num_rows;                ///< (num_slices) rows in use.
  Kokkos::View<Scalar*, MemorySpace> ends;                 ///< (total_rows * width)
  Kokkos::View<Scalar*, MemorySpace> t0, t1;               ///< (num_trajectories) recorded spans.
  detail::PerTrajectory<Scalar> recorded_t0, recorded_t1;  ///< Where they came from.
};

/// What kernels see of a mesh: a kernel's arguments are few and small (Kokkos launches those over
/// 512 bytes by a slower way), and a pointer is loaded once.
template <class Scalar>
struct MeshAccess {
  int width, num_slices, max_rows;
  const int* order;
  const std::int64_t* first_row;
  int* num_rows;
  Scalar* ends;
  const int* moved_slices = nullptr;  // see move.hpp
  Scalar* moved_ends = nullptr;

  template <class MemorySpace>
  explicit MeshAccess(const Mesh<Scalar, MemorySpace>& m)
      : width(m.width),
        num_slices(m.num_slices),
        max_rows(m.max_rows),
        order(m.order.data()),
        first_row(m.first_row.data()),
        num_rows(m.num_rows.data()),
        ends(m.ends.data()) {}

  KOKKOS_FORCEINLINE_FUNCTION int capacity(int slice) const {
    return static_cast<int>(first_row[slice + 1] - first_row[slice]);
  }
  /// The ends of lane `lane` of a slice: that of row r at [r * width].
  KOKKOS_FORCEINLINE_FUNCTION Scalar* ends_of(int slice, int lane) const {
    Scalar* const from = moved_slices != nullptr && moved_slices[slice] ? moved_ends : ends;
    return from + first_row[slice] * width + lane;
  }
};

}  // namespace gradsolve
