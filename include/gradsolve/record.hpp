// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/detail/sweep.hpp>
#include <gradsolve/kernels/record_kernel.hpp>

#include <utility>
#include <vector>

namespace gradsolve {

namespace detail {

/// Throws InvalidArgument for options that make no sense, whatever the ensemble.
void check_options(const char* function, const Options& options, const char* method,
                   bool has_error_estimate);

/// Copies of a result share its memory; one that is written anew leaves it to the others. So does
/// one that was moved from.
template <class Result>
void leave_copies(Result& out) {
  if (out.moved_from || out.mesh.order.use_count() > 1) out = Result{};
}

/// Allocates the arrays of an outcome of n trajectories.
template <class Exec, class S, class MemorySpace>
void prepare_outcome(const Exec& exec, Outcome<S, MemorySpace>& out, int n, int num_states) {
  resize_rows(exec, out.states, n, num_states, "gradsolve::Outcome::states");
  resize(exec, out.status, n, "gradsolve::Outcome::status");
  resize(exec, out.num_steps, n, "gradsolve::Outcome::num_steps");
  resize(exec, out.num_rejected, n, "gradsolve::Outcome::num_rejected");
  resize(exec, out.num_rhs, n, "gradsolve::Outcome::num_rhs");
}

/// Cuts n trajectories, in their own order, into slices.
template <class Exec, class S, class MemorySpace>
void slice_in_order(const Exec& exec, Mesh<S, MemorySpace>& mesh, int n, int width) {
  mesh.planned = false;
  mesh.num_trajectories = n;
  mesh.width = width;
  mesh.num_slices = (n + width - 1) / width;
  resize(exec, mesh.order, std::size_t(mesh.num_slices) * width, "gradsolve::Mesh::order");
  const auto order = mesh.order;
  Kokkos::parallel_for(
      "gradsolve::record::order", Kokkos::RangePolicy<Exec>(exec, 0, order.extent(0)),
      KOKKOS_LAMBDA(int i) { order(i) = i < n ? i : -1; });
}

/// Allocates the arrays of a mesh of n trajectories in slices of `width`.
template <class Exec, class S, class MemorySpace>
void prepare_mesh(const Exec& exec, Mesh<S, MemorySpace>& mesh, int n, int width) {
  slice_in_order(exec, mesh, n, width);
  resize(exec, mesh.first_row, std::size_t(mesh.num_slices) + 1, "gradsolve::Mesh::first_row");
  resize(exec, mesh.num_rows, mesh.num_slices, "gradsolve::Mesh::num_rows");
  resize(exec, mesh.t0, n, "gradsolve::Mesh::t0");
  resize(exec, mesh.t1, n, "gradsolve::Mesh::t1");
}

/// What every adaptive solve asks of its arguments.
template <class F, class M, class Exec, class States, class Parameters>
void check_solve(const char* function, const F& system,
                 const Ensemble<States, Parameters>& ensemble, const Options& options) {
  static_assert(ImplicitMethod<M> || !HasMassMatrix<F>,
                "explicit methods solve u' = f: a system with a mass matrix needs a Rosenbrock or "
                "ESDIRK method");
  check_ensemble<F, Exec>(function, ensemble);
  check_weights<Exec>(function, system);
  check_options(function, options, M::name, M::error_order > 0);
  using S = typename Ensemble<States, Parameters>::Scalar;
  require(S(options.rtol) > 0 || S(options.atol) > 0, function, "options.atol", options.atol,
          "> 0 in the ensemble's number type, where rtol is 0 there");
}

template <int Width, class Exec, class F, class M, class States, class Parameters, class Scalar,
          class Saves>
void record_with(const Exec& exec, const F& system, const Ensemble<States, Parameters>& ensemble,
                 const Options& options, const Saves& saves,
                 Record<M, Scalar, typename Exec::memory_space>& out) {
  using L = LaneOf<F, Exec, Scalar, Width>;
  using System = SystemOnT<Exec, M, F>;
  Kokkos::Profiling::ScopedRegion region("gradsolve::record");

  const int n = ensemble.size();
  constexpr int width = slice_width<Exec, L, F, M>;
  // Not whole until the end: memory may run out.
  const bool was_planned = std::exchange(out.mesh.planned, false);
  const bool planned = was_planned && out.mesh.num_trajectories == n && out.mesh.width == width;
  leave_to(ensemble, out.states);  // a next leg from where the last one ended
  prepare_outcome(exec, out, n, F::num_states);
  if (!planned) prepare_mesh(exec, out.mesh, n, width);
  if (out.overflow.data() == nullptr)
    out.overflow = Kokkos::View<int, Kokkos::SharedHostPinnedSpace>(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, "gradsolve::Record::overflow"));
  out.options = options;
  out.mesh.recorded_t0 = ensemble.t0();
  out.mesh.recorded_t1 = ensemble.t1();
  if (n == 0) return;

  auto solve = [&](bool store, const char* label) {
    out.overflow() = 0;
    const std::size_t num_kept = out.mesh.total_rows * row_numbers<System>(out.mesh.width);
    if (!options.keep_states)
      out.kept = {};
    else if (store)
      reserve(exec, out.kept, num_kept, "gradsolve::Record::kept");
    const RecordKernel<M, System, L, Saves> kernel{
        system_on<Exec, M>(system),
        saves,
        store,
        store,
        StepRules(options, M::error_order == 0 || options.is_fixed()),
        inputs_of(ensemble),
        options,
        MeshAccess(out.mesh),
        {strided(out.states), out.status.data(), out.num_steps.data(), out.num_rejected.data(),
         out.num_rhs.data(), out.mesh.t0.data(), out.mesh.t1.data(), out.overflow.data(),
         out.kept.data()}};
    launch_slices(label, exec, out.mesh.num_slices, kernel);
  };
  auto lay_out = [&](double slack) {
    plan(exec, out.mesh, out.num_steps, options.sort, slack);
    reserve(exec, out.mesh.ends, std::size_t(out.mesh.total_rows) * out.mesh.width,
            "gradsolve::Mesh::ends");
  };

  if (!planned) {
    solve(false, "gradsolve::record::count");
    lay_out(0);
  }
  solve(true, "gradsolve::record");
  exec.fence("gradsolve::record: number of steps");
  if (out.overflow() != 0) {  // the counts are right; only their place was too small
    lay_out(0.125);
    solve(true, "gradsolve::record");
    exec.fence("gradsolve::record");
  }
  out.mesh.planned = true;
}

}  // namespace detail

/// Solves the ensemble adaptively and records the steps that each trajectory accepts.
///
///     auto record = gradsolve::record(exec, Lorenz{}, gradsolve::Tsit5{}, ensemble, {.rtol =
///     1e-8});
///
/// A trajectory is accepted step by step where the error estimate e of the method's embedded pair
/// satisfies  sqrt(mean_i (e_i / (atol + rtol max(|u_i|, |u_new_i|)))^2) <= 1.  What happens to one
/// trajectory never touches another; how each ended is in Record::status.
///
/// `out` is reused: recording again for as many trajectories allocates nothing and solves once,
/// unless some trajectory outgrew its place. A first record solves twice, once to count the steps.
/// An ensemble may start from out.states or out.saved, where the last leg ended: they are left to
/// it, and allocated anew. So are all arrays of `out` where a copy of it, or a Solution, has them.
///
/// Width: trajectories that a CPU thread advances at once; 0: what its SIMD registers hold.
///
/// Synchronises exec: it waits for the number of steps.
/// Throws InvalidArgument where shapes disagree with the system or an option makes no sense.
template <int Width = 0, class Exec, class F, class M, class States, class Parameters,
          class Scalar = typename States::non_const_value_type>
void record(const Exec& exec, const F& system, M, const Ensemble<States, Parameters>& ensemble,
            Options options, Record<M, Scalar, typename Exec::memory_space>& out) {
  detail::check_solve<F, M, Exec>("record", system, ensemble, options);
  detail::leave_copies(out);
  out.saved = {};
  detail::record_with<Width>(exec, system, ensemble, options, detail::NoSaves{}, out);
}

/// The same, with the states at save times in Record::saved: interpolated by the method's own
/// continuous extension, no step is shortened for them. A save at the end of a step is that state.
template <int Width = 0, class Exec, class F, class M, class States, class Parameters, class Scalar,
          class MemorySpace>
void record(const Exec& exec, const F& system, M, const Ensemble<States, Parameters>& ensemble,
            const SaveTimes<Scalar, MemorySpace>& times, Options options,
            Record<M, Scalar, typename Exec::memory_space>& out) {
  using namespace detail;
  check_solve<F, M, Exec>("record", system, ensemble, options);
  check_saves("record", times, ensemble);
  leave_copies(out);
  leave_to(ensemble, out.saved);
  resize_saves(exec, out.saved, ensemble.size(), times.size(), F::num_states,
               "gradsolve::Record::saved");
  const SavesTo<StateSink<Scalar>> saves{times.access(), {strided(out.saved)}};
  record_with<Width>(exec, system, ensemble, options, saves, out);
}

template <int Width = 0, class Exec, class F, class M, class States, class Parameters,
          class Scalar = typename States::non_const_value_type>
Record<M, Scalar, typename Exec::memory_space> record(const Exec& exec, const F& system, M method,
                                                      const Ensemble<States, Parameters>& ensemble,
                                                      const Options& options = {}) {
  Record<M, Scalar, typename Exec::memory_space> out;
  record<Width>(exec, system, method, ensemble, options, out);
  return out;
}

template <int Width = 0, class Exec, class F, class M, class States, class Parameters, class Scalar,
          class MemorySpace>
Record<M, Scalar, typename Exec::memory_space> record(const Exec& exec, const F& system, M method,
                                                      const Ensemble<States, Parameters>& ensemble,
                                                      const SaveTimes<Scalar, MemorySpace>& times,
                                                      const Options& options = {}) {
  Record<M, Scalar, typename Exec::memory_space> out;
  record<Width>(exec, system, method, ensemble, times, options, out);
  return out;
}

/// How many trajectories ended in each Status, by its value. Synchronises exec.
template <class Exec, class S, class MemorySpace>
Kokkos::Array<int, num_status_values> count_status(const Exec& exec,
                                                   const Outcome<S, MemorySpace>& outcome) {
  Kokkos::Array<int, num_status_values> counts;
  const auto status = outcome.status;
  for (int value = 0; value < num_status_values; ++value)
    Kokkos::parallel_reduce(
        "gradsolve::count_status", Kokkos::RangePolicy<Exec>(exec, 0, status.extent(0)),
        KOKKOS_LAMBDA(int i, int& sum) { sum += static_cast<int>(status(i)) == value; },
        counts[value]);
  return counts;
}

/// The steps of one trajectory on the host: the end times of its steps. Synchronises exec. For
/// looking at; a sweep over many belongs in a kernel.
template <class Exec, class M, class S, class MemorySpace>
std::vector<S> step_ends(const Exec& exec, const Record<M, S, MemorySpace>& record,
                         int trajectory) {
  if (trajectory < 0 || trajectory >= record.size())
    detail::refuse("step_ends", "trajectory", std::to_string(trajectory),
                   "one of " + std::to_string(record.size()) + ", from 0");
  detail::check_complete("step_ends", record);
  const auto& mesh = record.mesh;
  const auto copy = [&](const auto& view, std::int64_t begin, std::int64_t end) {
    const auto part = Kokkos::subview(view, Kokkos::make_pair(begin, end));
    auto host = Kokkos::create_mirror(Kokkos::HostSpace(), part);
    Kokkos::deep_copy(exec, host, part);
    exec.fence("gradsolve::step_ends");
    return host;
  };
  const auto order = copy(mesh.order, 0, mesh.order.extent(0));
  int lane = 0;
  while (order(lane) != trajectory) ++lane;
  const int slice = lane / mesh.width;
  const auto rows = copy(mesh.first_row, slice, slice + 2);
  const auto ends = copy(mesh.ends, rows(0) * mesh.width, rows(1) * mesh.width);
  std::vector<S> times(copy(record.num_steps, trajectory, trajectory + 1)(0));
  for (std::size_t i = 0; i < times.size(); ++i)
    times[i] = ends(i * mesh.width + lane % mesh.width);
  return times;
}

}  // namespace gradsolve
