// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/gradsolve.hpp>

#include <support/ensembles.hpp>
#include <support/reference.hpp>

namespace gradsolve::test {

/// Records, differentiates, and compares each trajectory with the oracle's replay of its steps:
/// |difference| <= tolerance * max(|expected|, 0.01).
template <class M, class F, class Loss, class S, class T>
void expect_gradient_of_the_oracle(const F& f, const Loss& loss, const Inputs<S>& inputs,
                                   const T& t0, const T& t1, const Options& options,
                                   double tolerance) {
  const auto ensemble = inputs.ensemble(t0, t1);
  const auto recorded = record(Exec(), f, M{}, ensemble, options);
  const auto result = gradient(Exec(), f, recorded, ensemble, loss);
  const auto value = on_host(result.loss);
  const auto du0 = on_host(result.u0), dparams = on_host(result.params);
  const auto u0 = on_host(inputs.u0), params = on_host(inputs.params);
  const auto status = on_host(recorded.status);
  auto start = [&](int i) {
    if constexpr (std::is_arithmetic_v<T>)
      return static_cast<S>(t0);
    else
      return on_host(t0)(i);
  };
  for (int i = 0; i < inputs.size(); ++i) {
    ASSERT_EQ(status(i), Status::success) << "trajectory " << i;
    const auto ends = step_ends(Exec(), recorded, i);
    const auto u = row<F::num_states>(u0, i);
    const auto p = row<F::num_params>(params, i);
    const auto expected = [&] {
      if constexpr (requires { F::branches; })
        return reference::gradient_by_differences<M>(f, loss, ends, start(i), u, p);
      else
        return reference::gradient<M>(f, loss, ends, start(i), u, p);
    }();
    EXPECT_LE(relative_difference(value(i), expected.loss, 0.01L), tolerance)
        << M::name << ", loss of trajectory " << i;
    for (int j = 0; j < F::num_states; ++j)
      EXPECT_LE(relative_difference(du0(i, j), expected.u0[j], 0.01L), tolerance)
          << M::name << ", trajectory " << i << ", d / du0[" << j << "]";
    for (int j = 0; j < F::num_params; ++j)
      EXPECT_LE(relative_difference(dparams(i, j), expected.params[j], 0.01L), tolerance)
          << M::name << ", trajectory " << i << ", d / dp[" << j << "]";
  }
}

}  // namespace gradsolve::test
