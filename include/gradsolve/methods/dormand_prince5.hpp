// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace gradsolve {

/// Dormand-Prince 5(4) (DOPRI5), first same as last.
/// Source: J. R. Dormand, P. J. Prince, J. Comput. Appl. Math. 6 (1980) 19.
struct DormandPrince5 {
  static constexpr const char* name = "dp5";
  static constexpr int order = 5;
  /// The error estimate behaves as h^error_order; 0: the method has none.
  static constexpr int error_order = 5;
  static constexpr int num_stages = 7;
  /// Stages that the solution needs; the others serve the error estimate alone.
  static constexpr int num_solution_stages = 6;
  /// First same as last: the last stage is f at the end of the step.
  static constexpr bool fsal = true;

  static constexpr double c[7] = {0, 1.0 / 5.0, 3.0 / 10.0, 4.0 / 5.0, 8.0 / 9.0, 1.0, 1.0};
  static constexpr double a[7][6] = {
      {},
      {1.0 / 5.0},
      {3.0 / 40.0, 9.0 / 40.0},
      {44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0},
      {19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0},
      {9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0},
      {35.0 / 384.0, 0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0},
  };
  static constexpr double b[7] = {35.0 / 384.0,     0,          500.0 / 1113.0, 125.0 / 192.0,
                                  -2187.0 / 6784.0, 11.0 / 84.0};
  /// Weights of the error estimate: b minus the embedded weights.
  static constexpr double e[7] = {
      71.0 / 57600.0, 0,          -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0,
      22.0 / 525.0,   -1.0 / 40.0};
};

}  // namespace gradsolve
