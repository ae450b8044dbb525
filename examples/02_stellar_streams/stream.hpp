// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "orbits.hpp"

#include <common/vector3.hpp>

/// A stellar stream: stars that a cluster, the progenitor, has lost over 3 Gyr. Each was released
/// at a time t_i of its own, near one of the two points where the galaxy's tide takes over:
///
///     progenitor   today -> t_i           backward, in the galaxy's potential
///     release      position and velocity from those of the progenitor (M. Fardal et al. 2015)
///     star         t_i -> today           in the galaxy's potential alone
///
/// The present state of a star depends on the progenitor's present state w0, the potential's
/// parameters p and the progenitor's mass M through all three.
namespace examples {

inline constexpr double stream_age = 3000;  // Myr
inline constexpr int stream_size = 1'000'000;

/// Variables of a stream: w0, then (vc, rh, q), then M.
inline constexpr int num_orbit_variables = 9, num_stream_variables = 10;
using StreamDual = gradsolve::Dual<double, num_stream_variables>;

/// When a star is released, at which end (+1: it will trail), and its offset from the tidal point.
struct Release {
  double time, side, kx, kz, kvt, kvz;

  KOKKOS_FUNCTION explicit Release(int star) {
    const Draws draw{102, std::uint64_t(star)};
    time = -stream_age * (1 - (star + 0.5) / stream_size);
    side = star % 2 == 0 ? 1 : -1;
    kx = 2 + 0.4 * draw.normal(0);
    kz = 0.5 * draw.normal(1);
    kvt = 0.3 + 0.4 * draw.normal(2);
    kvz = 0.5 * draw.normal(3);
  }
};

/// Phi_rr of the logarithmic halo: the second derivative along the unit vector e = x / |x|.
template <class T>
KOKKOS_FUNCTION T radial_curvature(const Vector3<T>& x, const Vector3<T>& e,
                                   const Params<T, 3>& p) {
  const T q2 = p[2] * p[2];
  const Vector3<T> qe{e[0], e[1], e[2] / q2};
  const T d = p[1] * p[1] + x[0] * x[0] + x[1] * x[1] + x[2] * x[2] / q2, xqe = dot(x, qe);
  return p[0] * p[0] * (dot(e, qe) / d - T(2) * xqe * xqe / (d * d));
}

/// The star at its release from the progenitor at w. With the orbital frequency Om, the tidal
/// radius is r_J = (G M / (Om^2 - Phi_rr))^(1/3); offsets are in units of r_J and Om r_J, along
/// the radius e, the direction of motion and the orbit's axis.
template <class T>
KOKKOS_FUNCTION State<T, 6> released(const State<T, 6>& w, const Params<T, 3>& p, const T& mass,
                                     const Release& release) {
  using gradsolve::cbrt, gradsolve::sqrt;
  const Vector3<T> x = triple<0>(w), v = triple<1>(w), momentum = cross(x, v);
  const T r = sqrt(dot(x, x)), spin = sqrt(dot(momentum, momentum));
  const Vector3<T> e = scaled(T(1) / r, x), axis = scaled(T(1) / spin, momentum);
  const Vector3<T> forward = cross(axis, e);
  const T frequency = spin / (r * r);
  const T tide = frequency * frequency - radial_curvature(x, e, p);
  const double g = gravity;  // device code cannot refer to a variable of the host
  const T radius = T(release.side) * cbrt(T(g) * mass / tide), speed = frequency * radius;

  const Vector3<T> dx = combined(radius * release.kx, e, radius * release.kz, axis);
  const Vector3<T> dv = combined(speed * release.kvt, forward, speed * release.kvz, axis);
  return {x[0] + dx[0], x[1] + dx[1], x[2] + dx[2], v[0] + dv[0], v[1] + dv[1], v[2] + dv[2]};
}

/// The progenitor's orbit with its sensitivities to (w0, p): one trajectory, solved once. As a
/// function of time it serves all stars.
using Progenitor = gradsolve::WithSensitivities<LogarithmicHalo, 0, 1, 2, 3, 4, 5, 6, 7, 8>;

/// The progenitor at time t as duals in the variables of the stream.
template <class Orbit>
KOKKOS_FUNCTION State<StreamDual, 6> progenitor_at(const Orbit& orbit, double t) {
  const State<double, Progenitor::num_states> all = orbit(0, t);
  State<StreamDual, 6> w;
  for (int j = 0; j < 6; ++j) {
    w[j] = StreamDual(all[j]);
    for (int c = 0; c < num_orbit_variables; ++c) w[j].tangent[c] = all[6 * (1 + c) + j];
  }
  return w;
}

/// A star at its release and its derivatives in the variables of the stream.
template <class Orbit, class P>
KOKKOS_FUNCTION State<StreamDual, 6> star_at_release(const Orbit& orbit, const P& params,
                                                     double progenitor_mass, int star) {
  auto variable = [](double value, int number) {
    StreamDual x(value);
    x.tangent[number] = 1;
    return x;
  };
  Params<StreamDual, 3> p;
  for (int k = 0; k < 3; ++k) p[k] = variable(params(k), 6 + k);
  const Release release(star);
  return released(progenitor_at(orbit, release.time), p, variable(progenitor_mass, 9), release);
}

/// A stream today, and its derivatives.
class Stream {
 public:
  /// Integrates the progenitor back to when its oldest star was released; more precisely than the
  /// stars, as it is one trajectory for all of them.
  Stream(const Exec& exec, const Members& stars, const gradsolve::Options& options)
      : stars_(stars),
        options_(options),
        start_(Kokkos::view_alloc(exec, "star at release"), stars.extent(0), 6),
        release_(Kokkos::view_alloc(exec, "time of release"), stars.extent(0)) {
    progenitor_ = gradsolve::record(
        exec, Progenitor{}, OrbitMethod{}, progenitor_ensemble_,
        {.rtol = 1e-3 * options.rtol, .atol = 1e-3 * options.atol, .keep_states = true});
  }

  /// Releases the stars and integrates them to today.
  void solve(const Exec& exec) {
    const auto orbit = progenitor_orbit(exec);
    const auto stars = stars_;
    const auto params = params_, times = release_;
    const auto start = start_;
    const double mass = progenitor_mass;
    Kokkos::parallel_for(
        "release", Policy(exec, 0, stars.extent(0)), KOKKOS_LAMBDA(int i) {
          const auto w = star_at_release(orbit, params, mass, stars(i));
          for (int j = 0; j < 6; ++j) start(i, j) = w[j].value;
          times(i) = Release(stars(i)).time;
        });
    gradsolve::record(exec, LogarithmicHalo{}, OrbitMethod{}, ensemble_, options_, record_);
  }

  /// dw/d(w0, p, M), (n, 6, 10), by the chain rule: the star's derivatives to its state at release
  /// times those of that state, and its derivatives to p.
  Cube differentiate(const Exec& exec) {
    gradsolve::sensitivity(exec, LogarithmicHalo{}, record_, ensemble_, gradsolve::Variables{},
                           sensitivity_);
    const Cube total(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "dw/d(w0, p, M)"),
                     stars_.extent(0), 6, num_stream_variables);
    const auto orbit = progenitor_orbit(exec);
    const auto stars = stars_;
    const auto params = params_;
    const auto star = sensitivity_.sensitivities;
    const double mass = progenitor_mass;
    Kokkos::parallel_for(
        "chain rule", Policy(exec, 0, stars.extent(0)), KOKKOS_LAMBDA(int i) {
          const auto start = star_at_release(orbit, params, mass, stars(i));
          for (int j = 0; j < 6; ++j)
            for (int c = 0; c < num_stream_variables; ++c) {
              double sum = c >= 6 && c < num_orbit_variables ? star(i, j, c) : 0;
              for (int k = 0; k < 6; ++k) sum += star(i, j, k) * start[k].tangent[c];
              total(i, j, c) = sum;
            }
        });
    return total;
  }

  const Matrix& states() const { return record_.states; }
  const Column& release_times() const { return release_; }
  const auto& record() const { return record_; }

 private:
  static constexpr double progenitor_mass = 2e4;

  gradsolve::Solution<OrbitMethod, Progenitor, double, Memory> progenitor_orbit(
      const Exec& exec) const {
    return gradsolve::make_solution(exec, Progenitor{}, progenitor_, progenitor_ensemble_);
  }
  /// A cluster like Palomar 5, today.
  static Matrix progenitor_today() {
    const double w0[] = {8.2, 0.2, 16.6, -0.0511, -0.1125, -0.0153};
    const Matrix today("progenitor", 1, 6);
    const auto host = Kokkos::create_mirror_view(today);
    for (int j = 0; j < 6; ++j) host(0, j) = w0[j];
    Kokkos::deep_copy(today, host);
    return today;
  }

  Members stars_;
  gradsolve::Options options_;
  Column params_ = on_device(default_params(LogarithmicHalo{}));
  Matrix today_ = progenitor_today();
  gradsolve::Ensemble<Matrix, Column> progenitor_ensemble_{today_, params_, 0.0, -stream_age};
  gradsolve::Record<OrbitMethod, double, Memory> progenitor_;

  Matrix start_;
  Column release_;
  gradsolve::Ensemble<Matrix, Column> ensemble_{start_, params_, release_, 0.0};
  gradsolve::Record<OrbitMethod, double, Memory> record_;
  gradsolve::Sensitivity<double, Memory> sensitivity_;
};

}  // namespace examples
