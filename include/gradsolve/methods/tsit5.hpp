// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace gradsolve {

/// Tsitouras 5(4), first same as last. The default for tolerances of 1e-3 to 1e-8.
/// Source: Ch. Tsitouras, Comput. Math. Appl. 62 (2011) 770.
/// Its continuous extension is the published one, refined to 45 digits.
struct Tsit5 {
  static constexpr const char* name = "tsit5";
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

  static constexpr double c[7] = {0, 0.161, 0.327, 0.9, 0.9800255409045096857298, 1.0, 1.0};
  static constexpr double a[7][6] = {
      {},
      {0.161},
      {-0.008480655492356988544427, 0.3354806554923569885444},
      {2.897153057105493432130, -6.359448489975074843148, 4.362295432869581411018},
      {5.325864828439256604429, -11.74888356406282787775, 7.495539342889836208305,
       -0.09249506636175524925650},
      {5.861455442946420028659, -12.92096931784710929171, 8.159367898576158643180,
       -0.07158497328140099722453, -0.02826905039406838290900},
      {0.09646076681806522951817, 0.01, 0.4798896504144995747752, 1.379008574103741893192,
       -3.290069515436080679901, 2.324710524099773982415},
  };
  static constexpr double b[7] = {0.09646076681806522951817, 0.01,
                                  0.4798896504144995747752,  1.379008574103741893192,
                                  -3.290069515436080679901,  2.324710524099773982415};
  /// Weights of the error estimate: b minus the embedded weights.
  static constexpr double e[7] = {0.001780011052225771443379,
                                  0.0008164344596567469032236,
                                  -0.007880878010261996010315,
                                  0.1447110071732629075372,
                                  -0.5823571654525552250199,
                                  0.4580821059291869466616,
                                  -1.0 / 66.0};
  /// u(t + theta h) = u + h sum_i b_i(theta) k_i,  b_i(theta) = sum_m dense[i][m] theta^(m+1)
  static constexpr double dense[7][4] = {
      {1.0, -2.763706197274825868673, 2.913255461821912655419, -1.053088497729021557227},
      {0, 0.1317, -0.2234, 0.1017},
      {0, 3.930296236894751517409, -5.941033872131504735718, 2.490627285651252793084},
      {0, -12.41107716693367703873, 30.33818863028232165023, -16.54810288924490271831},
      {0, 37.50931341651103917898, -88.17890489476640107756, 47.37952196281928121868},
      {0, -27.89652628919728778898, 65.09189467479367150763, -34.87065786149660973623},
      {0, 1.5, -4.0, 2.5},
  };
};

}  // namespace gradsolve
