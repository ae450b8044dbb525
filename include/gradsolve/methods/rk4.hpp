// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace gradsolve {

/// The classical Runge-Kutta method, order 4. No error estimate: fixed steps only.
/// Source: W. Kutta, Z. Math. Phys. 46 (1901).
struct RK4 {
  static constexpr const char* name = "rk4";
  static constexpr int order = 4;
  /// The error estimate behaves as h^error_order; 0: the method has none.
  static constexpr int error_order = 0;
  static constexpr int num_stages = 4;
  /// Stages that the solution needs; the others serve the error estimate alone.
  static constexpr int num_solution_stages = 4;
  /// First same as last: the last stage is f at the end of the step.
  static constexpr bool fsal = false;
  /// Order of the continuous extension.
  static constexpr int dense_order = 3;
  /// Stages that the continuous extension needs; those from num_stages on serve it alone.
  static constexpr int num_dense_stages = 4;
  /// Degree of its polynomials.
  static constexpr int dense_degree = 3;

  static constexpr double c[4] = {0, 1.0 / 2.0, 1.0 / 2.0, 1.0};
  static constexpr double a[4][3] = {
      {},
      {1.0 / 2.0},
      {0, 1.0 / 2.0},
      {0, 0, 1.0},
  };
  static constexpr double b[4] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
  /// u(t + theta h) = u + h sum_i b_i(theta) k_i,  b_i(theta) = sum_m dense[i][m] theta^(m+1)
  static constexpr double dense[4][3] = {
      {1.0, -3.0 / 2.0, 2.0 / 3.0},
      {0, 1.0, -2.0 / 3.0},
      {0, 1.0, -2.0 / 3.0},
      {0, -1.0 / 2.0, 2.0 / 3.0},
  };
};

}  // namespace gradsolve
