// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ad/coefficient.hpp>

/// The numbers of a method M as types, so that zeros vanish at compile time, and sums with them.
namespace gradsolve::detail {

/// Methods whose linear systems have the diagonal coefficient gamma: Rosenbrock methods, which have
/// weights C of the stages in each other's systems, and ESDIRK methods.
template <class M>
concept ImplicitMethod = requires { M::gamma; };
template <class M>
concept RosenbrockMethod = ImplicitMethod<M> && requires { M::C; };
template <class M>
concept EsdirkMethod = ImplicitMethod<M> && !RosenbrockMethod<M>;

/// The weight of stage i in the continuous extension is a polynomial in theta; its coefficient of
/// theta^(m+1). Rosenbrock methods give it in Hairer's form,
/// theta b_i + theta (1 - theta) (H_0i + theta (H_1i + ...)).
template <class M>
constexpr double dense_coefficient(int i, int m) {
  if constexpr (requires { M::H; }) {
    const double to_the_end = m == 0 ? M::b[i] : 0;
    const double up = m < M::dense_degree - 1 ? M::H[m][i] : 0, down = m > 0 ? M::H[m - 1][i] : 0;
    return to_the_end + up - down;
  } else {
    return M::dense[i][m];
  }
}

// Sets of stages.
template <class M>
struct SolutionStages {
  using Method = M;
  static constexpr int size = M::num_solution_stages;
  static constexpr bool has(int) { return true; }
};
/// Those of the error estimate: all.
template <class M>
struct ErrorStages {
  using Method = M;
  static constexpr int size = M::num_stages;
  static constexpr bool has(int) { return true; }
};
/// Those of the continuous extension: with them everything that they are made of.
template <class M>
struct DenseStages {
  using Method = M;
  static constexpr int size = M::num_dense_stages;
  static constexpr bool has(int i) {
    if (i < M::num_solution_stages) return true;
    for (int m = 0; m < M::dense_degree; ++m)
      if (dense_coefficient<M>(i, m) != 0) return true;
    for (int j = i + 1; j < size; ++j)
      if (M::a[j][i] != 0 && has(j)) return true;
    return false;
  }
};

// Sequences of weights: a stage with weight zero is never touched, whatever it holds.
template <class M, int I>
struct StageRow {  // a_Ij over j
  static constexpr int size = I;
  static constexpr double at(int j) { return M::a[I][j]; }
};
template <class M, int I, class Stages>
struct StageColumn {  // a_jI over the later stages j
  static constexpr int size = Stages::size;
  static constexpr double at(int j) { return j > I && Stages::has(j) ? M::a[j][I] : 0.0; }
};
template <class M>
struct SolutionRow {
  static constexpr int size = M::num_solution_stages;
  static constexpr double at(int j) { return M::b[j]; }
};
template <class M>
struct ErrorRow {
  static constexpr int size = M::num_stages;
  static constexpr double at(int j) { return M::e[j]; }
};
template <class M>
struct ThirdOrderErrorRow {
  static constexpr int size = M::num_stages;
  static constexpr double at(int j) { return M::e3[j]; }
};
template <class M, int I>
struct CouplingRow {  // C_Ij over j, of a Rosenbrock method
  static constexpr int size = I;
  static constexpr double at(int j) { return M::C[I][j]; }
};

// Variables, not functions: device code may read them.
template <class Weights, int J>
inline constexpr double weight_v = Weights::at(J);
template <class Stages, int I>
inline constexpr bool has_stage_v = Stages::has(I);
template <class Weights>
inline constexpr int first_nonzero_v = [] {
  int j = 0;
  while (j < Weights::size && Weights::at(j) == 0) ++j;
  return j;
}();

/// sum = sum_j weight_j x_j over the nonzero weights; false, and sum untouched, if there are none.
template <class Weights, class T, int N, int S>
KOKKOS_FORCEINLINE_FUNCTION constexpr bool combine(const Vector<T, N> (&x)[S], Vector<T, N>& sum) {
  static_for<Weights::size>([&](auto j) GRADSOLVE_INLINE_LAMBDA {
    constexpr double weight = weight_v<Weights, j>;
    if constexpr (weight != 0) {
      if constexpr (j == first_nonzero_v<Weights>)
        scale(coefficient<T, weight>(), x[j], sum);
      else
        axpy(coefficient<T, weight>(), x[j], sum);
    }
  });
  return first_nonzero_v<Weights> < Weights::size;
}

template <class M, int I, class L>
KOKKOS_FORCEINLINE_FUNCTION L stage_time(const L& t, const L& t_end, const L& h) {
  constexpr double c = M::c[I];
  if constexpr (c == 0) return t;
  if constexpr (c == 1) return t_end;
  return t + coefficient<L, c>() * h;
}

/// What the stages k_i are multiplied with in a state: k_i is a slope of an explicit method, an
/// increment of an implicit one.
template <class M, class L>
KOKKOS_FORCEINLINE_FUNCTION L increment_factor(const L& h) {
  if constexpr (ImplicitMethod<M>)
    return L(1);
  else
    return h;
}

/// The argument of f at stage I: u + h sum_j a_Ij k_j, u + sum_j a_Ij k_j of a Rosenbrock method,
/// u + k_I of an ESDIRK method.
template <class M, int I, class L, class T, int N, int S>
KOKKOS_FORCEINLINE_FUNCTION Vector<T, N> stage_argument(const Vector<T, N>& u, const L& h,
                                                        const Vector<T, N> (&k)[S]) {
  if constexpr (first_nonzero_v<StageRow<M, I>> == I) {
    return u;
  } else if constexpr (EsdirkMethod<M>) {
    return advanced(u, L(1), k[I]);
  } else {
    Vector<T, N> sum;
    combine<StageRow<M, I>>(k, sum);
    return advanced(u, increment_factor<M>(h), sum);
  }
}

/// The state at the end of the step.
template <class M, class L, class T, int N, int S>
KOKKOS_FORCEINLINE_FUNCTION Vector<T, N> solution(const Vector<T, N>& u, const L& h,
                                                  const Vector<T, N> (&k)[S]) {
  Vector<T, N> sum;
  combine<SolutionRow<M>>(k, sum);
  return advanced(u, increment_factor<M>(h), sum);
}

/// The stages of a step.
template <class Stages, class F, class T>
struct StageValues;

/// Cotangents of the two ends of a step.
template <class T>
struct TimeAdjoints {
  T begin = T(0), end = T(0);
};

}  // namespace gradsolve::detail
