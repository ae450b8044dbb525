// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace gradsolve {

/// Dormand-Prince 5(4) (DOPRI5), first same as last.
/// Source: J. R. Dormand, P. J. Prince, J. Comput. Appl. Math. 6 (1980) 19.
/// Its continuous extension is CONTD5 of Hairer's DOPRI5.
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
  /// Order of the continuous extension.
  static constexpr int dense_order = 4;
  /// Stages that the continuous extension needs; those from num_stages on serve it alone.
  static constexpr int num_dense_stages = 7;
  /// Degree of its polynomials.
  static constexpr int dense_degree = 4;

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
  /// u(t + theta h) = u + h sum_i b_i(theta) k_i,  b_i(theta) = sum_m dense[i][m] theta^(m+1)
  static constexpr double dense[7][4] = {
      {1.0, -8048581381.0 / 2820520608.0, 8663915743.0 / 2820520608.0,
       -12715105075.0 / 11282082432.0},
      {},
      {0, 131558114200.0 / 32700410799.0, -68118460800.0 / 10900136933.0,
       87487479700.0 / 32700410799.0},
      {0, -1754552775.0 / 470086768.0, 14199869525.0 / 1410260304.0, -10690763975.0 / 1880347072.0},
      {0, 127303824393.0 / 49829197408.0, -318862633887.0 / 49829197408.0,
       701980252875.0 / 199316789632.0},
      {0, -282668133.0 / 205662961.0, 2019193451.0 / 616988883.0, -1453857185.0 / 822651844.0},
      {0, 40617522.0 / 29380423.0, -110615467.0 / 29380423.0, 69997945.0 / 29380423.0},
  };
};

}  // namespace gradsolve
