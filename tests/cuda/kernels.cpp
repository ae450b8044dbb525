// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Every public kernel for the Lorenz system, so that scripts/cuda-check can hold their registers,
// stack and spills against tests/cuda/registers.txt. Never run.
#include <gradsolve/gradsolve.hpp>

namespace kernels {

struct Lorenz {
  static constexpr int num_states = 3, num_params = 3;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION gradsolve::State<T, 3> operator()(
      const T&, const gradsolve::State<T, 3>& u, const gradsolve::Params<T, 3>& p) const {
    return {p[0] * (u[1] - u[0]), u[0] * (p[1] - u[2]) - u[1], u[0] * u[1] - p[2] * u[2]};
  }
};

/// Robertson's reactions, for the stiff methods.
struct Robertson {
  static constexpr int num_states = 3, num_params = 3;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION gradsolve::State<T, 3> operator()(
      const T&, const gradsolve::State<T, 3>& u, const gradsolve::Params<T, 3>& p) const {
    const T r1 = p[0] * u[0], r2 = p[1] * u[1] * u[1], r3 = p[2] * u[1] * u[2];
    return {r3 - r1, r1 - r3 - r2, r2};
  }
};

/// Lorenz 96, a warp a trajectory.
struct Lorenz96 {
  static constexpr int num_states = 40, num_params = 1;
  template <class T, class U>
  KOKKOS_FORCEINLINE_FUNCTION T component(int i, const T&, const U& u,
                                          const gradsolve::Params<T, 1>& p) const {
    return (u[(i + 1) % 40] - u[(i + 38) % 40]) * u[(i + 39) % 40] - u[i] + p[0];
  }
  template <class T>
  KOKKOS_FUNCTION gradsolve::State<T, 40> operator()(const T& t, const gradsolve::State<T, 40>& u,
                                                     const gradsolve::Params<T, 1>& p) const {
    gradsolve::State<T, 40> slope;
    for (int i = 0; i < 40; ++i) slope[i] = component(i, t, u, p);
    return slope;
  }
};

struct SquaredNorm {
  template <class T, int N>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const gradsolve::State<T, N>& u) const {
    T sum = u[0] * u[0];
    for (int i = 1; i < N; ++i) sum = sum + u[i] * u[i];
    return sum;
  }
};

/// u' = net(u): with 64 hidden units on a thread, with 16 on a group of them.
template <int Hidden>
using Net = gradsolve::Chain<gradsolve::Dense<3, Hidden, gradsolve::Tanh>,
                             gradsolve::Dense<Hidden, Hidden, gradsolve::Tanh>,
                             gradsolve::Dense<Hidden, 3>>;

struct SumAtSaves {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const T&, const gradsolve::State<T, 3>& u,
                                           const gradsolve::Params<T, 0>&,
                                           gradsolve::SaveIndex) const {
    return SquaredNorm{}(u);
  }
};

struct SquaredNormAtSaves {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const T&, const gradsolve::State<T, 3>& u,
                                           const gradsolve::Params<T, 3>&,
                                           gradsolve::SaveIndex) const {
    return SquaredNorm{}(u);
  }
};

// Kokkos launches a kernel by a slower way (9 us more on an H200) once its arguments, with 152
// bytes of its own, take 512 bytes.
using namespace gradsolve::detail;
using gradsolve::Tsit5;
inline constexpr std::size_t most_arguments = 512 - 152 - 1;
static_assert(sizeof(RecordKernel<Tsit5, Lorenz, double, NoSaves>) <= most_arguments);
static_assert(sizeof(ReplayKernel<Tsit5, Lorenz, double, NoSaves>) <= most_arguments);
static_assert(sizeof(GradientKernel<false, Tsit5, Lorenz, double, FinalLossSeed<SquaredNorm>>) <=
              most_arguments);
static_assert(sizeof(GradientKernel<false, Tsit5, Lorenz, double,
                                    SavedLossSeed<SquaredNormAtSaves, double>>) <= most_arguments);

template <class Scalar>
using EnsembleOf =
    gradsolve::Ensemble<Kokkos::View<Scalar**, Kokkos::LayoutLeft, Kokkos::CudaSpace>,
                        Kokkos::View<Scalar**, Kokkos::LayoutLeft, Kokkos::CudaSpace>>;

template <class Scalar, class Method>
void sweeps_with_saves(const Kokkos::Cuda& exec, Method method,
                       const EnsembleOf<Scalar>& ensemble) {
  const auto times = gradsolve::save_times(exec, ensemble, std::vector<Scalar>{1});
  const auto record = gradsolve::record(exec, Lorenz{}, method, ensemble, times);
  gradsolve::replay(exec, Lorenz{}, record, ensemble, times);
  gradsolve::gradient(exec, Lorenz{}, record, ensemble,
                      gradsolve::at_saves(times, SquaredNormAtSaves{}));
}

/// All derivatives, for one method.
template <class Method>
void derivatives(const Kokkos::Cuda& exec, Method method, const EnsembleOf<double>& ensemble) {
  const auto& u0 = ensemble.states();
  const auto times = gradsolve::save_times(exec, ensemble, std::vector{1.0});
  const auto at = gradsolve::at_saves(times, SquaredNormAtSaves{});
  const auto record = gradsolve::record(exec, Lorenz{}, method, ensemble);
  gradsolve::gradient_with_times(exec, Lorenz{}, record, ensemble, SquaredNorm{});
  gradsolve::gradient_with_times(exec, Lorenz{}, record, ensemble, at);
  gradsolve::Gradient<double, Kokkos::CudaSpace, float> kept_in_float;
  gradsolve::gradient(exec, Lorenz{}, record, ensemble, SquaredNorm{}, kept_in_float);
  gradsolve::sensitivity(exec, Lorenz{}, record, ensemble);
  gradsolve::sensitivity(exec, Lorenz{}, record, ensemble, times);
  gradsolve::hessian_product(exec, Lorenz{}, record, ensemble, SquaredNorm{}, u0, u0);
  gradsolve::hessian_product(exec, Lorenz{}, record, ensemble, at, u0, u0);
}

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

template <class F, class Method>
void main_sweeps(const Kokkos::Cuda& exec, const F& f, Method method,
                 const EnsembleOf<double>& ensemble) {
  const auto record = gradsolve::record(exec, f, method, ensemble);
  gradsolve::replay(exec, f, record, ensemble);
  gradsolve::gradient(exec, f, record, ensemble, SquaredNorm{});
}

template <int Hidden, class Scalar>
void neural_sweeps(const Kokkos::Cuda& exec, const EnsembleOf<Scalar>& ensemble) {
  const gradsolve::BlockSystem<Net<Hidden>, Scalar> system(
      Kokkos::View<Scalar*, Kokkos::CudaSpace>{});
  const auto record = gradsolve::record(exec, system, Tsit5{}, ensemble);
  gradsolve::gradient(exec, system, record, ensemble, SquaredNorm{});
  const auto times = gradsolve::save_times(exec, ensemble, std::vector<Scalar>{1});
  gradsolve::gradient(exec, system, record, ensemble, gradsolve::at_saves(times, SumAtSaves{}));
}

void all_sweeps(const Kokkos::Cuda& exec) {
  sweeps<double>(exec, gradsolve::Tsit5{});
  sweeps<double>(exec, gradsolve::Verner7{});
  sweeps<double>(exec, gradsolve::Dop853{});
  sweeps<float>(exec, gradsolve::Tsit5{});
  const EnsembleOf<double> ensemble({}, {}, 0.0, 1.0);
  sweeps_with_saves<double>(exec, gradsolve::Tsit5{}, ensemble);
  sweeps_with_saves<double>(exec, gradsolve::Verner7{}, ensemble);
  derivatives(exec, gradsolve::Tsit5{}, ensemble);
  main_sweeps(exec, Robertson{}, gradsolve::Rosenbrock23{}, ensemble);
  main_sweeps(exec, Robertson{}, gradsolve::Rodas4{}, ensemble);
  main_sweeps(exec, Robertson{}, gradsolve::Rodas5P{}, ensemble);
  main_sweeps(exec, Robertson{}, gradsolve::Kvaerno5{}, ensemble);
  main_sweeps(exec, Lorenz96{}, gradsolve::Tsit5{}, ensemble);
  main_sweeps(exec, Lorenz96{}, gradsolve::Rodas5P{}, ensemble);
  neural_sweeps<64>(exec, ensemble);
  neural_sweeps<64>(exec, EnsembleOf<float>{{}, {}, 0.0f, 1.0f});
  neural_sweeps<16>(exec, ensemble);
  const auto record = gradsolve::record(exec, Lorenz{}, gradsolve::Tsit5{}, ensemble);
  gradsolve::stability_limited_share(exec, Lorenz{}, record, ensemble);
}

}  // namespace kernels
