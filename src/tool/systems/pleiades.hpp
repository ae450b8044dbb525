// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/system.hpp>

namespace gradsolve::tool {

/// Seven stars in a plane, under their gravity (E. Hairer, S. P. Norsett, G. Wanner, Solving
/// Ordinary Differential Equations I, II.10). States: x of the stars 1 to 7, their y, then their
/// velocities in the same order. Parameters: their masses.
///
/// Star j pulls star i with m_j d / r^3, d = q_j - q_i, r = |d|.
struct Pleiades {
  static constexpr int num_stars = 7;
  static constexpr int num_states = 4 * num_stars, num_params = num_stars;

  template <class T>
  using U = State<T, num_states>;
  template <class T>
  using P = Params<T, num_params>;

  template <class T>
  KOKKOS_FUNCTION U<T> operator()(const T&, const U<T>& u, const P<T>& m) const {
    U<T> du;
    for (int i = 0; i < 2 * num_stars; ++i) {
      du[i] = u[2 * num_stars + i];
      du[2 * num_stars + i] = T(0);
    }
    T* const ax = &du[2 * num_stars];
    T* const ay = &du[3 * num_stars];
    for (int i = 0; i < num_stars; ++i)
      for (int j = i + 1; j < num_stars; ++j) {
        const T dx = u[j] - u[i], dy = u[num_stars + j] - u[num_stars + i];
        const T r2 = dx * dx + dy * dy, pull = T(1) / (r2 * sqrt(r2));
        ax[i] = ax[i] + m[j] * pull * dx;
        ay[i] = ay[i] + m[j] * pull * dy;
        ax[j] = ax[j] - m[i] * pull * dx;
        ay[j] = ay[j] - m[i] * pull * dy;
      }
    return du;
  }

  /// By hand: a few operations for each pair, where duals for 35 variables would take hundreds.
  /// With the cotangents w of the accelerations and g = m_j w_i - m_i w_j, a pair adds to w . a
  /// the term g . d / r^3, whose derivative by d is g / r^3 - 3 (g . d) d / r^5.
  template <class T>
  KOKKOS_FUNCTION Cotangents<T, num_states, num_params> vjp(const T&, const U<T>& u, const P<T>& m,
                                                            const U<T>& w) const {
    Cotangents<T, num_states, num_params> bar;
    bar.t = T(0);
    for (int i = 0; i < num_stars; ++i) bar.p[i] = T(0);
    for (int i = 0; i < 2 * num_stars; ++i) {
      bar.u[i] = T(0);
      bar.u[2 * num_stars + i] = w[i];
    }
    const T* const wx = &w[2 * num_stars];
    const T* const wy = &w[3 * num_stars];
    for (int i = 0; i < num_stars; ++i)
      for (int j = i + 1; j < num_stars; ++j) {
        const T dx = u[j] - u[i], dy = u[num_stars + j] - u[num_stars + i];
        const T r2 = dx * dx + dy * dy, pull = T(1) / (r2 * sqrt(r2));
        bar.p[j] = bar.p[j] + (wx[i] * dx + wy[i] * dy) * pull;
        bar.p[i] = bar.p[i] - (wx[j] * dx + wy[j] * dy) * pull;
        const T gx = m[j] * wx[i] - m[i] * wx[j], gy = m[j] * wy[i] - m[i] * wy[j];
        const T along = T(3) * (gx * dx + gy * dy) / r2;
        const T x = (gx - along * dx) * pull, y = (gy - along * dy) * pull;
        bar.u[j] = bar.u[j] + x;
        bar.u[i] = bar.u[i] - x;
        bar.u[num_stars + j] = bar.u[num_stars + j] + y;
        bar.u[num_stars + i] = bar.u[num_stars + i] - y;
      }
    return bar;
  }
};

}  // namespace gradsolve::tool
