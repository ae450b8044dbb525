// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Derivatives of a system that is spread over the threads of a warp, against those of the system by
// itself.
#include <gradsolve/ad/linearization.hpp>

#include <gtest/gtest.h>

#include <string>
#include <support/large_systems.hpp>
#include <support/on_warp.hpp>

namespace {

using namespace gradsolve::detail;
using gradsolve::Matrix;
using gradsolve::Params;
using gradsolve::State;

/// All that steps ask of a system, at one point.
template <int N>
struct Derived {
  State<double, N> slope, time_slope, pulled_u, curved_u;
  Matrix<double, N> jacobian;
  Params<double, 2> pulled_p, curved_p;
  double pulled_t, curved_t;
};

template <class F>
struct Point {
  static constexpr int N = F::num_states;
  State<double, N> u, w, k;
  Params<double, 2> p;

  Point() {
    for (int i = 0; i < N; ++i) {
      u[i] = 2 + std::sin(1.0 + i);
      w[i] = std::cos(2.0 * i);
      k[i] = std::sin(0.3 * i);
    }
    p = {1.7, 0.9};
  }
};

/// By the system itself, on the host.
template <class F>
struct Plainly {
  static constexpr int N = F::num_states;
  F f;
  Point<F> at;
  Derived<N> operator()() const {
    Derived<N> r{};
    linearize(f, 0.3, at.u, at.p, r.slope, r.jacobian, r.time_slope);
    vjp<true, F, double>(f, 0.3, at.u, at.p, at.w, {r.pulled_u, r.pulled_p, r.pulled_t});
    Curvature<F, double> phi;
    phi.template add<true>(f, 0.3, at.u, at.p, at.w, at.k, 0.7,
                           {r.curved_u, r.curved_p, r.curved_t});
    phi.template finish<true>(f, 0.3, at.u, at.p, {r.curved_u, r.curved_p, r.curved_t});
    return r;
  }
};

template <class F>
struct Spreadly {
  static constexpr int N = F::num_states;
  using System = Spread<F, warp_threads, TestWarp>;
  F f;
  Point<F> at;
  Kokkos::View<double*> scratch;
  Kokkos::View<Derived<N>> result;

  KOKKOS_FUNCTION void operator()(int thread) const { derive(System{f, thread, scratch.data()}); }
  KOKKOS_FUNCTION void derive(const System& system) const {
    constexpr int slots = System::num_states;
    Derived<N>& r = result();
    const auto u = system.own(at.u), w = system.own(at.w), k = system.own(at.k);
    State<double, slots> slope, time_slope, pulled, curved = filled<slots>(0.0);
    Params<double, 2> pulled_p{}, curved_p{};
    double pulled_t = 0, curved_t = 0;
    MatrixInScratch jacobian;
    linearize(system, 0.3, u, at.p, slope, jacobian, time_slope);
    System::Threads::sync();
    for (int i = 0; i < N && system.thread == 0; ++i)
      for (int j = 0; j < N; ++j)
        r.jacobian[i][j] = system.template matrix<double>()[i * System::stride + j];
    System::Threads::sync();
    vjp<true, System, double>(system, 0.3, u, at.p, w, {pulled, pulled_p, pulled_t});
    Curvature<System, double> phi;
    phi.template add<true>(system, 0.3, u, at.p, w, k, 0.7, {curved, curved_p, curved_t});
    phi.template finish<true>(system, 0.3, u, at.p, {curved, curved_p, curved_t});
    for (int i = 0; i < 2; ++i) {
      pulled_p[i] = sum_of_threads(system, pulled_p[i]);
      curved_p[i] = sum_of_threads(system, curved_p[i]);
    }
    if (system.thread == 0) {
      r.pulled_p = pulled_p;
      r.curved_p = curved_p;
      r.pulled_t = pulled_t;
      r.curved_t = curved_t;
    }
    for (int slot = 0; slot < slots; ++slot) {
      const int i = component_of(system, slot);
      if (i < 0) continue;
      r.slope[i] = slope[slot];
      r.time_slope[i] = time_slope[slot];
      r.pulled_u[i] = pulled[slot];
      r.curved_u[i] = curved[slot];
    }
  }
};

void expect_near(double x, double y, const std::string& what) {
  EXPECT_NEAR(x, y, 1e-13 * (1 + std::abs(y))) << what;
}

template <class F>
void expect_the_same() {
  constexpr int N = F::num_states;
  const Derived<N> plain = Plainly<F>{}();
  using Work = Spreadly<F>;
  const std::size_t bytes = Work::System::template scratch_bytes<double>(true);
  const Work work{{},
                  {},
                  Kokkos::View<double*>("scratch", bytes / sizeof(double) + 1),
                  Kokkos::View<Derived<N>>("result")};
  on_warp(work);
  const auto spread = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), work.result)();
  for (int i = 0; i < N; ++i) {
    const std::string row = std::to_string(i);
    expect_near(spread.slope[i], plain.slope[i], "slope " + row);
    expect_near(spread.time_slope[i], plain.time_slope[i], "df/dt " + row);
    expect_near(spread.pulled_u[i], plain.pulled_u[i], "(df/du)^T w " + row);
    expect_near(spread.curved_u[i], plain.curved_u[i], "second derivative " + row);
    for (int j = 0; j < N; ++j)
      expect_near(spread.jacobian[i][j], plain.jacobian[i][j], row + ", " + std::to_string(j));
  }
  for (int i = 0; i < 2; ++i) {
    expect_near(spread.pulled_p[i], plain.pulled_p[i], "(df/dp)^T w");
    expect_near(spread.curved_p[i], plain.curved_p[i], "second derivative to p");
  }
  expect_near(spread.pulled_t, plain.pulled_t, "(df/dt)^T w");
  expect_near(spread.curved_t, plain.curved_t, "second derivative to t");
}

TEST(Spread, HasTheDerivativesOfItsComponents) {
  expect_the_same<gradsolve::test::Lorenz96<6>>();
  expect_the_same<gradsolve::test::Lorenz96<21>>();
}
TEST(Spread, HasTheDerivativesOfItsSystemAsAWhole) {
  expect_the_same<gradsolve::test::WholeLorenz96<6>>();
  expect_the_same<gradsolve::test::WholeLorenz96<21>>();
}

}  // namespace
