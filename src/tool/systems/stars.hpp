// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "entry.hpp"

#include <cmath>

namespace gradsolve::tool {

/// The start of star i, (x, y, z, vx, vy, vz) in kpc and kpc/Myr, as examples/02_stellar_streams
/// draws it, but for the random numbers.
inline void place_star(int i, double* w) {
  constexpr double pi = 3.141592653589793;
  const double size[] = {5 * std::pow(6.0, (1 + scatter(i, 0)) / 2),
                         0.225 * (0.65 + 0.45 * scatter(i, 3))};
  for (int k = 0; k < 2; ++k) {  // position, velocity
    const double along = scatter(i, 3 * k + 1), across = std::sqrt(1 - along * along);
    const double angle = pi * scatter(i, 3 * k + 2);
    w[3 * k] = size[k] * across * std::cos(angle);
    w[3 * k + 1] = size[k] * across * std::sin(angle);
    w[3 * k + 2] = size[k] * along;
  }
}

}  // namespace gradsolve::tool
