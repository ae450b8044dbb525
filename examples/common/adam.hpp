// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <common/ensemble.hpp>

namespace examples {

/// Adam (D. P. Kingma, J. Ba 2014) with their constants.
struct Adam {
  Column m, v;
  double rate;
  int t = 0;

  Adam(int size, double learning_rate)
      : m("adam m", size), v("adam v", size), rate(learning_rate) {}

  void step(const Exec& exec, const Column& theta, const Column& g) {
    ++t;
    const double unbias_m = 1 / (1 - std::pow(0.9, t)), unbias_v = 1 / (1 - std::pow(0.999, t));
    const Column first = m, second = v;
    const double size = rate;
    Kokkos::parallel_for(
        "adam", Policy(exec, 0, theta.extent_int(0)), KOKKOS_LAMBDA(int j) {
          first(j) = 0.9 * first(j) + 0.1 * g(j);
          second(j) = 0.999 * second(j) + 0.001 * g(j) * g(j);
          theta(j) -= size * (first(j) * unbias_m) / (Kokkos::sqrt(second(j) * unbias_v) + 1e-8);
        });
  }
};

}  // namespace examples
