// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/detail/moved_from.hpp>
#include <gradsolve/mesh/checkpoints.hpp>
#include <gradsolve/mesh/move.hpp>

#include <memory>
#include <type_traits>

namespace gradsolve {

/// What gradient() and its kin leave. A handle: copies share their memory, and a sweep into it
/// allocates nothing once it has its size.
///
/// A trajectory whose Record::status is not success, or whose loss is infinite or NaN, has no
/// gradient: its rows are NaN.
///
/// Store: the number type of the states that gradient() and vjp() keep on their way. float takes
/// half of their memory and of the traffic to it where Scalar is double; the steps back then start
/// from rounded states, which the derivatives show (docs/memory.md).
template <class Scalar = double, class MemorySpace = Kokkos::DefaultExecutionSpace::memory_space,
          class Store = Scalar>
struct Gradient {
  using Matrix = Kokkos::View<Scalar**, Kokkos::LayoutLeft, MemorySpace>;
  using Numbers = Kokkos::View<Scalar*, MemorySpace>;
  static_assert(std::is_same_v<Store, Scalar> || std::is_same_v<Store, float>,
                "states are kept in the scalar type of the gradient, or in float");

  Numbers loss;   ///< (n); empty after vjp().
  Matrix states;  ///< (n, N) final states of the replay.
  Matrix u0;      ///< (n, N) d loss / d u0
  /// (n, P) d loss / d params; (1, P), the sum over the ensemble, where its parameters are shared.
  /// The sum takes a fixed order and leaves out trajectories whose gradient is not finite.
  Matrix params;
  /// (K) d sum_i loss_i / d weights, of a system with weights (HasWeights). The sum takes a fixed
  /// order, which depends on the machine (the slices in flight), and leaves out trajectories
  /// without a gradient.
  Numbers weights;
  /// How many trajectories the sums over shared parameters and weights left out.
  Kokkos::View<int, MemorySpace> left_out;

  // After gradient_with_times() alone:
  Numbers t0, t1;     ///< (n) d loss / d t0, d loss / d t1
  Matrix save_times;  ///< (n, saves) d loss / d save time; NaN where a ragged list has none.

  struct Workspace {
    Kokkos::View<Store*, MemorySpace> buffer;              // states of the slices in flight
    Kokkos::View<detail::Segment*, MemorySpace> segments;  // schedule of checkpoints,
    int places = 0;                                        // for as many at a time
    std::size_t room = 0;  // bytes that memory had for `buffer` when it ran out; 0: it never did
    Matrix params_each;    // (n, P) before they are summed
    Matrix product_each;   // likewise, of a Hessian-vector product
    Matrix partial;        // partial sums
    Numbers weights_each;  // of each slot
    Kokkos::View<int*, MemorySpace> partial_left_out;
    detail::MovedMesh<Scalar, MemorySpace> moved;
    Kokkos::View<unsigned, MemorySpace> taken;  // slices taken by the sweeps into this object
    std::shared_ptr<unsigned> taken_before;     // their number before the next one; with `taken`
  } workspace;
  detail::MovedFrom moved_from;  ///< Internal.
};

}  // namespace gradsolve
