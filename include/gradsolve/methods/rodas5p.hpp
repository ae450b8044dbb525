// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace gradsolve {

/// Rodas5P: order 5(4), L-stable and stiffly accurate. The default for stiff systems, and the one
/// for tolerances of 1e-5 and below. A Rosenbrock method, for stiff systems. Source: G. Steinebach,
/// BIT Numer. Math. 63 (2023) 27.
struct Rodas5P {
  static constexpr const char* name = "rodas5p";
  static constexpr int order = 5;
  /// The error estimate behaves as h^error_order.
  static constexpr int error_order = 5;
  static constexpr int num_stages = 8;
  /// Stages that the solution needs; the others serve the error estimate alone.
  static constexpr int num_solution_stages = 8;
  static constexpr bool fsal = false;
  /// Order of the continuous extension, stages that it needs, and degree of its polynomials.
  static constexpr int dense_order = 4, num_dense_stages = 8, dense_degree = 4;

  static constexpr double gamma = 0.21193756319429014;
  static constexpr double c[8] = {
      0,  0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664, 1.0, 1.0,
      1.0};
  /// Weights of h df/dt.
  static constexpr double d[8] = {0.21193756319429014, -0.42387512638858027, -0.3384627126235924,
                                  1.8046452872882734, 2.325825639765069};
  static constexpr double a[8][8] = {
      {},
      {3.0},
      {2.849394379747939, 0.45842242204463923},
      {-6.954028509809101, 2.489845061869568, -10.358996098473584},
      {2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641},
      {-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256,
       0.030198172008377946},
      {-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256,
       0.030198172008377946, 1.0},
      {-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256,
       0.030198172008377946, 1.0, 1.0}};
  static constexpr double C[8][8] = {
      {},
      {-14.155112264123755},
      {-17.97296035885952, -2.859693295451294},
      {147.12150275711716, -1.41221402718213, 71.68940251302358},
      {165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306},
      {24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125,
       -0.6610691825249471},
      {30.91273214028599, -3.1208243349937974, 77.79954646070892, 34.28646028294783,
       -19.097331116725623, -28.087943162872662},
      {37.80277123390563, -3.2571969029072276, 112.26918849496327, 66.9347231244047,
       -40.06618937091002, -54.66780262877968, -9.48861652309627}};
  /// Weights of the solution, and of the error estimate.
  static constexpr double b[8] = {-7.502846399306121,
                                  2.561846144803919,
                                  -11.627539656261098,
                                  -0.18268767659942256,
                                  0.030198172008377946,
                                  1.0,
                                  1.0,
                                  1.0};
  static constexpr double e[8] = {0, 0, 0, 0, 0, 0, 0, 1.0};
  /// The continuous extension in Hairer's form: the weight of stage i is
  /// theta b_i + theta (1 - theta) (H_0i + theta (H_1i + ...)).
  static constexpr double H[3][8] = {
      {25.948786856663858, -2.5579724845846235, 10.433815404888879, -2.3679251022685204,
       0.524948541321073, 1.1241088310450404, 0.4272876194431874, -0.17202221070155493},
      {-9.91568850695171, -0.9689944594115154, 3.0438037242978453, -24.495224566215796,
       20.176138334709044, 15.98066361424651, -6.789040303419874, -6.710236069923372},
      {11.419903575922262, 2.8879645146136994, 72.92137995996029, 80.12511834622643,
       -52.072871366152654, -59.78993625266729, -0.15582684282751913, 4.883087185713722}};
};

}  // namespace gradsolve
