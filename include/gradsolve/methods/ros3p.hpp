// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace gradsolve {

/// ROS3P: order 3(2) without order reduction for parabolic problems, A-stable. A Rosenbrock method,
/// for stiff systems.
/// Source: J. Lang, J. Verwer, BIT 41 (2001) 731.
struct ROS3P {
  static constexpr const char* name = "ros3p";
  static constexpr int order = 3;
  /// The error estimate behaves as h^error_order.
  static constexpr int error_order = 3;
  static constexpr int num_stages = 3;
  /// Stages that the solution needs; the others serve the error estimate alone.
  static constexpr int num_solution_stages = 3;
  static constexpr bool fsal = false;
  /// Order of the continuous extension, stages that it needs, and degree of its polynomials.
  static constexpr int dense_order = 2, num_dense_stages = 3, dense_degree = 2;

  static constexpr double gamma = 0.7886751345948128822546;
  static constexpr double c[3] = {0, 1.0, 1.0};
  /// Weights of h df/dt.
  static constexpr double d[3] = {0.7886751345948128822546, -0.2113248654051871177454,
                                  -1.077350269189625764509};
  static constexpr double a[3][3] = {{}, {1.267949192431122706473}, {1.267949192431122706473}};
  static constexpr double C[3][3] = {
      {}, {-1.607695154586736238835}, {-3.464101615137754587055, -1.732050807568877293527}};
  /// Weights of the solution, and of the error estimate.
  static constexpr double b[3] = {2.0, 0.5773502691896257645091, 0.4226497308103742354909};
  static constexpr double e[3] = {-0.1132486540518711774543, -0.4226497308103742354909};
  /// The continuous extension in Hairer's form: the weight of stage i is
  /// theta b_i + theta (1 - theta) H_0i. None was published. This one has order 2: its weights on
  /// the slopes of the classical form are (1/2, -1/2 - 1/sqrt 3, 1/sqrt 3), of the family of order
  /// 2 those whose third-order error vanishes in the middle of the step for a quadrature.
  static constexpr double H[1][3] = {
      {0.9019237886466840597088, -0.3660254037844386467637, 0.7320508075688772935274}};
};

}  // namespace gradsolve
