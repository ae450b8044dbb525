// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/gradsolve.hpp>

#include <support/ensembles.hpp>
#include <support/reference.hpp>
#include <support/solved.hpp>

namespace gradsolve::test {

/// Rows of different length as save_times() takes them: times (n, longest) and counts (n). Unused
/// places hold NaN, which nobody must read.
template <class S>
struct RaggedTimes {
  MatrixOf<S> times;
  Kokkos::View<int*, Memory> counts;
};
template <class S>
RaggedTimes<S> ragged(const std::vector<std::vector<S>>& rows) {
  std::size_t longest = 0;
  for (const auto& row : rows) longest = std::max(longest, row.size());
  RaggedTimes<S> r;
  r.times = matrix<S>(static_cast<int>(rows.size()), static_cast<int>(longest), [&](int i, int k) {
    return k < static_cast<int>(rows[i].size()) ? rows[i][k] : static_cast<S>(nan_value);
  });
  std::vector<int> counts;
  for (const auto& row : rows) counts.push_back(static_cast<int>(row.size()));
  r.counts = column(counts);
  return r;
}

/// A host copy of a View of rank 3 or 4.
template <class V>
auto cube_on_host(const V& view) {
  auto copy = Kokkos::create_mirror(Kokkos::HostSpace(), view);
  Kokkos::deep_copy(copy, view);
  return copy;
}

/// Compares the gradient of a loss at save times, with respect to everything, with the oracle's
/// complex steps through the recorded steps. saves[i]: those of trajectory i.
template <class M, class F, class Loss>
void expect_saved_gradient_of_the_oracle(const F& f, const Loss& loss, const Inputs<double>& inputs,
                                         const std::vector<double>& t0,
                                         const std::vector<double>& t1,
                                         const std::vector<std::vector<double>>& saves,
                                         double tolerance, const Options& options = {}) {
  const auto ensemble = inputs.ensemble(column(t0), column(t1));
  const auto rows = ragged(saves);
  const auto times = save_times(Exec(), ensemble, rows.times, rows.counts);
  const auto recorded = record(Exec(), f, M{}, ensemble, options);
  const auto at = at_saves(times, loss);
  const auto plain = gradient(Exec(), f, recorded, ensemble, at);
  const auto result = gradient_with_times(Exec(), f, recorded, ensemble, at);
  const auto value = on_host(result.loss), dt0 = on_host(result.t0), dt1 = on_host(result.t1);
  const auto du0 = on_host(result.u0), dparams = on_host(result.params);
  const auto plain_value = on_host(plain.loss);
  const auto plain_du0 = on_host(plain.u0), plain_dparams = on_host(plain.params);
  const auto dsaves = on_host(result.save_times);
  const auto u0 = on_host(inputs.u0), params = on_host(inputs.params);
  const auto status = on_host(recorded.status);
  for (int i = 0; i < inputs.size(); ++i) {
    ASSERT_EQ(status(i), Status::success) << "trajectory " << i;
    const auto ends = step_ends(Exec(), recorded, i);
    const reference::Variables<F, double> variables{
        row<F::num_states>(u0, i), row<F::num_params>(params, i), t0[i], t1[i], saves[i]};
    auto loss_of = [&](const auto& v) {
      using T = std::decay_t<decltype(v.t0)>;
      const auto states = reference::saved_states<M>(f, ends, t0[i], t1[i], v);
      T sum(0);
      for (std::size_t k = 0; k < states.size(); ++k)
        sum += loss(v.saves[k], states[k], v.params, SaveIndex{i, static_cast<int>(k)});
      return sum;
    };
    const auto expected = reference::differentiate(variables, loss_of);
    const auto name = std::string(M::name) + ", trajectory " + std::to_string(i) + ", ";
    // Cancellation in a derivative is judged by the size of the largest of its kind.
    long double size = 0.01L;
    for (int j = 0; j < F::num_states; ++j) size = std::max(size, std::abs(expected.u0[j]));
    auto near = [&](double x, long double y, const std::string& what) {
      EXPECT_LE(relative_difference(x, y, size), tolerance) << name << what;
    };
    EXPECT_NEAR(plain_value(i), value(i), 1e-14 * std::abs(value(i))) << name << "loss";
    near(value(i), loss_of(reference::convert_variables<reference::Complex>(variables)).real(),
         "loss");
    for (int j = 0; j < F::num_states; ++j) {
      near(du0(i, j), expected.u0[j], "d / du0[" + std::to_string(j) + "]");
      near(plain_du0(i, j), expected.u0[j], "d / du0 without times");
    }
    for (int j = 0; j < F::num_params; ++j) {
      near(dparams(i, j), expected.params[j], "d / dp[" + std::to_string(j) + "]");
      near(plain_dparams(i, j), expected.params[j], "d / dp without times");
    }
    near(dt0(i), expected.t0, "d / dt0");
    near(dt1(i), expected.t1, "d / dt1");
    for (std::size_t k = 0; k < saves[i].size(); ++k)
      near(dsaves(i, k), expected.saves[k], "d / d save " + std::to_string(k));
    for (std::size_t k = saves[i].size(); k < dsaves.extent(1); ++k)
      EXPECT_TRUE(std::isnan(dsaves(i, k))) << name << "a save that it does not have";
  }
}

}  // namespace gradsolve::test
