// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/system.hpp>

#include <Kokkos_Core.hpp>

namespace examples {

/// Overwrites x with A^-1 x for a small symmetric positive definite A (A = L L^T). False where A is
/// not positive definite to working precision.
template <class S, int P>
KOKKOS_FUNCTION bool solve_cholesky(gradsolve::Matrix<S, P> a, gradsolve::Vector<S, P>& x) {
  for (int j = 0; j < P; ++j) {
    for (int k = 0; k < j; ++k) a[j][j] -= a[j][k] * a[j][k];
    if (!(a[j][j] > 0)) return false;
    a[j][j] = Kokkos::sqrt(a[j][j]);
    for (int i = j + 1; i < P; ++i) {
      for (int k = 0; k < j; ++k) a[i][j] -= a[i][k] * a[j][k];
      a[i][j] /= a[j][j];
    }
  }
  for (int i = 0; i < P; ++i) {
    for (int k = 0; k < i; ++k) x[i] -= a[i][k] * x[k];
    x[i] /= a[i][i];
  }
  for (int i = P - 1; i >= 0; --i) {
    for (int k = i + 1; k < P; ++k) x[i] -= a[k][i] * x[k];
    x[i] /= a[i][i];
  }
  return true;
}

}  // namespace examples
