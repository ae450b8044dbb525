// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ad/coefficient.hpp>
#include <gradsolve/ad/derivatives.hpp>

/// The constant mass matrix of a system, mass u' = f(t, u, p): one, unless the system has its own.
/// Its zeros vanish at compile time.
namespace gradsolve::detail {

template <class F, int I, int J>
inline constexpr double mass_v = mass_entry_of<F>(I, J);

/// A basis of the vectors x with mass x = 0, or of those with mass^T x = 0: rows of it, `size` of
/// them. Unit vectors where the matrix has columns, or rows, of zeros.
template <int N>
struct NullSpace {
  int size = 0;
  double rows[N][N] = {};
};
template <class F, bool Transposed>
constexpr NullSpace<F::num_states> null_space_of_mass() {
  constexpr int N = F::num_states;
  double a[N][N] = {}, largest = 0;
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) {
      a[i][j] = Transposed ? mass_entry_of<F>(j, i) : mass_entry_of<F>(i, j);
      largest = a[i][j] > largest ? a[i][j] : -a[i][j] > largest ? -a[i][j] : largest;
    }
  // Reduced row echelon form, the largest entry of a column as its pivot.
  auto size_of = [](double x) { return x < 0 ? -x : x; };
  int rank = 0, pivot_column[N] = {};
  bool is_pivot[N] = {};
  for (int j = 0; j < N && rank < N; ++j) {
    int pivot = rank;
    for (int i = rank + 1; i < N; ++i)
      if (size_of(a[i][j]) > size_of(a[pivot][j])) pivot = i;
    if (size_of(a[pivot][j]) <= 1e-13 * largest) continue;
    for (int k = 0; k < N; ++k) {
      const double keep = a[rank][k];
      a[rank][k] = a[pivot][k];
      a[pivot][k] = keep;
    }
    const double scale = 1 / a[rank][j];
    for (int k = 0; k < N; ++k) a[rank][k] *= scale;
    for (int i = 0; i < N; ++i) {
      if (i == rank) continue;
      const double factor = a[i][j];
      for (int k = 0; k < N; ++k) a[i][k] -= factor * a[rank][k];
    }
    is_pivot[j] = true;
    pivot_column[rank++] = j;
  }
  NullSpace<N> space;
  for (int j = 0; j < N; ++j) {
    if (is_pivot[j]) continue;
    double* const x = space.rows[space.size++];
    x[j] = 1;
    for (int i = 0; i < rank; ++i) x[pivot_column[i]] = a[i][j] == 0 ? 0 : -a[i][j];
  }
  return space;
}
/// Directions that the mass matrix does not see, and combinations of the equations without u'.
template <class F>
inline constexpr auto algebraic_directions_v = null_space_of_mass<F, false>();
template <class F>
inline constexpr auto constraints_v = null_space_of_mass<F, true>();
template <class F>
inline constexpr int num_constraints_v = [] {
  if constexpr (HasMassMatrix<F>) return constraints_v<F>.size;
  return 0;
}();

/// Calls visit(i, j, entry) for the nonzero entries.
template <class F, class Visit>
KOKKOS_FORCEINLINE_FUNCTION void for_each_mass(Visit&& visit) {
  constexpr int N = F::num_states;
  if constexpr (!HasMassMatrix<F>) {
    for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA { visit(i, i, 1.0); });
  } else {
    static_for<N>([&](auto i) GRADSOLVE_INLINE_LAMBDA {
      static_for<N>([&](auto j) GRADSOLVE_INLINE_LAMBDA {
        constexpr double entry = mass_v<F, i, j>;
        if constexpr (entry != 0) visit(i, j, entry);
      });
    });
  }
}

/// w += a mass
template <class F, class A, class T, int N>
KOKKOS_FORCEINLINE_FUNCTION void add_mass(const A& a, Matrix<T, N>& w) {
  for_each_mass<F>([&](int i, int j, double entry)
                       GRADSOLVE_INLINE_LAMBDA { w[i][j] = w[i][j] + coefficient<T>(entry) * a; });
}
/// y += a mass x
template <class F, class A, class T, int N>
KOKKOS_FORCEINLINE_FUNCTION void add_mass_product(const A& a, const Vector<T, N>& x,
                                                  Vector<T, N>& y) {
  for_each_mass<F>([&](int i, int j, double entry) GRADSOLVE_INLINE_LAMBDA {
    y[i] = y[i] + (coefficient<T>(entry) * a) * x[j];
  });
}
/// y += a mass^T x
template <class F, class A, class T, int N>
KOKKOS_FORCEINLINE_FUNCTION void add_transposed_mass_product(const A& a, const Vector<T, N>& x,
                                                             Vector<T, N>& y) {
  for_each_mass<F>([&](int i, int j, double entry) GRADSOLVE_INLINE_LAMBDA {
    y[j] = y[j] + (coefficient<T>(entry) * a) * x[i];
  });
}

}  // namespace gradsolve::detail
