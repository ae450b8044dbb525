// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ad/linearization.hpp>
#include <gradsolve/linalg/lu.hpp>
#include <gradsolve/linalg/mass.hpp>
#include <gradsolve/stepping/tolerances.hpp>

/// Starts of systems with algebraic constraints. With Z the combinations of equations without u'
/// (Z^T mass = 0) and V the directions that the mass matrix does not see (mass V = 0), a start is
/// consistent where Z^T f(t, u, p) = 0, and Newton's method within u + span V is
///
///     u <- u - V A^-1 Z^T f,     A = Z^T J V
namespace gradsolve::detail {

template <class F>
inline constexpr bool has_constraints_v = num_constraints_v<F> > 0;

template <class F, class T>
using ConstraintsOf = Vector<T, num_constraints_v<F>>;

/// r = Z^T x and r = V^T x, x += V r and x += Z r: `Space` is constraints_v or
/// algebraic_directions_v.
template <class F, const auto& Space, class T, int N>
KOKKOS_FORCEINLINE_FUNCTION ConstraintsOf<F, T> project(const Vector<T, N>& x) {
  ConstraintsOf<F, T> r;
  static_for<num_constraints_v<F>>([&](auto c) GRADSOLVE_INLINE_LAMBDA {
    r[c] = T(0);
    static_for<N>([&](auto i) GRADSOLVE_INLINE_LAMBDA {
      constexpr double weight = Space.rows[c][i];
      if constexpr (weight != 0) r[c] = r[c] + coefficient<T, weight>() * x[i];
    });
  });
  return r;
}
template <class F, const auto& Space, class T, int N>
KOKKOS_FORCEINLINE_FUNCTION void expand(const ConstraintsOf<F, T>& r, Vector<T, N>& x) {
  static_for<num_constraints_v<F>>([&](auto c) GRADSOLVE_INLINE_LAMBDA {
    static_for<N>([&](auto i) GRADSOLVE_INLINE_LAMBDA {
      constexpr double weight = Space.rows[c][i];
      if constexpr (weight != 0) x[i] = x[i] + coefficient<T, weight>() * r[c];
    });
  });
}

/// The factors of A, and Z^T f.
template <class F, class T>
struct Constraints {
  ConstraintsOf<F, T> residual;
  Lu<T, num_constraints_v<F>> lu;

  KOKKOS_FORCEINLINE_FUNCTION Constraints(const F& f, const T& t, const StateOf<F, T>& u,
                                          const ParamsOf<F, T>& p) {
    constexpr int N = F::num_states, C = num_constraints_v<F>;
    StateOf<F, T> slope, time_slope;
    MatrixOf<F, T> jacobian;
    linearize(f, t, u, p, slope, jacobian, time_slope);
    copy(project<F, constraints_v<F>>(slope), residual);
    Matrix<T, C> a;
    static_for<C>([&](auto d) GRADSOLVE_INLINE_LAMBDA {  // column d: Z^T J v_d
      StateOf<F, T> column;
      static_for<N>([&](auto i) GRADSOLVE_INLINE_LAMBDA {
        column[i] = T(0);
        static_for<N>([&](auto j) GRADSOLVE_INLINE_LAMBDA {
          constexpr double weight = algebraic_directions_v<F>.rows[d][j];
          if constexpr (weight != 0)
            column[i] = column[i] + coefficient<T, weight>() * jacobian[i][j];
        });
      });
      const ConstraintsOf<F, T> projected = project<F, constraints_v<F>>(column);
      static_for<C>([&](auto c) GRADSOLVE_INLINE_LAMBDA { a[c][d] = projected[c]; });
    });
    lu.factor(a);
    residual[0] = residual[0] + lu.zero_if_finite();  // an infinite A lets nothing move
  }
};

/// One step of Newton's method; returns V A^-1 Z^T f, by how much u moved.
template <class F, class T>
KOKKOS_FORCEINLINE_FUNCTION StateOf<F, T> newton_step(const F& f, const T& t, StateOf<F, T>& u,
                                                      const ParamsOf<F, T>& p) {
  Constraints<F, T> c(f, t, u, p);
  c.lu.solve(c.residual);
  StateOf<F, T> moved = filled<F::num_states>(T(0));
  expand<F, algebraic_directions_v<F>>(c.residual, moved);
  axpy(BaseScalar<T>(-1), moved, u);
  return moved;
}

/// (mean_i (d_i / (atol + rtol |u_i|))^2), as of an error estimate.
template <class F, class L>
KOKKOS_FORCEINLINE_FUNCTION L weighted_square(const F& f, const StateOf<F, L>& d,
                                              const StateOf<F, L>& u,
                                              const Tolerances<ScalarOf<L>>& tol) {
  L sum(0);
  for_each_index<F::num_states>([&](int i) GRADSOLVE_INLINE_LAMBDA {
    const L x = d[i] * reciprocal(tol.scale(f, i, abs(u[i])));
    sum = sum + x * x;
  });
  return sum * tol.template inverse_count<F>();
}

/// Newton iterations that a start may take; quadratic convergence needs a handful.
inline constexpr int max_newton_steps = 20;

/// Moves u to a consistent start: each lane iterates until rounding moves it no more.
template <class F, class L>
KOKKOS_FUNCTION void find_consistent_start(const F& f, const L& t, StateOf<F, L>& u,
                                           const ParamsOf<F, L>& p) {
  using S = ScalarOf<L>;
  const Tolerances<S> rounding(4 * Kokkos::Experimental::epsilon_v<S>,
                               Kokkos::Experimental::norm_min_v<S>);
  MaskOf<L> moves(true);
  for (int step = 0; step < max_newton_steps && any(moves); ++step) {
    StateOf<F, L> next = u;
    const StateOf<F, L> moved = newton_step(f, t, next, p);
    keep_where(moves && all_finite(f, moved), next, u);
    moves = moves && weighted_square(f, moved, u, rounding) > L(1);
  }
}
/// Of duals: the values converge, then one step of the duals themselves has the exact tangent.
template <class F, class L, int K>
KOKKOS_FUNCTION void find_consistent_start(const F& f, const Dual<L, K>& t,
                                           StateOf<F, Dual<L, K>>& u,
                                           const ParamsOf<F, Dual<L, K>>& p) {
  StateOf<F, L> value;
  ParamsOf<F, L> p_value;
  for_each_index<F::num_states>([&](int i) GRADSOLVE_INLINE_LAMBDA { value[i] = u[i].value; });
  for_each_index<F::num_params>([&](int i) GRADSOLVE_INLINE_LAMBDA { p_value[i] = p[i].value; });
  find_consistent_start(f, t.value, value, p_value);
  for_each_index<F::num_states>([&](int i) GRADSOLVE_INLINE_LAMBDA { u[i].value = value[i]; });
  newton_step(f, t, u, p);
}

/// The start of a sweep, moved where it is wanted (Options::find_consistent_start).
template <class F, class T>
KOKKOS_FORCEINLINE_FUNCTION void prepare_start(const F& f, bool wanted, const T& t,
                                               StateOf<F, T>& u, const ParamsOf<F, T>& p) {
  if constexpr (has_constraints_v<F>) {
    if (wanted) find_consistent_start(f, t, u, p);
  }
}

/// Whether u violates the constraints by no more than an error that a step may make: judged by the
/// Newton step that would mend it.
template <class F, class L>
KOKKOS_FUNCTION MaskOf<L> is_consistent(const F& f, const L& t, const StateOf<F, L>& u,
                                        const ParamsOf<F, L>& p,
                                        const Tolerances<ScalarOf<L>>& tol) {
  StateOf<F, L> moved_to = u;
  const StateOf<F, L> moved = newton_step(f, t, moved_to, p);
  return weighted_square(f, moved, u, tol) <= L(1);
}

/// The adjoint of find_consistent_start() at the consistent start u: with q = A^-T V^T lambda, by
/// the implicit function theorem,
///
///     lambda -= J^T Z q,   pbar -= (df/dp)^T Z q,   tbar -= (df/dt)^T Z q
template <bool WithTime, class F, class T>
KOKKOS_FUNCTION void consistent_start_adjoint(const F& f, const T& t, const StateOf<F, T>& u,
                                              const ParamsOf<F, T>& p, StateOf<F, T>& lambda,
                                              ParamsOf<F, T>& pbar, T& tbar) {
  const Constraints<F, T> c(f, t, u, p);
  ConstraintsOf<F, T> q = project<F, algebraic_directions_v<F>>(lambda);
  c.lu.solve_transposed(q);
  scale(BaseScalar<T>(-1), q, q);
  StateOf<F, T> w = filled<F::num_states>(T(0)), mu;
  expand<F, constraints_v<F>>(q, w);
  vjp<WithTime, F, T>(f, t, u, p, w, {mu, pbar, tbar});
  axpy(BaseScalar<T>(1), mu, lambda);
}

/// du/dt of a solution through (t, u): f, or the solution of mass u' = f with the time derivative
/// of the constraints, Z^T (J u' + f_t) = 0.
template <class F, class T>
KOKKOS_FORCEINLINE_FUNCTION StateOf<F, T> time_derivative(const F& f, const T& t,
                                                          const StateOf<F, T>& u,
                                                          const ParamsOf<F, T>& p) {
  if constexpr (!HasMassMatrix<F>) {
    return evaluate(f, t, u, p);
  } else {
    StateOf<F, T> slope, time_slope;
    MatrixOf<F, T> jacobian, a;
    linearize(f, t, u, p, slope, jacobian, time_slope);
    for_each_index<F::num_states>(
        [&](int i) GRADSOLVE_INLINE_LAMBDA { a[i] = filled<F::num_states>(T(0)); });
    add_mass<F>(LaneBeneathT<T>(1), a);
    if constexpr (has_constraints_v<F>) {
      // Z^T of the equations replaced: Z Z^T (J u' + f_t) = 0 is added, where Z^T f = 0 was.
      StateOf<F, T> part = filled<F::num_states>(T(0));
      expand<F, constraints_v<F>>(project<F, constraints_v<F>>(time_slope), part);
      axpy(BaseScalar<T>(-1), part, slope);
      static_for<F::num_states>([&](auto j) GRADSOLVE_INLINE_LAMBDA {
        StateOf<F, T> column, in_constraints = filled<F::num_states>(T(0));
        for_each_index<F::num_states>([&](int i)
                                          GRADSOLVE_INLINE_LAMBDA { column[i] = jacobian[i][j]; });
        expand<F, constraints_v<F>>(project<F, constraints_v<F>>(column), in_constraints);
        for_each_index<F::num_states>(
            [&](int i) GRADSOLVE_INLINE_LAMBDA { a[i][j] = a[i][j] + in_constraints[i]; });
      });
    }
    Lu<T, F::num_states> lu;
    lu.factor(a);
    lu.solve(slope);
    return slope;
  }
}

}  // namespace gradsolve::detail
