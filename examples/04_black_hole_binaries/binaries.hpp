// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "precession.hpp"

#include <common/ensemble.hpp>
#include <common/hash.hpp>

/// Binaries of random masses and isotropic spins from a large separation to r = 10: the angles
/// between their spins and the orbit, and the time that it takes, as functions of the masses, the
/// spins and the angles at the start.
namespace examples {

/// The fastest method where the angles of 99 binaries of 100 are to be good to 1e-7 rad, and the
/// tolerances that this takes (docs/applications.md): from r = 1000 there are 32 times as many
/// periods as from r = 100. The states are components of unit vectors and pass through zero.
using BinaryMethod = gradsolve::Verner9;
inline gradsolve::Options binary_options(double first_separation) {
  const double tolerance = first_separation > 100 ? 5e-12 : 5e-10;
  return {.rtol = tolerance, .atol = tolerance, .max_steps = 1'000'000};
}

/// Separations in units of the total mass.
inline constexpr double last_separation = 10;

/// theta1, theta2: of the spins to the orbit. dphi: between the spins, seen along the orbit's axis.
inline constexpr int num_angles = 3;
/// (q, chi1, chi2), then the angles at the start.
inline constexpr int num_binary_variables = 6;
using BinaryDual = gradsolve::Dual<double, num_binary_variables>;

template <class T>
using Angles = Vector3<T>;

/// L along z, S1 in the xz plane.
template <class T>
KOKKOS_FUNCTION State<T, 9> vectors_of(const Angles<T>& a) {
  using gradsolve::cos, gradsolve::sin;
  const T sin2 = sin(a[1]);
  return {T(0),      T(0), T(1),  //
          sin(a[0]), T(0), cos(a[0]), sin2 * cos(a[2]), sin2 * sin(a[2]), cos(a[1])};
}

/// The arc tangent keeps its digits where the arc cosine of a scalar product loses half of them.
template <class T, int N>
KOKKOS_FUNCTION Angles<T> angles_of(const State<T, N>& u) {
  using gradsolve::atan2, gradsolve::hypot;
  const Vector3<T> l = triple<0>(u), s1 = triple<1>(u), s2 = triple<2>(u);
  const Vector3<T> around1 = cross(l, s1), around2 = cross(l, s2);
  auto length = [](const Vector3<T>& x) { return hypot(x[0], x[1], x[2]); };
  return {atan2(length(around1), dot(l, s1)), atan2(length(around2), dot(l, s2)),
          atan2(length(l) * dot(l, cross(s1, s2)), dot(around1, around2))};
}

/// Members of an ensemble.
struct BinaryStart {
  Matrix params, angles, vectors;  // (q, chi1, chi2), (theta1, theta2, dphi), (L, S1, S2)
};
inline BinaryStart draw_binaries(const Exec& exec, const Members& members) {
  const int n = members.extent_int(0);
  const Matrix params(Kokkos::view_alloc(exec, "q, chi1, chi2"), n, 3),
      angles(Kokkos::view_alloc(exec, "angles at the start"), n, num_angles),
      vectors(Kokkos::view_alloc(exec, "L, S1, S2"), n, 9);
  Kokkos::parallel_for(
      "draw binaries", Policy(exec, 0, n), KOKKOS_LAMBDA(int i) {
        constexpr double pi = 3.141592653589793;
        const Draws draw{301, std::uint64_t(members(i))};
        params(i, 0) = 0.1 + 0.89 * draw.uniform(0);
        for (int k = 1; k < 3; ++k) params(i, k) = 0.05 + 0.94 * draw.uniform(k);
        const Angles<double> a{Kokkos::acos(2 * draw.uniform(3) - 1),
                               Kokkos::acos(2 * draw.uniform(4) - 1),
                               pi * (2 * draw.uniform(5) - 1)};
        const auto u = vectors_of(a);
        for (int k = 0; k < num_angles; ++k) angles(i, k) = a[k];
        for (int j = 0; j < 9; ++j) vectors(i, j) = u[j];
      });
  return {params, angles, vectors};
}

/// Angles at the end and the time that it took, with their derivatives.
struct Outcome {
  Matrix angles;  // (n, 3)
  Cube d_angles;  // (n, 3, 6)
  Column time;    // (n)
  Matrix d_time;  // (n, 6)
};

class Binaries {
 public:
  using System = gradsolve::WithIntegral<SpinPrecession, ElapsedTime>;

  Binaries(const Exec& exec, const Members& members, double first_separation)
      : n_(members.extent_int(0)),
        first_v_(1 / std::sqrt(first_separation)),
        given_(draw_binaries(exec, members)) {
    outcome_.angles = Matrix(Kokkos::view_alloc(exec, "angles"), n_, num_angles);
    outcome_.time = Column(Kokkos::view_alloc(exec, "time"), n_);
  }

  /// The angles at the end.
  void solve(const Exec& exec, const gradsolve::Options& options) {
    gradsolve::record(exec, System{}, BinaryMethod{}, ensemble_, options, record_);
    const auto u = record_.states;
    const auto angles = outcome_.angles;
    const auto time = outcome_.time;
    Kokkos::parallel_for(
        "angles", Policy(exec, 0, n_), KOKKOS_LAMBDA(int i) {
          State<double, 9> x;
          for (int j = 0; j < 9; ++j) x[j] = u(i, j);
          const Angles<double> a = angles_of(x);
          for (int k = 0; k < num_angles; ++k) angles(i, k) = a[k];
          time(i) = u(i, 9);
        });
  }

  /// All derivatives of angles and time: columns for the components of the spins that the angles at
  /// the start move, and for the parameters; then the chain rule at both ends.
  void differentiate(const Exec& exec) {
    gradsolve::sensitivity(exec, System{}, record_, ensemble_, columns(), sensitivity_);
    if (outcome_.d_time.extent_int(0) != n_) {
      outcome_.d_angles =
          Cube(Kokkos::view_alloc(exec, "d angles"), n_, num_angles, num_binary_variables);
      outcome_.d_time = Matrix(Kokkos::view_alloc(exec, "d time"), n_, num_binary_variables);
    }
    const auto states = sensitivity_.states;
    const auto columns = sensitivity_.sensitivities;
    const auto start = given_.angles, d_time = outcome_.d_time;
    const auto d_angles = outcome_.d_angles;
    Kokkos::parallel_for(
        "chain rule", Policy(exec, 0, n_), KOKKOS_LAMBDA(int i) {
          Angles<BinaryDual> a;
          for (int k = 0; k < num_angles; ++k) {
            a[k] = BinaryDual(start(i, k));
            a[k].tangent[3 + k] = 1;
          }
          const auto u0 = vectors_of(a);
          State<BinaryDual, 10> u;
          for (int j = 0; j < 10; ++j) {
            u[j] = BinaryDual(states(i, j));
            for (int k = 0; k < 3; ++k) {
              u[j].tangent[k] = columns(i, j, num_moved + k);
              for (int c = 0; c < num_moved; ++c)
                u[j].tangent[3 + k] += columns(i, j, c) * u0[moved(c)].tangent[3 + k];
            }
          }
          const Angles<BinaryDual> end = angles_of(u);
          for (int v = 0; v < num_binary_variables; ++v) {
            for (int k = 0; k < num_angles; ++k) d_angles(i, k, v) = end[k].tangent[v];
            d_time(i, v) = u[9].tangent[v];
          }
        });
  }

  int size() const { return n_; }
  double first_v() const { return first_v_; }
  const auto& ensemble() const { return ensemble_; }
  const auto& record() const { return record_; }
  const Outcome& outcome() const { return outcome_; }

 private:
  /// Initial states that vectors_of() moves: S1x, S1z and S2.
  static constexpr int num_moved = 5;
  static KOKKOS_FUNCTION int moved(int c) { return c == 0 ? 3 : 4 + c; }
  static gradsolve::Variables columns() {
    gradsolve::Variables variables{.params = {0, 1, 2}};
    for (int c = 0; c < num_moved; ++c) variables.u0.push_back(moved(c));
    return variables;
  }

  int n_;
  double first_v_;
  BinaryStart given_;
  gradsolve::Ensemble<Matrix, Matrix> ensemble_{given_.vectors, given_.params, first_v_,
                                                1 / std::sqrt(last_separation)};
  gradsolve::Record<BinaryMethod, double, Memory> record_;
  gradsolve::Sensitivity<double, Memory> sensitivity_;
  Outcome outcome_;
};

}  // namespace examples
