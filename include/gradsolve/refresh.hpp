// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/record.hpp>
#include <gradsolve/replay.hpp>

namespace gradsolve {

namespace detail {
/// Trajectories that should be recorded again.
template <class S, class MemorySpace>
struct CountStale {
  Kokkos::View<const S*, MemorySpace> error_ratio;  // without memory: not known
  Kokkos::View<const Status*, MemorySpace> status;
  Kokkos::View<const int*, MemorySpace> num_steps;
  PerTrajectory<S> t0, t1;
  S bound;

  KOKKOS_FUNCTION void operator()(int i, int& sum) const {
    const bool moved = error_ratio.data() != nullptr && !(error_ratio(i) <= bound);
    // A trajectory that had not come through may now.
    sum += moved || status(i) != Status::success || (num_steps(i) == 0 && t0(i) != t1(i));
  }
};
}  // namespace detail

/// Looks after a record in a loop that moves parameters or initial states: records again as
/// Options::rerecord says. Returns whether it did. With Rerecord::when_stale it replays with the
/// error ratio first, into `replay`, and records where the largest ratio of a trajectory exceeds
/// Options::stale_ratio (or is not a number), where one had not reached t1, and where one without a
/// step has a time span now. Fixed steps are stale where their error is not a number; methods
/// without an error estimate are asked the last two alone. A new record has no saved states.
/// Synchronises exec. Throws InvalidArgument as record() and replay() do.
///
///     if (refresh(exec, system, record, ensemble, replay)) ++num_records;
///     gradient(exec, system, record, ensemble, loss, out);
template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters>
bool refresh(const Exec& exec, const F& system, Record<M, Scalar, MemorySpace>& record,
             const Ensemble<States, Parameters>& ensemble, Replay<Scalar, MemorySpace>& replay) {
  using namespace detail;
  const Options options = record.options;
  bool stale = options.rerecord == Rerecord::always;
  if (options.rerecord == Rerecord::when_stale) {
    check_record<Exec, LaneOf<F, Exec, Scalar, Width>, M>("refresh", system, record, ensemble);
    if constexpr (M::error_order > 0)
      replay_with_error_ratio<Width>(exec, system, record, ensemble, replay);
    else
      replay.error_ratio = {};
    const CountStale<Scalar, MemorySpace> count{replay.error_ratio,
                                                record.status,
                                                record.num_steps,
                                                ensemble.t0(),
                                                ensemble.t1(),
                                                options.is_fixed()
                                                    ? Kokkos::Experimental::finite_max_v<Scalar>
                                                    : static_cast<Scalar>(options.stale_ratio)};
    int num_stale = 0;
    Kokkos::parallel_reduce("gradsolve::refresh", Kokkos::RangePolicy<Exec>(exec, 0, record.size()),
                            count, num_stale);
    stale = num_stale > 0;
  }
  if (stale) gradsolve::record<Width>(exec, system, M{}, ensemble, options, record);
  return stale;
}

}  // namespace gradsolve
