// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/gradsolve.hpp>

#include <cmath>
#include <common/ensemble.hpp>
#include <common/hash.hpp>
#include <vector>

/// A net learns the field of a spiral from trajectories: the problem of R. T. Q. Chen et al.
/// (2018).
namespace examples {

/// The truth: u' = A u^3, power by component.
struct Spiral {
  static constexpr int num_states = 2, num_params = 0;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION gradsolve::State<T, 2> operator()(
      const T&, const gradsolve::State<T, 2>& u, const gradsolve::Params<T, 0>&) const {
    const T x = u[0] * u[0] * u[0], y = u[1] * u[1] * u[1];
    return {-0.1 * x - 2.0 * y, 2.0 * x - 0.1 * y};
  }
};

/// What learns it: 354 weights for 16 hidden units.
template <int Hidden>
using SpiralNet = gradsolve::Chain<gradsolve::Dense<2, Hidden, gradsolve::Tanh>,
                                   gradsolve::Dense<Hidden, Hidden, gradsolve::Tanh>,
                                   gradsolve::Dense<Hidden, 2>>;

/// W uniform in +- sqrt(6 / (inputs + outputs)), b in +- 0.1.
inline Column draw_weights(const std::vector<int>& sizes) {
  const Draws draws{502, 0};
  std::vector<double> weights;
  auto draw = [&](double bound) {
    weights.push_back((2 * draws.uniform(weights.size()) - 1) * bound);
  };
  for (std::size_t l = 0; l + 1 < sizes.size(); ++l) {
    const int in = sizes[l], out = sizes[l + 1];
    for (int k = 0; k < in * out; ++k) draw(std::sqrt(6.0 / (in + out)));
    for (int k = 0; k < out; ++k) draw(0.1);
  }
  return on_device(weights);
}

/// Members first, first + 1, ...: uniform in [-1.5, 1.5]^2.
inline Matrix draw_states(const Exec& exec, int first, int n) {
  const Matrix u0("u0", n, 2);
  Kokkos::parallel_for(
      "u0", Policy(exec, 0, n), KOKKOS_LAMBDA(int i) {
        const Draws draws{501, std::uint64_t(first + i)};
        for (int c = 0; c < 2; ++c) u0(i, c) = -1.5 + 3 * draws.uniform(c);
      });
  return u0;
}

/// The mean of the squared differences from data (n, saves, 2) at the save times.
struct MeanSquares {
  Kokkos::View<const double***, Kokkos::LayoutLeft, Memory> data;

  template <class T>
  KOKKOS_FUNCTION T operator()(const T&, const gradsolve::State<T, 2>& u,
                               const gradsolve::Params<T, 0>&, gradsolve::SaveIndex at) const {
    const T x = u[0] - data(at.trajectory, at.save, 0), y = u[1] - data(at.trajectory, at.save, 1);
    return (x * x + y * y) / (2.0 * data.extent(1));
  }
};

/// Trajectories of the truth from t = 0 to 1 and their states at t = 0.1, 0.2, ... 1.
struct SpiralData {
  gradsolve::Ensemble<Matrix, Matrix> ensemble;
  gradsolve::SaveTimes<double, Memory> times;
  Cube data;

  SpiralData(const Exec& exec, int first, int n) : ensemble(draw_states(exec, first, n), 0.0, 1.0) {
    std::vector<double> tenths;
    for (int k = 1; k <= 10; ++k) tenths.push_back(k / 10.0);
    times = gradsolve::save_times(exec, ensemble, tenths);
    data = gradsolve::record(exec, Spiral{}, gradsolve::Verner7{}, ensemble, times,
                             {.rtol = 1e-12, .atol = 1e-14})
               .saved;
  }
  auto loss() const { return gradsolve::at_saves(times, MeanSquares{data}); }
};

}  // namespace examples
