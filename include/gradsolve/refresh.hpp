// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/record.hpp>
#include <gradsolve/replay.hpp>

namespace gradsolve {

/// Looks after a record in a loop that moves parameters or initial states: records again as
/// Options::rerecord says. Returns whether it did. With Rerecord::when_stale it replays with the
/// error ratio first, into `replay`, and records where the largest ratio of a trajectory exceeds
/// Options::stale_ratio (or is not a number), where one had not reached t1, and where one without a
/// step has a time span now. Fixed steps are stale where their error is not a number. A new record
/// has no saved states. Synchronises exec.
///
///     if (refresh(exec, system, ensemble, record, replay)) ++num_records;
///     gradient(exec, system, record, ensemble, loss, out);
template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters>
bool refresh(const Exec& exec, const F& system, const Ensemble<States, Parameters>& ensemble,
             Record<M, Scalar, MemorySpace>& record, Replay<Scalar, MemorySpace>& replay) {
  const Options options = record.options;
  bool stale = options.rerecord == Rerecord::always;
  if constexpr (M::error_order > 0) {
    if (options.rerecord == Rerecord::when_stale) {
      replay_with_error_ratio<Width>(exec, system, record, ensemble, replay);
      const auto ratio = replay.error_ratio;
      const auto status = record.status;
      const auto num_steps = record.num_steps;
      const auto t0 = ensemble.t0(), t1 = ensemble.t1();
      const Scalar bound = options.is_fixed() ? Kokkos::Experimental::finite_max_v<Scalar>
                                              : static_cast<Scalar>(options.stale_ratio);
      int num_stale = 0;
      Kokkos::parallel_reduce(
          "gradsolve::refresh", Kokkos::RangePolicy<Exec>(exec, 0, record.size()),
          KOKKOS_LAMBDA(int i, int& sum) {
            // A trajectory that had not come through may now.
            sum += !(ratio(i) <= bound) || status(i) != Status::success ||
                   (num_steps(i) == 0 && t0(i) != t1(i));
          },
          num_stale);
      stale = num_stale > 0;
    }
  }
  if (stale) gradsolve::record<Width>(exec, system, M{}, ensemble, options, record);
  return stale;
}

}  // namespace gradsolve
