// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/system.hpp>

/// Derivatives of a right-hand side f(t, u, p), taken from the one functor that the user wrote.
namespace gradsolve::detail {

template <class F, class T>
using StateOf = State<T, F::num_states>;
template <class F, class T>
using ParamsOf = Params<T, F::num_params>;

/// f(t, u, p) for duals, with df/du from the system's own jacobian.
template <class F, class T, int K>
KOKKOS_FORCEINLINE_FUNCTION StateOf<F, Dual<T, K>> evaluate_with_jacobian(
    const F& f, const Dual<T, K>& t, const StateOf<F, Dual<T, K>>& u,
    const ParamsOf<F, Dual<T, K>>& p) {
  constexpr int N = F::num_states;
  StateOf<F, T> u_value;
  for (int i = 0; i < N; ++i) u_value[i] = u[i].value;
  ParamsOf<F, T> p_value;
  for (int i = 0; i < F::num_params; ++i) p_value[i] = p[i].value;
  const Matrix<T, N> jacobian = f.jacobian(t.value, u_value, p_value);
  StateOf<F, Dual<T, K>> u_constant;
  for (int i = 0; i < N; ++i) u_constant[i] = u_value[i];
  StateOf<F, Dual<T, K>> r = f(t, u_constant, p);
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) axpy(jacobian[i][j], u[j].tangent, r[i].tangent);
  return r;
}

/// A right-hand side of up to 16 states is inlined at every stage, so that the step is one straight
/// line of code in registers (with 32 parameters, too: 140 us against 24 ms for one that is called,
/// docs/design/derivatives.md). One of more states lives in memory anyway: it is compiled once and
/// called, or a method of 16 stages would hold 32 copies of it.
template <class F>
inline constexpr bool is_inlined_v = F::num_states <= max_unrolled && F::num_params <= 64;

/// f(t, u, p)
template <class F, class T>
KOKKOS_FORCEINLINE_FUNCTION StateOf<F, T> evaluate_inline(const F& f, const T& t,
                                                          const StateOf<F, T>& u,
                                                          const ParamsOf<F, T>& p) {
  if constexpr (is_dual<T>) {
    static_assert(SystemOn<F, T>,
                  "forward derivatives need a right-hand side that is a template on its scalar");
    if constexpr (HasJacobian<F, typename T::T>) return evaluate_with_jacobian(f, t, u, p);
  }
  return f(t, u, p);
}

template <class F, class T>
GRADSOLVE_NOINLINE KOKKOS_FUNCTION void evaluate_call(const F& f, const T& t,
                                                      const StateOf<F, T>& u,
                                                      const ParamsOf<F, T>& p, StateOf<F, T>& r) {
  copy(evaluate_inline(f, t, u, p), r);
}
template <class F, class T>
KOKKOS_FORCEINLINE_FUNCTION StateOf<F, T> evaluate(const F& f, const T& t, const StateOf<F, T>& u,
                                                   const ParamsOf<F, T>& p) {
  if constexpr (is_inlined_v<F>) {
    return evaluate_inline(f, t, u, p);
  } else {
    StateOf<F, T> r;
    evaluate_call(f, t, u, p, r);
    return r;
  }
}

/// The adjoints of u, p and t that a pullback adds to.
template <class T, int N, int P>
struct Adjoints {
  State<T, N>& u;
  Params<T, P>& p;
  T& t;
};
template <class F, class T>
using AdjointsOf = Adjoints<T, F::num_states, F::num_params>;

/// Variables that one pass differentiates for: as many as fit in registers, or more where nothing
/// does and each pass evaluates a long function anew. Fewer where they are duals themselves: the
/// time of g++ grows faster than the code (POLLU, 20 states and 25 parameters: 51 s for 170 s).
inline constexpr int max_variables = 16, max_variables_of_large = 48, max_dual_variables = 12;

/// One pass of automatic differentiation of g(t, u, p), M numbers with the cotangents w: adds the
/// adjoints of variables [First, First + K) of (u, p, t).
template <bool WithTime, int First, int K, class G, class T, int N, int P, int M>
KOKKOS_FORCEINLINE_FUNCTION void add_pullback(const G& g, const T& t, const State<T, N>& u,
                                              const Params<T, P>& p, const Vector<T, M>& w,
                                              Adjoints<T, N, P> bar) {
  using D = SparseDual<T, K>;
  State<D, N> ud;
  Params<D, P> pd;
  for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA { ud[i] = D::variable(u[i], i - First); });
  for_each_index<P>([&](int i)
                        GRADSOLVE_INLINE_LAMBDA { pd[i] = D::variable(p[i], N + i - First); });
  const Vector<D, M> r = g(WithTime ? D::variable(t, N + P - First) : D(t), ud, pd);
  static_for<K>([&](auto k) GRADSOLVE_INLINE_LAMBDA {
    constexpr int variable = First + k;
    auto add_to = [&](T& sum) GRADSOLVE_INLINE_LAMBDA {
      for_each_index<M>([&](int i) GRADSOLVE_INLINE_LAMBDA {
        if (r[i].depends[k]) sum = sum + w[i] * r[i].partial[k];
      });
    };
    if constexpr (variable < N)
      add_to(bar.u[variable]);
    else if constexpr (variable < N + P)
      add_to(bar.p[variable - N]);
    else
      add_to(bar.t);
  });
}

/// Variables from number First on, and how many of them a pass takes.
template <class T, bool WithTime, int First, int N, int P>
struct Passes {
  static constexpr int count = N + P + (WithTime ? 1 : 0) - First;
  static constexpr int most = N <= max_unrolled ? max_variables
                              : is_dual<T>      ? max_dual_variables
                                                : max_variables_of_large;
  static constexpr int size = count < most ? count : most;
  static constexpr int number = (count + most - 1) / most;
};

/// Adds the adjoints of all variables from number First on.
template <bool WithTime, int First, class G, class T, int N, int P, int M>
KOKKOS_FORCEINLINE_FUNCTION void add_pullbacks(const G& g, const T& t, const State<T, N>& u,
                                               const Params<T, P>& p, const Vector<T, M>& w,
                                               Adjoints<T, N, P> bar) {
  using All = Passes<T, WithTime, First, N, P>;
  static_for<All::number>([&](auto pass) GRADSOLVE_INLINE_LAMBDA {
    constexpr int done = pass * All::most, left = All::count - done;
    constexpr int size = left < All::most ? left : All::most;
    add_pullback<WithTime, First + done, size>(g, t, u, p, w, bar);
  });
}

/// bar.u = (df/du)^T w, bar.p += (df/dp)^T w and, WithTime, bar.t += (df/dt)^T w: from the system's
/// own vjp or jacobian where it has one, else by sparse duals.
template <bool WithTime, class F, class T>
KOKKOS_FORCEINLINE_FUNCTION void vjp_inline(const F& f, const T& t, const StateOf<F, T>& u,
                                            const ParamsOf<F, T>& p, const StateOf<F, T>& w,
                                            AdjointsOf<F, T> bar) {
  constexpr int N = F::num_states, P = F::num_params;
  if constexpr (HasVjp<F, T>) {
    const Cotangents<T, N, P> c = f.vjp(t, u, p, w);
    for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA { bar.u[i] = c.u[i]; });
    if constexpr (P > 0) axpy(T(1), c.p, bar.p);
    if constexpr (WithTime) bar.t = bar.t + c.t;
  } else {
    constexpr int first = HasJacobian<F, T> ? N : 0;
    using D = SparseDual<T, Passes<T, WithTime, first, N, P>::size>;
    static_assert(Passes<T, WithTime, first, N, P>::count == 0 || SystemOn<F, D>,
                  "gradients need a right-hand side that is a template on its scalar, or one with "
                  "a member vjp(t, u, p, w)");
    bar.u = filled<N>(T(0));
    if constexpr (HasJacobian<F, T>) {
      const Matrix<T, N> jacobian = f.jacobian(t, u, p);
      for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA { axpy(w[i], jacobian[i], bar.u); });
    }
    add_pullbacks<WithTime, first>(f, t, u, p, w, bar);
  }
}

template <bool WithTime, class F, class T>
GRADSOLVE_NOINLINE KOKKOS_FUNCTION void vjp_call(const F& f, const T& t, const StateOf<F, T>& u,
                                                 const ParamsOf<F, T>& p, const StateOf<F, T>& w,
                                                 AdjointsOf<F, T> bar) {
  vjp_inline<WithTime>(f, t, u, p, w, bar);
}
template <bool WithTime, class F, class T>
KOKKOS_FORCEINLINE_FUNCTION void vjp(const F& f, const T& t, const StateOf<F, T>& u,
                                     const ParamsOf<F, T>& p, const StateOf<F, T>& w,
                                     AdjointsOf<F, T> bar) {
  if constexpr (is_inlined_v<F>)
    vjp_inline<WithTime>(f, t, u, p, w, bar);
  else
    vjp_call<WithTime>(f, t, u, p, w, bar);
}

}  // namespace gradsolve::detail
