// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <type_traits>

/// What the threads of a slice (a warp, a wavefront) do together: Kokkos has no such operations
/// inside of a ThreadVectorRange. All threads of the slice call them, or none.
namespace gradsolve::detail {

/// `Threads` of them; one, on a CPU, is by itself.
template <int Threads>
struct Warp {
  /// What each thread wrote to memory before is seen by the others after.
  static KOKKOS_FORCEINLINE_FUNCTION void sync() {
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
  static KOKKOS_FORCEINLINE_FUNCTION bool any(bool condition) {
    if constexpr (Threads > 1) {
#if defined(__CUDA_ARCH__)
      return __any_sync(0xffffffffu, condition);
#elif defined(__HIP_DEVICE_COMPILE__)
      return __any(condition);
#endif
    }
    return condition;
  }

  /// x of another thread.
  template <class S>
  static KOKKOS_FORCEINLINE_FUNCTION S from(S x, [[maybe_unused]] int thread) {
    if constexpr (Threads > 1) {
#if defined(__CUDA_ARCH__)
      return __shfl_sync(0xffffffffu, x, thread);
#elif defined(__HIP_DEVICE_COMPILE__)
      return __shfl(x, thread);
#endif
    }
    return x;
  }

  /// The sum, or the largest or least, of the threads' numbers: the same bits on all of them.
  template <class S>
  static KOKKOS_FORCEINLINE_FUNCTION S sum(S x) {
    for (int distance = Threads / 2; distance > 0; distance /= 2) x += across(x, distance);
    return x;
  }
  template <class S>
  static KOKKOS_FORCEINLINE_FUNCTION S max(S x) {
    for (int distance = Threads / 2; distance > 0; distance /= 2)
      x = Kokkos::max(x, across(x, distance));
    return x;
  }
  template <class S>
  static KOKKOS_FORCEINLINE_FUNCTION S min(S x) {
    for (int distance = Threads / 2; distance > 0; distance /= 2)
      x = Kokkos::min(x, across(x, distance));
    return x;
  }

 private:
  template <class S>
  static KOKKOS_FORCEINLINE_FUNCTION S across(S x, [[maybe_unused]] int distance) {
#if defined(__CUDA_ARCH__)
    return __shfl_xor_sync(0xffffffffu, x, distance);
#elif defined(__HIP_DEVICE_COMPILE__)
    return __shfl_xor(x, distance);
#else
    return x;
#endif
  }
};

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
