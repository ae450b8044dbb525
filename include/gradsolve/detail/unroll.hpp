// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Macros.hpp>

#include <utility>

// g++ gives up inlining long before a Runge-Kutta step is one straight line of code, and a step
// that is not keeps its stages in memory. nvcc needs no telling.
#if defined(__CUDA_ARCH__) || defined(__CUDACC__)
#define GRADSOLVE_INLINE_LAMBDA
#define GRADSOLVE_FLATTEN
#elif defined(__GNUC__)
#define GRADSOLVE_INLINE_LAMBDA __attribute__((always_inline))
#define GRADSOLVE_FLATTEN __attribute__((flatten))
#else
#define GRADSOLVE_INLINE_LAMBDA
#define GRADSOLVE_FLATTEN
#endif

#if defined(__GNUC__) || defined(__CUDACC__)
#define GRADSOLVE_NOINLINE __attribute__((noinline))
#else
#define GRADSOLVE_NOINLINE
#endif

// A loop that stays one: what nvcc, and g++ at -O3, would unroll for the worse.
#if defined(__CUDA_ARCH__)
#define GRADSOLVE_KEEP_LOOP _Pragma("unroll 1")
#elif defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define GRADSOLVE_KEEP_LOOP _Pragma("GCC unroll 1")
#else
#define GRADSOLVE_KEEP_LOOP
#endif

// A loop of which a GPU takes four rounds at once: their loads are under way together.
#if defined(__CUDA_ARCH__)
#define GRADSOLVE_UNROLL_BY_4 _Pragma("unroll 4")
#else
#define GRADSOLVE_UNROLL_BY_4 GRADSOLVE_KEEP_LOOP
#endif

namespace gradsolve {

/// A compile-time int that device code may read (std::integral_constant converts on the host only).
template <int I>
struct Index {
  KOKKOS_FORCEINLINE_FUNCTION constexpr operator int() const { return I; }
};

namespace detail {
template <class F, int... I>
KOKKOS_FORCEINLINE_FUNCTION constexpr void call_each(std::integer_sequence<int, I...>, F&& f) {
  (f(Index<I>{}), ...);
}
}  // namespace detail

/// Calls f(0), f(1), ... f(N-1), each index an Index<i>: a loop that is unrolled in the
/// source. Write the loops of a right-hand side with it: g++ ignores `#pragma unroll`, and a loop
/// that stays a loop keeps the state (and its derivatives) in memory.
template <int N, class F>
KOKKOS_FORCEINLINE_FUNCTION constexpr void static_for(F&& f) {
  detail::call_each(std::make_integer_sequence<int, N>{}, f);
}

/// Up to here loops over components are unrolled and a state lives in registers; beyond, it lives
/// in memory whatever we do, and a loop is the smaller code.
inline constexpr int max_unrolled = 16;

/// Calls f(i) for i in [0, N): unrolled for the sizes that fit in registers, a loop beyond.
template <int N, class F>
KOKKOS_FORCEINLINE_FUNCTION constexpr void for_each_index(F&& f) {
  if constexpr (N <= max_unrolled) {
    static_for<N>(f);
  } else {
    for (int i = 0; i < N; ++i) f(i);
  }
}

}  // namespace gradsolve
