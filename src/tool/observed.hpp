// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "sweeps.hpp"
#include <gradsolve/second_order.hpp>
#include <gradsolve/sensitivity.hpp>

#include <cmath>
#include <limits>

/// The sweeps of an Observation: losses at save times, forward gradients, Hessian products.
namespace gradsolve::tool {

/// The numbers that least squares look at, on the device: (n, saves, N), where a stride of 0
/// repeats what is shared. A sum of squares is least squares about zero.
class DeviceData {
 public:
  using View = Kokkos::View<const double***, Kokkos::LayoutStride, Exec::memory_space>;

  DeviceData(const std::vector<double>& data, std::size_t n, std::size_t num_saves,
             std::size_t num_states)
      : values_(to_device<double>(data.empty() ? std::vector{0.0} : data, 1)) {
    const std::size_t one = data.empty() ? 0 : 1, row = one * num_states, block = row * num_saves;
    const std::size_t each = data.size() == block ? 0 : block;
    view_ = View(values_.data(), Kokkos::LayoutStride(n, each, num_saves, row, num_states, one));
  }
  const View& view() const { return view_; }

 private:
  DeviceMatrix<double> values_;
  View view_;
};

/// The derivatives of the loss by chosen variables, (n, N + P), from sensitivities.
template <class F, class E, class Loss>
void assemble_gradient(const Exec& exec, const E& ensemble, const Loss& loss,
                       const Sensitivity<double, Exec::memory_space>& s,
                       const DeviceMatrix<double>& derivatives) {
  constexpr int N = F::num_states;
  for (int v = 0; v < N + F::num_params; ++v) {
    const auto slopes =
        Kokkos::subview(s.saved_sensitivities, Kokkos::ALL, Kokkos::ALL, Kokkos::ALL, v);
    detail::loss_tangents<F>(exec, loss, ensemble, detail::as_saves(s.saved),
                             detail::as_saves(slopes), v - N,
                             derivatives.data() + v * derivatives.stride(1));
  }
}

/// Splits (n, N + P) into states and parameters; as the adjoint, it leaves no gradient to those
/// that failed and sums over shared parameters.
template <class F>
void store_forward(const std::vector<double>& derivatives, bool shared, GradientResult& result) {
  constexpr int N = F::num_states, P = F::num_params;
  if (shared) result.gradient_params.assign(P, 0);
  for (std::size_t i = 0; i < result.status.size(); ++i) {
    const bool good = result.status[i] == Status::success && std::isfinite(result.loss[i]);
    for (int v = 0; v < N + P; ++v) {
      const double x = derivatives[i * (N + P) + v];
      const double kept = good ? x : std::numeric_limits<double>::quiet_NaN();
      if (v < N)
        result.gradient_states.push_back(kept);
      else if (!shared)
        result.gradient_params.push_back(kept);
      else if (good)
        result.gradient_params[v - N] += x;
    }
  }
}

template <class F, class R, class E, class Loss>
void run_forward(const Exec& exec, const R& record, const E& ensemble, const Loss& loss, int repeat,
                 GradientResult& result) {
  Sensitivity<double, Exec::memory_space> s;
  const DeviceMatrix<double> derivatives("gradsolve_tool::derivatives", ensemble.size(),
                                         F::num_states + F::num_params);
  const DeviceVector<double> values("gradsolve_tool::loss", ensemble.size());
  result.gradient = time_of(exec, repeat, [&] {
    sensitivity(exec, F{}, record, ensemble, loss.times, {}, s);
    assemble_gradient<F>(exec, ensemble, loss, s, derivatives);
    detail::losses<F>(exec, loss, ensemble, detail::as_saves(s.saved), values.data());
  });
  result.loss = to_host(values);
  store_forward<F>(to_host(derivatives), E::shared_params, result);
}

template <class F, class R, class E, class Loss>
void run_reverse(const Exec& exec, const R& record, const E& ensemble, const Loss& loss, int repeat,
                 GradientResult& result) {
  Gradient<double, Exec::memory_space> gradient;
  result.gradient = time_of(
      exec, repeat, [&] { gradsolve::gradient(exec, F{}, record, ensemble, loss, gradient); });
  store_gradient(gradient, result);
}

template <class F, class R, class E, class Loss>
void run_hessian_product(const Exec& exec, const R& record, const E& ensemble, const Loss& loss,
                         int repeat, GradientResult& result) {
  const auto ones = Kokkos::create_mirror(Exec::memory_space(), ensemble.params());
  Kokkos::deep_copy(exec, ones, 1.0);
  HessianProduct<double, Exec::memory_space> product;
  result.hessian_product = time_of(exec, repeat, [&] {
    hessian_product(exec, F{}, record, ensemble, loss, DeviceMatrix<double>(), ones, product);
  });
  result.product_states = to_host(product.u0);
  result.product_params = to_host(product.params);
}

template <class F, class M>
GradientResult run_observed(const EnsembleData& data, const Settings& settings,
                            const Observation& observation) {
  const Exec exec;
  GradientResult result;
  result.lanes = lanes_of<F, double>();
  with_ensemble<double>(data, [&](const auto& ensemble) {
    const std::vector<double>& typed = observation.save_times;
    const auto times = save_times(exec, ensemble, typed.empty() ? std::vector{data.t1} : typed);
    const DeviceData numbers(observation.data, data.n, times.size(), F::num_states);
    const auto loss = at_saves(times, least_squares(numbers.view()));
    Record<M, double, Exec::memory_space> record;
    result.record = time_of(exec, settings.repeat, [&] {
      gradsolve::record(exec, F{}, M{}, ensemble, times, settings.options, record);
    });
    store_record(record, result);
    if (!typed.empty()) result.saved = to_host(record.saved);
    if (observation.mode == Mode::forward) {
      run_forward<F>(exec, record, ensemble, loss, settings.repeat, result);
    } else {
      result.memory = memory_of<F>(exec, record);
      run_reverse<F>(exec, record, ensemble, loss, settings.repeat, result);
    }
    if (observation.hessian_product)
      run_hessian_product<F>(exec, record, ensemble, loss, settings.repeat, result);
  });
  return result;
}

template <class F>
GradientResult observed_of(const EnsembleData& data, const Settings& settings,
                           const Observation& observation) {
  return with_method<double>(ObservedMethods{}, settings.method, [&]<class M>(M, double) {
    return run_observed<F, M>(data, settings, observation);
  });
}

}  // namespace gradsolve::tool
