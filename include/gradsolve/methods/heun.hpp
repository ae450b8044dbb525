// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace gradsolve {

/// Explicit trapezoidal rule, order 2, with the embedded Euler step as error estimate.
/// Source: K. Heun, Z. Math. Phys. 45 (1900).
struct Heun {
  static constexpr const char* name = "heun";
  static constexpr int order = 2;
  /// The error estimate behaves as h^error_order; 0: the method has none.
  static constexpr int error_order = 2;
  static constexpr int num_stages = 2;
  /// Stages that the solution needs; the others serve the error estimate alone.
  static constexpr int num_solution_stages = 2;
  /// First same as last: the last stage is f at the end of the step.
  static constexpr bool fsal = false;
  /// Order of the continuous extension.
  static constexpr int dense_order = 2;
  /// Stages that the continuous extension needs; those from num_stages on serve it alone.
  static constexpr int num_dense_stages = 2;
  /// Degree of its polynomials.
  static constexpr int dense_degree = 2;

  static constexpr double c[2] = {0, 1.0};
  static constexpr double a[2][1] = {
      {},
      {1.0},
  };
  static constexpr double b[2] = {1.0 / 2.0, 1.0 / 2.0};
  /// Weights of the error estimate: b minus the embedded weights.
  static constexpr double e[2] = {-1.0 / 2.0, 1.0 / 2.0};
  /// u(t + theta h) = u + h sum_i b_i(theta) k_i,  b_i(theta) = sum_m dense[i][m] theta^(m+1)
  static constexpr double dense[2][2] = {
      {1.0, -1.0 / 2.0},
      {0, 1.0 / 2.0},
  };
};

}  // namespace gradsolve
