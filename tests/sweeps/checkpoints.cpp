// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Gradients that keep few states: the same bits as of those that keep all.
#include <gradsolve/gradsolve.hpp>

#include <support/ensembles.hpp>
#include <support/gradients.hpp>
#include <support/observed.hpp>
#include <support/systems.hpp>

namespace gradsolve::test {
namespace {

using detail::Checkpoints;
using detail::num_checkpoints;
using detail::plan_checkpoints;

TEST(CheckpointPlan, KeepsAllWhereThereIsRoom) {
  for (int rows : {1, 2, 49, 100'000}) {
    const Checkpoints plan = plan_checkpoints(rows, rows);
    EXPECT_EQ(plan.length, rows);
    EXPECT_EQ(plan.room, rows);
    EXPECT_EQ(detail::replay_factor(rows, plan.length), 1);
  }
  EXPECT_EQ(plan_checkpoints(0, 0).length, 1);
}

TEST(CheckpointPlan, FitsInItsRoom_AndIsTheLongestThatDoes) {
  for (int rows : {2, 3, 10, 49, 1000})
    for (int room = 2; room < rows; ++room) {
      const Checkpoints plan = plan_checkpoints(rows, room);
      auto need = [&](int length) { return length + num_checkpoints(rows, length); };
      if (plan.room == 0) {
        for (int length = 1; length <= rows; ++length) EXPECT_GT(need(length), room);
        continue;
      }
      EXPECT_EQ(plan.room, need(plan.length));
      EXPECT_LE(plan.room, room);
      for (int length = plan.length + 1; length <= rows; ++length) EXPECT_GT(need(length), room);
      EXPECT_LT(detail::replay_factor(rows, plan.length), 2);
    }
}

TEST(CheckpointPlan, NeedsTwiceTheRootOfTheSteps) {
  for (int rows : {10, 1000, 100'000, 1 << 30})
    EXPECT_GT(plan_checkpoints(rows, static_cast<long long>(2 * std::sqrt(rows))).room, 0) << rows;
}

/// Bytes of `rows` rows of states, for as many slices as are in flight.
template <class Rec>
std::size_t bytes(const Rec& record, int numbers, int rows) {
  const std::size_t slots =
      std::min(detail::Backend<Exec>::num_slots(Exec()), record.mesh.num_slices);
  return sizeof(double) * numbers * record.mesh.width * rows * slots;
}

TEST(Checkpoints, GiveTheSameBits_InEveryRoom) {
  const auto inputs = lotka_volterra(37);
  const auto ensemble = inputs.ensemble(0.0, 4.0);
  auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, {.rtol = 1e-7});
  const auto all = gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{});
  const int rows = recorded.mesh.max_rows;
  ASSERT_GT(rows, 20);
  for (const auto& numbers : {all.states, all.u0, all.params})
    EXPECT_TRUE(finite_everywhere(numbers));
  for (int room : {rows - 1, rows / 2, rows / 2 + 1, 2 * int(std::sqrt(rows)) + 1}) {
    recorded.options.memory_budget = bytes(recorded, 2, room);
    const auto few = gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{});
    EXPECT_LE(few.workspace.buffer.extent(0) * sizeof(double), recorded.options.memory_budget);
    EXPECT_TRUE(same_bits_everywhere(few.states, all.states));
    EXPECT_TRUE(same_bits_everywhere(few.u0, all.u0));
    EXPECT_TRUE(same_bits_everywhere(few.params, all.params));
  }
}

TEST(Checkpoints, GiveTheSameBits_OfSavesTimesAndProducts) {
  constexpr int n = 19;
  const auto inputs = lotka_volterra(n);
  const auto ensemble = inputs.ensemble(0.0, 4.0);
  auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, {.rtol = 1e-6});
  const auto times = save_times(Exec(), ensemble, std::vector{0.0, 0.5, 1.7, 1.7, 4.0});
  const auto loss = at_saves(times, WeightedSaves{});
  const auto direction = matrix<double>(n, 2, [](int i, int j) { return i - j; });
  const auto to_params = matrix<double>(n, 4, [](int i, int j) { return 1 + i * j; });
  auto all = gradient_with_times(Exec(), LotkaVolterra{}, recorded, ensemble, loss);
  auto product = hessian_product(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{},
                                 direction, to_params);
  for (const auto& numbers : {all.u0, all.params, all.save_times, product.u0, product.params})
    EXPECT_TRUE(finite_everywhere(numbers));
  recorded.options.memory_budget = bytes(recorded, 2, recorded.mesh.max_rows / 2);
  const auto few = gradient_with_times(Exec(), LotkaVolterra{}, recorded, ensemble, loss);
  EXPECT_TRUE(same_bits_everywhere(few.u0, all.u0));
  EXPECT_TRUE(same_bits_everywhere(few.params, all.params));
  EXPECT_TRUE(same_bits_everywhere(few.save_times, all.save_times));
  recorded.options.memory_budget = bytes(recorded, 4, recorded.mesh.max_rows / 2);
  const auto few_product = hessian_product(Exec(), LotkaVolterra{}, recorded, ensemble,
                                           SquaredNorm{}, direction, to_params);
  EXPECT_TRUE(same_bits_everywhere(few_product.u0, product.u0));
  EXPECT_TRUE(same_bits_everywhere(few_product.params, product.params));
}

TEST(MemoryPlan, IsWhatTheSweepsTake) {
  const auto inputs = lotka_volterra(37);
  const auto ensemble = inputs.ensemble(0.0, 4.0);
  auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, {.rtol = 1e-7});
  const int rows = recorded.mesh.max_rows;
  recorded.options.memory_budget = bytes(recorded, 2, rows / 2);
  const auto some = gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{});
  const MemoryPlan plan =
      plan_memory(Exec(), LotkaVolterra{}, Tsit5{}, 37, rows, rows, recorded.options);
  EXPECT_EQ(plan.states, some.workspace.buffer.extent(0) * sizeof(double));
  EXPECT_EQ(plan.mesh, 37u * rows * sizeof(double));
  EXPECT_GT(plan.replay_factor, 1.4);
  EXPECT_LT(plan.segment_steps, rows / 2);
  EXPECT_EQ(plan_memory(Exec(), LotkaVolterra{}, Tsit5{}, 37, rows, rows).replay_factor, 1);
  EXPECT_THROW(plan_memory(Exec(), LotkaVolterra{}, Tsit5{}, -1, rows, rows), InvalidArgument);
}

TEST(Checkpoints, WithLessThanASlice_AreRefused_AndTheLeastIsToldThatServes) {
  const auto inputs = lotka_volterra(3);
  const auto ensemble = inputs.ensemble(0.0, 4.0);
  auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, {.memory_budget = 32});
  try {
    gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{});
    FAIL() << "no error";
  } catch (const InvalidArgument& error) {
    const std::string what = error.what(), least = "expected at least ";
    EXPECT_EQ(what.rfind("gradsolve::gradient: options.memory_budget is 32 bytes", 0), 0u) << what;
    recorded.options.memory_budget = std::stoull(what.substr(what.find(least) + least.size()));
  }
  const auto with_least = gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{});
  --recorded.options.memory_budget;
  EXPECT_THROW(gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{}),
               InvalidArgument);
  recorded.options.memory_budget = 0;
  const auto all = gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{});
  EXPECT_TRUE(same_bits_everywhere(with_least.u0, all.u0));
}

}  // namespace
}  // namespace gradsolve::test
