// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/detail/unroll.hpp>

#include <Kokkos_Core.hpp>

namespace gradsolve::detail {

/// The G threads of a warp that work on one trajectory together: 32 on an NVIDIA GPU. G = 1, a
/// thread by itself, is what any other back end has.
template <int G>
struct Warp {
  static_assert(G == 1 || G == 32);

  /// What the threads wrote to memory before is seen by all of them after.
  static KOKKOS_FORCEINLINE_FUNCTION void sync() {
    KOKKOS_IF_ON_DEVICE((if constexpr (G > 1) __syncwarp();))
  }

  /// x of another thread.
  template <class S>
  static KOKKOS_FORCEINLINE_FUNCTION S from(const S& x, [[maybe_unused]] int thread) {
    KOKKOS_IF_ON_DEVICE((if constexpr (G > 1) return __shfl_sync(0xffffffffu, x, thread);))
    return x;
  }

  /// The threads' numbers put together by an operation that commutes: the same bits on all of them.
  template <class S, class Operation>
  static KOKKOS_FORCEINLINE_FUNCTION S all(S x, [[maybe_unused]] Operation&& operation) {
    KOKKOS_IF_ON_DEVICE((if constexpr (G > 1) {
      for (int distance = G / 2; distance > 0; distance /= 2)
        x = operation(x, __shfl_xor_sync(0xffffffffu, x, distance));
    }))
    return x;
  }
  template <class S>
  static KOKKOS_FORCEINLINE_FUNCTION S sum(const S& x) {
    return all(x, [](const S& a, const S& b) { return a + b; });
  }
  template <class S>
  static KOKKOS_FORCEINLINE_FUNCTION S max(const S& x) {
    return all(x, [](const S& a, const S& b) { return a < b ? b : a; });
  }
};

}  // namespace gradsolve::detail
