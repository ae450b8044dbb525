// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/linalg/batched_lu.hpp>
#include <gradsolve/linalg/lane_lu.hpp>
#include <gradsolve/linalg/spread_lu.hpp>

#include <type_traits>

/// Which LU factorisation the steps use.
namespace gradsolve::detail {

#if defined(GRADSOLVE_ENABLE_KOKKOS_KERNELS)
/// That of Kokkos Kernels for large matrices of plain numbers: it knows neither packs nor duals.
template <class T, int N>
using Lu = std::conditional_t<(N > max_unrolled_lu) && std::is_floating_point_v<T>, BatchedLu<T, N>,
                              LaneLu<T, N>>;
#else
template <class T, int N>
using Lu = LaneLu<T, N>;
#endif

/// That of the steps of a system F.
template <class F, class T>
struct LuOfSystem {
  using Type = Lu<T, F::num_states>;
};
template <class F, class T>
  requires is_spread<F>
struct LuOfSystem<F, T> {
  using Type = SpreadLu<T, F>;
};
template <class F, class T>
using LuOf = typename LuOfSystem<F, T>::Type;

}  // namespace gradsolve::detail
