// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/detail/moved_from.hpp>
#include <gradsolve/mesh/mesh.hpp>
#include <gradsolve/options.hpp>
#include <gradsolve/status.hpp>

namespace gradsolve {

/// How each trajectory of an ensemble fared: what record() and solve() tell. All arrays are indexed
/// by trajectory and live in MemorySpace.
template <class Scalar, class MemorySpace>
struct Outcome {
  /// (n, N) u(t1); the last good state of a trajectory that stopped early.
  Kokkos::View<Scalar**, Kokkos::LayoutLeft, MemorySpace> states;
  Kokkos::View<Status*, MemorySpace> status;     ///< (n)
  Kokkos::View<int*, MemorySpace> num_steps;     ///< (n) accepted steps (SUNDIALS: nst)
  Kokkos::View<int*, MemorySpace> num_rejected;  ///< (n) failed error tests (SUNDIALS: netf)
  Kokkos::View<int*, MemorySpace> num_rhs;       ///< (n) evaluations of f (SUNDIALS: nfe)

  /// (n, saves, N) the states at the save times, where it was given some. NaN marks saves that a
  /// trajectory did not reach, and those that a ragged list does not have.
  Kokkos::View<Scalar***, Kokkos::LayoutLeft, MemorySpace> saved;

  detail::MovedFrom moved_from;  ///< Internal.
};

/// What record() leaves: the outcome, and the mesh of accepted steps that replay() and gradient()
/// work on. A handle: copies share their memory, until one is recorded into again: it gets memory
/// of its own.
template <class Method_, class Scalar_ = double,
          class MemorySpace_ = Kokkos::DefaultExecutionSpace::memory_space>
struct Record : Outcome<Scalar_, MemorySpace_> {
  using Method = Method_;
  using Scalar = Scalar_;
  using MemorySpace = MemorySpace_;

  /// (total_rows, N, width) the states at the begins of the steps, stored as the mesh is; with
  /// Options::keep_states.
  Kokkos::View<Scalar*, MemorySpace> kept;

  Options options;  ///< What it was recorded with.
  Mesh<Scalar, MemorySpace> mesh;
  Kokkos::View<int, Kokkos::SharedHostPinnedSpace> overflow;  ///< Internal.

  int size() const { return mesh.num_trajectories; }
};

}  // namespace gradsolve
