// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace gradsolve {

/// Kvaerno 5(4): order 5(4), L-stable and stiffly accurate, an ESDIRK method (explicit first stage,
/// one coefficient on the diagonal) for stiff systems: each of its six implicit stages is solved by
/// Newton's method. Its third stage lies beyond the end of the step.
/// Source: A. Kvaerno, BIT Numerical Mathematics 44 (2004) 489; the coefficients to 40 digits and
/// the continuous extension are solutions of the order conditions, of our own.
struct Kvaerno5 {
  static constexpr const char* name = "kvaerno5";
  static constexpr int order = 5;
  /// The error estimate behaves as h^error_order.
  static constexpr int error_order = 5;
  static constexpr int num_stages = 7;
  /// Stages that the solution needs; the others serve the error estimate alone.
  static constexpr int num_solution_stages = 7;
  static constexpr bool fsal = false;
  /// Order of the continuous extension, stages that it needs, and degree of its polynomials.
  static constexpr int dense_order = 3, num_dense_stages = 7, dense_degree = 4;

  static constexpr double gamma = 0.26;
  static constexpr double c[7] = {
      0, 0.52, 1.230333209967908096317136, 0.895765984350075901890076, 0.436393609858647585369807,
      1, 1};
  static constexpr double a[7][7] = {
      {},
      {0.26, 0.26},
      {0.13, 0.840333209967908096317136, 0.26},
      {0.223719614783205056132968, 0.476755323197996997102244, -0.06470895363112615134513, 0.26},
      {0.166485643232483215284821, 0.104500188415917204390142, 0.036314822720987151414261,
       -0.13090704451073998571941, 0.26},
      {0.138556402312682249556576, 0, -0.04245337201752043092265, 0.024466578980031419524046,
       0.619430390724806761842030, 0.26},
      {0.136597511776402914429608, 0, -0.05496908796538376718786, -0.04118626728321046908146,
       0.629933048990164032099545, 0.069624794482027289740169, 0.26}};
  /// Weights of the increments of the stages: the solution is the last stage, its embedded
  /// companion the one before.
  static constexpr double b[7] = {0, 0, 0, 0, 0, 0, 1};
  static constexpr double e[7] = {0, 0, 0, 0, 0, -1, 1};
  /// The continuous extension: the weight of increment i is sum_m dense[i][m] theta^(m+1).
  static constexpr double dense[7][4] = {{},
                                         {},
                                         {-0.76968944784880585378589, 2.786878366108573477462012,
                                          -3.91292071517103616094058, 1.895731796911268537264458},
                                         {-14.2119235486023605764358, 48.10812282681293063100450,
                                          -43.8405115922178609390260, 9.944312314007290884457417},
                                         {8.574105433929700160789306, -19.1176103707103380143440,
                                          12.13432269811931438217244, -1.59081776133867652861773},
                                         {},
                                         {10.93584735445083756846816, -38.1796060036135187778455,
                                          38.78969443923823712491596, -10.5459357900755559155385}};
};

}  // namespace gradsolve
