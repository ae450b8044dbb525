// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "quintessence.hpp"

#include <common/ensemble.hpp>
#include <common/hash.hpp>

/// Distances in universes with a quintessence field, as functions of theta = (Om, h, the
/// potential's shape, the field's initial value phi_i). The height v0 of the potential is no
/// variable: it is the root of
///
///     g(v0, theta) = E^2(today) - 1 = 0                    (H(today) is H0: the universe is flat)
///
/// found by Newton's method with dg/dv0 from a tangent, and differentiated as an implicit function:
/// dv0/dtheta = -g_theta / g_v0.
namespace examples {

/// The fastest method where distances are to be good to 1e-6 in 99 universes of 100, and the
/// tolerances that this takes (docs/applications.md).
using CosmicMethod = gradsolve::Verner7;
inline constexpr gradsolve::Options cosmic_options{.rtol = 3e-5, .atol = 3e-8};

inline constexpr double first_n = -7;  // N = ln a, where the field is still frozen
inline constexpr double redshifts[] = {2.33, 1.484, 1.321, 0.934, 0.706, 0.51, 0.295};
inline constexpr int num_redshifts = 7, num_theta = 4;

/// Omega_r of photons and three massless neutrinos.
template <class T>
KOKKOS_FUNCTION T radiation(const T& h) {
  return T(4.18343e-5) / (h * h);
}
/// c / H0 in Mpc.
template <class T>
KOKKOS_FUNCTION T hubble_distance(const T& h) {
  return T(2997.92458) / h;
}

/// theta of a member.
struct Cosmology {
  double om, h, shape, phi;
};
KOKKOS_INLINE_FUNCTION Cosmology draw(Exponential, int member) {
  const Draws draw{201, std::uint64_t(member)};
  return {0.2 + 0.2 * draw.uniform(0), 0.6 + 0.2 * draw.uniform(1), 0.05 + 1.45 * draw.uniform(2),
          0};
}
KOKKOS_INLINE_FUNCTION Cosmology draw(Pngb, int member) {
  const Draws draw{202, std::uint64_t(member)};
  const double f = 0.8 + 0.8 * draw.uniform(2);
  return {0.2 + 0.2 * draw.uniform(0), 0.6 + 0.2 * draw.uniform(1), f,
          f * (0.1 + 0.9 * draw.uniform(3))};
}

/// Members of an ensemble. v0 is to be found.
struct Cosmologies {
  Matrix start, params;  // (phi, phi'), (Om, Or, shape, v0)
  Column h;
};
template <class Potential>
Cosmologies draw_cosmologies(const Exec& exec, const Members& members) {
  const int n = members.extent_int(0);
  const Matrix start(Kokkos::view_alloc(exec, "phi, phi'"), n, 2),
      params(Kokkos::view_alloc(exec, "Om, Or, shape, v0"), n, 4);
  const Column h(Kokkos::view_alloc(exec, "h"), n);
  Kokkos::parallel_for(
      "draw cosmologies", Policy(exec, 0, n), KOKKOS_LAMBDA(int i) {
        const Cosmology theta = draw(Potential{}, members(i));
        start(i, 0) = theta.phi;
        params(i, 0) = theta.om;
        params(i, 1) = radiation(theta.h);
        params(i, 2) = theta.shape;
        h(i) = theta.h;
      });
  return {start, params, h};
}

/// Of theta and, as number 4, of v0 as if it were a variable too.
using CosmicDual = gradsolve::Dual<double, num_theta + 1>;

KOKKOS_INLINE_FUNCTION CosmicDual cosmic_variable(double value, int number) {
  CosmicDual x(value);
  x.tangent[number] = 1;
  return x;
}

/// What is observed, and its derivatives by theta, of which v0 is a function.
struct Observables {
  Matrix distance, hubble;    // D_M(z) in Mpc, E(z): (n, 7)
  Cube d_distance, d_hubble;  // (n, 7, 4)
  Column w, g;                // the field's equation of state today, what is left of g: (n)
  Matrix dw, dv0;             // (n, 4)

  Observables(const Exec& exec, int n) {
    auto allocate = [&](auto& view, auto... extents) {
      view = std::decay_t<decltype(view)>(
          Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "observables"), n, extents...);
    };
    allocate(distance, num_redshifts), allocate(hubble, num_redshifts), allocate(w), allocate(g);
    allocate(d_distance, num_redshifts, num_theta), allocate(d_hubble, num_redshifts, num_theta);
    allocate(dw, num_theta), allocate(dv0, num_theta);
  }
};

template <class Potential>
class DarkEnergy {
 public:
  using System = Quintessence<Potential>;
  using WithDistance = gradsolve::WithIntegral<System, LightPath<Potential>>;

  DarkEnergy(const Exec& exec, const Members& members)
      : n_(members.extent_int(0)),
        given_(draw_cosmologies<Potential>(exec, members)),
        found_(Kokkos::view_alloc(exec, "v0 found"), n_),
        to_v0_(Kokkos::view_alloc(exec, "direction of v0"), n_, 4),
        times_(gradsolve::save_times(exec, ensemble_, saved_n_)) {
    Kokkos::deep_copy(exec, Kokkos::subview(to_v0_, Kokkos::ALL, 3), 1.0);
  }

  /// Finds v0 for all members at once; returns the number of Newton iterations. The steps are
  /// recorded for the first guess and kept: g is then a smooth function of v0, whose root and
  /// derivatives are exact.
  int shoot(const Exec& exec, const gradsolve::Options& options, double tolerance = 1e-9) {
    guess(exec);
    gradsolve::record(exec, System{}, CosmicMethod{}, ensemble_, options, record_);
    int iterations = 0;
    do {
      gradsolve::jvp(exec, System{}, record_, ensemble_, Matrix(), to_v0_, tangent_);
      ++iterations;
    } while (newton_step(exec, tolerance) > 0 && iterations < 20);
    return iterations;
  }

  /// D_M alone, from the states at the redshifts and today.
  void solve(const Exec& exec, const Matrix& distance) {
    gradsolve::replay(exec, WithDistance{}, record_, ensemble_, times_, replay_);
    const auto h = given_.h;
    const auto today = replay_.states;
    const auto saved = replay_.saved;
    Kokkos::parallel_for(
        "distances", Policy(exec, 0, n_), KOKKOS_LAMBDA(int i) {
          for (int z = 0; z < num_redshifts; ++z)
            distance(i, z) = hubble_distance(h(i)) * (today(i, 2) - saved(i, z, 2));
        });
  }

  /// The derivatives of those states by (phi_i, Om, Or, shape, v0), and what follows from them.
  void differentiate(const Exec& exec, const Observables& out) {
    gradsolve::sensitivity(exec, WithDistance{}, record_, ensemble_, times_,
                           gradsolve::Variables{.u0 = {0}, .params = {0, 1, 2, 3}}, sensitivity_);
    observe(exec, out);
  }

  void guess(const Exec& exec) {
    const auto params = given_.params;
    const auto found = found_;
    Kokkos::parallel_for(
        "guess v0", Policy(exec, 0, n_), KOKKOS_LAMBDA(int i) {
          params(i, 3) = 1 - params(i, 0) - params(i, 1);
          found(i) = false;
        });
  }

  /// One step of the members that have not converged; how many are left.
  int newton_step(const Exec& exec, double tolerance) {
    const auto params = given_.params, u = tangent_.states, du = tangent_.tangents;
    const auto found = found_;
    int left = 0;
    Kokkos::parallel_reduce(
        "Newton step", Policy(exec, 0, n_),
        KOKKOS_LAMBDA(int i, int& sum) {
          if (found(i)) return;
          using D = gradsolve::Dual<double>;
          const State<D, 2> x{D(u(i, 0), {du(i, 0)}), D(u(i, 1), {du(i, 1)})};
          const Params<D, 4> p{params(i, 0), params(i, 1), params(i, 2), D(params(i, 3), {1})};
          const D g = System::expansion(D(0), x, p).e2 - 1.0;
          const double step = -g.value / g.tangent[0];
          params(i, 3) += step;
          found(i) = Kokkos::abs(step) < tolerance;
          sum += !found(i);
        },
        left);
    return left;
  }

  void observe(const Exec& exec, const Observables& out) {
    const auto params = given_.params;
    const auto h_of = given_.h;
    const auto today = sensitivity_.states;
    const auto d_today = sensitivity_.sensitivities;
    const auto saved = sensitivity_.saved;
    const auto d_saved = sensitivity_.saved_sensitivities;
    const auto saved_n = saved_n_;
    Kokkos::parallel_for(
        "observe", Policy(exec, 0, n_), KOKKOS_LAMBDA(int i) {
          const CosmicDual h = cosmic_variable(h_of(i), 1), omega_r = radiation(h);
          const Params<CosmicDual, 4> p{cosmic_variable(params(i, 0), 0), omega_r,
                                        cosmic_variable(params(i, 2), 2),
                                        cosmic_variable(params(i, 3), 4)};
          // A state, whose derivatives come in the order (phi_i, Om, Or, shape, v0).
          auto lifted = [&](double value, auto column) {
            return CosmicDual(value, {column(1), column(2) * omega_r.tangent[1], column(3),
                                      column(0), column(4)});
          };
          State<CosmicDual, 3> u;
          for (int j = 0; j < 3; ++j)
            u[j] = lifted(today(i, j), [&](int c) { return d_today(i, j, c); });

          const auto e = System::expansion(CosmicDual(0), {u[0], u[1]}, p);
          out.g(i) = e.e2.value - 1;
          double dv0[num_theta];
          for (int k = 0; k < num_theta; ++k) {
            dv0[k] = -e.e2.tangent[k] / e.e2.tangent[num_theta];
            out.dv0(i, k) = dv0[k];
          }
          auto total = [&](const CosmicDual& x, int k) {
            return x.tangent[k] + x.tangent[num_theta] * dv0[k];
          };
          const CosmicDual kinetic = u[1] * u[1] / 6.0, potential = e.potential.value / e.e2;
          const CosmicDual w = (kinetic - potential) / (kinetic + potential);
          out.w(i) = w.value;
          for (int k = 0; k < num_theta; ++k) out.dw(i, k) = total(w, k);

          for (int z = 0; z < num_redshifts; ++z) {
            State<CosmicDual, 3> then;
            for (int j = 0; j < 3; ++j)
              then[j] = lifted(saved(i, z, j), [&](int c) { return d_saved(i, z, j, c); });
            const CosmicDual distance = hubble_distance(h) * (u[2] - then[2]);
            const CosmicDual hubble = gradsolve::sqrt(
                System::expansion(CosmicDual(saved_n(z)), {then[0], then[1]}, p).e2);
            out.distance(i, z) = distance.value;
            out.hubble(i, z) = hubble.value;
            for (int k = 0; k < num_theta; ++k) {
              out.d_distance(i, z, k) = total(distance, k);
              out.d_hubble(i, z, k) = total(hubble, k);
            }
          }
        });
  }

  const Matrix& params() const { return given_.params; }

 private:
  static Column save_points() {
    std::vector<double> n;
    for (const double z : redshifts) n.push_back(-std::log1p(z));
    return on_device(n);
  }

  int n_;
  Cosmologies given_;
  Kokkos::View<bool*, Memory> found_;
  Matrix to_v0_;
  Column saved_n_ = save_points();
  gradsolve::Ensemble<Matrix, Matrix> ensemble_{given_.start, given_.params, first_n, 0.0};
  gradsolve::SaveTimes<double, Memory> times_;
  gradsolve::Record<CosmicMethod, double, Memory> record_;
  gradsolve::Tangent<double, Memory> tangent_;
  gradsolve::Replay<double, Memory> replay_;
  gradsolve::Sensitivity<double, Memory> sensitivity_;
};

}  // namespace examples
