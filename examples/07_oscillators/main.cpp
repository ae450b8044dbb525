// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Parameter sweeps of two driven oscillators: the Poincare section of Duffing's over its damping,
// and the response of a gas bubble to sound over frequency and amplitude, with its gradient.
//
//     example_07_oscillators [n [transient periods]]       writes poincare.csv and response.csv
#include "keller_miksis.hpp"
#include "poincare.hpp"
#include "response.hpp"
#include <gradsolve/gradsolve.hpp>

#include <algorithm>
#include <cmath>
#include <common/program.hpp>
#include <cstdio>

namespace examples {
namespace {

constexpr double amplitudes[] = {0.3e5, 0.6e5, 0.9e5, 1.2e5};  // Pa
constexpr int num_curves = 4;

/// num_curves amplitudes of n / num_curves frequencies each, 20 kHz to 1 MHz evenly in ln f.
Matrix sweep(const Exec& exec, int n) {
  const Matrix params("params", n, 6);
  const Column amplitude = on_device(std::vector<double>(amplitudes, amplitudes + num_curves));
  const int m = n / num_curves;
  Kokkos::parallel_for(
      "sweep", Policy(exec, 0, n), KOKKOS_LAMBDA(int i) {
        params(i, 0) = amplitude(Kokkos::min(i / m, num_curves - 1));
        params(i, 1) = 20e3 * Kokkos::pow(50.0, double(i % m) / (m - 1));
        params(i, 5) = 1e-5;
      });
  return params;
}

/// The median of |dR/d ln f - central difference along the curve| / |dR/d ln f|.
template <class Params, class Radii, class Slopes>
double median_difference(const Params& p, const Radii& radius, const Slopes& slope, int m) {
  std::vector<double> differences;
  for (int i = 1; i + 1 < num_curves * m; ++i) {
    if (p(i - 1, 0) != p(i + 1, 0)) continue;  // another curve
    const double along = slope(i, 1) * p(i, 1);
    const double central =
        (radius(i + 1) - radius(i - 1)) / (std::log(p(i + 1, 1)) - std::log(p(i - 1, 1)));
    differences.push_back(std::abs(central / along - 1));
  }
  std::nth_element(differences.begin(), differences.begin() + differences.size() / 2,
                   differences.end());
  return differences[differences.size() / 2];
}

template <class Params, class Radii, class Slopes>
void write_response(const Params& p, const Radii& radius, const Slopes& slope, int n,
                    const char* path) {
  const OutputFile file(path);
  std::fprintf(file, "amplitude_bar,frequency_kHz,radius,dradius_dlnf,dradius_dlnamplitude\n");
  for (int i = 0; i < n; ++i)
    std::fprintf(file, "%.1f,%.4f,%.6f,%.6f,%.6f\n", p(i, 0) / 1e5, p(i, 1) / 1e3, radius(i),
                 slope(i, 1) * p(i, 1), slope(i, 0) * p(i, 0));
}

void duffing(const Exec& exec, int n, int transient_periods) {
  PoincareSection section;
  const double ms =
      milliseconds(exec, [&] { section = poincare_section(exec, n, transient_periods, 32); });
  std::printf("Duffing: Poincare sections for %d dampings after %d periods in %.0f ms\n", n,
              transient_periods, ms);
  if (n <= 50'000) write(section, "poincare.csv");
}

bool bubble(const Exec& exec, int n) {
  const Matrix params = sweep(exec, n);
  gradsolve::Gradient<double, Memory> response;
  const double ms = milliseconds(exec, [&] { response = largest_radius(exec, params, 2.0); });
  const auto p = on_host(params);
  const auto radius = on_host(response.loss);
  const auto slope = on_host(response.params);
  const double difference = median_difference(p, radius, slope, n / num_curves);
  std::printf(
      "bubble: largest radii of %d in two cycles, and their gradients, in %.0f ms; central "
      "differences along the curves are %.1e away (median)\n",
      n, ms, difference);
  if (n <= 50'000) write_response(p, radius, slope, n, "response.csv");
  return difference < 1e-2;
}

}  // namespace
}  // namespace examples

int main(int argc, char** argv) {
  using namespace examples;
  return run_program(argc, argv, [](const Exec& exec, const Arguments& arguments) {
    const int n = arguments.whole_number(1, "n", 1000, 1000);
    duffing(exec, n, arguments.whole_number(2, "transient periods", 64, 0));
    return bubble(exec, n / num_curves * num_curves);
  });
}
