// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace gradsolve {

/// Verner 7(6), the "most efficient" pair. For tolerances of 1e-7 to 1e-12.
/// Source: J. H. Verner, Numer. Algorithms 53 (2010) 383, RKV76.IIa.Efficient.
struct Verner7 {
  static constexpr const char* name = "vern7";
  static constexpr int order = 7;
  /// The error estimate behaves as h^error_order; 0: the method has none.
  static constexpr int error_order = 7;
  static constexpr int num_stages = 10;
  /// Stages that the solution needs; the others serve the error estimate alone.
  static constexpr int num_solution_stages = 9;
  /// First same as last: the last stage is f at the end of the step.
  static constexpr bool fsal = false;

  static constexpr double c[10] = {0,
                                   1.0 / 200.0,
                                   49.0 / 450.0,
                                   49.0 / 300.0,
                                   911.0 / 2000.0,
                                   3480084980.0 / 5709648941.0,
                                   221.0 / 250.0,
                                   37.0 / 40.0,
                                   1.0,
                                   1.0};
  static constexpr double a[10][9] = {
      {},
      {1.0 / 200.0},
      {-4361.0 / 4050.0, 2401.0 / 2025.0},
      {49.0 / 1200.0, 0, 49.0 / 400.0},
      {2454451729.0 / 3841600000.0, 0, -9433712007.0 / 3841600000.0, 4364554539.0 / 1920800000.0},
      {-2.661577375018757131119, 0, 10.80451388645613769565, -8.353914657396199411968,
       0.8204875949566569791420},
      {6.067741434696770992718, 0, -24.71127363591108579734, 20.42751793078889394046,
       -1.906157978816647150624, 1.006172249242068014790},
      {12.05467007625320299509, 0, -1990261989751005.0 / 40001418792832.0, 41.14288863860467663260,
       -4.461760149974004185642, 2.042334822239174959822, -0.09834843665406107379531},
      {10.13814652288180787642, 0, -42.64113603171750214623, 35.76384003992257007135,
       -4.348022840392907653340, 2.009862268377035895442, 0.3487490460338272405954,
       -0.2714390051048312842372},
      {-45.03007203429867712435, 0, 187.3272437654588840752, -154.0288236935018690597,
       18.56465306347536233859, -7.141809679295078854925, 1.308808578161378625115},
  };
  static constexpr double b[10] = {0.04715561848627222170432,
                                   0,
                                   0,
                                   0.2575056429843415189596,
                                   0.2621665397741262047714,
                                   0.1521609265673855740323,
                                   0.4939969170032484246907,
                                   -0.2943031171403250441557,
                                   0.08131747232495109999735};
  /// Weights of the error estimate: b minus the embedded weights.
  static constexpr double e[10] = {0.002547011879931045416999,
                                   0,
                                   0,
                                   -0.009658394872795749091267,
                                   0.04206470975639690277341,
                                   -0.06668224374693010906600,
                                   0.2650097464621281363529,
                                   -0.2943031171403250441557,
                                   0.08131747232495109999735,
                                   -0.02029518466335628222767};
};

}  // namespace gradsolve
