// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace gradsolve {

/// Rodas3P: order 3(2), L-stable and stiffly accurate. A Rosenbrock method,
/// for stiff systems.
/// Source: G. Steinebach (2024), as in OrdinaryDiffEq.jl.
struct Rodas3P {
  static constexpr const char* name = "rodas3p";
  static constexpr int order = 3;
  /// The error estimate behaves as h^error_order.
  static constexpr int error_order = 3;
  static constexpr int num_stages = 5;
  /// Stages that the solution needs; the others serve the error estimate alone.
  static constexpr int num_solution_stages = 5;
  static constexpr bool fsal = false;
  /// Order of the continuous extension, stages that it needs, and degree of its polynomials.
  static constexpr int dense_order = 3, num_dense_stages = 5, dense_degree = 3;

  static constexpr double gamma = 1.0 / 3.0;
  static constexpr double c[5] = {0, 4.0 / 9.0, 0, 1.0, 1.0};
  /// Weights of h df/dt.
  static constexpr double d[5] = {1.0 / 3.0, -1.0 / 9.0, 1.0};
  static constexpr double a[5][5] = {{},
                                     {4.0 / 3.0},
                                     {},
                                     {93.0 / 32.0, 27.0 / 8.0, 13.0 / 32.0},
                                     {93.0 / 32.0, 27.0 / 8.0, 13.0 / 32.0}};
  static constexpr double C[5][5] = {{},
                                     {-4.0},
                                     {33.0 / 4.0, 27.0 / 4.0},
                                     {39.0 / 32.0, -81.0 / 16.0, -63.0 / 32.0},
                                     {129.0 / 32.0, -243.0 / 16.0, -129.0 / 32.0, 6.0}};
  /// Weights of the solution, and of the error estimate.
  static constexpr double b[5] = {93.0 / 32.0, 27.0 / 8.0, 13.0 / 32.0, 0, 1.0};
  static constexpr double e[5] = {0, 0, 0, -1.0, 1.0};
  /// The continuous extension in Hairer's form: the weight of stage i is
  /// theta b_i + theta (1 - theta) (H_0i + theta (H_1i + ...)).
  static constexpr double H[2][5] = {{57.0 / 32.0, 27.0 / 4.0, 5.0 / 32.0, -6.0, -1.0},
                                     {135.0 / 32.0, -243.0 / 16.0, -99.0 / 32.0, 9.0}};
};

}  // namespace gradsolve
