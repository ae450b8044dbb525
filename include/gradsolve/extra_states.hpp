// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/system.hpp>

/// States that a solution carries along beside the ensemble's: integrals and sensitivities.
namespace gradsolve {

/// A system with the integral of g(t, u, p) along its solutions as one more state, the last one,
/// which starts at 0:
///
///     const WithIntegral system{Lorenz{}, RunningCost{}};     // u[3] is the integral
///
/// g is a functor template <class T> T operator()(const T& t, const State<T, N>& u, const Params<T,
/// P>& p). The ensemble keeps its N initial states. The quadrature is the method's own, exactly
/// differentiated; it takes no part in the error control unless Options::control_extra_states. A
/// record of the plain system serves the one with the integral, too: replay and gradient work on
/// its steps.
template <class F, class G>
struct WithIntegral {
  static constexpr int num_states = F::num_states + 1, num_params = F::num_params;
  static constexpr int num_extra_states = num_extra_states_v<F> + 1;
  static constexpr bool branches = branches_v<F> || branches_v<G>;
  static constexpr int threads_per_trajectory = threads_per_trajectory_v<F>;

  F system;
  G integrand;

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, num_states> operator()(const T& t,
                                                              const State<T, num_states>& u,
                                                              const Params<T, num_params>& p) const
    requires SystemOn<F, T>
  {
    constexpr int N = F::num_states;
    State<T, N> x;
    for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA { x[i] = u[i]; });
    const State<T, N> slope = system(t, x, p);
    State<T, num_states> all;
    for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA { all[i] = slope[i]; });
    all[N] = integrand(t, x, p);
    return all;
  }

  /// That of the system, and one for the integral.
  static constexpr double mass_entry(int i, int j)
    requires HasMassMatrix<F>
  {
    return i < F::num_states && j < F::num_states ? mass_entry_of<F>(i, j) : i == j;
  }

  /// That of the system, and 1 for the integral.
  KOKKOS_FORCEINLINE_FUNCTION double atol_factor(int i) const
    requires HasToleranceFactor<F>
  {
    return i < F::num_states ? system.atol_factor(i) : 1;
  }

  KOKKOS_FORCEINLINE_FUNCTION double extra_start(int i) const {
    if constexpr (num_extra_states_v<F> > 0) {
      if (i < num_extra_states_v<F>) return system.extra_start(i);
    }
    return 0;
  }
};
template <class F, class G>
WithIntegral(F, G) -> WithIntegral<F, G>;

/// A system with its sensitivities to chosen variables as more states: the forward sensitivity
/// equations s' = (df/du) s + df/dx, solved together with the system, column after column behind
/// its N states. Variable i < N is the initial state u0[i], variable N + j the parameter p[j].
///
///     const WithSensitivities<Lorenz, 4> system;              // u[3..5] = du/d(rho)
///
/// For a record whose error control watches the sensitivities too (Options::control_extra_states);
/// without that its steps are the plain system's, and sensitivity() on the plain record is the
/// same derivative for less.
template <class F, int... Variables>
struct WithSensitivities {
  static_assert(num_extra_states_v<F> == 0, "take the sensitivities of the plain system");
  static constexpr int N = F::num_states, num_columns = sizeof...(Variables);
  static_assert(((Variables >= 0 && Variables < N + F::num_params) && ...),
                "variables are numbered from 0: initial states, then parameters");
  static constexpr int num_states = N * (1 + num_columns), num_params = F::num_params;
  static constexpr int num_extra_states = N * num_columns;
  static constexpr bool branches = branches_v<F>;
  static constexpr int threads_per_trajectory = threads_per_trajectory_v<F>;

  F system;

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, num_states> operator()(const T& t,
                                                              const State<T, num_states>& u,
                                                              const Params<T, num_params>& p) const
    requires SystemOn<F, Dual<T, num_columns>>
  {
    using D = Dual<T, num_columns>;
    constexpr int variables[] = {Variables...};
    State<D, N> x;
    Params<D, num_params> q;
    for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA {
      x[i] = D(u[i]);
      static_for<num_columns>(
          [&](auto k) GRADSOLVE_INLINE_LAMBDA { x[i].tangent[k] = u[N * (1 + k) + i]; });
    });
    for_each_index<num_params>([&](int j) GRADSOLVE_INLINE_LAMBDA { q[j] = D(p[j]); });
    static_for<num_columns>([&](auto k) GRADSOLVE_INLINE_LAMBDA {
      constexpr int variable = variables[k];
      if constexpr (variable >= N) q[variable - N].tangent[k] = T(1);
    });
    const State<D, N> slope = system(D(t), x, q);
    State<T, num_states> all;
    for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA {
      all[i] = slope[i].value;
      static_for<num_columns>(
          [&](auto k) GRADSOLVE_INLINE_LAMBDA { all[N * (1 + k) + i] = slope[i].tangent[k]; });
    });
    return all;
  }

  /// That of the system, for the sensitivities too.
  static constexpr double mass_entry(int i, int j)
    requires HasMassMatrix<F>
  {
    return i / N == j / N ? mass_entry_of<F>(i % N, j % N) : 0;
  }

  /// That of the system, for the sensitivities too.
  KOKKOS_FORCEINLINE_FUNCTION double atol_factor(int i) const
    requires HasToleranceFactor<F>
  {
    return system.atol_factor(i % N);
  }

  KOKKOS_FORCEINLINE_FUNCTION double extra_start(int i) const {
    constexpr int variables[] = {Variables...};
    return variables[i / N] == i % N ? 1 : 0;
  }
};

}  // namespace gradsolve
