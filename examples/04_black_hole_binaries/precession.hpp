// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/system.hpp>

#include <common/vector3.hpp>

/// The spins of two black holes, averaged over an orbit, as gravitational waves shrink it (D.
/// Gerosa, M. Kesden 2016, section 4A). G = c = total mass = 1; masses m1 = 1/(1+q), m2 = q/(1+q).
/// The independent variable is the orbital velocity v = r^(-1/2).
///
/// States: unit vectors along the orbital momentum L and the spins S1, S2. Parameters: q, and the
/// sizes chi1, chi2 of the spins.
namespace examples {

using gradsolve::Params;
using gradsolve::State;

/// The masses, and what the geometry of the three vectors leaves for the rates.
template <class T>
struct Binary {
  T eta, m1, m2, s1, s2;  // symmetric mass ratio, masses, spins |S1| = chi1 m1^2, |S2|
  T c1, c2, c12;          // S1.L, S2.L, S1.S2 of the unit vectors

  KOKKOS_FORCEINLINE_FUNCTION Binary(const State<T, 9>& u, const Params<T, 3>& p) {
    m1 = T(1) / (T(1) + p[0]), m2 = p[0] * m1, eta = m1 * m2;
    s1 = p[1] * m1 * m1, s2 = p[2] * m2 * m2;
    c1 = dot(triple<0>(u), triple<1>(u));
    c2 = dot(triple<0>(u), triple<2>(u));
    c12 = dot(triple<1>(u), triple<2>(u));
  }
};

/// dv/dt over its leading order (32/5) eta v^9, to order v^7 (3.5 post-Newtonian).
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T inspiral(const T& v, const Binary<T>& b, const Params<T, 3>& p) {
  using gradsolve::log;
  constexpr double pi = 3.141592653589793, euler = 0.57721566490153286;
  const T eta = b.eta, eta2 = eta * eta;
  const T spin1 = p[1] * b.c1, spin2 = p[2] * b.c2;
  const T a1 = b.m1 * p[1], a2 = b.m2 * p[2];
  const T order2 = T(-743.0 / 336) - T(924.0 / 336) * eta;
  const T order3 = T(4 * pi) - spin1 * (T(113.0 / 12) * b.m1 * b.m1 + T(25.0 / 4) * eta) -
                   spin2 * (T(113.0 / 12) * b.m2 * b.m2 + T(25.0 / 4) * eta);
  const T order4 =
      T(34103.0 / 18144) + T(13661.0 / 2016) * eta + T(59.0 / 18) * eta2 +
      eta * (T(721.0 / 48) * spin1 * spin2 - T(247.0 / 48) * p[1] * p[2] * b.c12) +
      (a1 * a1 * (T(719) * b.c1 * b.c1 - T(233)) + a2 * a2 * (T(719) * b.c2 * b.c2 - T(233))) *
          T(1.0 / 96);
  const T order5 = T(-pi / 672) * (T(4159) + T(15876) * eta);
  const T order6 = T(16447322263.0 / 139708800 + 16 * pi * pi / 3 - 1712.0 / 105 * euler) -
                   T(1712.0 / 105) * log(T(4) * v) +
                   T(451 * pi * pi / 48 - 56198689.0 / 217728) * eta + T(541.0 / 896) * eta2 -
                   T(5605.0 / 2592) * eta2 * eta;
  const T order7 =
      T(pi) * (T(-4415.0 / 4032) + T(358675.0 / 6048) * eta + T(91495.0 / 1512) * eta2);
  return T(1) +
         v * v * (order2 + v * (order3 + v * (order4 + v * (order5 + v * (order6 + v * order7)))));
}

/// With the frequencies Om1 = k1 L + (v^6/2) |S2| S2 and Om2 = k2 L + (v^6/2) |S1| S1,
///
///     dS1/dt = Om1 x S1,  dS2/dt = Om2 x S2,  dL/dt = -(v/eta) (|S1| dS1/dt + |S2| dS2/dt)
///
/// where the terms S1 x S2 cancel in dL/dt. All of it over dv/dt; v^5 is taken out.
struct SpinPrecession {
  static constexpr int num_states = 9, num_params = 3;

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 9> operator()(const T& v, const State<T, 9>& u,
                                                     const Params<T, 3>& p) const {
    const Binary<T> b(u, p);
    const T q = p[0], v2 = v * v;
    const T t = T(5.0 / 32) / (b.eta * v2 * v2 * inspiral(v, b, p));  // v^5 dt/dv
    const T along1 = b.s1 * b.c1, along2 = b.s2 * b.c2;
    const T k1 = t * (b.eta * (T(2) + T(1.5) * q) - T(1.5) * v * (along2 + q * along1));
    const T k2 = t * (b.eta * (T(2) + T(1.5) / q) - T(1.5) * v * (along1 + along2 / q));
    const T mutual = T(0.5) * t * v, recoil = -v / b.eta;

    const Vector3<T> l = triple<0>(u), s1 = triple<1>(u), s2 = triple<2>(u);
    const Vector3<T> around1 = cross(l, s1), around2 = cross(l, s2), both = cross(s1, s2);
    const Vector3<T> dl = combined(recoil * b.s1 * k1, around1, recoil * b.s2 * k2, around2);
    const Vector3<T> ds1 = combined(k1, around1, -mutual * b.s2, both);
    const Vector3<T> ds2 = combined(k2, around2, mutual * b.s1, both);
    return {dl[0], dl[1], dl[2], ds1[0], ds1[1], ds1[2], ds2[0], ds2[1], ds2[2]};
  }
};

/// dt/dv: its integral is the time that passes, in units of the total mass.
struct ElapsedTime {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const T& v, const State<T, 9>& u,
                                           const Params<T, 3>& p) const {
    const Binary<T> b(u, p);
    const T v2 = v * v, v4 = v2 * v2;
    return T(5.0 / 32) / (b.eta * v4 * v4 * v * inspiral(v, b, p));
  }
};

}  // namespace examples
