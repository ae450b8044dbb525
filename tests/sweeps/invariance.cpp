// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gradsolve/gradsolve.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <support/ensembles.hpp>
#include <support/host.hpp>
#include <support/systems.hpp>

/// The bits of a trajectory do not depend on what it is solved beside, on the width of the lanes,
/// or on the layout of the inputs.
namespace gradsolve::test {
namespace {

const Options tight{.rtol = 1e-6, .atol = 1e-8};
constexpr double t1 = 5.0;

/// All that the sweeps say about an ensemble, on the host.
struct Outcome {
  using HostMatrix = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
  template <class T>
  using HostColumn = Kokkos::View<T*, Kokkos::HostSpace>;
  HostMatrix states, replayed, du0, dparams, tangents;
  HostColumn<double> loss, ratio;
  HostColumn<int> steps, rejected, rhs;
  HostColumn<Status> status;
};

template <int Width = 0, class F, class E>
Outcome solve(const F& f, const E& ensemble, const Options& options = tight) {
  const auto recorded = record<Width>(Exec(), f, Tsit5{}, ensemble, options);
  const auto replayed = replay_with_error_ratio<Width>(Exec(), f, recorded, ensemble);
  const auto slopes = gradient<Width>(Exec(), f, recorded, ensemble, SquaredNorm{});
  const auto tangent =
      jvp<Width>(Exec(), f, recorded, ensemble, ensemble.states(), ensemble.params());
  return {.states = on_host(recorded.states),
          .replayed = on_host(replayed.states),
          .du0 = on_host(slopes.u0),
          .dparams = on_host(slopes.params),
          .tangents = on_host(tangent.tangents),
          .loss = on_host(slopes.loss),
          .ratio = on_host(replayed.error_ratio),
          .steps = on_host(recorded.num_steps),
          .rejected = on_host(recorded.num_rejected),
          .rhs = on_host(recorded.num_rhs),
          .status = on_host(recorded.status)};
}

void expect_same_row(const Outcome& a, int i, const Outcome& b, int k) {
  EXPECT_TRUE(same_row(a.states, i, b.states, k)) << "final state of trajectory " << i;
  EXPECT_TRUE(same_row(a.replayed, i, b.replayed, k)) << "replay of trajectory " << i;
  EXPECT_TRUE(same_row(a.du0, i, b.du0, k)) << "d / du0 of trajectory " << i;
  EXPECT_TRUE(same_row(a.dparams, i, b.dparams, k)) << "d / dp of trajectory " << i;
  EXPECT_TRUE(same_row(a.tangents, i, b.tangents, k)) << "tangent of trajectory " << i;
  EXPECT_TRUE(same_row(a.loss, i, b.loss, k)) << "loss of trajectory " << i;
  EXPECT_TRUE(same_row(a.ratio, i, b.ratio, k)) << "error ratio of trajectory " << i;
  EXPECT_EQ(a.steps(i), b.steps(k)) << "trajectory " << i;
  EXPECT_EQ(a.rejected(i), b.rejected(k)) << "trajectory " << i;
  EXPECT_EQ(a.rhs(i), b.rhs(k)) << "trajectory " << i;
  EXPECT_EQ(a.status(i), b.status(k)) << "trajectory " << i;
}

void expect_same(const Outcome& a, const Outcome& b) {
  ASSERT_EQ(a.states.extent(0), b.states.extent(0));
  for (int i = 0; i < static_cast<int>(a.states.extent(0)); ++i) expect_same_row(a, i, b, i);
}

/// Trajectories `which` of the inputs, in that order.
Inputs<double> choose(const Inputs<double>& inputs, const std::vector<int>& which) {
  const auto u0 = on_host(inputs.u0), params = on_host(inputs.params);
  auto rows = [&](const auto& from) {
    return matrix<double>(static_cast<int>(which.size()), static_cast<int>(from.extent(1)),
                          [&](int i, int j) { return from(which[i], j); });
  };
  return {rows(u0), rows(params)};
}

Inputs<double> uneven(int n) { return spread_around(n, {1.0, 1.0}, {1.5, 1.0, 3.0, 1.0}, 0.4, 4); }

/// One trajectory of a hundred takes six or twenty times as long.
Kokkos::View<double*, Memory> heavy_tailed_ends(int n) {
  std::vector<double> ends(n, t1);
  for (int i = 57; i < n; i += 100) ends[i] *= i > n / 2 ? 20 : 6;
  return column(ends);
}

TEST(Invariance, H7ATrajectoryAloneIsThatOfTheEnsemble) {
  const int n = 37;
  const auto inputs = uneven(n);
  const Outcome together = solve(LotkaVolterra{}, inputs.ensemble(0.0, t1));
  for (int i = 0; i < n; ++i)
    expect_same_row(solve(LotkaVolterra{}, choose(inputs, {i}).ensemble(0.0, t1)), 0, together, i);
}

TEST(Invariance, OrderOfTheTrajectoriesDoesNotMatter) {
  const int n = 5000;  // more than one window of the sort
  const auto inputs = uneven(n);
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  Uniform uniform(6);
  for (int i = n - 1; i > 0; --i) std::swap(order[i], order[static_cast<int>(uniform(0, i + 1))]);
  const Outcome straight = solve(LotkaVolterra{}, inputs.ensemble(0.0, t1));
  const Outcome shuffled = solve(LotkaVolterra{}, choose(inputs, order).ensemble(0.0, t1));
  for (int i = 0; i < n; ++i) expect_same_row(shuffled, i, straight, order[i]);
}

TEST(Invariance, SortingDoesNotMatter) {
  const auto inputs = uneven(5000);
  const auto ensemble = inputs.ensemble(0.0, t1);
  Options unsorted = tight;
  unsorted.sort = false;
  expect_same(solve(LotkaVolterra{}, ensemble, unsorted), solve(LotkaVolterra{}, ensemble));

  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, unsorted);
  const auto order = on_host(recorded.mesh.order);
  for (int i = 0; i < ensemble.size(); ++i) EXPECT_EQ(order(i), i);
  const auto sorted = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, tight);
  EXPECT_LT(sorted.mesh.total_rows, recorded.mesh.total_rows);
}

TEST(Invariance, LongTrajectoriesDoNotMatterAndComeFirstOnAGpu) {
  const int n = 6000;
  const auto inputs = uneven(n);
  const auto ensemble = inputs.ensemble(0.0, heavy_tailed_ends(n));
  Options unsorted = tight;
  unsorted.sort = false;
  expect_same(solve(LotkaVolterra{}, ensemble), solve(LotkaVolterra{}, ensemble, unsorted));

  // Every trajectory is somewhere, once.
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, tight);
  auto order = on_host(recorded.mesh.order);
  std::vector<int> members(order.data(), order.data() + order.extent(0));
  std::erase(members, -1);
  std::ranges::sort(members);
  ASSERT_EQ(static_cast<int>(members.size()), n);
  for (int i = 0; i < n; ++i) EXPECT_EQ(members[i], i);

  if (Kokkos::SpaceAccessibility<Kokkos::HostSpace, Memory>::accessible) return;
  const auto first_row = on_host(recorded.mesh.first_row);
  const double mean = double(recorded.mesh.total_rows) / recorded.mesh.num_slices;
  auto height = [&](int slice) { return double(first_row(slice + 1) - first_row(slice)) / mean; };
  EXPECT_GT(height(0), 4);
  int slice = 0;
  while (height(slice) > 2) ++slice;
  EXPECT_LE(slice, 6);  // 60 long ones, in slices of 32, and those they share with others
  for (; slice < recorded.mesh.num_slices; ++slice) EXPECT_LE(height(slice), 2);
}

TEST(Invariance, LayoutOfTheInputsDoesNotMatter) {
  const int n = 37;
  const auto inputs = uneven(n);
  const Outcome expected = solve(LotkaVolterra{}, inputs.ensemble(0.0, t1));

  Kokkos::View<double**, Kokkos::LayoutRight, Memory> u0_right("u0", n, 2), p_right("p", n, 4);
  Kokkos::deep_copy(u0_right, inputs.u0);
  Kokkos::deep_copy(p_right, inputs.params);
  expect_same(solve(LotkaVolterra{}, Ensemble(u0_right, p_right, 0.0, t1)), expected);

  // Columns 1 and 3, and every third row, of larger arrays.
  Kokkos::View<double***, Kokkos::LayoutRight, Memory> large("large", n, 3, 4);
  const auto u0_strided = Kokkos::subview(large, Kokkos::ALL, 1, Kokkos::pair<int, int>(1, 3));
  const Kokkos::View<double**, Kokkos::LayoutStride, Memory> u0_view = u0_strided;
  const auto p_strided = Kokkos::subview(large, Kokkos::ALL, 2, Kokkos::ALL);
  const Kokkos::View<double**, Kokkos::LayoutStride, Memory> p_view = p_strided;
  Kokkos::deep_copy(u0_view, inputs.u0);
  Kokkos::deep_copy(p_view, inputs.params);
  expect_same(solve(LotkaVolterra{}, Ensemble(u0_view, p_view, 0.0, t1)), expected);

  const Kokkos::View<const double**, Kokkos::LayoutLeft, Memory> u0_const = inputs.u0,
                                                                 p_const = inputs.params;
  expect_same(solve(LotkaVolterra{}, Ensemble(u0_const, p_const, 0.0, t1)), expected);
}

TEST(Invariance, TimesInAViewAreTimes) {
  const int n = 37;
  const auto inputs = uneven(n);
  const Kokkos::View<double**, Kokkos::LayoutRight, Memory> times("times", n, 2);
  const auto end = Kokkos::subview(times, Kokkos::ALL, 1);
  Kokkos::deep_copy(end, t1);
  expect_same(solve(LotkaVolterra{}, inputs.ensemble(Kokkos::subview(times, Kokkos::ALL, 0), end)),
              solve(LotkaVolterra{}, inputs.ensemble(0.0, t1)));
}

TEST(Invariance, SharedParametersAreParameters) {
  const int n = 37;
  const auto u0 = uneven(n).u0;
  const std::vector<double> p{1.5, 1.0, 3.0, 1.0};
  const auto repeated = matrix<double>(n, 4, [&](int, int j) { return p[j]; });
  const Outcome each = solve(LotkaVolterra{}, Ensemble(u0, repeated, 0.0, t1));
  Outcome shared = solve(LotkaVolterra{}, Ensemble(u0, column(p), 0.0, t1));
  shared.dparams = each.dparams;
  expect_same(shared, each);
}

TEST(Invariance, OfTheExecutionSpaceInstance) {
  const auto inputs = uneven(37);
  const auto ensemble = inputs.ensemble(0.0, t1);
  const auto parts = Kokkos::Experimental::partition_space(Exec(), 1, 1);
  for (const Exec& exec : parts) {
    const auto recorded = record(exec, LotkaVolterra{}, Tsit5{}, ensemble, tight);
    const auto slopes = gradient(exec, LotkaVolterra{}, recorded, ensemble, SquaredNorm{});
    exec.fence();
    const Outcome expected = solve(LotkaVolterra{}, ensemble);
    EXPECT_TRUE(same_bits_everywhere(recorded.states, expected.states));
    EXPECT_TRUE(same_bits_everywhere(slopes.params, expected.dparams));
  }
}

// A GPU runs one trajectory a thread, whatever else is asked for.
#if !defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOS_ENABLE_HIP)
TEST(Invariance, WidthOfTheLanesDoesNotMatter) {
  const auto inputs = uneven(37);
  const auto ensemble = inputs.ensemble(0.0, t1);
  const Outcome expected = solve<1>(LotkaVolterra{}, ensemble);
  expect_same(solve<2>(LotkaVolterra{}, ensemble), expected);
  expect_same(solve<4>(LotkaVolterra{}, ensemble), expected);
  expect_same(solve<0>(LotkaVolterra{}, ensemble), expected);
}

TEST(Invariance, WidthOfTheLanesDoesNotMatterWithMathFunctionsAndTime) {
  const auto inputs = spread_around(37, {1.0, 0.5}, {2.0, 0.7}, 0.4);
  const auto ensemble = inputs.ensemble(0.0, t1);
  const Outcome expected = solve<1>(DrivenPendulum{}, ensemble);
  expect_same(solve<4>(DrivenPendulum{}, ensemble), expected);
}

/// The same equations as LotkaVolterra, which does not say that it branches.
struct SaysItBranches : LotkaVolterra {
  static constexpr bool branches = true;
};

TEST(Invariance, ASystemThatBranchesRunsOneTrajectoryAtATime) {
  const auto ensemble = uneven(37).ensemble(0.0, t1);
  const auto recorded = record(Exec(), SaysItBranches{}, Tsit5{}, ensemble, tight);
  EXPECT_EQ(recorded.mesh.width, 1);
  EXPECT_TRUE(same_bits_everywhere(
      recorded.states, record<1>(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, tight).states));
}
#endif

}  // namespace
}  // namespace gradsolve::test
