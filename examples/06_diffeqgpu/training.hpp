// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "systems.hpp"
#include <gradsolve/gradsolve.hpp>

#include <common/adam.hpp>
#include <common/ensemble.hpp>
#include <vector>

/// Ten trajectories of one system with shared parameters, which come out of a layer, are trained to
/// stay at 1: forward through layer and solver, back through both, a step of Adam.
namespace examples {

/// theta -> p, and dL/dp -> dL/dtheta.
struct DenseLayer {  ///< p = W x + b of one input x = 1; theta = (W0, W1, b0, b1)
  static constexpr int num_weights = 4;
  static KOKKOS_FUNCTION double forward(const Column& theta, int j) {
    return theta(j) * 1 + theta(2 + j);
  }
  static KOKKOS_FUNCTION void backward(double dp, const Column& dtheta, int j) {
    dtheta(j) = dp * 1;
    dtheta(2 + j) = dp;
  }
};
struct NoLayer {  ///< p = theta
  static constexpr int num_weights = 2;
  static KOKKOS_FUNCTION double forward(const Column& theta, int j) { return theta(j); }
  static KOKKOS_FUNCTION void backward(double dp, const Column& dtheta, int j) { dtheta(j) = dp; }
};

/// (1 - u)^2 at each save.
struct SquaredDistanceFromOne {
  template <class T>
  KOKKOS_FUNCTION T operator()(const T&, const gradsolve::State<T, 1>& u,
                               const gradsolve::Params<T, 2>&, gradsolve::SaveIndex) const {
    return (T(1) - u[0]) * (T(1) - u[0]);
  }
};

template <class Layer>
void forward(const Exec& exec, const Column& theta, const Column& params) {
  Kokkos::parallel_for(
      "layer forward", Policy(exec, 0, 2),
      KOKKOS_LAMBDA(int j) { params(j) = Layer::forward(theta, j); });
}
template <class Layer>
void backward(const Exec& exec, const Matrix& dparams, const Column& dtheta) {
  Kokkos::parallel_for(
      "layer backward", Policy(exec, 0, 2),
      KOKKOS_LAMBDA(int j) { Layer::backward(dparams(0, j), dtheta, j); });
}

/// u0 = 0.5 + 3 i / 100, i = 1 .. n
inline Matrix initial_states(const Exec& exec, int n) {
  const Matrix u0("u0", n, 1);
  Kokkos::parallel_for(
      "u0", Policy(exec, 0, n), KOKKOS_LAMBDA(int i) { u0(i, 0) = 0.5 + (i + 1) / 100.0 * 3.0; });
  return u0;
}

/// The losses before the first step and after each.
template <class Layer>
std::vector<double> train(const Exec& exec, const std::vector<double>& start, int num_steps) {
  const Column theta = on_device(start), dtheta("dtheta", Layer::num_weights), params("params", 2);
  const gradsolve::Ensemble ensemble(initial_states(exec, 10), params, 0.0, 1.0);
  std::vector<double> tenths;
  for (int k = 0; k <= 10; ++k) tenths.push_back(k / 10.0);
  const auto loss =
      gradsolve::at_saves(gradsolve::save_times(exec, ensemble, tenths), SquaredDistanceFromOne{});
  gradsolve::Record<gradsolve::Tsit5, double, Memory> record;
  gradsolve::Gradient<double, Memory> gradient;
  Adam adam(Layer::num_weights, 0.1);
  std::vector<double> losses;
  for (int step = 0; step <= num_steps; ++step) {
    forward<Layer>(exec, theta, params);
    gradsolve::record_and_gradient(exec, Growth{}, gradsolve::Tsit5{}, ensemble,
                                   {.rtol = 1e-11, .atol = 1e-13}, loss, record, gradient);
    losses.push_back(gradsolve::sum_of_losses(exec, gradient));
    backward<Layer>(exec, gradient.params, dtheta);
    adam.step(exec, theta, dtheta);
  }
  return losses;
}

}  // namespace examples
