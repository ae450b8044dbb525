// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <type_traits>

/// What the threads of a slice (a warp, a wavefront) do together: Kokkos has no such operations
/// inside of a ThreadVectorRange. All threads of the slice call them, or none. With one thread
/// (Threads = 1, on a CPU) they are nothing.
namespace gradsolve::detail {

/// What each thread wrote to team scratch is seen by the others.
template <int Threads>
KOKKOS_FORCEINLINE_FUNCTION void sync_slice() {
  if constexpr (Threads > 1) {
#if defined(__CUDA_ARCH__)
    __syncwarp();
#elif defined(__HIP_DEVICE_COMPILE__)
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
    __builtin_amdgcn_wave_barrier();
#endif
  }
}

/// Whether the condition holds for any thread.
template <int Threads>
KOKKOS_FORCEINLINE_FUNCTION bool any_of_slice(bool condition) {
  if constexpr (Threads > 1) {
#if defined(__CUDA_ARCH__)
    return __any_sync(0xffffffffu, condition);
#elif defined(__HIP_DEVICE_COMPILE__)
    return __any(condition);
#endif
  }
  return condition;
}

/// The sum over the threads, in a fixed order; all of them get it.
template <int Threads, class S>
KOKKOS_FORCEINLINE_FUNCTION S sum_of_slice(S x) {
  if constexpr (Threads > 1) {
    for (int offset = Threads / 2; offset > 0; offset /= 2) {
#if defined(__CUDA_ARCH__)
      x += __shfl_xor_sync(0xffffffffu, x, offset);
#elif defined(__HIP_DEVICE_COMPILE__)
      x += __shfl_xor(x, offset);
#endif
    }
  }
  return x;
}

/// What points to team scratch, and to global memory: nvcc would ask at every access, otherwise,
/// in a function that is called.
template <class S>
KOKKOS_FORCEINLINE_FUNCTION S* in_scratch(S* pointer) {
#if defined(__CUDA_ARCH__)
  __builtin_assume(__isShared(pointer));
#endif
  return pointer;
}
template <class S>
KOKKOS_FORCEINLINE_FUNCTION S* in_global_memory(S* pointer) {
#if defined(__CUDA_ARCH__)
  __builtin_assume(__isGlobal(pointer));
#endif
  return pointer;
}

/// A number that no thread writes during the kernel, and that all threads read at once.
template <class S>
KOKKOS_FORCEINLINE_FUNCTION S load_uniform(const S* from) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<S, float> || std::is_same_v<S, double>) return __ldg(from);
#endif
  return *from;
}

}  // namespace gradsolve::detail
