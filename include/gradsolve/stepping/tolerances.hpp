// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/options.hpp>
#include <gradsolve/system.hpp>

namespace gradsolve::detail {

/// The tolerances, and how many of a system's states they hold for.
template <class S>
struct Tolerances {
  S rtol, atol;
  bool extra_states_too;

  KOKKOS_FORCEINLINE_FUNCTION Tolerances(S relative, S absolute, bool extra = false)
      : rtol(relative), atol(absolute), extra_states_too(extra) {}
  KOKKOS_FORCEINLINE_FUNCTION explicit Tolerances(const Options& options)
      : Tolerances(S(options.rtol), S(options.atol), options.control_extra_states) {}

  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION bool holds_for(int state) const {
    return num_extra_states_v<F> == 0 || state < num_given_states_v<F> || extra_states_too;
  }
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION S inverse_count() const {
    constexpr double all = 1.0 / F::num_states, given = 1.0 / num_given_states_v<F>;
    return S(num_extra_states_v<F> == 0 || extra_states_too ? all : given);
  }
};

}  // namespace gradsolve::detail
