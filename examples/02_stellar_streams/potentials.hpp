// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/system.hpp>

/// The orbit of a star in the potential Phi of a galaxy: x' = v, v' = -grad Phi(x). States
/// (x, y, z, vx, vy, vz) in kpc and kpc/Myr, masses in those of the Sun.
namespace examples {

using gradsolve::Params;
using gradsolve::State;

/// Newton's constant, kpc^3 / (Msun Myr^2).
inline constexpr double gravity = 4.4985021514695517e-12;

/// Phi = vc^2/2 ln(rh^2 + x^2 + y^2 + z^2/q^2): a flattened halo whose circular velocity tends to
/// vc. Parameters: vc, the core radius rh, the flattening q.
struct LogarithmicHalo {
  static constexpr int num_states = 6, num_params = 3;

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 6> operator()(const T&, const State<T, 6>& w,
                                                     const Params<T, 3>& p) const {
    const T x = w[0], y = w[1], z = w[2], z_over_q2 = z / (p[2] * p[2]);
    const T pull = -p[0] * p[0] / (p[1] * p[1] + x * x + y * y + z * z_over_q2);
    return {w[3], w[4], w[5], pull * x, pull * y, pull * z_over_q2};
  }
};

/// A disc (Miyamoto and Nagai), a bulge (Hernquist) and a flattened halo (Navarro, Frenk, White):
///
///     Phi = -G Md / sqrt(R^2 + (a + sqrt(z^2 + b^2))^2) - G Mb / (r + c) - G Mh ln(1 + m/rs) / m,
///     R^2 = x^2 + y^2,  r^2 = R^2 + z^2,  m^2 = R^2 + z^2/q^2
///
/// Parameters: Md, a, b, Mb, c, Mh, rs, q.
struct MilkyWay {
  static constexpr int num_states = 6, num_params = 8;

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 6> operator()(const T&, const State<T, 6>& w,
                                                     const Params<T, 8>& p) const {
    using gradsolve::log, gradsolve::sqrt;
    const T x = w[0], y = w[1], z = w[2];
    const T plane2 = x * x + y * y, z2 = z * z;

    const T b = sqrt(z2 + p[2] * p[2]), a = p[1] + b, s2 = plane2 + a * a;
    const T disc = p[0] / (s2 * sqrt(s2));

    const T r = sqrt(plane2 + z2), r_plus_c = r + p[4];
    const T bulge = p[3] / (r * r_plus_c * r_plus_c);

    const T q2 = p[7] * p[7], m2 = plane2 + z2 / q2, m = sqrt(m2), u = m / p[6];
    const T halo = p[5] * (log(T(1) + u) - u / (T(1) + u)) / (m2 * m);

    const T along_plane = T(-gravity) * (disc + bulge + halo);
    const T along_axis = T(-gravity) * (disc * a / b + bulge + halo / q2);
    return {w[3], w[4], w[5], along_plane * x, along_plane * y, along_axis * z};
  }
};

}  // namespace examples
