// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/detail/sweep.hpp>
#include <gradsolve/kernels/replay_kernel.hpp>
#include <gradsolve/record_data.hpp>

namespace gradsolve {

/// What replay() leaves. A handle: copies share their memory, and a sweep into it allocates nothing
/// once it has its size.
template <class Scalar = double, class MemorySpace = Kokkos::DefaultExecutionSpace::memory_space>
struct Replay {
  /// (n, N) the states at the end of the recorded steps.
  Kokkos::View<Scalar**, Kokkos::LayoutLeft, MemorySpace> states;
  /// (n, saves, N) as Record::saved, where save times were given.
  Kokkos::View<Scalar***, Kokkos::LayoutLeft, MemorySpace> saved;
  /// (n) the largest (error estimate / tolerance) of the steps, 1 at most on the values that were
  /// recorded: well above 1, the mesh has gone stale. Of the last replay_with_error_ratio().
  Kokkos::View<Scalar*, MemorySpace> error_ratio;

  detail::MovedMesh<Scalar, MemorySpace> moved;  ///< Workspace.
  detail::MovedFrom moved_from;                  ///< Internal.
};

namespace detail {

template <int Width, class Exec, class F, class M, class Scalar, class MemorySpace, class States,
          class Parameters, class Saves>
void replay_with(const Exec& exec, const F& system, const Record<M, Scalar, MemorySpace>& record,
                 const Ensemble<States, Parameters>& ensemble, const Saves& saves,
                 Replay<Scalar, MemorySpace>& out) {
  using L = LaneOf<F, Exec, Scalar, Width>;
  Kokkos::Profiling::ScopedRegion region("gradsolve::replay");
  resize_rows(exec, out.states, record.size(), F::num_states, "gradsolve::Replay::states");
  if (record.size() == 0) return;
  const ReplayKernel<M, SystemOnT<Exec, M, F>, L, Saves> kernel{
      system_on<Exec, M>(system),
      record.options.find_consistent_start,
      inputs_of(ensemble),
      mesh_on_span(exec, record.mesh, ensemble.t0(), ensemble.t1(), out.moved),
      strided(out.states),
      saves};
  launch_slices("gradsolve::replay", exec, record.mesh.num_slices, kernel);
}

}  // namespace detail

/// Solves the ensemble, with new initial states, parameters or time spans if it has them, on the
/// recorded steps. Asynchronous in exec. Throws InvalidArgument where the ensemble does not match
/// the record.
///
/// Where a trajectory's span [t0, t1] is not the recorded one, its steps move with it: each keeps
/// its place (t - t0) / (t1 - t0).
template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters>
void replay(const Exec& exec, const F& system, const Record<M, Scalar, MemorySpace>& record,
            const Ensemble<States, Parameters>& ensemble, Replay<Scalar, MemorySpace>& out) {
  using namespace detail;
  check_record<Exec, LaneOf<F, Exec, Scalar, Width>, M>("replay", system, record, ensemble);
  renew_if_moved_from(out);
  out.saved = {};
  replay_with<Width>(exec, system, record, ensemble, NoSaves{}, out);
}

/// The same, with the states at save times in Replay::saved.
template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters, class S, class TimesSpace>
void replay(const Exec& exec, const F& system, const Record<M, Scalar, MemorySpace>& record,
            const Ensemble<States, Parameters>& ensemble, const SaveTimes<S, TimesSpace>& times,
            Replay<Scalar, MemorySpace>& out) {
  using namespace detail;
  check_record<Exec, LaneOf<F, Exec, Scalar, Width>, M>("replay", system, record, ensemble);
  check_saves("replay", times, ensemble);
  renew_if_moved_from(out);
  resize_saves(exec, out.saved, ensemble.size(), times.size(), F::num_states,
               "gradsolve::Replay::saved");
  const SavesTo<StateSink<Scalar>> saves{times.access(), {strided(out.saved)}};
  replay_with<Width>(exec, system, record, ensemble, saves, out);
}

template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters>
Replay<Scalar, MemorySpace> replay(const Exec& exec, const F& system,
                                   const Record<M, Scalar, MemorySpace>& record,
                                   const Ensemble<States, Parameters>& ensemble) {
  Replay<Scalar, MemorySpace> out;
  replay<Width>(exec, system, record, ensemble, out);
  return out;
}
template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters, class S, class TimesSpace>
Replay<Scalar, MemorySpace> replay(const Exec& exec, const F& system,
                                   const Record<M, Scalar, MemorySpace>& record,
                                   const Ensemble<States, Parameters>& ensemble,
                                   const SaveTimes<S, TimesSpace>& times) {
  Replay<Scalar, MemorySpace> out;
  replay<Width>(exec, system, record, ensemble, times, out);
  return out;
}

/// The replay that watches its mesh: also fills Replay::error_ratio, at the cost of the stages that
/// only the error estimate needs. For methods with an error estimate.
template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters>
void replay_with_error_ratio(const Exec& exec, const F& system,
                             const Record<M, Scalar, MemorySpace>& record,
                             const Ensemble<States, Parameters>& ensemble,
                             Replay<Scalar, MemorySpace>& out) {
  using namespace detail;
  using L = LaneOf<F, Exec, Scalar, Width>;
  static_assert(M::error_order > 0, "the method has no error estimate");
  Kokkos::Profiling::ScopedRegion region("gradsolve::replay_with_error_ratio");
  check_record<Exec, L, M>("replay_with_error_ratio", system, record, ensemble);
  renew_if_moved_from(out);
  const int n = record.size();
  resize_rows(exec, out.states, n, F::num_states, "gradsolve::Replay::states");
  resize(exec, out.error_ratio, n, "gradsolve::Replay::error_ratio");
  out.saved = {};
  if (n == 0) return;
  const ErrorRatioKernel<M, SystemOnT<Exec, M, F>, L> kernel{
      system_on<Exec, M>(system),
      record.options.find_consistent_start,
      inputs_of(ensemble),
      mesh_on_span(exec, record.mesh, ensemble.t0(), ensemble.t1(), out.moved),
      Tolerances<Scalar>(record.options),
      strided(out.states),
      out.error_ratio.data()};
  launch_slices("gradsolve::replay_with_error_ratio", exec, record.mesh.num_slices, kernel);
}

template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters>
Replay<Scalar, MemorySpace> replay_with_error_ratio(const Exec& exec, const F& system,
                                                    const Record<M, Scalar, MemorySpace>& record,
                                                    const Ensemble<States, Parameters>& ensemble) {
  Replay<Scalar, MemorySpace> out;
  replay_with_error_ratio<Width>(exec, system, record, ensemble, out);
  return out;
}

}  // namespace gradsolve
