// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gradsolve/gradsolve.hpp>

#include <gtest/gtest.h>

#include <support/ensembles.hpp>

/// More states than the LU factorisation takes in registers, one trajectory a lane: its loops, or
/// those of Kokkos Kernels in a build with them.
namespace gradsolve::test {
namespace {

constexpr int N = 18;
constexpr double pi = 3.14159265358979323846;

/// Heat along a rod whose ends are cold: u_i' = p (u_{i-1} - 2 u_i + u_{i+1}).
struct Rod {
  static constexpr int num_states = N, num_params = 1;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, N> operator()(const T&, const State<T, N>& u,
                                                     const Params<T, 1>& p) const {
    State<T, N> slope;
    static_for<N>([&](auto i) GRADSOLVE_INLINE_LAMBDA {
      T sum = T(-2) * u[i];
      if constexpr (i > 0) sum = sum + u[i - 1];
      if constexpr (i + 1 < N) sum = sum + u[i + 1];
      slope[i] = p[0] * sum;
    });
    return slope;
  }
};

/// The first wave's share.
struct FirstWave {
  template <class T>
  KOKKOS_FUNCTION T operator()(const State<T, N>& u) const {
    T sum(0);
    for (int i = 0; i < N; ++i) sum = sum + T(Kokkos::sin(pi * (i + 1) / (N + 1))) * u[i];
    return sum;
  }
};

// sin(pi i / (N + 1)) decays with the rate p r, r = 4 sin^2(pi / (2 (N + 1))).
TEST(LargeStiffSystem, DecaysAsItsFirstWave) {
  const double p = 50, r = 4 * std::pow(std::sin(pi / (2 * (N + 1))), 2);
  const double decay = std::exp(-p * r), share = (N + 1) / 2.0;
  auto wave = [](int i) { return std::sin(pi * (i + 1) / (N + 1)); };
  const Inputs<double> inputs{matrix<double>(3, N, [&](int, int i) { return wave(i); }),
                              matrix<double>(3, 1, [&](int, int) { return p; })};
  const auto ensemble = inputs.ensemble(0.0, 1.0);
  const auto recorded = record<1>(Exec(), Rod{}, Rodas3P{}, ensemble, {.rtol = 1e-7, .atol = 1e-9});
  const auto g = gradient<1>(Exec(), Rod{}, recorded, ensemble, FirstWave{});
  const auto u = on_host(recorded.states), du0 = on_host(g.u0), dp = on_host(g.params);
  for (int member = 0; member < 3; ++member) {
    ASSERT_EQ(on_host(recorded.status)(member), Status::success);
    EXPECT_NEAR(dp(member, 0) / (-r * decay * share), 1, 1e-6);
    for (int i = 0; i < N; ++i) {
      EXPECT_NEAR(u(member, i) / (decay * wave(i)), 1, 1e-6) << i;
      EXPECT_NEAR(du0(member, i) / (decay * wave(i)), 1, 1e-6) << i;
    }
  }
}

}  // namespace
}  // namespace gradsolve::test
