// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ensembles chunk by chunk: the same bits as all at once.
#include <gradsolve/gradsolve.hpp>

#include <support/ensembles.hpp>
#include <support/gradients.hpp>
#include <support/systems.hpp>

namespace gradsolve::test {
namespace {

TEST(Ensemble, RangeIsTheTrajectoriesInIt) {
  const auto inputs = lotka_volterra(10);
  const auto t1 = column(std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  const Ensemble all(inputs.u0, inputs.params, 0.0, t1);
  const auto some = all.range(3, 7);
  EXPECT_EQ(some.size(), 4);
  const Options options{.rtol = 1e-6};
  const auto a = record(Exec(), LotkaVolterra{}, Tsit5{}, all, options);
  const auto b = record(Exec(), LotkaVolterra{}, Tsit5{}, some, options);
  const auto x = on_host(a.states), y = on_host(b.states);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 2; ++j) EXPECT_EQ(y(i, j), x(3 + i, j)) << i << ", " << j;
}

/// |u|^2 with a weight of each trajectory.
struct WeightedNorm {
  Kokkos::View<const double*, Memory> weights;

  template <class T>
  KOKKOS_FUNCTION T operator()(const State<T, 2>& u, const Params<T, 4>&, int trajectory) const {
    return T(weights(trajectory)) * (u[0] * u[0] + u[1] * u[1]);
  }
};

/// More than a pilot chunk, in chunks of what 8 MB hold.
struct Chunks : ::testing::Test {
  static constexpr int n = 3 * detail::pilot_chunk + 17;
  const Inputs<double> inputs = lotka_volterra(n);
  const Options options{.rtol = 1e-5, .memory_budget = 2'000'000};
  ChunkedGradient<double, Memory> out;

  /// Chunks and all at once have the same bits of a loss, and it is not the same for all.
  template <class Loss>
  void expect_the_bits_of_all_at_once(const Loss& loss) {
    const auto ensemble = inputs.ensemble(0.0, 2.0);
    record_and_gradient_in_chunks(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, options, loss, out);
    EXPECT_GT(out.num_chunks, 2);
    const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, {.rtol = 1e-5});
    const auto whole = gradient(Exec(), LotkaVolterra{}, recorded, ensemble, loss);
    EXPECT_TRUE(finite_everywhere(whole.loss));
    EXPECT_TRUE(same_bits_everywhere(out.loss, whole.loss));
    EXPECT_TRUE(same_bits_everywhere(out.u0, whole.u0));
    EXPECT_TRUE(same_bits_everywhere(out.params, whole.params));
  }
};

TEST_F(Chunks, GiveTheBitsOfAllAtOnce) {
  const auto ensemble = inputs.ensemble(0.0, 2.0);
  int done = 0, calls = 0;
  record_and_gradient_in_chunks(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, options, SquaredNorm{},
                                out, [&](int now, int all) {
                                  EXPECT_GT(now, done);
                                  EXPECT_EQ(all, n);
                                  done = now;
                                  ++calls;
                                });
  EXPECT_EQ(done, n);
  EXPECT_EQ(calls, out.num_chunks);
  EXPECT_GT(out.num_chunks, 2);
  EXPECT_LT(out.largest_chunk, n);
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, {.rtol = 1e-5});
  const auto whole = gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{});
  for (const auto& numbers : {whole.states, whole.u0, whole.params})
    EXPECT_TRUE(finite_everywhere(numbers));
  EXPECT_TRUE(finite_everywhere(whole.loss));
  EXPECT_TRUE(same_bits_everywhere(out.loss, whole.loss));
  EXPECT_TRUE(same_bits_everywhere(out.states, whole.states));
  EXPECT_TRUE(same_bits_everywhere(out.u0, whole.u0));
  EXPECT_TRUE(same_bits_everywhere(out.params, whole.params));
  EXPECT_TRUE(same_bits_everywhere(out.status, recorded.status));
  EXPECT_TRUE(same_bits_everywhere(out.num_steps, recorded.num_steps));
}

TEST_F(Chunks, AddUpTheGradientOfSharedParameters) {
  const auto shared = column(std::vector<double>{1.5, 1.0, 3.0, 1.0});
  const Ensemble ensemble(inputs.u0, shared, 0.0, 2.0);
  record_and_gradient_in_chunks(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, options, SquaredNorm{},
                                out);
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, {.rtol = 1e-5});
  const auto whole = gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{});
  EXPECT_TRUE(finite_everywhere(whole.u0));
  EXPECT_TRUE(same_bits_everywhere(out.u0, whole.u0));
  const auto a = on_host(out.params), b = on_host(whole.params);
  ASSERT_EQ(a.extent(0), 1u);
  for (int j = 0; j < 4; ++j) EXPECT_NEAR(a(0, j), b(0, j), 1e-12 * std::abs(b(0, j))) << j;
}

TEST_F(Chunks, CountWhatIsLeftOutOfASum) {
  const auto u0 = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), inputs.u0);
  for (const int i : {5, n / 2, n - 1}) u0(i, 0) = Kokkos::Experimental::quiet_NaN_v<double>;
  Kokkos::deep_copy(inputs.u0, u0);
  const Ensemble ensemble(inputs.u0, column(std::vector<double>{1.5, 1.0, 3.0, 1.0}), 0.0, 2.0);
  for (int again = 0; again < 2; ++again) {
    record_and_gradient_in_chunks(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, options,
                                  SquaredNorm{}, out);
    EXPECT_EQ(out.left_out, 3);
    EXPECT_TRUE(finite_everywhere(out.params));
  }
}

TEST_F(Chunks, KeepTheNumberOfATrajectory) {
  std::vector<double> weights(n);
  for (int i = 0; i < n; ++i) weights[i] = 1 + i;
  expect_the_bits_of_all_at_once(WeightedNorm{column(weights)});
}

TEST_F(Chunks, HaveTheirOwnSaveTimesAndData) {
  const auto times = matrix<double>(n, 3, [](int i, int j) { return 0.5 * (j + 1) + 1e-5 * i; });
  const Kokkos::View<int*, Memory> counts("counts", n);
  const auto counts_host = Kokkos::create_mirror_view(counts);
  for (int i = 0; i < n; ++i) counts_host(i) = i % 4;
  Kokkos::deep_copy(counts, counts_host);
  const Kokkos::View<double***, Memory> data("data", n, 3, 2);
  const auto data_host = Kokkos::create_mirror_view(data);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 2; ++k) data_host(i, j, k) = 1e-3 * i + j - k;
  Kokkos::deep_copy(data, data_host);
  const auto saves = save_times(Exec(), inputs.ensemble(0.0, 2.0), times, counts);
  expect_the_bits_of_all_at_once(at_saves(saves, least_squares(data)));
}

TEST_F(Chunks, RefuseDataOfAnotherEnsemble) {
  const auto ensemble = inputs.ensemble(0.0, 2.0);
  const auto saves = save_times(Exec(), ensemble, std::vector{1.0, 2.0});
  const Kokkos::View<double***, Memory> data("data", n - 1, 2, 2);
  EXPECT_THROW(record_and_gradient_in_chunks(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, options,
                                             at_saves(saves, least_squares(data)), out),
               InvalidArgument);
}

TEST_F(Chunks, ReachPinnedMemoryOfTheHost) {
  using Pinned = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::SharedHostPinnedSpace>;
  const Pinned u0("u0", 5000, 2), params("params", 5000, 4);
  const auto u0_of = on_host(inputs.u0), params_of = on_host(inputs.params);
  for (int i = 0; i < 5000; ++i) {
    for (int j = 0; j < 2; ++j) u0(i, j) = u0_of(i, j);
    for (int j = 0; j < 4; ++j) params(i, j) = params_of(i, j);
  }
  ChunkedGradient<double, Kokkos::SharedHostPinnedSpace> pinned;
  record_and_gradient_in_chunks(Exec(), LotkaVolterra{}, Tsit5{}, Ensemble(u0, params, 0.0, 2.0),
                                options, SquaredNorm{}, pinned);
  record_and_gradient_in_chunks(Exec(), LotkaVolterra{}, Tsit5{},
                                inputs.ensemble(0.0, 2.0).range(0, 5000), options, SquaredNorm{},
                                out);
  EXPECT_TRUE(finite_everywhere(out.params));
  EXPECT_TRUE(finite_everywhere(out.loss));
  EXPECT_TRUE(same_bits_everywhere(pinned.params, out.params));
  EXPECT_TRUE(same_bits_everywhere(pinned.loss, out.loss));
}

TEST_F(Chunks, OfNoTrajectories_AreNone) {
  record_and_gradient_in_chunks(Exec(), LotkaVolterra{}, Tsit5{},
                                inputs.ensemble(0.0, 2.0).range(0, 0), options, SquaredNorm{}, out);
  EXPECT_EQ(out.num_chunks, 0);
  EXPECT_EQ(out.loss.extent(0), 0u);
}

/// All trajectories take as many steps, so that the plan knows all.
TEST(MemoryPlan, CountsTheChunks) {
  constexpr int n = 20'000, steps = 30;
  const auto inputs = lotka_volterra(n);
  const Options fixed{.fixed_steps = steps, .memory_budget = 8'000'000};
  ChunkedGradient<> out;
  record_and_gradient_in_chunks(Exec(), LotkaVolterra{}, Tsit5{}, inputs.ensemble(0.0, 1.0), fixed,
                                SquaredNorm{}, out);
  const auto plan = plan_memory(Exec(), LotkaVolterra{}, Tsit5{}, n, steps, steps, fixed);
  EXPECT_GT(out.num_chunks, 2);
  EXPECT_EQ(plan.num_chunks, out.num_chunks);
  EXPECT_NEAR(plan.chunk_size, out.largest_chunk, 0.01 * out.largest_chunk);
  EXPECT_EQ(plan_memory(Exec(), LotkaVolterra{}, Tsit5{}, 100, steps, steps).num_chunks, 1);
  EXPECT_EQ(plan_memory(Exec(), LotkaVolterra{}, Tsit5{}, 0, steps, steps).num_chunks, 0);
}

TEST(MemoryPlan, KnowsTheStatesThatTheRecordKeeps) {
  constexpr int n = 64, steps = 30;
  const Options options{.fixed_steps = steps, .keep_states = true};
  const auto r =
      record(Exec(), LotkaVolterra{}, Tsit5{}, lotka_volterra(n).ensemble(0.0, 1.0), options);
  const auto plan = plan_memory(Exec(), LotkaVolterra{}, Tsit5{}, n, steps, steps, options);
  EXPECT_EQ(plan.kept, r.kept.extent(0) * sizeof(double));
  EXPECT_EQ(plan.mesh, r.mesh.ends.extent(0) * sizeof(double));
  EXPECT_EQ(plan_memory(Exec(), LotkaVolterra{}, Tsit5{}, n, steps, steps).kept, 0u);
}

}  // namespace
}  // namespace gradsolve::test
