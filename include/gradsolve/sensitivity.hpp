// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/detail/sweep.hpp>
#include <gradsolve/kernels/tangent_kernel.hpp>
#include <gradsolve/record_data.hpp>

#include <memory>
#include <numeric>
#include <utility>
#include <vector>

/// Forward derivatives along a recorded mesh: exact tangents of the replay, equal to the adjoint's
/// answer to rounding. docs/forward-or-reverse.md says which of the two is cheaper.
namespace gradsolve {

/// What jvp() leaves: the states and their derivatives in one direction.
template <class Scalar = double, class MemorySpace = Kokkos::DefaultExecutionSpace::memory_space>
struct Tangent {
  Kokkos::View<Scalar**, Kokkos::LayoutLeft, MemorySpace> states, tangents;  ///< (n, N)
  /// (n, saves, N) at the save times, where some were given. NaN as in Record::saved.
  Kokkos::View<Scalar***, Kokkos::LayoutLeft, MemorySpace> saved, saved_tangents;

  detail::MovedMesh<Scalar, MemorySpace> moved;  ///< Workspace.
  detail::MovedFrom moved_from;                  ///< Internal.
};

/// What sensitivity() leaves: the states and their derivatives with respect to C variables.
template <class Scalar = double, class MemorySpace = Kokkos::DefaultExecutionSpace::memory_space>
struct Sensitivity {
  Kokkos::View<Scalar**, Kokkos::LayoutLeft, MemorySpace> states;          ///< (n, N)
  Kokkos::View<Scalar***, Kokkos::LayoutLeft, MemorySpace> sensitivities;  ///< (n, N, C)
  /// (n, saves, N) and (n, saves, N, C) at the save times, where some were given.
  Kokkos::View<Scalar***, Kokkos::LayoutLeft, MemorySpace> saved;
  Kokkos::View<Scalar****, Kokkos::LayoutLeft, MemorySpace> saved_sensitivities;

  Kokkos::View<int*, MemorySpace> variable;  ///< Workspace: (C) the variables on the device.
  std::shared_ptr<std::vector<int>> variable_host = std::make_shared<std::vector<int>>();
  detail::MovedMesh<Scalar, MemorySpace> moved;
  detail::MovedFrom moved_from;
};

/// The variables that sensitivities are taken of, by their numbers; empty and empty: all.
struct Variables {
  std::vector<int> u0 = {}, params = {};

  /// All initial states, or all parameters, of system F.
  template <class F>
  static Variables all_u0() {
    return {.u0 = first(num_given_states_v<F>)};
  }
  template <class F>
  static Variables all_params() {
    static_assert(F::num_params > 0, "the system has no parameters");
    return {.params = first(F::num_params)};
  }

 private:
  static std::vector<int> first(int count) {
    std::vector<int> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
  }
};

namespace detail {

/// Directions that one pass of sensitivity() carries along. More of them share the values, and need
/// more registers: two is the best of 1, 2, 4 on a GPU (docs/design/derivatives.md).
inline constexpr int directions_at_once = 2;

/// Where tangents go: into a View (n, N), (n, N, C), (n, saves, N) or (n, saves, N, C).
template <bool AtSaves, class V>
TangentSink<typename V::non_const_value_type> tangent_sink(const V& view) {
  constexpr int component = AtSaves ? 2 : 1, direction = component + 1;
  TangentSink<typename V::non_const_value_type> sink;
  sink.tangents = view.data();
  sink.s0 = stride_of(view, 0);
  if constexpr (AtSaves) sink.s1 = stride_of(view, 1);
  sink.s2 = stride_of(view, component);
  if constexpr (V::rank() > direction) {
    sink.s3 = stride_of(view, direction);
    sink.size = static_cast<int>(view.extent(direction));
  }
  return sink;
}

template <int Width, class Exec, class F, class M, class Scalar, class MemorySpace, class States,
          class Parameters, class Directions, class Saves>
void tangent_sweep(const char* label, const Exec& exec, const F& system,
                   const Record<M, Scalar, MemorySpace>& record,
                   const Ensemble<States, Parameters>& ensemble, const Directions& directions,
                   const Kokkos::View<Scalar**, Kokkos::LayoutLeft, MemorySpace>& states,
                   const TangentSink<Scalar>& tangents, const Saves& saves,
                   MovedMesh<Scalar, MemorySpace>& moved) {
  using L = LaneOf<F, Exec, Scalar, Width>;
  if (record.size() == 0) return;
  const TangentKernel<M, SystemOnT<Exec, M, F>, L, Directions, Saves> kernel{
      system_on<Exec, M>(system),
      record.options.find_consistent_start,
      inputs_of(ensemble),
      mesh_on_span(exec, record.mesh, ensemble.t0(), ensemble.t1(), moved),
      directions,
      strided(states),
      tangents,
      saves};
  launch_slices(label, exec, record.mesh.num_slices, kernel);
}

template <int Width, class Exec, class F, class M, class Scalar, class MemorySpace, class States,
          class Parameters, class Saves, class DStates, class DParameters>
void jvp_with(const Exec& exec, const F& system, const Record<M, Scalar, MemorySpace>& record,
              const Ensemble<States, Parameters>& ensemble, const Saves& saves, const DStates& du0,
              const DParameters& dparams, Tangent<Scalar, MemorySpace>& out) {
  Kokkos::Profiling::ScopedRegion region("gradsolve::jvp");
  resize_rows(exec, out.states, record.size(), F::num_states, "gradsolve::Tangent::states");
  resize_rows(exec, out.tangents, record.size(), F::num_states, "gradsolve::Tangent::tangents");
  const GivenDirection<Scalar> direction{{strided_const(du0), strided_const(dparams)}};
  tangent_sweep<Width>("gradsolve::jvp", exec, system, record, ensemble, direction, out.states,
                       tangent_sink<false>(out.tangents), saves, out.moved);
}

/// The checks of jvp().
template <int Width, class Exec, class F, class M, class Scalar, class MemorySpace, class States,
          class Parameters, class DStates, class DParameters>
void check_jvp(const F& system, const Record<M, Scalar, MemorySpace>& record,
               const Ensemble<States, Parameters>& ensemble, const DStates& du0,
               const DParameters& dparams) {
  check_record<Exec, LaneOf<F, Exec, Scalar, Width>, M>("jvp", system, record, ensemble);
  check_direction<Exec>("jvp", "du0", du0, ensemble.states());
  check_direction<Exec>("jvp", "dparams", dparams, ensemble.params());
}

/// Checks the variables and puts them on the device: u0 by their number, params after them.
template <class F, class Exec, class Scalar, class MemorySpace>
void place_variables(const Exec& exec, const Variables& chosen,
                     Sensitivity<Scalar, MemorySpace>& out) {
  constexpr int N = num_given_states_v<F>, P = F::num_params;
  std::vector<int> all;
  auto add = [&](const std::vector<int>& numbers, int count, int offset, const char* name) {
    for (int i : numbers) {
      if (i < 0 || i >= count)
        refuse("sensitivity", std::string("variables: ") + name, std::to_string(i),
               "one of " + std::to_string(count) + ", from 0");
      all.push_back(offset + i);
    }
  };
  add(chosen.u0, N, 0, "u0");
  add(chosen.params, P, N, "params");
  if (all.empty())
    for (int i = 0; i < N + P; ++i) all.push_back(i);
  if (out.variable_host != nullptr && all == *out.variable_host) return;
  exec.fence("gradsolve::sensitivity: the variables may be in use");
  // A copy of this object keeps its own variables.
  out.variable = {};
  out.variable_host = nullptr;  // until they are there
  resize(exec, out.variable, all.size(), "gradsolve::Sensitivity::variable");
  const Kokkos::View<const int*, Kokkos::HostSpace> host(all.data(), all.size());
  Kokkos::deep_copy(exec, out.variable, host);
  exec.fence("gradsolve::sensitivity: the variables are the host's");
  out.variable_host = std::make_shared<std::vector<int>>(std::move(all));
}

template <int Width, class Exec, class F, class M, class Scalar, class MemorySpace, class States,
          class Parameters, class Saves>
void sensitivity_with(const Exec& exec, const F& system,
                      const Record<M, Scalar, MemorySpace>& record,
                      const Ensemble<States, Parameters>& ensemble, const Saves& saves,
                      Sensitivity<Scalar, MemorySpace>& out) {
  const int n = record.size(), C = static_cast<int>(out.variable.extent(0));
  leave_to(ensemble, out.states);  // a pass reads them again
  resize_rows(exec, out.states, n, F::num_states, "gradsolve::Sensitivity::states");
  resize_saves(exec, out.sensitivities, n, F::num_states, C,
               "gradsolve::Sensitivity::sensitivities");
  const UnitDirections<directions_at_once> directions{out.variable.data()};
  tangent_sweep<Width>("gradsolve::sensitivity", exec, system, record, ensemble, directions,
                       out.states, tangent_sink<false>(out.sensitivities), saves, out.moved);
}

}  // namespace detail

/// The derivative of the replay in one direction: d states = (du/du0) du0 + (du/dp) dp, exactly, by
/// dual numbers. du0 has the shape of the ensemble's initial states, dparams that of its
/// parameters; a View without memory (`View()`) stands for zero. Asynchronous in exec. Throws
/// InvalidArgument where shapes disagree.
template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters, class DStates, class DParameters>
void jvp(const Exec& exec, const F& system, const Record<M, Scalar, MemorySpace>& record,
         const Ensemble<States, Parameters>& ensemble, const DStates& du0,
         const DParameters& dparams, Tangent<Scalar, MemorySpace>& out) {
  detail::check_jvp<Width, Exec>(system, record, ensemble, du0, dparams);
  detail::renew_if_moved_from(out);
  out.saved = out.saved_tangents = {};
  detail::jvp_with<Width>(exec, system, record, ensemble, detail::NoSaves{}, du0, dparams, out);
}

/// The same, with the saved states and their derivatives.
template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters, class DStates, class DParameters, class S,
          class TimesSpace>
void jvp(const Exec& exec, const F& system, const Record<M, Scalar, MemorySpace>& record,
         const Ensemble<States, Parameters>& ensemble, const SaveTimes<S, TimesSpace>& times,
         const DStates& du0, const DParameters& dparams, Tangent<Scalar, MemorySpace>& out) {
  using namespace detail;
  check_jvp<Width, Exec>(system, record, ensemble, du0, dparams);
  check_saves("jvp", times, ensemble);
  renew_if_moved_from(out);
  resize_saves(exec, out.saved, ensemble.size(), times.size(), F::num_states,
               "gradsolve::Tangent::saved");
  resize_saves(exec, out.saved_tangents, ensemble.size(), times.size(), F::num_states,
               "gradsolve::Tangent::saved_tangents");
  SavesTo<TangentSink<Scalar>> saves{times.access(), tangent_sink<true>(out.saved_tangents)};
  saves.sink.states = strided(out.saved);
  jvp_with<Width>(exec, system, record, ensemble, saves, du0, dparams, out);
}

template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters, class... Rest>
Tangent<Scalar, MemorySpace> jvp(const Exec& exec, const F& system,
                                 const Record<M, Scalar, MemorySpace>& record,
                                 const Ensemble<States, Parameters>& ensemble,
                                 const Rest&... times_and_direction)
  requires(sizeof...(Rest) >= 2 && !(std::is_same_v<Rest, Tangent<Scalar, MemorySpace>> || ...))
{
  Tangent<Scalar, MemorySpace> out;
  jvp<Width>(exec, system, record, ensemble, times_and_direction..., out);
  return out;
}

/// The derivatives of the final states with respect to chosen initial states and parameters (all of
/// them by default), column by column: column c belongs to variable c of `variables`, initial
/// states first. Shared parameters count for each trajectory on its own.
///
///     auto s = gradsolve::sensitivity(exec, Lorenz{}, record, ensemble, {.params = {1}});
///
/// Asynchronous in exec, but for the first call with these variables.
/// Throws InvalidArgument for a variable that the system does not have.
template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters>
void sensitivity(const Exec& exec, const F& system, const Record<M, Scalar, MemorySpace>& record,
                 const Ensemble<States, Parameters>& ensemble, const Variables& variables,
                 Sensitivity<Scalar, MemorySpace>& out) {
  using namespace detail;
  Kokkos::Profiling::ScopedRegion region("gradsolve::sensitivity");
  check_record<Exec, LaneOf<F, Exec, Scalar, Width>, M>("sensitivity", system, record, ensemble);
  renew_if_moved_from(out);
  place_variables<F>(exec, variables, out);
  out.saved = {};
  out.saved_sensitivities = {};
  sensitivity_with<Width>(exec, system, record, ensemble, NoSaves{}, out);
}

/// The same, also at save times.
template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters, class S, class TimesSpace>
void sensitivity(const Exec& exec, const F& system, const Record<M, Scalar, MemorySpace>& record,
                 const Ensemble<States, Parameters>& ensemble,
                 const SaveTimes<S, TimesSpace>& times, const Variables& variables,
                 Sensitivity<Scalar, MemorySpace>& out) {
  using namespace detail;
  Kokkos::Profiling::ScopedRegion region("gradsolve::sensitivity");
  check_record<Exec, LaneOf<F, Exec, Scalar, Width>, M>("sensitivity", system, record, ensemble);
  check_saves("sensitivity", times, ensemble);
  const std::size_t n = record.size(), k = times.size();
  if (n * k * F::num_states > 0xffffffffu)  // a stride is 32-bit (strided.hpp)
    refuse("sensitivity", "times",
           std::to_string(k) + " saves of " + std::to_string(n) + " trajectories of " +
               std::to_string(F::num_states) + " states",
           "at most 4294967295 numbers in all");
  renew_if_moved_from(out);
  place_variables<F>(exec, variables, out);
  const std::size_t C = out.variable.extent(0);
  leave_to(ensemble, out.saved);
  resize_saves(exec, out.saved, record.size(), times.size(), F::num_states,
               "gradsolve::Sensitivity::saved");
  auto& saved = out.saved_sensitivities;
  if (saved.extent(0) != n || saved.extent(1) != k || saved.extent(2) != F::num_states ||
      saved.extent(3) != C)
    saved = std::decay_t<decltype(saved)>(
        Kokkos::view_alloc(exec, Kokkos::WithoutInitializing,
                           "gradsolve::Sensitivity::saved_sensitivities"),
        n, k, F::num_states, C);
  SavesTo<TangentSink<Scalar>> saves{times.access(), tangent_sink<true>(saved)};
  saves.sink.states = strided(out.saved);
  sensitivity_with<Width>(exec, system, record, ensemble, saves, out);
}

template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters>
Sensitivity<Scalar, MemorySpace> sensitivity(const Exec& exec, const F& system,
                                             const Record<M, Scalar, MemorySpace>& record,
                                             const Ensemble<States, Parameters>& ensemble,
                                             const Variables& variables = {}) {
  Sensitivity<Scalar, MemorySpace> out;
  sensitivity<Width>(exec, system, record, ensemble, variables, out);
  return out;
}
template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters, class S, class TimesSpace>
Sensitivity<Scalar, MemorySpace> sensitivity(const Exec& exec, const F& system,
                                             const Record<M, Scalar, MemorySpace>& record,
                                             const Ensemble<States, Parameters>& ensemble,
                                             const SaveTimes<S, TimesSpace>& times,
                                             const Variables& variables = {}) {
  Sensitivity<Scalar, MemorySpace> out;
  sensitivity<Width>(exec, system, record, ensemble, times, variables, out);
  return out;
}

}  // namespace gradsolve
