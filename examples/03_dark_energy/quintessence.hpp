// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/system.hpp>

/// A scalar field phi (in reduced Planck masses) that drives the expansion of a flat universe of
/// matter and radiation. Time is N = ln a; E = H / H0; the field's potential is V = 3 H0^2 U(phi):
///
///     E^2    = (Om e^-3N + Or e^-4N + U) / (1 - phi'^2 / 6)                            (Friedmann)
///     phi''  = -(3 + E'/E) phi' - 3 U_phi / E^2
///     E'/E   = -((3 Om e^-3N + 4 Or e^-4N) / E^2 + phi'^2) / 2
///
/// States (phi, phi'); parameters (Om, Or, the potential's shape, its height v0).
namespace examples {

using gradsolve::Params;
using gradsolve::State;

/// U and dU/dphi.
template <class T>
struct PotentialAt {
  T value, slope;
};

/// U = v0 exp(-lambda phi).
struct Exponential {
  static constexpr const char* name = "exp";

  template <class T>
  static KOKKOS_FORCEINLINE_FUNCTION PotentialAt<T> at(const T& phi, const T& lambda, const T& v0) {
    using gradsolve::exp;
    const T u = v0 * exp(-lambda * phi);
    return {u, -lambda * u};
  }
};

/// U = v0 (1 + cos(phi / f)) / 2: a pseudo-Nambu-Goldstone boson.
struct Pngb {
  static constexpr const char* name = "pngb";

  template <class T>
  static KOKKOS_FORCEINLINE_FUNCTION PotentialAt<T> at(const T& phi, const T& f, const T& v0) {
    using gradsolve::cos, gradsolve::sin;
    const T angle = phi / f;
    return {T(0.5) * v0 * (T(1) + cos(angle)), T(-0.5) * v0 * sin(angle) / f};
  }
};

/// E^2, the potential and E'/E.
template <class T>
struct Expansion {
  T e2, log_slope;
  PotentialAt<T> potential;
};

template <class Potential>
struct Quintessence {
  static constexpr int num_states = 2, num_params = 4;

  template <class T>
  static KOKKOS_FORCEINLINE_FUNCTION Expansion<T> expansion(const T& n, const State<T, 2>& u,
                                                            const Params<T, 4>& p) {
    using gradsolve::exp;
    const T z1 = exp(-n), z3 = z1 * z1 * z1, kinetic = u[1] * u[1];
    const T matter = p[0] * z3, radiation = p[1] * z3 * z1;
    const PotentialAt<T> potential = Potential::at(u[0], p[2], p[3]);
    const T e2 = (matter + radiation + potential.value) / (T(1) - T(1.0 / 6) * kinetic);
    return {e2, T(-0.5) * ((T(3) * matter + T(4) * radiation) / e2 + kinetic), potential};
  }

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 2> operator()(const T& n, const State<T, 2>& u,
                                                     const Params<T, 4>& p) const {
    const Expansion<T> e = expansion(n, u, p);
    return {u[1], -(T(3) + e.log_slope) * u[1] - T(3) * e.potential.slope / e.e2};
  }
};

/// The comoving distance that light covers, in units of c / H0: D' = e^-N / E.
template <class Potential>
struct LightPath {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const T& n, const State<T, 2>& u,
                                           const Params<T, 4>& p) const {
    using gradsolve::exp, gradsolve::sqrt;
    return exp(-n) / sqrt(Quintessence<Potential>::expansion(n, u, p).e2);
  }
};

}  // namespace examples
