// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/detail/sweep.hpp>
#include <gradsolve/memory_plan_data.hpp>
#include <gradsolve/mesh/checkpoints.hpp>
#include <gradsolve/options.hpp>

namespace gradsolve {

namespace detail {
/// Bytes of the states, losses, gradients and statistics of one trajectory, and of its place in the
/// mesh.
template <class F, class Scalar>
inline constexpr std::size_t result_bytes_v =
    sizeof(Scalar) * (3 * F::num_states + F::num_params + 3) + 17;
}  // namespace detail

/// The plan for n trajectories, by `method`, of `mean_steps` steps on average and `longest_steps`
/// at most, on exec. Padding of slices is not in it (below 1% of the mesh where trajectories are
/// many). Scalar: float or double. Throws InvalidArgument for negative numbers. Synchronises
/// nothing.
template <class Scalar = double, int Width = 0, class Exec, class F, class M>
MemoryPlan plan_memory(const Exec& exec, const F&, M, int n, double mean_steps, int longest_steps,
                       const Options& options = {}) {
  using namespace detail;
  using L = LaneOf<F, Exec, Scalar, Width>;
  require(n >= 0, "plan_memory", "n", n, "a number of trajectories");
  require(mean_steps >= 0, "plan_memory", "mean_steps", mean_steps, "a number of steps");
  require(longest_steps >= 0, "plan_memory", "longest_steps", longest_steps, "a number of steps");
  constexpr int width = slice_width<Exec, L, F, M>;
  const std::size_t row = sizeof(Scalar) * row_numbers<SystemOnT<Exec, M, F>>(width);
  const int slices = (n + width - 1) / width;
  const auto [slots, checkpoints] = plan_states(Kokkos::min(Backend<Exec>::num_slots(exec), slices),
                                                longest_steps, row, options.memory_budget);
  MemoryPlan plan;
  plan.mesh = static_cast<std::size_t>(mean_steps * n * sizeof(Scalar));
  plan.results = n * result_bytes_v<F, Scalar>;
  plan.states = row * checkpoints.room * slots;
  plan.slices_in_flight = slots;
  plan.segment_steps = checkpoints.length;
  plan.replay_factor = replay_factor(longest_steps, checkpoints);
  return plan;
}

}  // namespace gradsolve
