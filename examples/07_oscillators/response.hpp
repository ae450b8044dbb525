// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "keller_miksis.hpp"
#include <gradsolve/gradsolve.hpp>

#include <common/ensemble.hpp>

/// The response of a bubble to sound: its largest radius, and how that depends on the wave.
///
/// At the time t* of the largest radius the derivative of the radius to time is 0: with
/// Rmax(p) = R(t*(p); p), dRmax/dp = dR/dp at the fixed time t* (envelope theorem). So the search
/// for t* needs no derivative, and the gradient is that of a state at a save time, one a bubble.
namespace examples {

/// When the largest radius of a solved trajectory is reached: the largest of many samples, then the
/// zero of the velocity beside it by bisection.
template <class Solution>
struct FindLargestRadius {
  static constexpr int samples_a_cycle = 64;

  Solution solution;
  double cycles;
  Matrix when;  // (n, 1)

  KOKKOS_FUNCTION void operator()(int i) const {
    const int last = static_cast<int>(cycles * samples_a_cycle);
    int best = 0;
    double largest = 0;
    for (int k = 0; k <= last; ++k) {
      const double radius = solution(i, time(k))[0];
      if (radius > largest) {
        largest = radius;
        best = k;
      }
    }
    double low = time(Kokkos::max(best - 1, 0)), high = time(Kokkos::min(best + 1, last));
    if (best == last && solution(i, high)[1] > 0) low = high;  // it still grows
    while (high - low > 1e-12 * cycles) {
      const double middle = (low + high) / 2;
      (solution(i, middle)[1] > 0 ? low : high) = middle;
    }
    when(i, 0) = low;
  }

 private:
  KOKKOS_FUNCTION double time(int k) const {
    return Kokkos::min(k / double(samples_a_cycle), cycles);
  }
};

struct Radius {
  template <class T>
  KOKKOS_FUNCTION T operator()(const T&, const gradsolve::State<T, 2>& u,
                               const gradsolve::Params<T, 6>&, gradsolve::SaveIndex) const {
    return u[0];
  }
};

/// loss: the largest radius of each bubble, in units of its radius at rest; params: its derivatives
/// to the six parameters.
inline gradsolve::Gradient<double, Memory> largest_radius(const Exec& exec, const Matrix& params,
                                                          double cycles) {
  const int n = params.extent_int(0);
  const Matrix u0("u0", n, 2), when("when", n, 1);
  Kokkos::deep_copy(exec, Kokkos::subview(u0, Kokkos::ALL, 0), 1.0);
  const gradsolve::Ensemble ensemble(u0, params, 0.0, cycles);
  const auto record = gradsolve::record(exec, KellerMiksis{}, gradsolve::Verner7{}, ensemble,
                                        {.rtol = 1e-10, .atol = 1e-10, .keep_states = true});
  const auto solution = gradsolve::make_solution(exec, KellerMiksis{}, record, ensemble);
  Kokkos::parallel_for("largest_radius", Policy(exec, 0, n),
                       FindLargestRadius<std::decay_t<decltype(solution)>>{solution, cycles, when});
  const auto times = gradsolve::save_times(exec, ensemble, when);
  return gradsolve::gradient(exec, KellerMiksis{}, record, ensemble,
                             gradsolve::at_saves(times, Radius{}));
}

}  // namespace examples
