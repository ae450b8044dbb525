// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace gradsolve {

/// Rosenbrock23 (ode23s): order 2(3), L-stable. Cheap steps for loose tolerances. A Rosenbrock
/// method, for stiff systems. Source: L. F. Shampine, M. W. Reichelt, SIAM J. Sci. Comput. 18
/// (1997) 1.
struct Rosenbrock23 {
  static constexpr const char* name = "rosenbrock23";
  static constexpr int order = 2;
  /// The error estimate behaves as h^error_order.
  static constexpr int error_order = 3;
  static constexpr int num_stages = 3;
  /// Stages that the solution needs; the others serve the error estimate alone.
  static constexpr int num_solution_stages = 2;
  static constexpr bool fsal = false;
  /// Order of the continuous extension, stages that it needs, and degree of its polynomials.
  static constexpr int dense_order = 2, num_dense_stages = 2, dense_degree = 2;

  static constexpr double gamma = 0.2928932188134524755992;
  static constexpr double c[3] = {0, 0.5, 1.0};
  /// Weights of h df/dt.
  static constexpr double d[3] = {0.2928932188134524755992, 0, -0.2928932188134524755992};
  static constexpr double a[3][3] = {
      {}, {1.707106781186547524401}, {3.414213562373095048802, 3.414213562373095048802}};
  static constexpr double C[3][3] = {
      {}, {-3.414213562373095048802}, {-6.828427124746190097603, -25.31370849898476039041}};
  /// Weights of the solution, and of the error estimate.
  static constexpr double b[3] = {3.414213562373095048802, 3.414213562373095048802};
  static constexpr double e[3] = {-0.5690355937288491748003, -3.080880229039761715468,
                                  -0.5690355937288491748003};
  /// The continuous extension in Hairer's form: the weight of stage i is
  /// theta b_i + theta (1 - theta) (H_0i + theta (H_1i + ...)).
  static constexpr double H[1][3] = {{0, -8.242640687119285146405}};
};

}  // namespace gradsolve
