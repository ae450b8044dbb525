// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ad/vector.hpp>

namespace gradsolve::tool {

/// The loss of the tool: that of the published benchmark.
struct SumOfSquares {
  template <class T, int N>
  KOKKOS_FUNCTION T operator()(const State<T, N>& u) const {
    T sum = u[0] * u[0];
    for (int i = 1; i < N; ++i) sum = sum + u[i] * u[i];
    return sum;
  }
};

}  // namespace gradsolve::tool
