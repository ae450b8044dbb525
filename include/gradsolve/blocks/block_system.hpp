// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/blocks/chain.hpp>
#include <gradsolve/detail/check.hpp>
#include <gradsolve/system.hpp>

#include <Kokkos_Core.hpp>

namespace gradsolve {

/// The autonomous system u' = f(u; weights) whose right-hand side is a block (blocks/chain.hpp):
///
///     using Net = Chain<Dense<2, 16, Tanh>, Dense<16, 16, Tanh>, Dense<16, 2>>;
///     const BlockSystem<Net> system(weights);   // a View of Net::num_weights doubles
///     auto g = gradient(exec, system, record, ensemble, loss);   // g.weights
///
/// On a GPU one thread computes a trajectory, or 4 do: faster for thousands of them and small nets,
/// slower for many more (docs/neural.md). ThreadsPerTrajectory is 1 or 4; 0: by the net's size.
///
/// The weights are read where they are: what is written to the View between two sweeps counts in
/// the next. Throws InvalidArgument where it has another size.
template <class Block, class Scalar = double,
          class MemorySpace = Kokkos::DefaultExecutionSpace::memory_space,
          int ThreadsPerTrajectory = 0>
struct BlockSystem {
  static_assert(Block::num_in == Block::num_out, "u' = f(u) has as many components as u");
  static constexpr int num_states = Block::num_out, num_params = 0;
  static constexpr int num_weights = Block::num_weights;
  static constexpr int threads_per_trajectory = ThreadsPerTrajectory;

  Kokkos::View<const Scalar*, MemorySpace> weights;

  explicit BlockSystem(const Kokkos::View<const Scalar*, MemorySpace>& w) : weights(w) {
    if (w.extent(0) != num_weights)
      detail::refuse("BlockSystem", "weights",
                     "a View of " + std::to_string(w.extent(0)) + " numbers",
                     std::to_string(num_weights));
  }

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, num_states> operator()(const T&,
                                                              const State<T, num_states>& u,
                                                              const Params<T, 0>&) const {
    State<T, num_states> slope;
    Block::forward(weights.data(), u, slope);
    return slope;
  }

  template <class T, class Sums>
  KOKKOS_FORCEINLINE_FUNCTION Cotangents<T, num_states, 0> vjp(const T&,
                                                               const State<T, num_states>& u,
                                                               const Params<T, 0>&,
                                                               const State<T, num_states>& w,
                                                               const Sums& weights_bar) const {
    Cotangents<T, num_states, 0> bar{};
    State<T, num_states> ybar;
    detail::copy(w, ybar);
    if constexpr (requires { Block::adjoint(weights.data(), u, ybar, bar.u, weights_bar); }) {
      Block::adjoint(weights.data(), u, ybar, bar.u, weights_bar);
    } else {
      State<T, num_states> y;
      Block::forward(weights.data(), u, y);
      Block::adjoint(weights.data(), u, y, ybar, bar.u, weights_bar);
    }
    return bar;
  }
};

}  // namespace gradsolve
