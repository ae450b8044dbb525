// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/record.hpp>

namespace gradsolve {

/// What solve() leaves. `out` of one call goes into the next one: see there. A handle, as a Record.
template <class Scalar = double, class MemorySpace = Kokkos::DefaultExecutionSpace::memory_space>
struct Solved : Outcome<Scalar, MemorySpace> {
  Mesh<Scalar, MemorySpace> mesh;  ///< Internal: the order of the trajectories, no steps.
};

namespace detail {

/// Keeps the order of the last solve of as many trajectories; that of the second one is by the
/// numbers of steps of the first.
template <class Exec, class S, class MemorySpace>
void arrange(const Exec& exec, Solved<S, MemorySpace>& out, int n, int width, bool sort) {
  Mesh<S, MemorySpace>& mesh = out.mesh;
  const bool again =
      mesh.num_trajectories == n && mesh.width == width && out.num_steps.extent_int(0) == n;
  if (!again || (mesh.planned && !sort)) {
    slice_in_order(exec, mesh, n, width);
  } else if (sort && !mesh.planned) {
    sort_by_steps(exec, mesh, out.num_steps);
    mesh.planned = true;
  }
}

template <int Width, class M, class Exec, class F, class States, class Parameters, class Scalar,
          class Saves>
void solve_with(const Exec& exec, const F& system, const Ensemble<States, Parameters>& ensemble,
                const Options& options, const Saves& saves,
                Solved<Scalar, typename Exec::memory_space>& out) {
  using L = LaneOf<F, Exec, Scalar, Width>;
  using System = SystemOnT<Exec, M, F>;
  Kokkos::Profiling::ScopedRegion region("gradsolve::solve");
  const int n = ensemble.size();
  const bool fixed = M::error_order == 0 || options.is_fixed();
  if (n > 0) arrange(exec, out, n, slice_width<Exec, L, F, M>, options.sort && !fixed);
  prepare_outcome(exec, out, n, F::num_states);
  if (n == 0) return;
  const RecordKernel<M, System, L, Saves> kernel{
      system_on<Exec, M>(system),
      saves,
      false,
      true,
      StepRules(options, fixed),
      inputs_of(ensemble),
      options,
      MeshAccess(out.mesh),
      {strided(out.states), out.status.data(), out.num_steps.data(), out.num_rejected.data(),
       out.num_rhs.data(), nullptr, nullptr, nullptr, nullptr}};
  launch_slices("gradsolve::solve", exec, out.mesh.num_slices, kernel);
}

}  // namespace detail

/// Solves the ensemble adaptively and keeps no steps: for those who want final states, or states at
/// save times, and no derivatives. Bitwise the outcome of record(), in one pass.
///
///     auto solved = gradsolve::solve(exec, Lorenz{}, gradsolve::Tsit5{}, ensemble, {.rtol =
///     1e-8});
///
/// `out` is reused: solving again for as many trajectories allocates nothing and, but for fixed
/// steps or Options::sort = false, puts trajectories side by side that took like numbers of steps
/// in the first call.
///
/// Width: as for record(). Asynchronous in exec but for that second call, which waits for the
/// numbers of steps. Throws InvalidArgument as record() does.
template <int Width = 0, class Exec, class F, class M, class States, class Parameters,
          class Scalar = typename States::non_const_value_type>
void solve(const Exec& exec, const F& system, M, const Ensemble<States, Parameters>& ensemble,
           const Options& options, Solved<Scalar, typename Exec::memory_space>& out) {
  detail::check_solve<F, M, Exec>("solve", system, ensemble, options);
  detail::leave_copies(out);
  out.saved = {};
  detail::solve_with<Width, M>(exec, system, ensemble, options, detail::NoSaves{}, out);
}

/// The same, with the states at save times in Outcome::saved.
template <int Width = 0, class Exec, class F, class M, class States, class Parameters, class Scalar,
          class MemorySpace>
void solve(const Exec& exec, const F& system, M, const Ensemble<States, Parameters>& ensemble,
           const SaveTimes<Scalar, MemorySpace>& times, const Options& options,
           Solved<Scalar, typename Exec::memory_space>& out) {
  using namespace detail;
  check_solve<F, M, Exec>("solve", system, ensemble, options);
  check_saves("solve", times, ensemble);
  leave_copies(out);
  resize_saves(exec, out.saved, ensemble.size(), times.size(), F::num_states,
               "gradsolve::Outcome::saved");
  const SavesTo<StateSink<Scalar>> saves{times.access(), {strided(out.saved)}};
  solve_with<Width, M>(exec, system, ensemble, options, saves, out);
}

template <int Width = 0, class Exec, class F, class M, class States, class Parameters,
          class Scalar = typename States::non_const_value_type>
Solved<Scalar, typename Exec::memory_space> solve(const Exec& exec, const F& system, M method,
                                                  const Ensemble<States, Parameters>& ensemble,
                                                  const Options& options = {}) {
  Solved<Scalar, typename Exec::memory_space> out;
  solve<Width>(exec, system, method, ensemble, options, out);
  return out;
}

template <int Width = 0, class Exec, class F, class M, class States, class Parameters, class Scalar,
          class MemorySpace>
Solved<Scalar, typename Exec::memory_space> solve(const Exec& exec, const F& system, M method,
                                                  const Ensemble<States, Parameters>& ensemble,
                                                  const SaveTimes<Scalar, MemorySpace>& times,
                                                  const Options& options = {}) {
  Solved<Scalar, typename Exec::memory_space> out;
  solve<Width>(exec, system, method, ensemble, times, options, out);
  return out;
}

}  // namespace gradsolve
