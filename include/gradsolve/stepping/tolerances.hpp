// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ad/spread.hpp>
#include <gradsolve/options.hpp>

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

  /// Whether component `place` of a state (of this thread, where it is spread) is controlled.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION bool holds_for(const F& f, int place) const {
    using System = Whole<F>;
    if constexpr (num_extra_states_v<System> == 0 && !is_spread<F>) return true;
    const int component = component_of(f, place);
    return component >= 0 && (component < num_given_states_v<System> || extra_states_too);
  }
  /// The error of that component that is just tolerated, where |u| = size.
  template <class F, class L>
  KOKKOS_FORCEINLINE_FUNCTION L scale(const F& f, int place, const L& size) const {
    if constexpr (HasToleranceFactor<Whole<F>>) {
      const int component = component_of(f, place);
      const S factor = component < 0 ? S(1) : S(whole(f).atol_factor(component));
      const S own = atol * factor, most = Kokkos::Experimental::finite_max_v<S> / 8;
      return L(own > most ? most : own) + L(rtol) * size;  // an infinite factor: no control
    } else {
      return L(atol) + L(rtol) * size;
    }
  }
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION S inverse_count() const {
    using System = Whole<F>;
    constexpr double all = 1.0 / System::num_states, given = 1.0 / num_given_states_v<System>;
    return S(num_extra_states_v<System> == 0 || extra_states_too ? all : given);
  }
};

}  // namespace gradsolve::detail
