// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ensemble.hpp>
#include <gradsolve/options.hpp>
#include <gradsolve/system.hpp>

#include <support/host.hpp>

namespace gradsolve::test {

/// Initial states and parameters of an ensemble; ensemble(t0, t1) refers to them.
template <class S>
struct Inputs {
  MatrixOf<S> u0, params;

  int size() const { return static_cast<int>(u0.extent(0)); }
  template <class T0, class T1>
  auto ensemble(const T0& t0, const T1& t1) const {
    return Ensemble(u0, params, t0, t1);
  }
};

/// The published Lorenz ensemble: rho = linspace(0, 21, n), u0 = (1, 0, 0), to be solved on [0, 1].
inline Inputs<double> published_lorenz(int n) {
  return {matrix<double>(n, 3, [](int, int j) { return j == 0 ? 1.0 : 0.0; }),
          matrix<double>(n, 1, [n](int i, int) { return i * 21.0 / (n - 1); })};
}
inline Options published_options(double rtol) { return {.rtol = rtol, .atol = 1e-3 * rtol}; }

template <class F, class S = double>
using StateFor = State<S, F::num_states>;
template <class F, class S = double>
using ParamsFor = Params<S, F::num_params>;

/// Row i of a host View.
template <int N, class V>
auto row(const V& view, int i) {
  Vector<typename V::non_const_value_type, N> x;
  if constexpr (N > 0)
    for (int j = 0; j < N; ++j) x[j] = view(i, j);
  return x;
}

/// Trajectories with states and parameters spread by a share `spread` around given ones.
template <class S = double>
Inputs<S> spread_around(int n, const std::vector<double>& u0, const std::vector<double>& params,
                        double spread = 0.2, std::uint64_t seed = 1) {
  Uniform uniform(seed);
  auto rows = [&](const std::vector<double>& center) {
    return matrix<S>(n, static_cast<int>(center.size()),
                     [&](int, int j) { return center[j] * uniform(1 - spread, 1 + spread); });
  };
  Inputs<S> inputs;
  inputs.u0 = rows(u0);
  inputs.params = rows(params);
  return inputs;
}

inline Inputs<double> lotka_volterra(int n) {
  return spread_around(n, {1.0, 1.0}, {1.5, 1.0, 3.0, 1.0});
}
inline Inputs<double> van_der_pol(int n) { return spread_around(n, {1.5, 0.5}, {2.0}); }

}  // namespace gradsolve::test
