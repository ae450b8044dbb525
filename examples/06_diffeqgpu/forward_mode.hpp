// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/gradsolve.hpp>

#include <05_parameter_recovery/systems.hpp>
#include <common/ensemble.hpp>
#include <common/hash.hpp>

/// Forward mode: how n Lorenz systems, each with its own random parameters, depend on their initial
/// states, at ten save times. And one reverse sweep, to see that both are the same derivative.
namespace examples {

struct SumOfStates {
  template <class T>
  KOKKOS_FUNCTION T operator()(const gradsolve::State<T, 3>& u) const {
    return u[0] + u[1] + u[2];
  }
};

/// The largest difference of column sums of du(t1)/du0 from the reverse gradient, relative to the
/// largest entry of its trajectory.
inline double largest_difference(const Exec& exec, const Cube& forward, const Matrix& reverse) {
  double largest = 0;
  Kokkos::parallel_reduce(
      "largest_difference", Policy(exec, 0, reverse.extent_int(0)),
      KOKKOS_LAMBDA(int i, double& result) {
        double difference = 0, size = 0;
        for (int column = 0; column < 3; ++column) {
          double sum = 0;
          for (int row = 0; row < 3; ++row) {
            sum += forward(i, row, column);
            size = Kokkos::max(size, Kokkos::abs(forward(i, row, column)));
          }
          difference = Kokkos::max(difference, Kokkos::abs(sum - reverse(i, column)));
        }
        result = Kokkos::max(result, difference / size);
      },
      Kokkos::Max<double>(largest));
  return largest;
}

struct ForwardMode {
  double milliseconds, difference;
};

inline ForwardMode differentiate_forward(const Exec& exec, int n) {
  const Matrix u0("u0", n, 3), params("params", n, 3);
  Kokkos::parallel_for(
      "params", Policy(exec, 0, n), KOKKOS_LAMBDA(int i) {
        const Draws draws{4, static_cast<std::uint64_t>(i)};
        const double largest[] = {10, 28, 8.0 / 3};
        for (int j = 0; j < 3; ++j) params(i, j) = draws.uniform(j) * largest[j];
        u0(i, 0) = 1;
      });
  const gradsolve::Ensemble ensemble(u0, params, 0.0, 10.0);
  const auto times =
      gradsolve::save_times(exec, ensemble, std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  gradsolve::Sensitivity<double, Memory> s;
  gradsolve::Record<gradsolve::Tsit5, double, Memory> record;
  ForwardMode result;
  result.milliseconds = milliseconds(exec, [&] {
    gradsolve::record(exec, Lorenz{}, gradsolve::Tsit5{}, ensemble, {.rtol = 1e-6}, record);
    gradsolve::sensitivity(exec, Lorenz{}, record, ensemble, times, {.u0 = {0, 1, 2}}, s);
  });
  const auto reverse = gradsolve::gradient(exec, Lorenz{}, record, ensemble, SumOfStates{});
  result.difference = largest_difference(exec, s.sensitivities, reverse.u0);
  return result;
}

}  // namespace examples
