// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/gradsolve.hpp>

#include <support/gradients.hpp>
#include <support/large_systems.hpp>
#include <support/observed.hpp>
#include <support/systems.hpp>

/// Systems of many states: on a GPU a warp a trajectory, its states spread over the threads,
/// against the oracle and against a thread a trajectory. Elsewhere the two are one.
namespace gradsolve::test {

/// Elsewhere one and the same type: nothing is compiled twice.
inline constexpr int warp = detail::Backend<Exec>::can_spread ? 32 : 1;
inline constexpr Options equal_steps{.fixed_steps = 8};

/// Near the fixed point u_i = p_0, each a little off.
inline Inputs<double> members(int n, int num_states) {
  return {matrix<double>(n, num_states,
                         [](int i, int j) { return 2 + 0.3 * std::sin(1.0 + 3 * i + 1.7 * j); }),
          matrix<double>(n, 2, [](int i, int j) { return j == 0 ? 2 + 0.1 * i : 1 - 0.05 * i; })};
}

template <class M>
void expect_gradients_of_the_oracle() {
  expect_gradient_of_the_oracle<M>(Lorenz96<40, warp>{}, SquaredNorm{}, members(3, 40), 0.0, 0.5,
                                   {.rtol = 1e-5}, 1e-11);
  expect_saved_gradient_of_the_oracle<M>(
      Lorenz96<20, warp>{}, WeightedSaves{}, members(4, 20), {0.0, 0.1, 0.2, 0.3},
      {0.5, 0.5, 0.6, 0.3}, {{0.0, 0.2, 0.5}, {0.3, 0.3}, {}, {0.3}}, 1e-10, {.rtol = 1e-5});
}

template <class Solution>
struct AtOneTime {
  Solution solution;
  double t;
  MatrixOf<double> states;
  KOKKOS_FUNCTION void operator()(int j) const {
    const auto u = solution(j, t);
    for (int i = 0; i < Solution::N; ++i) states(j, i) = u[i];
  }
};
template <class Solution>
MatrixOf<double> states_at(const Solution& solution, int n, double t) {
  const AtOneTime<Solution> at{solution, t, MatrixOf<double>("states", n, Solution::N)};
  Kokkos::parallel_for("states_at", Kokkos::RangePolicy<Exec>(0, n), at);
  return at.states;
}

/// Everything that the sweeps give, for one way to spread.
template <class F, class M>
std::vector<double> all_results(const F& f, M method) {
  const int n = 5;
  const auto inputs = members(n, F::num_states);
  const auto ensemble = inputs.ensemble(0.0, 0.5);
  std::vector<double> all;
  auto take = [&](const auto& view) {
    const auto host = Kokkos::create_mirror(Kokkos::HostSpace(), view);
    Kokkos::deep_copy(host, view);
    if constexpr (std::decay_t<decltype(view)>::rank() == 1)
      for (std::size_t i = 0; i < host.extent(0); ++i) all.push_back(host(i));
    else if constexpr (std::decay_t<decltype(view)>::rank() == 2)
      for (std::size_t i = 0; i < host.extent(0); ++i)
        for (std::size_t j = 0; j < host.extent(1); ++j) all.push_back(host(i, j));
    else
      for (std::size_t i = 0; i < host.extent(0); ++i)
        for (std::size_t j = 0; j < host.extent(1); ++j)
          for (std::size_t k = 0; k < host.extent(2); ++k) all.push_back(host(i, j, k));
  };
  const auto times = save_times(Exec(), ensemble, std::vector{0.0, 0.11, 0.3, 0.5});
  const auto recorded = record(Exec(), f, method, ensemble, times, equal_steps);
  take(recorded.states);
  take(recorded.saved);
  const auto watched = replay_with_error_ratio(Exec(), f, recorded, ensemble);
  take(watched.states);
  take(watched.error_ratio);
  take(replay(Exec(), f, recorded, ensemble, times).saved);
  const auto g = gradient(Exec(), f, recorded, ensemble, SquaredNorm{});
  take(g.u0);
  take(g.params);
  take(gradient(Exec(), f, recorded, ensemble, at_saves(times, WeightedSaves{})).u0);
  const auto ones = matrix<double>(n, F::num_states, [](int, int j) { return 1.0 / (1 + j); });
  const auto w = vjp(Exec(), f, recorded, ensemble, ones);
  take(w.u0);
  take(w.params);
  const auto d = jvp(Exec(), f, recorded, ensemble, ones, MatrixOf<double>());
  take(d.tangents);
  Record<M, double, Memory> kept;
  Gradient<double, Memory> on_kept;
  record_and_gradient(Exec(), f, method, ensemble, equal_steps, SquaredNorm{}, kept, on_kept);
  take(on_kept.u0);
  take(states_at(make_solution(Exec(), f, kept, ensemble), n, 0.23));
  if constexpr (!detail::ImplicitMethod<M>) {
    const auto product =
        hessian_product(Exec(), f, recorded, ensemble, SquaredNorm{}, ones, MatrixOf<double>());
    take(product.u0);
    take(product.params);
  }
  return all;
}

template <class M>
void expect_the_same(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], 1e-10 * (1 + std::abs(b[i]))) << M::name << ", result " << i;
}

template <class M>
void expect_the_same_on_one_thread_and_on_a_warp() {
  const auto one = all_results(Lorenz96<5, 1>{}, M{});
  expect_the_same<M>(all_results(Lorenz96<5, warp>{}, M{}), one);
  if constexpr (warp > 1) expect_the_same<M>(all_results(WholeLorenz96<5, warp>{}, M{}), one);
}

}  // namespace gradsolve::test
