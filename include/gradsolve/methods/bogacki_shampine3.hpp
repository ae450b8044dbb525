// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace gradsolve {

/// Bogacki-Shampine 3(2), first same as last.
/// Source: P. Bogacki, L. F. Shampine, Appl. Math. Lett. 2 (1989) 321.
/// Its continuous extension is the cubic Hermite polynomial.
struct BogackiShampine3 {
  static constexpr const char* name = "bs3";
  static constexpr int order = 3;
  /// The error estimate behaves as h^error_order; 0: the method has none.
  static constexpr int error_order = 3;
  static constexpr int num_stages = 4;
  /// Stages that the solution needs; the others serve the error estimate alone.
  static constexpr int num_solution_stages = 3;
  /// First same as last: the last stage is f at the end of the step.
  static constexpr bool fsal = true;
  /// Order of the continuous extension.
  static constexpr int dense_order = 3;
  /// Stages that the continuous extension needs; those from num_stages on serve it alone.
  static constexpr int num_dense_stages = 4;
  /// Degree of its polynomials.
  static constexpr int dense_degree = 3;

  static constexpr double c[4] = {0, 1.0 / 2.0, 3.0 / 4.0, 1.0};
  static constexpr double a[4][3] = {
      {},
      {1.0 / 2.0},
      {0, 3.0 / 4.0},
      {2.0 / 9.0, 1.0 / 3.0, 4.0 / 9.0},
  };
  static constexpr double b[4] = {2.0 / 9.0, 1.0 / 3.0, 4.0 / 9.0};
  /// Weights of the error estimate: b minus the embedded weights.
  static constexpr double e[4] = {-5.0 / 72.0, 1.0 / 12.0, 1.0 / 9.0, -1.0 / 8.0};
  /// u(t + theta h) = u + h sum_i b_i(theta) k_i,  b_i(theta) = sum_m dense[i][m] theta^(m+1)
  static constexpr double dense[4][3] = {
      {1.0, -4.0 / 3.0, 5.0 / 9.0},
      {0, 1.0, -2.0 / 3.0},
      {0, 4.0 / 3.0, -8.0 / 9.0},
      {0, -1.0, 1.0},
  };
};

}  // namespace gradsolve
