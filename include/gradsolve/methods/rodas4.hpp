// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace gradsolve {

/// RODAS: order 4(3), L-stable and stiffly accurate. A Rosenbrock method,
/// for stiff systems.
/// Source: E. Hairer, G. Wanner, Solving Ordinary Differential Equations II (1996), IV.10.
struct Rodas4 {
  static constexpr const char* name = "rodas4";
  static constexpr int order = 4;
  /// The error estimate behaves as h^error_order.
  static constexpr int error_order = 4;
  static constexpr int num_stages = 6;
  /// Stages that the solution needs; the others serve the error estimate alone.
  static constexpr int num_solution_stages = 6;
  static constexpr bool fsal = false;
  /// Order of the continuous extension, stages that it needs, and degree of its polynomials.
  static constexpr int dense_order = 3, num_dense_stages = 6, dense_degree = 3;

  static constexpr double gamma = 0.25;
  static constexpr double c[6] = {0, 0.386, 0.21, 0.63, 1.0, 1.0};
  /// Weights of h df/dt.
  static constexpr double d[6] = {0.25, -0.1043, 0.1035, -0.0362};
  static constexpr double a[6][6] = {
      {},
      {1.544},
      {0.9466785280815826, 0.2557011698983284},
      {3.314825187068521, 2.896124015972201, 0.9986419139977817},
      {1.221224509226641, 6.019134481288629, 12.53708332932087, -0.687886036105895},
      {1.221224509226641, 6.019134481288629, 12.53708332932087, -0.687886036105895, 1.0}};
  static constexpr double C[6][6] = {
      {},
      {-5.6688},
      {-2.430093356833875, -0.2063599157091915},
      {-0.1073529058151375, -9.594562251023355, -20.47028614809616},
      {7.496443313967647, -10.24680431464352, -33.99990352819905, 11.7089089320616},
      {8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136,
       -6.058818238834054}};
  /// Weights of the solution, and of the error estimate.
  static constexpr double b[6] = {
      1.221224509226641, 6.019134481288629, 12.53708332932087, -0.687886036105895, 1.0, 1.0};
  static constexpr double e[6] = {0, 0, 0, 0, 0, 1.0};
  /// The continuous extension in Hairer's form: the weight of stage i is
  /// theta b_i + theta (1 - theta) (H_0i + theta (H_1i + ...)).
  static constexpr double H[2][6] = {{10.12623508344586, -7.487995877610167, -34.80091861555747,
                                      -7.992771707568823, 1.025137723295662},
                                     {-0.6762803392801253, 6.087714651680015, 16.43084320892478,
                                      24.76722511418386, -6.594389125716872}};
};

}  // namespace gradsolve
