// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "check.hpp"
#include "methods.hpp"
#include "problem.hpp"
#include <gradsolve/gradient.hpp>
#include <gradsolve/record.hpp>
#include <gradsolve/replay.hpp>

#include <algorithm>

/// The sweeps of one system F with one method M in one precision S, on Kokkos' default space.
namespace gradsolve::tool {

using Exec = Kokkos::DefaultExecutionSpace;
template <class S>
using DeviceMatrix = Kokkos::View<S**, Kokkos::LayoutLeft, Exec::memory_space>;
template <class S>
using DeviceVector = Kokkos::View<S*, Exec::memory_space>;

struct SumOfSquares {
  template <class T, int N>
  KOKKOS_FUNCTION T operator()(const State<T, N>& u) const {
    T sum = u[0] * u[0];
    for (int i = 1; i < N; ++i) sum = sum + u[i] * u[i];
    return sum;
  }
};

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

/// Row after row.
template <class T = double, class View>
std::vector<T> to_host(const View& device) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), device);
  std::vector<T> values;
  values.reserve(host.size());
  for (std::size_t i = 0; i < host.extent(0); ++i) {
    if constexpr (View::rank() == 1) {
      values.push_back(static_cast<T>(host(i)));
    } else {
      for (std::size_t j = 0; j < host.extent(1); ++j) values.push_back(static_cast<T>(host(i, j)));
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
    result.states = to_host(record.states);
    result.loss = to_host(gradient.loss);
    result.gradient_states = to_host(gradient.u0);
    result.gradient_params = to_host(gradient.params);
    result.status = to_host<Status>(record.status);
    result.num_steps = to_host<int>(record.num_steps);
    result.num_rejected = to_host<int>(record.num_rejected);
    result.num_rhs = to_host<int>(record.num_rhs);
  });
  return result;
}

template <class F, class M, class S>
CheckResult run_check(const EnsembleData& data, const Settings& settings) {
  const Exec exec;
  CheckResult result;
  with_ensemble<S>(data, [&](const auto& ensemble) {
    const auto record = gradsolve::record(exec, F{}, M{}, ensemble, settings.options);
    const auto gradient = gradsolve::gradient(exec, F{}, record, ensemble, SumOfSquares{});
    GradientResult adjoint;
    adjoint.states = to_host(gradient.states);
    adjoint.loss = to_host(gradient.loss);
    adjoint.gradient_states = to_host(gradient.u0);
    adjoint.gradient_params = to_host(gradient.params);
    adjoint.status = to_host<Status>(record.status);

    auto replay = [&](const EnsembleData& moved) {
      Replay<S, Exec::memory_space> out;
      with_ensemble<S>(moved, [&](const auto& moved_ensemble) {
        gradsolve::replay(exec, F{}, record, moved_ensemble, out);
      });
      return to_host(out.states);
    };
    result.finite_differences =
        compare_with_finite_differences(data, std::is_same_v<S, float>, adjoint, replay);

    const EnsembleData direction = random_direction(data);
    Tangent<S, Exec::memory_space> tangent;
    with_ensemble<S>(direction, [&](const auto& d) {
      if constexpr (std::is_same_v<decltype(d), decltype(ensemble)>)
        gradsolve::jvp(exec, F{}, record, ensemble, d.states(), d.params(), tangent);
    });
    result.tangent = compare_with_tangents(direction, adjoint, to_host(tangent.tangents));
    result.num_checked =
        static_cast<int>(std::count(adjoint.status.begin(), adjoint.status.end(), Status::success));
  });
  return result;
}

/// Calls run(method, scalar) with the method and the precision of the settings.
template <class Run>
auto dispatch(const Settings& settings, Run&& run) {
  decltype(run(Tsit5{}, double{})) result;
  auto run_if_meant = [&](auto method, auto scalar) {
    if (settings.method == method.name) result = run(method, scalar);
  };
  if (settings.single_precision)
    FloatMethods::for_each([&](auto method) { run_if_meant(method, float{}); });
  else
    Methods::for_each([&](auto method) { run_if_meant(method, double{}); });
  return result;
}

/// The two sweeps of a table entry. Each is the instantiation of all methods: the bulk of the
/// compile time, so that a system's file holds nothing else.
template <class F>
GradientResult gradient_of(const EnsembleData& data, const Settings& settings) {
  return dispatch(settings,
                  [&]<class M, class S>(M, S) { return run_gradient<F, M, S>(data, settings); });
}
template <class F>
CheckResult check_of(const EnsembleData& data, const Settings& settings) {
  return dispatch(settings,
                  [&]<class M, class S>(M, S) { return run_check<F, M, S>(data, settings); });
}

}  // namespace gradsolve::tool
