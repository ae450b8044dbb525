// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace gradsolve {

/// Forward Euler, order 1. No error estimate: fixed steps only.
/// Source: L. Euler, Institutionum calculi integralis (1768).
struct Euler {
  static constexpr const char* name = "euler";
  static constexpr int order = 1;
  /// The error estimate behaves as h^error_order; 0: the method has none.
  static constexpr int error_order = 0;
  static constexpr int num_stages = 1;
  /// Stages that the solution needs; the others serve the error estimate alone.
  static constexpr int num_solution_stages = 1;
  /// First same as last: the last stage is f at the end of the step.
  static constexpr bool fsal = false;
  /// Order of the continuous extension.
  static constexpr int dense_order = 1;
  /// Stages that the continuous extension needs; those from num_stages on serve it alone.
  static constexpr int num_dense_stages = 1;
  /// Degree of its polynomials.
  static constexpr int dense_degree = 1;

  static constexpr double c[1] = {};
  static constexpr double a[1][1] = {
      {},
  };
  static constexpr double b[1] = {1.0};
  /// u(t + theta h) = u + h sum_i b_i(theta) k_i,  b_i(theta) = sum_m dense[i][m] theta^(m+1)
  static constexpr double dense[1][1] = {
      {1.0},
  };
};

}  // namespace gradsolve
