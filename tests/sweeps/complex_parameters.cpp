// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gradsolve/gradsolve.hpp>

#include <gtest/gtest.h>

#include <complex>
#include <support/ensembles.hpp>

/// G7: a system over complex numbers as one over pairs of reals, whose parameters are complex too.
namespace gradsolve::test {
namespace {

template <class T>
struct Pair {
  T re, im;
  friend KOKKOS_FORCEINLINE_FUNCTION Pair operator+(const Pair& a, const Pair& b) {
    return {a.re + b.re, a.im + b.im};
  }
  friend KOKKOS_FORCEINLINE_FUNCTION Pair operator*(const Pair& a, const Pair& b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  friend KOKKOS_FORCEINLINE_FUNCTION Pair operator*(const T& a, const Pair& b) {
    return {a * b.re, a * b.im};
  }
};
/// Number k of a list of pairs.
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION Pair<T> pair_of(const Vector<T, N>& x, int k) {
  return {x[2 * k], x[2 * k + 1]};
}

/// U' = A U (p1 t + p2 t^2 + p3 t^3 + p4 t^4), A = [[i, 2], [3, 4]], U a matrix of 2 x 2, by rows.
struct Propagator {
  static constexpr int num_states = 8, num_params = 8;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 8> operator()(const T& t, const State<T, 8>& u,
                                                     const Params<T, 8>& p) const {
    const Pair<T> rate =
        t * (pair_of(p, 0) + t * (pair_of(p, 1) + t * (pair_of(p, 2) + t * pair_of(p, 3))));
    const Pair<T> a = pair_of(u, 0), b = pair_of(u, 1), c = pair_of(u, 2), d = pair_of(u, 3);
    const Pair<T> da = rate * first_row(a, c), db = rate * first_row(b, d);
    const Pair<T> dc = rate * second_row(a, c), dd = rate * second_row(b, d);
    return {da.re, da.im, db.re, db.im, dc.re, dc.im, dd.re, dd.im};
  }
  template <class T>
  static KOKKOS_FORCEINLINE_FUNCTION Pair<T> first_row(const Pair<T>& x, const Pair<T>& y) {
    return {T(2) * y.re - x.im, T(2) * y.im + x.re};
  }
  template <class T>
  static KOKKOS_FORCEINLINE_FUNCTION Pair<T> second_row(const Pair<T>& x, const Pair<T>& y) {
    return {T(3) * x.re + T(4) * y.re, T(3) * x.im + T(4) * y.im};
  }
};

/// 1 - |z|^2 with z = tr(U W^H) / 2, W = [[0, 1], [1, 0]]
struct Infidelity {
  template <class T>
  KOKKOS_FUNCTION T operator()(const State<T, 8>& u) const {
    const Pair<T> z = pair_of(u, 1) + pair_of(u, 2);
    return T(1) - T(0.25) * (z.re * z.re + z.im * z.im);
  }
};

// RK4 has the fewest stages to compile.
TEST(ComplexParameters, G7GradientIsThatOfTheMatrixExponential) {
  const std::complex<double> p[] = {{1.5, 1}, {1, 0}, {3, 0}, {1, 0}}, i(0, 1);
  // exp(A q) = exp(m q) (cosh(s q) + sinh(s q) / s (A - m)) with m = tr(A) / 2, s^2 = m^2 - det(A)
  const auto q = p[0] / 2.0 + p[1] / 3.0 + p[2] / 4.0 + p[3] / 5.0;
  const auto m = (4.0 + i) / 2.0, s = std::sqrt(m * m - (4.0 * i - 6.0));
  const auto z = 2.5 * std::exp(m * q) * std::sinh(s * q) / s;
  const auto dz = 2.5 * std::exp(m * q) * (m * std::sinh(s * q) / s + std::cosh(s * q));
  const double one[] = {1, 0, 0, 0, 0, 0, 1, 0};
  const Inputs<double> inputs{
      matrix<double>(1, 8, [&](int, int j) { return one[j]; }),
      matrix<double>(1, 8, [&](int, int j) { return j % 2 ? p[j / 2].imag() : p[j / 2].real(); })};
  const auto ensemble = inputs.ensemble(0.0, 1.0);
  const auto recorded = record(Exec(), Propagator{}, RK4{}, ensemble, {.fixed_steps = 4000});
  ASSERT_EQ(on_host(recorded.status)(0), Status::success);
  const auto g = gradient(Exec(), Propagator{}, recorded, ensemble, Infidelity{});
  const auto dp = on_host(g.params);
  EXPECT_NEAR(on_host(g.loss)(0) / (1 - std::norm(z)), 1, 1e-8);
  for (int k = 0; k < 4; ++k) {
    const auto slope = -2.0 * std::conj(z) * dz / (k + 2.0);  // of L by q, times dq/dp
    EXPECT_NEAR(dp(0, 2 * k) / slope.real(), 1, 1e-8) << "real part of p" << k + 1;
    EXPECT_NEAR(dp(0, 2 * k + 1) / -slope.imag(), 1, 1e-8) << "imaginary part of p" << k + 1;
  }
}

}  // namespace
}  // namespace gradsolve::test
