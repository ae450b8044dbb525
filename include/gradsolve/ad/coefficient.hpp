// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ad/lane_dual.hpp>

#include <bit>
#include <cstdint>
#include <type_traits>

/// The coefficients of methods, as kernels see them.
namespace gradsolve::detail {

/// A coefficient in the precision of T.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION constexpr BaseScalar<T> coefficient(double value) {
  return static_cast<BaseScalar<T>>(value);
}

/// Whether the lower half of a double is zero.
template <double Value>
inline constexpr bool is_short_v = (std::bit_cast<std::uint64_t>(Value) & 0xffffffffu) == 0;

#if defined(__CUDACC__)
/// A number in constant memory. Not const: the compiler would put its value into the code.
template <double Value>
__constant__ double stored_coefficient = Value;
#endif

/// The same of a constant. An instruction of an NVIDIA GPU has room for the upper half of a double:
/// of any other one it takes two more to put the number together, and one to load it from constant
/// memory. A step of Tsit5 has 22 of them.
template <class T, double Value>
KOKKOS_FORCEINLINE_FUNCTION BaseScalar<T> coefficient() {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<BaseScalar<T>, double> && !is_short_v<Value>)
    return stored_coefficient<Value>;
#endif
  return static_cast<BaseScalar<T>>(Value);
}

}  // namespace gradsolve::detail
