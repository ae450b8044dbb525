// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

namespace gradsolve {

/// What record() and gradient() of an ensemble will take, before they run.
struct MemoryPlan {
  std::size_t mesh = 0;      ///< Bytes of the recorded steps; as many again where spans are Views.
  std::size_t kept = 0;      ///< Bytes of the states that the record keeps (Options::keep_states).
  std::size_t results = 0;   ///< Bytes of states, losses, gradients and statistics.
  std::size_t states = 0;    ///< Bytes of the states that the gradient keeps on its way.
  std::size_t weights = 0;   ///< Bytes of the sums of derivatives in the weights of a net.
  int slices_in_flight = 0;  ///< 0: not even one fits the budget.
  int segment_steps = 0;     ///< Steps of a segment; all of them where nothing is replayed.
  /// Steps that the gradient replays for each step of the longest trajectory: 1 to 2 with a
  /// checkpoint for every segment, up to 5 with fewer.
  double replay_factor = 1;
  /// Of record_and_gradient_in_chunks() with this budget: chunks in all, trajectories of the
  /// largest.
  int num_chunks = 0, chunk_size = 0;

  std::size_t total() const { return mesh + kept + results + states + weights; }
};

}  // namespace gradsolve
