// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/record.hpp>

#include <common/ensemble.hpp>
#include <common/hash.hpp>
#include <vector>

/// Synthetic experiments: the same system measured again and again, each time with new noise, and
/// each time the parameters are to be recovered.
namespace examples {

/// Observations d = scale_c u_c(t_j) + sigma noise of one system with known parameters.
struct Study {
  const char* name;
  std::vector<double> u0, truth, times, scale;
  double sigma;
  std::uint64_t seed;
  double spread;                        ///< of the starts: truth (1 + spread U), U in (-1, 1),
  bool log_parameters;                  ///< or truth + spread U.
  std::vector<double> first_minimiser;  ///< of data set 0, in many digits
};

/// n data sets of a study as gradsolve::least_squares() takes them, in units of the states, and
/// where their fits start. The loss is the mean of the squared residuals over sigma.
struct Experiments {
  Matrix u0, truth, start;
  Cube data, weights;
};

template <class F, class M>
Experiments simulate(const Exec& exec, const Study& study, int n) {
  constexpr int N = F::num_states, P = F::num_params;
  const int num_saves = static_cast<int>(study.times.size());
  Experiments e{Matrix("u0", n, N), Matrix("truth", n, P), Matrix("start", n, P),
                Cube("data", n, num_saves, N), Cube("weights", n, num_saves, N)};
  const auto u0 = on_device(study.u0), truth = on_device(study.truth),
             scale = on_device(study.scale);
  const double spread = study.spread, sigma = study.sigma;
  const bool add = study.log_parameters;
  const std::uint64_t seed = study.seed;
  Kokkos::parallel_for(
      "starts", Policy(exec, 0, n), KOKKOS_LAMBDA(int i) {
        const Draws start{seed + 1, static_cast<std::uint64_t>(i)};
        for (int c = 0; c < N; ++c) e.u0(i, c) = u0(c);
        for (int q = 0; q < P; ++q) {
          const double move = spread * (2 * start.uniform(q) - 1);
          e.truth(i, q) = truth(q);
          e.start(i, q) = add ? truth(q) + move : truth(q) * (1 + move);
        }
      });

  // All data sets have one solution beneath them.
  const auto one = Kokkos::pair(0, 1);
  const gradsolve::Ensemble ensemble(Matrix(Kokkos::subview(e.u0, one, Kokkos::ALL)),
                                     Matrix(Kokkos::subview(e.truth, one, Kokkos::ALL)), 0.0,
                                     study.times.back());
  const auto times = gradsolve::save_times(exec, ensemble, study.times);
  const Cube exact =
      gradsolve::record(exec, F{}, M{}, ensemble, times, {.rtol = 1e-12, .atol = 1e-16}).saved;
  Kokkos::parallel_for(
      "data", Policy(exec, 0, n), KOKKOS_LAMBDA(int i) {
        const Draws noise{seed, static_cast<std::uint64_t>(i)};
        for (int j = 0; j < num_saves; ++j)
          for (int c = 0; c < N; ++c) {
            const double sigma_of_state = sigma / scale(c);
            e.data(i, j, c) = exact(0, j, c) + sigma_of_state * noise.normal(j * N + c);
            e.weights(i, j, c) = 1 / (sigma_of_state * sigma_of_state * num_saves * N);
          }
      });
  return e;
}

}  // namespace examples
