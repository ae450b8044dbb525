// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ad/spread.hpp>

/// The Jacobian of a right-hand side, and the derivatives of what a step makes of it.
namespace gradsolve::detail {

/// df/du: a matrix, or that in the scratch memory of a spread system.
struct MatrixInScratch {};
template <class F, class T>
using MatrixOf = std::conditional_t<is_spread<F>, MatrixInScratch, Matrix<T, F::num_states>>;

/// slope = f, jacobian = df/du and time_slope = df/dt at (t, u, p). df/du comes from the system's
/// own jacobian where it has one, all else from sparse duals.
template <class F, class T>
KOKKOS_FORCEINLINE_FUNCTION void linearize_inline(const F& f, const T& t, const StateOf<F, T>& u,
                                                  const ParamsOf<F, T>& p, StateOf<F, T>& slope,
                                                  MatrixOf<F, T>& jacobian,
                                                  StateOf<F, T>& time_slope) {
  constexpr int N = F::num_states, P = F::num_params;
  constexpr bool own = HasJacobian<F, T>;
  constexpr int count = own ? 1 : N + 1;  // df/du, if not its own, and df/dt
  constexpr int most = N <= max_unrolled ? count
                       : is_dual<T>      ? max_dual_variables
                                         : max_variables_of_large;
  if constexpr (own) jacobian = f.jacobian(t, u, p);
  static_for<(count + most - 1) / most>([&](auto pass) GRADSOLVE_INLINE_LAMBDA {
    constexpr int first = pass * most, left = count - first;
    constexpr int size = left < most ? left : most;
    using D = SparseDual<T, size>;
    static_assert(SystemOn<F, D>,
                  "stiff methods need a right-hand side that is a template on its scalar");
    State<D, N> ud;
    Params<D, P> pd;
    for_each_index<N>(
        [&](int i) GRADSOLVE_INLINE_LAMBDA { ud[i] = D::variable(u[i], own ? -1 : i - first); });
    for_each_index<P>([&](int i) GRADSOLVE_INLINE_LAMBDA { pd[i] = D(p[i]); });
    const State<D, N> r = f(D::variable(t, count - 1 - first), ud, pd);
    for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA {
      slope[i] = r[i].value;
      static_for<size>([&](auto k) GRADSOLVE_INLINE_LAMBDA {
        const T partial = r[i].depends[k] ? r[i].partial[k] : T(0);
        if constexpr (first + k == count - 1)
          time_slope[i] = partial;
        else
          jacobian[i][first + k] = partial;
      });
    });
  });
}
template <class F, class T>
GRADSOLVE_NOINLINE KOKKOS_FUNCTION void linearize_call(
    const F& f, const T& t, const StateOf<F, T>& u, const ParamsOf<F, T>& p, StateOf<F, T>& slope,
    MatrixOf<F, T>& jacobian, StateOf<F, T>& time_slope) {
  linearize_inline(f, t, u, p, slope, jacobian, time_slope);
}
template <class F, class T>
KOKKOS_FORCEINLINE_FUNCTION void linearize(const F& f, const T& t, const StateOf<F, T>& u,
                                           const ParamsOf<F, T>& p, StateOf<F, T>& slope,
                                           MatrixOf<F, T>& jacobian, StateOf<F, T>& time_slope) {
  if constexpr (is_spread<F>)
    linearize_spread(f, t, u, p, slope, time_slope);
  else if constexpr (is_inlined_v<F>)
    linearize_inline(f, t, u, p, slope, jacobian, time_slope);
  else
    linearize_call(f, t, u, p, slope, jacobian, time_slope);
}

/// phi(t, u, p) = sum over stages of l . (J k + a f_t) with fixed l, k and a: how a Rosenbrock step
/// depends on its Jacobian J and f_t = df/dt. Its derivatives are second derivatives of f.
///
/// Each stage adds the tangent of its own pullback, in the direction (k, a), in a function that is
/// called. On a GPU, where a call takes the state out of registers, all stages together: with
/// G = sum l k^T and g = sum a l, phi is the sum over components i of the derivative of f_i in the
/// direction (G_i, g_i) of (u, t), N directional derivatives of one component each. What is faster
/// on the one is slower on the other, by 2 to 4 times (docs/design/stiff.md).
template <class F, class T>
class Curvature {
  static constexpr int N = F::num_states, P = F::num_params;
#if defined(__CUDACC__) || defined(__HIPCC__)
  static constexpr bool by_components = is_inlined_v<F> && !is_spread<F>;
#else
  static constexpr bool by_components = false;
#endif

 public:
  KOKKOS_FORCEINLINE_FUNCTION Curvature() {
    if constexpr (by_components) {
      for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA { of_states_[i] = filled<N>(T(0)); });
      of_time_ = filled<N>(T(0));
    }
  }

  /// Adds a stage.
  template <bool WithTime, class A>
  KOKKOS_FORCEINLINE_FUNCTION void add(const F& f, const T& t, const State<T, N>& u,
                                       const Params<T, P>& p, const State<T, N>& l,
                                       const State<T, N>& k, const A& a, Adjoints<T, N, P> bar) {
    if constexpr (by_components) {
      for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA { axpy(l[i], k, of_states_[i]); });
      axpy(a, l, of_time_);
    } else if constexpr (is_spread<F>) {
      add_curvature_spread<WithTime>(f, t, u, p, l, k, T(a), bar);
    } else {
      add_stage<WithTime>(f, t, u, p, l, k, T(a), bar);
    }
  }

  /// Adds the adjoints of all stages that have not added theirs.
  template <bool WithTime>
  KOKKOS_FORCEINLINE_FUNCTION void finish(const F& f, const T& t, const State<T, N>& u,
                                          const Params<T, P>& p, Adjoints<T, N, P> bar) const {
    if constexpr (by_components)
      static_for<N>([&](auto i) GRADSOLVE_INLINE_LAMBDA {
        add_tangent_of_pullback<WithTime, SparseDual<T, 1>>(
            Component<i>{f}, t, u, p, Vector<T, 1>{T(1)}, of_states_[i], of_time_[i], bar);
      });
  }

 private:
  template <int I>
  struct Component {
    const F& f;
    template <class D>
    KOKKOS_FORCEINLINE_FUNCTION Vector<D, 1> operator()(const D& t, const State<D, N>& u,
                                                        const Params<D, P>& p) const {
      return {f(t, u, p)[I]};
    }
  };

  template <bool WithTime>
  static GRADSOLVE_NOINLINE KOKKOS_FUNCTION void add_stage(
      const F& f, const T& t, const State<T, N>& u, const Params<T, P>& p, const State<T, N>& l,
      const State<T, N>& k, const T& a, Adjoints<T, N, P> bar) {
    add_tangent_of_pullback<WithTime, Dual<T, 1>>(f, t, u, p, l, k, a, bar);
  }

  // The one derivative of a dual. A sparse one knows where it is zero, at twice the code.
  static KOKKOS_FORCEINLINE_FUNCTION void set_tangent(Dual<T, 1>& x, const T& dx) {
    x.tangent[0] = dx;
  }
  static KOKKOS_FORCEINLINE_FUNCTION void set_tangent(SparseDual<T, 1>& x, const T& dx) {
    x.depends[0] = true;
    x.partial[0] = dx;
  }
  // g++ does not see that what is never depended on is never read.
  static KOKKOS_FORCEINLINE_FUNCTION void clear_tangent(Dual<T, 1>&) {}
  static KOKKOS_FORCEINLINE_FUNCTION void clear_tangent(SparseDual<T, 1>& x) {
    x.partial[0] = T(0);
  }
  static KOKKOS_FORCEINLINE_FUNCTION T tangent_of(const Dual<T, 1>& x) { return x.tangent[0]; }
  static KOKKOS_FORCEINLINE_FUNCTION T tangent_of(const SparseDual<T, 1>& x) {
    return x.depends[0] ? x.partial[0] : T(0);
  }

  /// bar += d/de of the adjoints of w . g at (t + e dt, u + e du).
  template <bool WithTime, class D, class G, int M>
  static KOKKOS_FORCEINLINE_FUNCTION void add_tangent_of_pullback(
      const G& g, const T& t, const State<T, N>& u, const Params<T, P>& p, const Vector<T, M>& w,
      const State<T, N>& du, const T& dt, Adjoints<T, N, P> bar) {
    auto moving = [](const T& x, const T& dx) GRADSOLVE_INLINE_LAMBDA {
      D y(x);
      set_tangent(y, dx);
      return y;
    };
    auto still = [](const T& x) GRADSOLVE_INLINE_LAMBDA {
      D y(x);
      clear_tangent(y);
      return y;
    };
    State<D, N> ud, ubar;
    Params<D, P> pd, pbar;
    Vector<D, M> wd;
    D tbar = still(T(0));
    for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA {
      ud[i] = moving(u[i], du[i]);
      ubar[i] = still(T(0));
    });
    for_each_index<P>([&](int i) GRADSOLVE_INLINE_LAMBDA {
      pd[i] = still(p[i]);
      pbar[i] = still(T(0));
    });
    for_each_index<M>([&](int i) GRADSOLVE_INLINE_LAMBDA { wd[i] = still(w[i]); });
    add_pullbacks<WithTime, 0>(g, moving(t, dt), ud, pd, wd, Adjoints<D, N, P>{ubar, pbar, tbar});
    for_each_index<N>([&](int i)
                          GRADSOLVE_INLINE_LAMBDA { bar.u[i] = bar.u[i] + tangent_of(ubar[i]); });
    for_each_index<P>([&](int i)
                          GRADSOLVE_INLINE_LAMBDA { bar.p[i] = bar.p[i] + tangent_of(pbar[i]); });
    if constexpr (WithTime) bar.t = bar.t + tangent_of(tbar);
  }

  Matrix<T, by_components ? N : 0> of_states_;  // G
  State<T, by_components ? N : 0> of_time_;     // g
};

}  // namespace gradsolve::detail
