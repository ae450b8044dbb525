// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/system.hpp>

namespace examples {

/// The radius R(t) of a gas bubble in water that two sound waves drive (Keller, Miksis 1980), c the
/// speed of sound, rho the density of the liquid:
///
///     (1 - R'/c) R R'' + (3/2) (1 - R'/(3c)) R'^2 = (1/rho) (1 + R'/c + (R/c) d/dt) (pL - pinf)
///     pL   = (2 sigma/RE + Pinf - Pv) (RE/R)^(3 gamma) + Pv - 2 sigma/R - 4 mu R'/R
///     pinf = Pinf + PA1 sin(2 pi f1 t) + PA2 sin(2 pi f2 t + theta)
///
/// in units of the equilibrium radius and the first wave's period: tau = f1 t, states R/RE and its
/// derivative to tau. Parameters (PA1 [Pa], f1 [Hz], PA2 [Pa], f2 [Hz], theta, RE [m]).
struct KellerMiksis {
  static constexpr int num_states = 2, num_params = 6;

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION gradsolve::State<T, 2> operator()(
      const T& tau, const gradsolve::State<T, 2>& u, const gradsolve::Params<T, 6>& p) const {
    using gradsolve::cos, gradsolve::pow, gradsolve::sin;
    // Water at 25 degrees Celsius and 1 bar, air in the bubble.
    constexpr double vapour_pressure = 3166.775638952003, density = 997.0639504998557,
                     surface_tension = 0.071977583160056, viscosity = 8.902125058209557e-4,
                     sound_speed = 1497.251785455527, pressure = 1e5, polytropic = 1.4;
    constexpr double two_pi = 6.283185307179586, kappa = 3 * polytropic,
                     net_pressure = pressure - vapour_pressure;
    const T x = u[0], v = u[1];
    const T &pa1 = p[0], &f1 = p[1], &pa2 = p[2], &f2 = p[3], &theta = p[4], &re = p[5];

    const T speed = re * f1;                    // the unit of R'
    const T mach = speed / T(sound_speed) * v;  // R'/c
    const T from_pressure = T(1) / (T(density) * speed * speed);
    const T laplace = T(2 * surface_tension) / re;
    const T viscous = T(4 * viscosity / density) / (re * speed);

    const T phase1 = T(two_pi) * tau, phase2 = T(two_pi) * (f2 / f1) * tau + theta;
    const T wave = pa1 * sin(phase1) + pa2 * sin(phase2);
    const T wave_slope =  // to tau
        T(two_pi) * (pa1 * cos(phase1) + pa2 * (f2 / f1) * cos(phase2));

    // The gas pressure and its time derivative along R'.
    const T gas = (laplace + T(net_pressure)) * pow(x, -kappa) * (T(1) + (1 - kappa) * mach);
    const T radiated = x * wave_slope * (speed / T(sound_speed));
    const T numerator =
        from_pressure * (gas - (T(net_pressure) + wave) * (T(1) + mach) - laplace / x - radiated) -
        viscous * v / x - 1.5 * (T(1) - mach / T(3)) * v * v;
    const T inertia = x * (T(1) - mach) + viscous * (speed / T(sound_speed));
    return {v, numerator / inertia};
  }
};

}  // namespace examples
