// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "populations.hpp"
#include <gradsolve/gradsolve.hpp>

#include <05_parameter_recovery/systems.hpp>
#include <common/ensemble.hpp>

namespace examples {

/// The loss of a whole ensemble as a function of its shared parameters, for an optimiser on the
/// host: four numbers go to the device, five come back.
struct Objective {
  Exec exec;
  Populations seen;  // the loss refers to its data
  Column params;
  gradsolve::Ensemble<Matrix, Column> ensemble;
  gradsolve::LossAtSaves<gradsolve::LeastSquares<double>, double, Memory> loss;
  gradsolve::Record<Method, double, Memory> record;
  gradsolve::Replay<double, Memory> replay;
  gradsolve::Gradient<double, Memory> gradient;
  int num_evaluations = 0, num_records = 1;

  Objective(const Exec& exec_space, const Populations& populations,
            const std::vector<double>& start)
      : exec(exec_space),
        seen(populations),
        params(on_device(start)),
        ensemble(seen.u0, params, 0.0, seen.times.back()),
        loss(gradsolve::at_saves(gradsolve::save_times(exec, ensemble, seen.times),
                                 gradsolve::least_squares(seen.data, seen.weights))),
        record(gradsolve::record(exec, LotkaVolterra{}, Method{}, ensemble, options)) {}

  /// The loss at p, and its gradient where one is wanted. NaN where a trajectory has none.
  double operator()(const double* p, double* gradient_at_p) {
    ++num_evaluations;
    Kokkos::deep_copy(params, Kokkos::View<const double*, Kokkos::HostSpace>(p, params.size()));
    num_records += gradsolve::refresh(exec, LotkaVolterra{}, record, ensemble, replay);
    gradsolve::gradient(exec, LotkaVolterra{}, record, ensemble, loss, gradient);
    const auto summed = on_host(gradient.params);  // (1, P)
    if (gradient_at_p != nullptr)
      for (std::size_t q = 0; q < params.size(); ++q) gradient_at_p[q] = summed(0, q);
    return gradsolve::sum_of_losses(exec, gradient);
  }
};

}  // namespace examples
