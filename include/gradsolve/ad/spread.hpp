// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ad/derivatives.hpp>
#include <gradsolve/ad/lane_dual.hpp>
#include <gradsolve/lanes/warp.hpp>

/// Large systems on a GPU, a warp a trajectory.
namespace gradsolve::detail {

/// States from which on a trajectory takes a warp, unless the system says otherwise
/// (docs/design/large.md).
inline constexpr int spread_from = 17;

/// A system F whose states are spread over the G threads of a warp, for steps that know nothing of
/// it: state i lies on thread i % G, which has it at i / G. Each thread differentiates for its own
/// variables, numbered in the same way: a vector-Jacobian product, or a Jacobian, is one evaluation
/// of F with duals on each thread. The cotangents of p are the sum of what the threads have.
///
/// F is evaluated by components where it has them,
///
///     component(i, t, u, p) -> T      component i of f; u[j] reads state j
///
/// each thread its own and without a copy of the state; else as a whole on each thread.
template <class F, int G, class Threads_ = Warp<G>>
struct Spread {
  using System = F;
  using Threads = Threads_;
  static constexpr int threads = G, N = F::num_states, P = F::num_params;
  static constexpr int num_states = (N + G - 1) / G, num_params = P;  // of a thread
  static constexpr bool has_components =
      requires(F f, double t, const double* u, Params<double, P> p) { f.component(0, t, u, p); };

  F system;
  int thread;
  void* scratch;

  KOKKOS_FORCEINLINE_FUNCTION void bind(int, void* slice_scratch, int thread_of_slice) {
    scratch = slice_scratch;
    thread = thread_of_slice;
  }

  /// The state at place `slot` of this thread, and whether there is one.
  KOKKOS_FORCEINLINE_FUNCTION int component(int slot) const { return slot * G + thread; }
  KOKKOS_FORCEINLINE_FUNCTION bool has(int slot) const { return component(slot) < N; }

  // Scratch memory: vectors of all N states, and a matrix. Rows and columns of it are read without
  // two threads at one memory bank: its stride is odd.
  static constexpr int num_vectors = 3, stride = (N + 1) | 1;
  template <class T>
  static constexpr std::size_t scratch_bytes(bool with_matrix) {
    return sizeof(T) * (num_vectors * N + (with_matrix ? N * stride : 0)) + sizeof(int) * N;
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T* vector(int i) const {
    return static_cast<T*>(scratch) + i * N;
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T* matrix() const {
    return vector<T>(num_vectors);
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION int* permutation() const {
    return reinterpret_cast<int*>(matrix<T>() + N * stride);
  }

  /// Puts a spread vector together in scratch memory; it stays until the next call for this `i`.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION const T* gather(const State<T, num_states>& x, int i) const {
    T* const all = vector<T>(i);
    Threads::sync();
    for_each_index<num_states>([&](int slot) GRADSOLVE_INLINE_LAMBDA {
      if (has(slot)) all[component(slot)] = x[slot];
    });
    Threads::sync();
    return all;
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, N> gathered(const State<T, num_states>& x) const {
    const T* const all = gather(x, 0);
    State<T, N> copy;
    for (int i = 0; i < N; ++i) copy[i] = all[i];
    return copy;
  }
  /// This thread's part of a vector.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION auto own(const V& all) const {
    State<std::decay_t<decltype(all[0])>, num_states> x;
    for_each_index<num_states>([&](int slot) GRADSOLVE_INLINE_LAMBDA {
      x[slot] = has(slot) ? all[component(slot)] : std::decay_t<decltype(all[0])>(0);
    });
    return x;
  }

  template <class T>
  GRADSOLVE_NOINLINE KOKKOS_FUNCTION State<T, num_states> operator()(const T& t,
                                                                     const State<T, num_states>& u,
                                                                     const Params<T, P>& p) const {
    if constexpr (has_components) {
      const T* const all = gather(u, 0);
      State<T, num_states> slope = filled<num_states>(T(0));
      for_each_own_component(
          t, p, [&](int j) GRADSOLVE_INLINE_LAMBDA { return all[j]; },
          [&](int slot, const T& component) GRADSOLVE_INLINE_LAMBDA { slope[slot] = component; });
      return slope;
    } else {
      return own(system(t, gathered(u), p));
    }
  }

  /// What component() reads the state through.
  template <class T, class At>
  struct Reader {
    const At& at;
    KOKKOS_FORCEINLINE_FUNCTION T operator[](int j) const { return at(j); }
  };

  /// Calls visit(i, f_i) for all components of f at u[j] = at(j).
  template <class T, class At, class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_component(const T& t, const Params<T, P>& p,
                                                      const At& at, Visit&& visit) const {
    if constexpr (has_components) {
      for (int i = 0; i < N; ++i) visit(i, T(system.component(i, t, Reader<T, At>{at}, p)));
    } else {
      State<T, N> all;
      for (int i = 0; i < N; ++i) all[i] = at(i);
      const State<T, N> slope = system(t, all, p);
      for (int i = 0; i < N; ++i) visit(i, slope[i]);
    }
  }
  /// Calls visit(slot, f_i) for those of this thread, of a system that has components.
  template <class T, class At, class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_own_component(const T& t, const Params<T, P>& p,
                                                          const At& at, Visit&& visit) const {
    for_each_index<num_states>([&](int slot) GRADSOLVE_INLINE_LAMBDA {
      if (has(slot)) visit(slot, T(system.component(component(slot), t, Reader<T, At>{at}, p)));
    });
  }

  /// Variables, in this order: the states, the time, the parameters. Of the first `Count`, each
  /// thread has `number`, and takes a few of them in a pass.
  template <int Count>
  struct Passes {
    static constexpr int number = (Count + G - 1) / G, most = 4;
    static constexpr int count = (number + most - 1) / most;
    static KOKKOS_FORCEINLINE_FUNCTION constexpr int size(int pass) {
      return number - pass * most < most ? number - pass * most : most;
    }
  };
  /// Each thread differentiates f for its own variables. Where f has components, that is for its
  /// states only: for t and p it differentiates its own components, which are fewer.
  template <bool WithOthers>
  using VariablePasses = Passes<N + (WithOthers && !has_components ? 1 + P : 0)>;

  /// Evaluates f with the variables of a pass as duals over T: dual number k is variable number
  /// (First + k) G + thread. visit(i, f_i); the state j without them is at(j).
  template <int First, int K, class T, class At, class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void differentiate(const T& t, const Params<T, P>& p, const At& at,
                                                 Visit&& visit) const {
    auto variable = [&](const T& x, int number) GRADSOLVE_INLINE_LAMBDA {
      return seeded<K, G>(x, number - First * G - thread);
    };
    Params<Dual<T, K>, P> pd;
    for_each_index<P>([&](int i) GRADSOLVE_INLINE_LAMBDA { pd[i] = variable(p[i], N + 1 + i); });
    for_each_component(
        variable(t, N), pd, [&](int j) GRADSOLVE_INLINE_LAMBDA { return variable(at(j), j); },
        visit);
  }
  /// Adds the derivative for variable number K of this thread to its adjoint: there, where it is
  /// one of `VariablePasses`. A last pass has threads with a variable beyond them.
  template <int K, class T>
  KOKKOS_FORCEINLINE_FUNCTION void add_to(const T& derivative,
                                          Adjoints<T, num_states, P> bar) const {
    const int variable = K * G + thread;
    if constexpr (K < num_states) {
      if (variable < N) bar.u[K] = bar.u[K] + derivative;
    }
    if constexpr (!has_components) {
      if (variable == N) bar.t = bar.t + derivative;
      for_each_index<P>([&](int i) GRADSOLVE_INLINE_LAMBDA {
        if (variable == N + 1 + i) bar.p[i] = bar.p[i] + derivative;
      });
    }
  }

  /// Differentiates this thread's components for p and, WithTime, t, a few of them at a time, and
  /// adds the sums of share(i, derivative of f_i) to their adjoints.
  template <bool WithTime, class T, class B, class At, class Share>
  KOKKOS_FORCEINLINE_FUNCTION void differentiate_own(const T& t, const Params<T, P>& p,
                                                     const At& at, Adjoints<B, num_states, P> bar,
                                                     const Share& share) const {
    constexpr int all = P + (WithTime ? 1 : 0), most = 4;
    static_for<(all + most - 1) / most>([&](auto pass) GRADSOLVE_INLINE_LAMBDA {
      constexpr int first = pass * most, size = all - first < most ? all - first : most;
      add_own<first, size>(t, p, at, bar, share);
    });
  }

 private:
  /// x as a dual whose derivative number k is 1 where `offset` is k times `Apart`.
  template <int K, int Apart, class T>
  static KOKKOS_FORCEINLINE_FUNCTION Dual<T, K> seeded(const T& x, int offset) {
    Dual<T, K> y(x);
    static_for<K>([&](auto k) GRADSOLVE_INLINE_LAMBDA {
      if (offset == k * Apart) y.tangent[k] = T(1);
    });
    return y;
  }

  template <int First, int K, class T, class B, class At, class Share>
  KOKKOS_FORCEINLINE_FUNCTION void add_own(const T& t, const Params<T, P>& p, const At& at,
                                           Adjoints<B, num_states, P> bar,
                                           const Share& share) const {
    using D = Dual<T, K>;
    Params<D, P> pd;
    for_each_index<P>([&](int i)
                          GRADSOLVE_INLINE_LAMBDA { pd[i] = seeded<K, 1>(p[i], i - First); });
    Vector<B, K> sums = filled<K>(B(0));
    for_each_own_component(
        seeded<K, 1>(t, P - First), pd, [&](int j) GRADSOLVE_INLINE_LAMBDA { return D(at(j)); },
        [&](int slot, const D& component) GRADSOLVE_INLINE_LAMBDA {
          static_for<K>([&](auto k) GRADSOLVE_INLINE_LAMBDA {
            sums[k] = sums[k] + share(this->component(slot), component.tangent[k]);
          });
        });
    for (int k = 0; k < K; ++k) {
      B& adjoint = First + k < P ? bar.p[First + k] : bar.t;
      adjoint = adjoint + sums[k];
    }
  }
};

template <class F>
inline constexpr bool is_spread = false;
template <class F, int G, class Threads>
inline constexpr bool is_spread<Spread<F, G, Threads>> = true;

/// The user's system beneath.
template <class F>
struct WholeSystem {
  using Type = F;
};
template <class F, int G, class Threads>
struct WholeSystem<Spread<F, G, Threads>> {
  using Type = F;
};
template <class F>
using Whole = typename WholeSystem<F>::Type;

template <class F>
KOKKOS_FORCEINLINE_FUNCTION const Whole<F>& whole(const F& f) {
  if constexpr (is_spread<F>)
    return f.system;
  else
    return f;
}

/// The component at a place of a thread's state; -1: none.
template <class F>
KOKKOS_FORCEINLINE_FUNCTION int component_of(const F& f, int slot) {
  if constexpr (is_spread<F>)
    return f.has(slot) ? f.component(slot) : -1;
  else
    return slot;
}
/// A sum over a state's components, of which `x` are this thread's.
template <class F, class T>
KOKKOS_FORCEINLINE_FUNCTION T sum_of_threads(const F&, const T& x) {
  if constexpr (is_spread<F>) {
    T sum;
    static_for<num_parts<T>>(
        [&](auto k) GRADSOLVE_INLINE_LAMBDA { part(sum, k) = F::Threads::sum(part(x, k)); });
    return sum;
  } else {
    return x;
  }
}
/// Whether all components are finite, and `other`.
template <class F, class L>
KOKKOS_FORCEINLINE_FUNCTION MaskOf<L> all_finite(const F& f, const StateOf<F, L>& x,
                                                 const L& other = L(0)) {
  if constexpr (std::is_same_v<MaskOf<L>, bool> && !is_spread<F>) {
    bool finite = is_finite(other);
    for_each_index<F::num_states>(
        [&](int i) GRADSOLVE_INLINE_LAMBDA { finite = finite && is_finite(x[i]); });
    return finite;
  } else {
    L sum = other;  // of zeros, and NaN where something is not finite
    for_each_index<F::num_states>([&](int i) GRADSOLVE_INLINE_LAMBDA { sum = sum + L(0) * x[i]; });
    return is_finite(sum_of_threads(f, sum));
  }
}
/// sum_i x_i y_i over all components.
template <class F, class T>
KOKKOS_FORCEINLINE_FUNCTION T dot(const F& f, const StateOf<F, T>& x, const StateOf<F, T>& y) {
  return sum_of_threads(f, dot(x, y));
}

/// Adds to the adjoints the sums of share(i, derivative of f_i) over the components, for each
/// variable, at u[j] = state(j). bar.t gets that of all threads.
template <bool WithTime, class System, class T, class B, class State, class Share>
KOKKOS_FORCEINLINE_FUNCTION void add_pullback_spread(
    const System& f, const T& t, const ParamsOf<System, T>& p, const State& state,
    const Share& share, Adjoints<B, System::num_states, System::P> bar) {
  using Passes = typename System::template VariablePasses<(System::P > 0 || WithTime)>;
  B tbar(0);
  const Adjoints<B, System::num_states, System::P> own{bar.u, bar.p, tbar};
  static_for<Passes::count>([&](auto pass) GRADSOLVE_INLINE_LAMBDA {
    constexpr int first = pass * Passes::most, size = Passes::size(pass);
    Vector<B, size> sums = filled<size>(B(0));
    f.template differentiate<first, size>(
        t, p, state, [&](int i, const Dual<T, size>& component) GRADSOLVE_INLINE_LAMBDA {
          static_for<size>([&](auto k) GRADSOLVE_INLINE_LAMBDA {
            sums[k] = sums[k] + share(i, component.tangent[k]);
          });
        });
    static_for<size>([&](auto k)
                         GRADSOLVE_INLINE_LAMBDA { f.template add_to<first + k>(sums[k], own); });
  });
  if constexpr (System::has_components)
    f.template differentiate_own<WithTime>(t, p, state, own, share);
  if constexpr (WithTime) bar.t = bar.t + sum_of_threads(f, tbar);
}

/// vjp() of a spread system (derivatives.hpp).
template <bool WithTime, class System, class T>
GRADSOLVE_NOINLINE KOKKOS_FUNCTION void vjp_spread(const System& f, const T& t,
                                                   const StateOf<System, T>& u,
                                                   const ParamsOf<System, T>& p,
                                                   const StateOf<System, T>& w,
                                                   AdjointsOf<System, T> bar) {
  const T *const states = f.gather(u, 0), *const weights = f.gather(w, 1);
  bar.u = filled<System::num_states>(T(0));
  add_pullback_spread<WithTime>(
      f, t, p, [&](int j) GRADSOLVE_INLINE_LAMBDA { return states[j]; },
      [&](int i, const T& derivative) GRADSOLVE_INLINE_LAMBDA { return weights[i] * derivative; },
      bar);
}
template <bool WithTime, class F, class T>
  requires is_spread<F>
KOKKOS_FORCEINLINE_FUNCTION void vjp(const F& f, const T& t, const StateOf<F, T>& u,
                                     const ParamsOf<F, T>& p, const StateOf<F, T>& w,
                                     AdjointsOf<F, T> bar) {
  vjp_spread<WithTime>(f, t, u, p, w, bar);
}

/// linearize() of a spread system (linearization.hpp): df/du goes into f.matrix().
template <class System, class T>
GRADSOLVE_NOINLINE KOKKOS_FUNCTION void linearize_spread(const System& f, const T& t,
                                                         const StateOf<System, T>& u,
                                                         const ParamsOf<System, T>& p,
                                                         StateOf<System, T>& slope,
                                                         StateOf<System, T>& time_slope) {
  constexpr int N = System::N, G = System::threads, stride = System::stride;
  using Passes = typename System::template Passes<N + (System::has_components ? 0 : 1)>;
  const T* const states = f.gather(u, 0);
  auto state = [&](int j) GRADSOLVE_INLINE_LAMBDA { return states[j]; };
  T *const matrix = f.template matrix<T>(), *const slopes = f.template vector<T>(1);
  static_for<Passes::count>([&](auto pass) GRADSOLVE_INLINE_LAMBDA {
    constexpr int first = pass * Passes::most, size = Passes::size(pass);
    f.template differentiate<first, size>(
        t, p, state, [&](int i, const Dual<T, size>& component) GRADSOLVE_INLINE_LAMBDA {
          if (f.thread == 0) slopes[i] = component.value;
          static_for<size>([&](auto k) GRADSOLVE_INLINE_LAMBDA {
            const int variable = (first + k) * G + f.thread;
            if (variable <= N) matrix[i * stride + variable] = component.tangent[k];
          });
        });
  });
  System::Threads::sync();
  slope = f.own(slopes);
  if constexpr (System::has_components) {
    using D = Dual<T, 1>;
    time_slope = filled<System::num_states>(T(0));
    Params<D, System::P> pd;
    for_each_index<System::P>([&](int i) GRADSOLVE_INLINE_LAMBDA { pd[i] = D(p[i]); });
    f.for_each_own_component(
        D(t, Vector<T, 1>{T(1)}), pd, [&](int j) GRADSOLVE_INLINE_LAMBDA { return D(states[j]); },
        [&](int slot, const D& component)
            GRADSOLVE_INLINE_LAMBDA { time_slope[slot] = component.tangent[0]; });
  } else {
    for_each_index<System::num_states>([&](int slot) GRADSOLVE_INLINE_LAMBDA {
      time_slope[slot] = f.has(slot) ? matrix[f.component(slot) * stride + N] : T(0);
    });
  }
}

/// Adds the adjoints of l . (J k + a f_t) with fixed l, k and a: second derivatives of f.
template <bool WithTime, class System, class T>
GRADSOLVE_NOINLINE KOKKOS_FUNCTION void add_curvature_spread(
    const System& f, const T& t, const StateOf<System, T>& u, const ParamsOf<System, T>& p,
    const StateOf<System, T>& l, const StateOf<System, T>& k, const T& a,
    AdjointsOf<System, T> bar) {
  using E = Dual<T, 1>;  // the derivative in the direction (k, a) of (u, t)
  const T *const states = f.gather(u, 0), *const weights = f.gather(l, 1),
                 *const direction = f.gather(k, 2);
  Params<E, System::P> still;
  for_each_index<System::P>([&](int i) GRADSOLVE_INLINE_LAMBDA { still[i] = E(p[i]); });
  add_pullback_spread<WithTime>(
      f, E(t, Vector<T, 1>{a}), still,
      [&](int j) GRADSOLVE_INLINE_LAMBDA { return E(states[j], Vector<T, 1>{direction[j]}); },
      [&](int i, const E& derivative)
          GRADSOLVE_INLINE_LAMBDA { return weights[i] * derivative.tangent[0]; },
      bar);
}

}  // namespace gradsolve::detail
