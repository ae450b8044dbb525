// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/gradsolve.hpp>

#include <05_parameter_recovery/systems.hpp>
#include <common/ensemble.hpp>
#include <common/hash.hpp>
#include <vector>

namespace examples {

using Method = gradsolve::Tsit5;
inline const gradsolve::Options options{.rtol = 1e-8, .atol = 1e-10};
inline const std::vector<double> truth{1.5, 1, 3, 1};
inline constexpr double sigma = 0.1;

/// n populations of predators and prey with the same rates, each from its own start, observed with
/// noise at 20 times.
struct Populations {
  Matrix u0;
  std::vector<double> times;
  Cube data, weights;  ///< With these weights the loss is the mean of all (residual / sigma)^2.
};

inline Populations observe(const Exec& exec, int n) {
  std::vector<double> times;
  for (int j = 1; j <= 20; ++j) times.push_back(0.5 * j);
  const Matrix u0("u0", n, 2);
  Kokkos::parallel_for(
      "starts", Policy(exec, 0, n), KOKKOS_LAMBDA(int i) {
        const Draws start{431, static_cast<std::uint64_t>(i)};
        for (int c = 0; c < 2; ++c) u0(i, c) = 0.5 + start.uniform(c);
      });
  const gradsolve::Ensemble ensemble(u0, on_device(truth), 0.0, times.back());
  const Cube data = gradsolve::record(exec, LotkaVolterra{}, Method{}, ensemble,
                                      gradsolve::save_times(exec, ensemble, times), options)
                        .saved;
  const int num_saves = data.extent_int(1);
  Kokkos::parallel_for(
      "noise", Policy(exec, 0, n), KOKKOS_LAMBDA(int i) {
        const Draws noise{432, static_cast<std::uint64_t>(i)};
        for (int j = 0; j < num_saves; ++j)
          for (int c = 0; c < 2; ++c) data(i, j, c) += sigma * noise.normal(2 * j + c);
      });
  const Cube weights("weights", n, num_saves, 2);
  Kokkos::deep_copy(exec, weights, 1 / (sigma * sigma * data.size()));
  return {u0, times, data, weights};
}

}  // namespace examples
