// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/gradsolve.hpp>

#include <limits>
#include <support/ensembles.hpp>
#include <support/systems.hpp>

namespace gradsolve::test {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
/// The same for device code, which must not take the address of a host's variable.
KOKKOS_INLINE_FUNCTION double not_a_number() { return Kokkos::Experimental::quiet_NaN_v<double>; }

/// One trajectory on its own, and all that is known about it, on the host.
template <class F, class S = double>
struct Solved {
  Status status;
  int steps, rejected;
  std::vector<S> ends;
  StateFor<F, S> u, du0;  // du0: d u[0](t1) / d u0
  ParamsFor<F, S> dparams;
};

template <class M = Tsit5, class F, class S = double>
Solved<F, S> solve(const F& f, const std::vector<S>& u0, const std::vector<S>& params, S t0, S t1,
                   const Options& options) {
  Inputs<S> inputs;
  inputs.u0 = matrix<S>(1, F::num_states, [&](int, int j) { return u0[j]; });
  inputs.params = matrix<S>(1, F::num_params, [&](int, int j) { return params[j]; });
  const auto ensemble = inputs.ensemble(t0, t1);
  const auto recorded = record(Exec(), f, M{}, ensemble, options);
  const auto slopes = gradient(Exec(), f, recorded, ensemble, FirstState{});
  return {.status = on_host(recorded.status)(0),
          .steps = on_host(recorded.num_steps)(0),
          .rejected = on_host(recorded.num_rejected)(0),
          .ends = step_ends(Exec(), recorded, 0),
          .u = row<F::num_states>(on_host(recorded.states), 0),
          .du0 = row<F::num_states>(on_host(slopes.u0), 0),
          .dparams = row<F::num_params>(on_host(slopes.params), 0)};
}

}  // namespace gradsolve::test
