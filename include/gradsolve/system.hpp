// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ad/dual.hpp>

#include <concepts>

/// What a user writes: the right-hand side f of u' = f(t, u, p), one functor,
///
///     struct Lorenz {
///       static constexpr int num_states = 3, num_params = 3;
///       template <class T>
///       KOKKOS_FUNCTION gradsolve::State<T, 3> operator()(
///           T t, const gradsolve::State<T, 3>& u, const gradsolve::Params<T, 3>& p) const {
///         return {p[0] * (u[1] - u[0]), u[0] * (p[1] - u[2]) - u[1], u[0] * u[1] - p[2] * u[2]};
///       }
///     };
///
/// Optional members, found by concept:
///   static constexpr bool branches = true;      it branches on its values (`if`, `while`): on a
///                                               CPU it then runs one trajectory at a time
///   vjp(t, u, p, w) -> Cotangents<T, N, P>      its own vector-Jacobian product
///   jacobian(t, u, p) -> Matrix<T, N>           its own df/du
///   static constexpr Matrix<double, N> mass_matrix
///                                               solves mass_matrix u' = f: implicit methods
///                                               only. It may be singular (algebraic constraints).
///   atol_factor(i) -> double                    the absolute tolerance of component i is
///                                               Options::atol times this number >= 0; infinite:
///                                               the component is not controlled
///   component(i, t, u, p) -> T                  component i of f, where u[j] reads state j: a
///                                               large system on a GPU then needs no copy of its
///                                               state
///   static constexpr int threads_per_trajectory of a GPU, by default what was measured to be
///                                               faster: 1; 32, over which the states of a large
///                                               system are spread (docs/large.md); or 4, which
///                                               share the layers of a net (docs/neural.md)
///   static constexpr int num_extra_states = Q;  its last Q states are not the ensemble's: they
///   extra_start(i) -> double                    start from these numbers and are left out of the
///                                               error control (Options::control_extra_states).
///                                               Integrals along a solution (WithIntegral) and
///                                               sensitivities (WithSensitivities) are such states.
///   static constexpr int num_weights = K;       weights that the ensemble shares, more than a
///   weights                                     thread could hold: a View of K numbers, and the
///   vjp(t, u, p, w, weights_bar)                derivatives in them (blocks/chain.hpp,
///                                               docs/neural.md)
namespace gradsolve {

/// Row i holds the derivatives of component i.
template <class T, int N>
using Matrix = Vector<Vector<T, N>, N>;

/// w^T df/du, w^T df/dp and w^T df/dt of a right-hand side f and a cotangent w.
template <class T, int N, int P>
struct Cotangents {
  State<T, N> u;
  Params<T, P> p;
  T t;
};

/// A right-hand side that can be called with numbers of type T.
template <class F, class T>
concept SystemOn = requires(const F f, const T t, const State<T, F::num_states> u,
                            const Params<T, F::num_params> p) {
  { f(t, u, p) } -> std::convertible_to<State<T, F::num_states>>;
};

/// A right-hand side of any kind.
template <class F>
concept System = std::copy_constructible<F> && requires {
  { F::num_states } -> std::convertible_to<int>;
  { F::num_params } -> std::convertible_to<int>;
} && (SystemOn<F, double> || SystemOn<F, float>);

template <class F, class T>
concept HasVjp = requires(const F f, const T t, const State<T, F::num_states> u,
                          const Params<T, F::num_params> p) {
  { f.vjp(t, u, p, u) } -> std::convertible_to<Cotangents<T, F::num_states, F::num_params>>;
};

template <class F, class T>
concept HasJacobian = requires(const F f, const T t, const State<T, F::num_states> u,
                               const Params<T, F::num_params> p) {
  { f.jacobian(t, u, p) } -> std::convertible_to<Matrix<T, F::num_states>>;
};

/// A system whose components have absolute tolerances of their own.
template <class F>
concept HasToleranceFactor = requires(const F f) {
  { f.atol_factor(0) } -> std::convertible_to<double>;
};

/// A system with a constant mass matrix: its own, or that of the system that it wraps.
template <class F>
concept HasMassMatrix = requires { F::mass_matrix; } || requires { F::mass_entry(0, 0); };

template <class F>
constexpr double mass_entry_of(int i, int j) {
  if constexpr (requires { F::mass_matrix; }) {
    static_assert(
        std::is_same_v<decltype(F::mass_matrix), const Matrix<double, F::num_states>>,
        "mass_matrix is a static constexpr gradsolve::Matrix<double, N> with N = num_states");
    return F::mass_matrix[i][j];
  } else if constexpr (requires { F::mass_entry(i, j); }) {
    return F::mass_entry(i, j);
  } else {
    return i == j;
  }
}

/// A right-hand side with weights that the ensemble shares, and whose derivatives it adds to a
/// weights_bar of its vjp.
template <class F>
concept HasWeights = requires(const F f) {
  { F::num_weights } -> std::convertible_to<int>;
  f.weights.data();
};

/// Whether a system says that it branches on its values.
template <class F>
inline constexpr bool branches_v = [] {
  if constexpr (requires { F::branches; }) return bool(F::branches);
  return false;
}();

namespace detail {
/// Threads of a GPU that share the layers of a net (ad/replicated.hpp), and the most weights for
/// which they do so unasked (docs/design/kernels.md).
inline constexpr int threads_per_group = 4, most_weights_of_group = 512;
}  // namespace detail

/// Threads of a GPU that a trajectory takes; 0: its number of states decides.
template <class F>
inline constexpr int threads_per_trajectory_v = [] {
  if constexpr (requires { F::threads_per_trajectory; }) {
    if (F::threads_per_trajectory != 0) return int(F::threads_per_trajectory);
  }
  if constexpr (HasWeights<F>)
    return F::num_weights <= detail::most_weights_of_group ? detail::threads_per_group : 1;
  return 0;
}();

/// States of a system that are not the ensemble's, and those that are.
template <class F>
inline constexpr int num_extra_states_v = [] {
  if constexpr (requires { F::num_extra_states; }) return int(F::num_extra_states);
  return 0;
}();
template <class F>
inline constexpr int num_given_states_v = F::num_states - num_extra_states_v<F>;

}  // namespace gradsolve
