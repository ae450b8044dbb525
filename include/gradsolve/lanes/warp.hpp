// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/lanes/lanes.hpp>

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

/// `Size` neighbouring threads of a warp that work on one trajectory. They take the same branches.
template <int Size>
struct WarpGroup {
  static constexpr int size = Size;

  /// The number of this thread in its group.
  static KOKKOS_FORCEINLINE_FUNCTION int rank() {
#if defined(__CUDA_ARCH__)
    return threadIdx.x % Size;
#else
    return 0;
#endif
  }

  /// all[rank Count + i] = own[i] of the thread of that rank.
  template <int Count, class S>
  static KOKKOS_FORCEINLINE_FUNCTION void gather(const S (&own)[Count], S (&all)[Size * Count]) {
    exchange<Count>(own, all, rank() * Count, 0, Count);
  }
  /// parts[rank Count + i] = all[own rank Count + i] of the thread of that rank.
  template <int Count, class S>
  static KOKKOS_FORCEINLINE_FUNCTION void scatter(const S (&all)[Size * Count],
                                                  S (&parts)[Size * Count]) {
    constexpr int apart = Size * Count + 16 / sizeof(S);
    exchange<Count>(all, parts, rank() * apart, rank() * Count, apart);
  }

 private:
  /// Writes to a memory of the group from place `to` on, and reads Count numbers of each thread,
  /// from place `from` on and `apart`.
  ///
  /// Through shared memory: two doubles an instruction, where a shuffle takes two for one. Threads,
  /// or groups, are as far apart as different banks need.
  template <int Count, class S, int Written>
  static KOKKOS_FORCEINLINE_FUNCTION void exchange(const S (&own)[Written], S (&all)[Size * Count],
                                                   int to, int from, int apart) {
#if defined(__CUDA_ARCH__)
    constexpr int groups = Backend<Kokkos::Cuda>::slices_per_team * 32 / Size;
    constexpr int padding = 16 / sizeof(S);
    constexpr int numbers = Written == Count ? Size * Count + padding : Size * (Written + padding);
    __shared__ alignas(16) S memory[groups * numbers];
    const unsigned group_of_warp = threadIdx.x / Size;
    const unsigned mask = Size < 32 ? ((1u << Size % 32) - 1) << group_of_warp * Size : ~0u;
    S* const mine = memory + (threadIdx.y * (32 / Size) + group_of_warp) * numbers;
    __syncwarp(mask);  // all have read what was there before
    for (int i = 0; i < Written; ++i) mine[to + i] = own[i];
    __syncwarp(mask);
    for (int rank = 0; rank < Size; ++rank)
      for (int i = 0; i < Count; ++i) all[rank * Count + i] = mine[rank * apart + from + i];
#else  // never called
    for (int i = 0; i < Size * Count; ++i) all[i] = own[i % Written];
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
/// The same, aligned to 16 bytes.
template <class S>
KOKKOS_FORCEINLINE_FUNCTION S* in_aligned_scratch(S* pointer) {
#if defined(__CUDA_ARCH__)
  return static_cast<S*>(__builtin_assume_aligned(in_scratch(pointer), 16));
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
