// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ad/linearization.hpp>
#include <gradsolve/linalg/lu.hpp>
#include <gradsolve/linalg/mass.hpp>

/// The matrix of an implicit step's linear systems.
namespace gradsolve::detail {

/// W = mass / (h gamma) - J, factorised; 1 / (h gamma) comes as one number.
template <class F, class L, class T>
KOKKOS_FORCEINLINE_FUNCTION void factor_step_matrix(const L& inverse_hg, MatrixOf<F, T>& jacobian,
                                                    Lu<T, F::num_states>& w) {
  for_each_index<F::num_states>(
      [&](int i) GRADSOLVE_INLINE_LAMBDA { scale(BaseScalar<T>(-1), jacobian[i], jacobian[i]); });
  add_mass<F>(inverse_hg, jacobian);
  w.factor(jacobian);
}

}  // namespace gradsolve::detail
