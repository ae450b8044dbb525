// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The decay u' = -p u: u(1) = u0 exp(-p), so d u(1)^2 / dp = -2 u0^2 exp(-2 p).
#include <gradsolve/gradsolve.hpp>

#include <cmath>
#include <cstdio>

struct Decay {
  static constexpr int num_states = 1, num_params = 1;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION gradsolve::State<T, 1> operator()(
      T, const gradsolve::State<T, 1>& u, const gradsolve::Params<T, 1>& p) const {
    return {-p[0] * u[0]};
  }
};

struct Square {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const gradsolve::State<T, 1>& u) const {
    return u[0] * u[0];
  }
};

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  const Kokkos::DefaultExecutionSpace exec;
  Kokkos::View<double**, Kokkos::LayoutLeft> u0("u0", 100, 1), params("params", 100, 1);
  Kokkos::deep_copy(u0, 2.0);
  Kokkos::deep_copy(params, 0.5);
  const gradsolve::Ensemble ensemble(u0, params, 0.0, 1.0);
  const auto record = gradsolve::record(exec, Decay{}, gradsolve::Tsit5{}, ensemble);
  const auto gradient = gradsolve::gradient(exec, Decay{}, record, ensemble, Square{});
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), gradient.params);
  const double expected = -2 * 4 * std::exp(-1.0);
  std::printf("gradient %.9f, expected %.9f\n", host(99, 0), expected);
  return std::abs(host(99, 0) - expected) < 1e-5 ? 0 : 1;
}
