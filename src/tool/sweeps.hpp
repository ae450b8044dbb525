// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "methods.hpp"
#include "problem.hpp"
#include "sum_of_squares.hpp"
#include <gradsolve/check_gradient.hpp>
#include <gradsolve/gradient.hpp>
#include <gradsolve/memory_plan.hpp>
#include <gradsolve/record.hpp>
#include <gradsolve/replay.hpp>
#include <gradsolve/stiffness.hpp>

#include <algorithm>

/// The sweeps of one system F with one method M in one precision S, on Kokkos' default space.
namespace gradsolve::tool {

using Exec = Kokkos::DefaultExecutionSpace;
template <class S>
using DeviceMatrix = Kokkos::View<S**, Kokkos::LayoutLeft, Exec::memory_space>;
template <class S>
using DeviceVector = Kokkos::View<S*, Exec::memory_space>;

template <class S>
DeviceMatrix<S> to_device(const std::vector<double>& values, std::size_t rows) {
  const std::size_t columns = values.size() / rows;
  DeviceMatrix<S> device(Kokkos::view_alloc(Kokkos::WithoutInitializing, "gradsolve_tool::input"),
                         rows, columns);
  const auto host = Kokkos::create_mirror_view(device);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) host(i, j) = static_cast<S>(values[i * columns + j]);
  Kokkos::deep_copy(device, host);
  return device;
}

/// Row after row, the last index the fastest.
template <class T = double, class View>
std::vector<T> to_host(const View& device) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), device);
  std::vector<T> values;
  values.reserve(host.size());
  for (std::size_t i = 0; i < host.extent(0); ++i) {
    if constexpr (View::rank() == 1) {
      values.push_back(static_cast<T>(host(i)));
    } else if constexpr (View::rank() == 2) {
      for (std::size_t j = 0; j < host.extent(1); ++j) values.push_back(static_cast<T>(host(i, j)));
    } else {
      for (std::size_t j = 0; j < host.extent(1); ++j)
        for (std::size_t k = 0; k < host.extent(2); ++k)
          values.push_back(static_cast<T>(host(i, j, k)));
    }
  }
  return values;
}

/// Calls use(ensemble) with one whose parameters are shared or not, as the data say.
template <class S, class Use>
void with_ensemble(const EnsembleData& data, Use&& use) {
  const auto u0 = to_device<S>(data.states, data.n);
  if (data.shared_params) {
    const auto params = to_device<S>(data.params, 1);
    use(Ensemble(u0, DeviceVector<S>(params.data(), params.extent(1)), data.t0, data.t1));
  } else {
    use(Ensemble(u0, to_device<S>(data.params, data.n), data.t0, data.t1));
  }
}

/// Runs a sweep `repeat` times.
template <class Sweep>
Time time_of(const Exec& exec, int repeat, Sweep&& sweep) {
  Time time;
  for (int run = 0; run < repeat; ++run) {
    exec.fence();
    const Kokkos::Timer timer;
    sweep();
    exec.fence();
    const double seconds = timer.seconds();
    if (run == 0) time.first = time.best = seconds;
    time.best = std::min(time.best, seconds);
  }
  return time;
}

template <class F, class S>
Lanes lanes_of() {
  constexpr int width = detail::lane_width<F, Exec, S, 0>();
  if constexpr (detail::Backend<Exec>::simd_width(sizeof(S)) == 1)
    return {width, "a trajectory a thread"};
  else if constexpr (branches_v<F>)
    return {width, "a trajectory a thread at a time, since the system branches on its values"};
  else
    return {width, "as many trajectories a thread at a time, by SIMD"};
}

template <class M, class S>
void store_record(const Record<M, S, Exec::memory_space>& record, GradientResult& result) {
  result.states = to_host(record.states);
  result.status = to_host<Status>(record.status);
  result.num_steps = to_host<int>(record.num_steps);
  result.num_rejected = to_host<int>(record.num_rejected);
  result.num_rhs = to_host<int>(record.num_rhs);
}

template <class S>
void store_gradient(const Gradient<S, Exec::memory_space>& gradient, GradientResult& result) {
  result.loss = to_host(gradient.loss);
  result.gradient_states = to_host(gradient.u0);
  result.gradient_params = to_host(gradient.params);
}

/// What the sweeps took.
template <class F, class M, class S>
MemoryPlan memory_of(const Exec& exec, const Record<M, S, Exec::memory_space>& record) {
  const double steps = double(record.mesh.total_rows) * record.mesh.width / record.size();
  return plan_memory<S>(exec, F{}, M{}, record.size(), steps, record.mesh.max_rows, record.options);
}

/// The share of all steps that stability limits.
template <class F, class M, class S, class E>
double stability_limited(const Exec& exec, const Record<M, S, Exec::memory_space>& record,
                         const E& ensemble) {
  const auto share = to_host(stability_limited_share(exec, F{}, record, ensemble));
  const auto steps = to_host<int>(record.num_steps);
  double limited = 0, all = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    limited += share[i] * steps[i];
    all += steps[i];
  }
  return all > 0 ? limited / all : 0;
}

template <class F, class M, class S>
GradientResult run_gradient(const EnsembleData& data, const Settings& settings) {
  const Exec exec;
  GradientResult result;
  with_ensemble<S>(data, [&](const auto& ensemble) {
    Record<M, S, Exec::memory_space> record;
    Replay<S, Exec::memory_space> replay;
    Gradient<S, Exec::memory_space> gradient;
    result.record = time_of(exec, settings.repeat, [&] {
      gradsolve::record(exec, F{}, M{}, ensemble, settings.options, record);
    });
    result.replay = time_of(exec, settings.repeat,
                            [&] { gradsolve::replay(exec, F{}, record, ensemble, replay); });
    result.gradient = time_of(exec, settings.repeat, [&] {
      gradsolve::gradient(exec, F{}, record, ensemble, SumOfSquares{}, gradient);
    });
    result.lanes = lanes_of<F, S>();
    store_record(record, result);
    result.memory = memory_of<F>(exec, record);
    store_gradient(gradient, result);
    // Of the default method alone: it is one more kernel to compile.
    if constexpr (std::is_same_v<M, Tsit5> && std::is_same_v<S, double>)
      result.stability_limited = stability_limited<F>(exec, record, ensemble);
  });
  return result;
}

template <class F, class M, class S>
GradientCheck run_check(const EnsembleData& data, const Settings& settings) {
  const Exec exec;
  GradientCheck check;
  with_ensemble<S>(data, [&](const auto& ensemble) {
    const auto record = gradsolve::record(exec, F{}, M{}, ensemble, settings.options);
    check = check_gradient(exec, F{}, record, ensemble, SumOfSquares{});
  });
  return check;
}

/// Calls run(method, S()) with the method of that name.
template <class S, class List, class Run>
auto with_method(List, const std::string& name, Run&& run) {
  decltype(run(Tsit5{}, S{})) result;
  List::for_each([&](auto method) {
    if (name == method.name) result = run(method, S{});
  });
  return result;
}
/// Likewise, with the methods of its kind in the precision of the settings.
template <class Kind, class Run>
auto dispatch(const Settings& settings, Run&& run) {
  return settings.single_precision
             ? with_method<float>(typename Kind::FloatMethods{}, settings.method, run)
             : with_method<double>(typename Kind::Methods{}, settings.method, run);
}

/// The sweeps of a table entry. Each is the instantiation of all methods: the bulk of the compile
/// time, so that a system's file holds nothing else. observed.hpp defines the last one, in a file
/// of its own.
template <class F, class Kind>
GradientResult gradient_of(const EnsembleData& data, const Settings& settings) {
  return dispatch<Kind>(
      settings, [&]<class M, class S>(M, S) { return run_gradient<F, M, S>(data, settings); });
}
template <class F, class Kind>
GradientCheck check_of(const EnsembleData& data, const Settings& settings) {
  return dispatch<Kind>(settings,
                        [&]<class M, class S>(M, S) { return run_check<F, M, S>(data, settings); });
}
template <class F>
GradientResult observed_of(const EnsembleData& data, const Settings& settings,
                           const Observation& observation);

}  // namespace gradsolve::tool
