// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/lanes/pack.hpp>

#include <Kokkos_Core.hpp>

/// What a sweep asks of its lane type L, the number type that one thread computes with: a plain
/// scalar (one trajectory a thread, on a GPU) or a Pack (a SIMD width of them, on a CPU).
namespace gradsolve {

template <class L>
struct LaneTraits {
  using Scalar = L;
  using Mask = bool;
  using Int = int;
  static constexpr int width = 1;
};
template <class T, int W>
struct LaneTraits<Pack<T, W>> {
  using Scalar = T;
  using Mask = gradsolve::Mask<T, W>;
  using Int = Pack<detail::SameSizeInt<T>, W>;
  static constexpr int width = W;
};

template <class L>
using ScalarOf = typename LaneTraits<L>::Scalar;
template <class L>
using MaskOf = typename LaneTraits<L>::Mask;
/// A counter for each lane.
template <class L>
using IntOf = typename LaneTraits<L>::Int;

/// a where the condition holds, b elsewhere; both are evaluated. The branch that every lane type
/// and every derivative type understands.
template <class A, class B>
  requires(std::is_arithmetic_v<A> && std::is_arithmetic_v<B>)
KOKKOS_FORCEINLINE_FUNCTION std::common_type_t<A, B> select(bool condition, A a, B b) {
  return condition ? a : b;
}
template <class M, class T, int W>
  requires(sizeof(M) == sizeof(T))
KOKKOS_FORCEINLINE_FUNCTION Pack<T, W> select(Mask<M, W> condition, Pack<T, W> a,
                                              std::type_identity_t<Pack<T, W>> b) {
  return Pack<T, W>(condition.v ? a.v : b.v);
}
template <class M, class A, class T, int W>
  requires(sizeof(M) == sizeof(T) && std::is_arithmetic_v<A>)
KOKKOS_FORCEINLINE_FUNCTION Pack<T, W> select(Mask<M, W> condition, A a, Pack<T, W> b) {
  return select(condition, Pack<T, W>(a), b);
}
template <class T, int W>
KOKKOS_FORCEINLINE_FUNCTION Mask<T, W> select(Mask<T, W> condition, Mask<T, W> a, Mask<T, W> b) {
  return Mask<T, W>(condition.v ? a.v : b.v);
}
KOKKOS_FORCEINLINE_FUNCTION bool select(bool condition, bool a, bool b) {
  return condition ? a : b;
}

KOKKOS_FORCEINLINE_FUNCTION bool any(bool b) { return b; }
template <class T, int W>
KOKKOS_FORCEINLINE_FUNCTION bool any(Mask<T, W> m) {
  detail::SameSizeInt<T> bits = 0;
  for (int lane = 0; lane < W; ++lane) bits |= m.v[lane];
  return bits != 0;
}

/// Lane `lane` of a value, and its assignment; a plain scalar has lane 0 only.
template <class T>
  requires std::is_arithmetic_v<T>
KOKKOS_FORCEINLINE_FUNCTION T lane_of(T value, int) {
  return value;
}
template <class T, int W>
KOKKOS_FORCEINLINE_FUNCTION T lane_of(Pack<T, W> value, int lane) {
  return value[lane];
}
template <class T, int W>
KOKKOS_FORCEINLINE_FUNCTION bool lane_of(Mask<T, W> value, int lane) {
  return value[lane];
}
template <class T, class S>
  requires std::is_arithmetic_v<T>
KOKKOS_FORCEINLINE_FUNCTION void set_lane(T& value, int, S lane_value) {
  value = static_cast<T>(lane_value);
}
template <class T, int W, class S>
KOKKOS_FORCEINLINE_FUNCTION void set_lane(Pack<T, W>& value, int lane, S lane_value) {
  value.set(lane, static_cast<T>(lane_value));
}
template <class T, int W>
KOKKOS_FORCEINLINE_FUNCTION void set_lane(Mask<T, W>& value, int lane, bool lane_value) {
  value.set(lane, lane_value);
}

/// A lane value from or to width() contiguous scalars, aligned to the width.
template <class L>
KOKKOS_FORCEINLINE_FUNCTION L load(const ScalarOf<L>* from) {
  return *reinterpret_cast<const L*>(from);
}
template <class L>
KOKKOS_FORCEINLINE_FUNCTION void store(ScalarOf<L>* to, const L& value) {
  *reinterpret_cast<L*>(to) = value;
}
/// The same in memory of another number type, lane by lane.
template <class L, class Other>
  requires(!std::is_same_v<Other, ScalarOf<L>>)
KOKKOS_FORCEINLINE_FUNCTION L load(const Other* from) {
  L value;
  for (int lane = 0; lane < LaneTraits<L>::width; ++lane)
    set_lane(value, lane, static_cast<ScalarOf<L>>(from[lane]));
  return value;
}
template <class L, class Other>
  requires(!std::is_same_v<Other, ScalarOf<L>>)
KOKKOS_FORCEINLINE_FUNCTION void store(Other* to, const L& value) {
  for (int lane = 0; lane < LaneTraits<L>::width; ++lane)
    to[lane] = static_cast<Other>(lane_of(value, lane));
}

namespace detail {

#if defined(__CUDACC__)
// nvcc lets no vector type into a function that could run on a GPU: in such a build the host's
// sweeps take one trajectory a thread at a time.
inline constexpr int simd_bytes = 0;
#elif defined(__AVX512F__)
inline constexpr int simd_bytes = 64;
#elif defined(__AVX__)
inline constexpr int simd_bytes = 32;
#else
inline constexpr int simd_bytes = 16;
#endif

/// How an execution space walks the trajectories: a slice of threads_per_slice threads, each with
/// lanes of `width` trajectories.
template <class Exec>
struct Backend {
  static constexpr int simd_width(std::size_t bytes) {
    return simd_bytes > 0 ? simd_bytes / static_cast<int>(bytes) : 1;
  }
  static constexpr int threads_per_slice = 1;
  static constexpr bool can_spread = false;  // a trajectory over the threads of a slice
  static constexpr int slices_per_team = 1;
  /// Slices in flight at once: enough to keep the machine busy.
  static int num_slots(const Exec& exec) { return exec.concurrency(); }
};

#if defined(KOKKOS_ENABLE_CUDA)
template <>
struct Backend<Kokkos::Cuda> {
  static constexpr int simd_width(std::size_t) { return 1; }
  static constexpr int threads_per_slice = 32;  // a warp
  static constexpr bool can_spread = true;
  static constexpr int slices_per_team = 2;
  // A quarter of the warps that a multiprocessor can hold is what the registers of an adjoint
  // allow.
  static int num_slots(const Kokkos::Cuda& exec) {
    return exec.concurrency() / (4 * threads_per_slice);
  }
};
#endif
#if defined(KOKKOS_ENABLE_HIP)
template <>
struct Backend<Kokkos::HIP> {
  static constexpr int simd_width(std::size_t) { return 1; }
  static constexpr int threads_per_slice = 64;  // a wavefront
  static constexpr bool can_spread = false;
  static constexpr int slices_per_team = 1;
  static int num_slots(const Kokkos::HIP& exec) {
    return exec.concurrency() / (4 * threads_per_slice);
  }
};
#endif

// A lane of W trajectories; W = 1: the scalar itself.
template <class Scalar, int W>
struct LaneOfWidth {
  using Type = Pack<Scalar, W>;
};
template <class Scalar>
struct LaneOfWidth<Scalar, 1> {
  using Type = Scalar;
};

}  // namespace detail
}  // namespace gradsolve
