// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The gradient of a loss over 32,768 trajectories of the Lorenz system. Run it with OpenMP or CUDA:
// the Kokkos that it is built with decides, and nothing here changes.
#include <gradsolve/gradsolve.hpp>

#include <cmath>
#include <cstdio>

struct Lorenz {
  static constexpr int num_states = 3, num_params = 3;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION gradsolve::State<T, 3> operator()(
      T, const gradsolve::State<T, 3>& u, const gradsolve::Params<T, 3>& p) const {
    return {p[0] * (u[1] - u[0]), u[0] * (p[1] - u[2]) - u[1], u[0] * u[1] - p[2] * u[2]};
  }
};

struct SquaredNorm {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const gradsolve::State<T, 3>& u) const {
    return u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
  }
};

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  const Kokkos::DefaultExecutionSpace exec;
  const int n = 32768;
  Kokkos::View<double**, Kokkos::LayoutLeft> u0("u0", n, 3), params("params", n, 3);
  Kokkos::parallel_for(
      n, KOKKOS_LAMBDA(int i) {
        u0(i, 0) = 1;
        params(i, 0) = 10;
        params(i, 1) = 21.0 * i / (n - 1);
        params(i, 2) = 8.0 / 3;
      });

  const gradsolve::Ensemble ensemble(u0, params, 0.0, 1.0);
  const auto record =
      gradsolve::record(exec, Lorenz{}, gradsolve::Tsit5{}, ensemble, {.rtol = 1e-6, .atol = 1e-9});
  const auto gradient = gradsolve::gradient(exec, Lorenz{}, record, ensemble, SquaredNorm{});

  const auto d_params = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), gradient.params);
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += d_params(i, 1);
  std::printf("sum of d|u(1)|^2 / d rho: %.6f (reference 523286.987623)\n", sum);
  return std::abs(sum - 523286.987623) < 1e-4 ? 0 : 1;
}
