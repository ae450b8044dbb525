// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The solve without a record: the same numbers, in whatever order the trajectories go.
#include <gradsolve/gradsolve.hpp>

#include <support/ensembles.hpp>
#include <support/gradients.hpp>
#include <support/stiff_systems.hpp>
#include <support/systems.hpp>

namespace gradsolve::test {
namespace {

constexpr int n = 1003;
const Options options{.rtol = 1e-7};

TEST(Solve, TellsWhatRecordTells) {
  const auto inputs = lotka_volterra(n);
  const auto ensemble = inputs.ensemble(0.0, 3.0);
  const auto recorded = record(Exec(), LotkaVolterra{}, Verner7{}, ensemble, options);
  const auto solved = solve(Exec(), LotkaVolterra{}, Verner7{}, ensemble, options);
  EXPECT_TRUE(finite_everywhere(solved.states));
  EXPECT_GT(on_host(solved.num_steps)(0), 5);
  EXPECT_EQ(count_status(Exec(), solved)[int(Status::success)], n);
  expect_same_outcomes(solved, recorded);
}

/// Long and short trajectories in turns, so that sorting moves all of them.
TEST(Solve, TellsTheSameAgainInTheOrderOfTheSteps) {
  const auto inputs = lotka_volterra(n);
  std::vector<double> ends(n);
  for (int i = 0; i < n; ++i) ends[i] = i % 2 == 0 ? 6.0 : 0.5;
  const auto ensemble = inputs.ensemble(0.0, column(ends));
  Solved<double, Memory> solved;
  solve(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, options, solved);
  EXPECT_EQ(on_host(solved.mesh.order)(1), 1);
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, options);
  expect_same_outcomes(solved, recorded);

  solve(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, options, solved);
  EXPECT_EQ(on_host(solved.mesh.order)(1) % 2, 0);
  expect_same_outcomes(solved, recorded);

  Options unsorted = options;
  unsorted.sort = false;
  solve(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, unsorted, solved);
  EXPECT_EQ(on_host(solved.mesh.order)(1), 1);
  expect_same_outcomes(solved, recorded);
}

TEST(Solve, SavesStatesAtTimes) {
  const auto inputs = lotka_volterra(n);
  const auto ensemble = inputs.ensemble(0.0, 3.0);
  const auto times = save_times(Exec(), ensemble, std::vector{0.0, 0.7, 2.0, 3.0});
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, times, options);
  auto solved = solve(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, times, options);
  EXPECT_TRUE(finite_everywhere(solved.saved));
  EXPECT_TRUE(same_bits_everywhere(solved.saved, recorded.saved));
  expect_same_outcomes(solved, recorded);
  solve(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, options, solved);
  EXPECT_EQ(solved.saved.size(), 0u) << "saves of an earlier call";
}

TEST(Solve, GoesForStiffSystemsAndFixedSteps) {
  const auto inputs = spread_around(33, {1, 0, 0}, {0.04, 3e7, 1e4});
  const auto stiff = inputs.ensemble(0.0, 100.0);
  expect_same_outcomes(solve(Exec(), Robertson{}, Rodas5P{}, stiff, options),
                       record(Exec(), Robertson{}, Rodas5P{}, stiff, options));
  const auto other = lotka_volterra(33);
  const auto ensemble = other.ensemble(0.0, 1.0);
  const Options fixed{.fixed_steps = 50};
  expect_same_outcomes(solve(Exec(), LotkaVolterra{}, RK4{}, ensemble, fixed),
                       record(Exec(), LotkaVolterra{}, RK4{}, ensemble, fixed));
}

TEST(Solve, IsReusedForAnotherNumberOfTrajectories) {
  Solved<double, Memory> solved;
  for (const int size : {n, 7, 0, 50}) {
    const auto inputs = lotka_volterra(size);
    const auto ensemble = inputs.ensemble(0.0, 1.0);
    solve(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, options, solved);
    ASSERT_EQ(solved.states.extent_int(0), size);
    expect_same_outcomes(solved, record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, options));
  }
}

TEST(Solve, SaysWhichTrajectoryFailed) {
  const auto inputs = lotka_volterra(40);
  const auto u0 = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), inputs.u0);
  u0(13, 0) = std::numeric_limits<double>::quiet_NaN();
  Kokkos::deep_copy(inputs.u0, u0);
  const auto solved = solve(Exec(), LotkaVolterra{}, Tsit5{}, inputs.ensemble(0.0, 1.0), options);
  const auto status = on_host(solved.status);
  for (int i = 0; i < 40; ++i)
    EXPECT_EQ(status(i), i == 13 ? Status::bad_input : Status::success) << i;
}

TEST(Solve, RefusesWhatRecordRefuses) {
  const auto inputs = lotka_volterra(4);
  EXPECT_THROW(solve(Exec(), LotkaVolterra{}, Tsit5{}, inputs.ensemble(0.0, 1.0), {.rtol = -1}),
               InvalidArgument);
  EXPECT_THROW(solve(Exec(), Lorenz{}, Tsit5{}, inputs.ensemble(0.0, 1.0)), InvalidArgument);
}

}  // namespace
}  // namespace gradsolve::test
