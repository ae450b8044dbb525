// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/detail/check.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace gradsolve::detail {

/// A stride in a kernel's arguments, which are few: Kokkos launches those over 512 bytes by a
/// slower way.
using Stride = std::uint32_t;

template <class V>
Stride stride_of(const V& view, int dimension) {
  const std::size_t stride = view.stride(dimension);
  if (stride > std::numeric_limits<Stride>::max())
    refuse("View", view.label() + ".stride(" + std::to_string(dimension) + ")",
           std::to_string(stride), "less than 2^32 elements");
  return static_cast<Stride>(stride);
}

/// What kernels see of a rank-2 View: element (i, j) at data[i * stride0 + j * stride1]. One type
/// for every layout, so that a layout costs no instantiation and changes no bit. stride0 = 0: the
/// same row for every trajectory (shared parameters).
template <class T>
struct StridedMatrix {
  T* data = nullptr;
  Stride stride0 = 0, stride1 = 0;

  KOKKOS_FORCEINLINE_FUNCTION T& operator()(std::size_t i, std::size_t j) const {
    return data[i * stride0 + j * stride1];
  }
};

/// A number for each trajectory, or one for all (data == nullptr).
template <class T>
struct PerTrajectory {
  const T* data = nullptr;
  std::size_t stride = 0;
  T value = T(0);

  KOKKOS_FORCEINLINE_FUNCTION T operator()(std::size_t i) const {
    return data != nullptr ? data[i * stride] : value;
  }
};

/// The same of rank 3: one number for each trajectory, save time and component.
template <class T>
struct StridedCube {
  T* data = nullptr;
  Stride stride0 = 0, stride1 = 0, stride2 = 0;

  KOKKOS_FORCEINLINE_FUNCTION T& operator()(std::size_t i, std::size_t j, std::size_t k) const {
    return data[i * stride0 + j * stride1 + k * stride2];
  }
};

/// A View of rank 2 as it is, one of rank 1 as a row shared by all.
template <class V>
  requires(V::rank() <= 2)
auto strided(const V& view) {
  using T = std::remove_pointer_t<typename V::pointer_type>;
  if constexpr (V::rank() == 2)
    return StridedMatrix<T>{view.data(), stride_of(view, 0), stride_of(view, 1)};
  else
    return StridedMatrix<T>{view.data(), 0, stride_of(view, 0)};
}

template <class V>
  requires(V::rank() == 3)
auto strided(const V& view) {
  using T = std::remove_pointer_t<typename V::pointer_type>;
  return StridedCube<T>{view.data(), stride_of(view, 0), stride_of(view, 1), stride_of(view, 2)};
}

template <class V>
auto strided_const(const V& view) {
  const auto m = strided(view);
  if constexpr (V::rank() == 3)
    return StridedCube<const typename V::non_const_value_type>{m.data, m.stride0, m.stride1,
                                                               m.stride2};
  else
    return StridedMatrix<const typename V::non_const_value_type>{m.data, m.stride0, m.stride1};
}

}  // namespace gradsolve::detail
