// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Every public kernel for the Lorenz system, so that scripts/cuda-check can hold their registers,
// stack and spills against tests/cuda/registers.txt. Never run.
#include <gradsolve/gradsolve.hpp>

namespace {

struct Lorenz {
  static constexpr int num_states = 3, num_params = 3;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION gradsolve::State<T, 3> operator()(
      const T&, const gradsolve::State<T, 3>& u, const gradsolve::Params<T, 3>& p) const {
    return {p[0] * (u[1] - u[0]), u[0] * (p[1] - u[2]) - u[1], u[0] * u[1] - p[2] * u[2]};
  }
};

struct SquaredNorm {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const gradsolve::State<T, 3>& u) const {
    return u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
  }
};

template <class Scalar, class Method>
void sweeps(const Kokkos::Cuda& exec, Method method) {
  using Matrix = Kokkos::View<Scalar**, Kokkos::LayoutLeft, Kokkos::CudaSpace>;
  const Matrix u0, params;
  const gradsolve::Ensemble ensemble(u0, params, 0.0, 1.0);
  const auto record = gradsolve::record(exec, Lorenz{}, method, ensemble);
  gradsolve::replay(exec, Lorenz{}, record, ensemble);
  gradsolve::replay_with_error_ratio(exec, Lorenz{}, record, ensemble);
  gradsolve::jvp(exec, Lorenz{}, record, ensemble, u0, params);
  gradsolve::gradient(exec, Lorenz{}, record, ensemble, SquaredNorm{});
  gradsolve::vjp(exec, Lorenz{}, record, ensemble, u0);
}

}  // namespace

void all_sweeps(const Kokkos::Cuda& exec) {
  sweeps<double>(exec, gradsolve::Tsit5{});
  sweeps<double>(exec, gradsolve::Verner7{});
  sweeps<double>(exec, gradsolve::Dop853{});
  sweeps<float>(exec, gradsolve::Tsit5{});
}
