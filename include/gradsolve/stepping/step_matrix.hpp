// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ad/linearization.hpp>
#include <gradsolve/linalg/lu.hpp>
#include <gradsolve/linalg/mass.hpp>

/// The matrix of an implicit step's linear systems.
namespace gradsolve::detail {

/// W = mass / (h gamma) - J, factorised; 1 / (h gamma) comes as one number.
template <class T, class F, class L>
KOKKOS_FORCEINLINE_FUNCTION void factor_step_matrix(const F& f, const L& inverse_hg,
                                                    MatrixOf<F, T>& jacobian, LuOf<F, T>& w) {
  if constexpr (is_spread<F>) {
    T* const matrix = f.template matrix<T>();
    F::Threads::sync();
    for_each_index<F::num_states>([&](int slot) GRADSOLVE_INLINE_LAMBDA {
      const int j = f.component(slot);
      if (!f.has(slot)) return;
      for (int i = 0; i < F::N; ++i) {
        T& entry = matrix[i * F::stride + j];
        entry = (i == j ? T(inverse_hg) : T(0)) - entry;
      }
    });
    F::Threads::sync();
    w.factor(f);
  } else {
    for_each_index<F::num_states>(
        [&](int i) GRADSOLVE_INLINE_LAMBDA { scale(BaseScalar<T>(-1), jacobian[i], jacobian[i]); });
    add_mass<F>(inverse_hg, jacobian);
    w.factor(jacobian);
  }
}

}  // namespace gradsolve::detail
