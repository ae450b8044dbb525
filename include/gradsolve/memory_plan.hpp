// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/detail/sweep.hpp>
#include <gradsolve/kernels/weights.hpp>
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

/// Trajectories of the first chunk, which tells how long the others may be.
inline constexpr int pilot_chunk = 4096;
/// Of the budget for chunks, by default a share of a GPU that leaves room for others, one half is
/// for the mesh and results of a chunk, the other for states on the way.
inline std::size_t half_of_budget(const Options& options) {
  constexpr std::size_t otherwise = std::size_t(4) << 30;
  return (options.memory_budget > 0 ? options.memory_budget : otherwise) / 2;
}
/// Trajectories that a chunk has room for; a tenth is left for those that take more steps.
inline int size_of_chunk(std::size_t bytes, double bytes_a_trajectory, int most) {
  return static_cast<int>(Kokkos::clamp(0.9 * bytes / bytes_a_trajectory, 1.0, double(most)));
}
}  // namespace detail

/// The plan for n trajectories, by `method`, of `mean_steps` steps on average and `longest_steps`
/// at most, on exec. Padding of slices is not in it (below 1% of the mesh where trajectories are
/// many); where time spans are Views the mesh is twice as large, and chunks are more. Scalar: float
/// or double. Throws InvalidArgument for negative numbers. Synchronises nothing.
template <class Scalar = double, int Width = 0, class Exec, class F, class M>
MemoryPlan plan_memory(const Exec& exec, const F&, M, int n, double mean_steps, int longest_steps,
                       const Options& options = {}) {
  using namespace detail;
  using L = LaneOf<F, Exec, Scalar, Width>;
  using System = SystemOnT<Exec, M, F>;
  require(n >= 0, "plan_memory", "n", n, "a number of trajectories");
  require(mean_steps >= 0, "plan_memory", "mean_steps", mean_steps, "a number of steps");
  require(longest_steps >= 0, "plan_memory", "longest_steps", longest_steps, "a number of steps");
  constexpr int width = slice_width<Exec, L, F, M>;
  const std::size_t row = sizeof(Scalar) * row_numbers<System>(width);
  const int slices = (n + width - 1) / width;
  const auto [slots, checkpoints] = plan_states(Kokkos::min(Backend<Exec>::num_slots(exec), slices),
                                                longest_steps, row, options.memory_budget);
  MemoryPlan plan;
  plan.mesh = static_cast<std::size_t>(mean_steps * n * sizeof(Scalar));
  if (options.keep_states) plan.kept = static_cast<std::size_t>(mean_steps * n / width * row);
  plan.results = n * result_bytes_v<F, Scalar>;
  plan.states = row * checkpoints.room * slots + schedule_bytes(longest_steps, checkpoints);
  if constexpr (HasWeights<F>) {
    using Sums = typename SummingSystem<System, L, Backend<Exec>::threads_per_slice>::Sums;
    plan.weights = sizeof(Scalar) * slots * F::num_weights * Sums::numbers_a_weight;
  }
  plan.slices_in_flight = slots;
  plan.segment_steps = checkpoints.length;
  plan.replay_factor = replay_factor(longest_steps, checkpoints);
  const double bytes_a_trajectory = mean_steps * sizeof(Scalar) + result_bytes_v<F, Scalar>;
  const int first = Kokkos::min(n, pilot_chunk), others = n - first;
  const int size =
      size_of_chunk(half_of_budget(options), bytes_a_trajectory, Kokkos::max(others, 1));
  plan.num_chunks = (n > 0) + (others + size - 1) / size;
  plan.chunk_size = others > 0 ? Kokkos::max(first, size) : first;
  return plan;
}

}  // namespace gradsolve
