// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "potentials.hpp"

#include <common/ensemble.hpp>
#include <common/hash.hpp>

namespace examples {

/// The fastest method where 99 stars of 100 are to end within 1e-4 of their distance, and for each
/// potential the tolerances that this takes (docs/applications.md).
using OrbitMethod = gradsolve::Verner7;
inline gradsolve::Options orbit_options(LogarithmicHalo) { return {.rtol = 7e-8, .atol = 7e-10}; }
inline gradsolve::Options orbit_options(MilkyWay) { return {.rtol = 2e-8, .atol = 2e-10}; }

inline constexpr double orbit_end = 4000;  // Myr
inline std::vector<double> default_params(LogarithmicHalo) { return {0.225, 2.0, 0.9}; }
inline std::vector<double> default_params(MilkyWay) {
  return {6.8e10, 3.0, 0.28, 5e9, 1.0, 5.4e11, 15.62, 0.95};
}

/// Stars 5 to 30 kpc from the centre, of all directions, at 0.2 to 1.1 times the circular velocity.
inline Matrix draw_stars(const Exec& exec, const Members& members) {
  const int n = members.extent_int(0);
  const Matrix w(Kokkos::view_alloc(exec, "stars"), n, 6);
  Kokkos::parallel_for(
      "draw_stars", Policy(exec, 0, n), KOKKOS_LAMBDA(int i) {
        constexpr double two_pi = 6.283185307179586;
        const Draws draw{101, std::uint64_t(members(i))};
        const double size[] = {5 * Kokkos::exp(draw.uniform(0) * Kokkos::log(6.0)),
                               0.225 * (0.2 + 0.9 * draw.uniform(3))};
        for (int k = 0; k < 2; ++k) {  // position, velocity
          const double along = 2 * draw.uniform(3 * k + 1) - 1;
          const double across = Kokkos::sqrt(1 - along * along);
          const double angle = two_pi * draw.uniform(3 * k + 2);
          w(i, 3 * k) = size[k] * across * Kokkos::cos(angle);
          w(i, 3 * k + 1) = size[k] * across * Kokkos::sin(angle);
          w(i, 3 * k + 2) = size[k] * along;
        }
      });
  return w;
}

/// Orbits of given stars in a potential whose parameters all of them share.
template <class Potential>
struct Orbits {
  Matrix stars;
  Column params = on_device(default_params(Potential{}));
  gradsolve::Ensemble<Matrix, Column> ensemble{stars, params, 0.0, orbit_end};
  gradsolve::Record<OrbitMethod, double, Memory> record;
  gradsolve::Sensitivity<double, Memory> sensitivity;
  gradsolve::Gradient<double, Memory> gradient;

  explicit Orbits(const Matrix& w0) : stars(w0) {}

  void solve(const Exec& exec, const gradsolve::Options& options) {
    gradsolve::record(exec, Potential{}, OrbitMethod{}, ensemble, options, record);
  }
  /// All of dw/d(w0, p), (n, 6, 6 + P).
  void differentiate(const Exec& exec) {
    gradsolve::sensitivity(exec, Potential{}, record, ensemble, gradsolve::Variables{},
                           sensitivity);
  }
  /// Of a loss, summed over the ensemble, in the shared parameters.
  template <class Loss>
  void differentiate(const Exec& exec, const Loss& loss) {
    gradsolve::gradient(exec, Potential{}, record, ensemble, loss, gradient);
  }
};

/// |x|^2
struct SquaredDistance {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const State<T, 6>& w) const {
    return w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
  }
};

}  // namespace examples
