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
    EXPECT_EQ(detail::replay_factor(rows, plan), 1);
  }
  EXPECT_EQ(plan_checkpoints(0, 0).length, 1);
}

TEST(CheckpointPlan, FitsInItsRoom_AndTakesTheFewestSteps) {
  for (int rows : {2, 3, 10, 49, 500})
    for (int room = 2; room < rows; ++room) {
      const Checkpoints plan = plan_checkpoints(rows, room);
      double fewest = HUGE_VAL;  // of all plans
      for (int length = 1; length < room; ++length) {
        const int places = std::min(room - length, num_checkpoints(rows, length));
        if (detail::num_replays(num_checkpoints(rows, length) + 1, places) <= detail::max_replays)
          fewest = std::min(fewest, detail::replay_factor(rows, {length, places, length + places}));
      }
      if (plan.room == 0) {
        EXPECT_EQ(fewest, HUGE_VAL) << rows << " in " << room;
        continue;
      }
      EXPECT_EQ(plan.room, plan.length + plan.places);
      EXPECT_LE(plan.room, room);
      // The last segment may be short: the plan takes it for a whole one.
      EXPECT_LE(detail::replay_factor(rows, plan), fewest * (1 + double(plan.length) / rows))
          << rows << " in " << room;
    }
}

/// The fewest segments that are passed on the way to others, by trying every place for the next
/// checkpoint.
int fewest_passes(int count, int places, std::vector<std::vector<int>>& known) {
  if (count == 1) return 0;
  if (places == 0) return 1 << 20;
  int& fewest = known[places][count];
  if (fewest > 0) return fewest;
  fewest = 1 << 20;
  for (int before = 1; before < count; ++before)
    fewest = std::min(fewest, before + fewest_passes(before, places, known) +
                                  fewest_passes(count - before, places - 1, known));
  return fewest;
}

/// Walks back over `count` segments as the kernel does, with the checkpoints in an array; returns
/// the segments passed on the way.
int walk_back(const std::vector<detail::Segment>& schedule, int count, int places) {
  const detail::CheckpointSchedule checkpoints{schedule.data()};
  std::vector<int> held(places, -1), passed(count, 0);
  for (int goal = count - 1; goal >= 0; --goal) {
    const int first = goal == count - 1 ? 0 : checkpoints.nearest(goal);
    if (goal < count - 1) {
      EXPECT_EQ(held.at(checkpoints.place(first)), first);
    }
    for (int k = first; k < goal; ++k) {
      ++passed[k];
      if (checkpoints.keeps(k, goal)) held.at(checkpoints.place(k)) = k;
    }
  }
  int sum = 0;
  for (int times : passed) {
    EXPECT_LE(times, detail::max_replays);
    sum += times;
  }
  return sum;
}

TEST(CheckpointSchedule, FindsEachCheckpointInItsPlace_AndPassesAsFewSegmentsAsCanBe) {
  std::vector<std::vector<int>> known(8, std::vector<int>(400, 0));
  for (int places = 1; places < 8; ++places)
    for (int count = 1; count <= detail::num_segments_within(places, detail::max_replays);
         ++count) {
      const auto schedule = detail::plan_schedule(count, places);
      EXPECT_EQ(walk_back(schedule, count, places), fewest_passes(count, places, known))
          << count << " segments, " << places << " places";
      for (int fewer : {1, count / 2, count - 1})
        if (fewer > 0) walk_back(schedule, fewer, places);
    }
}

TEST(CheckpointPlan, NeedsTwiceTheRootOfTheSteps) {
  for (int rows : {10, 1000, 100'000, 1 << 30})
    EXPECT_LT(detail::replay_factor(
                  rows, plan_checkpoints(rows, static_cast<long long>(2 * std::sqrt(rows)))),
              2)
        << rows;
}

TEST(CheckpointPlan, NeedsLittleForManySteps) {
  EXPECT_LE(detail::least_room(100'000), 31);
  EXPECT_LE(detail::least_room(1'000'000), 50);
  const Checkpoints plan = plan_checkpoints(100'000, 150);
  EXPECT_LT(detail::replay_factor(100'000, plan), 3);
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
  const auto ensemble = inputs.ensemble(0.0, 12.0);
  auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, {.rtol = 1e-7});
  const auto all = gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{});
  const int rows = recorded.mesh.max_rows;
  ASSERT_GT(rows, 100);
  for (const auto& numbers : {all.states, all.u0, all.params})
    EXPECT_TRUE(finite_everywhere(numbers));
  const int least = static_cast<int>(detail::least_room(rows));
  ASSERT_LT(least, int(std::sqrt(rows)));
  auto again = gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{});
  for (int room : {rows - 1, rows / 2, rows / 2 + 1, 2 * int(std::sqrt(rows)) + 1,
                   int(std::sqrt(rows)) + 1, least + 1, least, rows / 2}) {
    recorded.options.memory_budget = bytes(recorded, 2, room);
    const auto few = gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{});
    EXPECT_LE(few.workspace.buffer.extent(0) * sizeof(double), recorded.options.memory_budget);
    EXPECT_TRUE(same_bits_everywhere(few.states, all.states));
    EXPECT_TRUE(same_bits_everywhere(few.u0, all.u0));
    EXPECT_TRUE(same_bits_everywhere(few.params, all.params));
    gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{}, again);
    EXPECT_TRUE(same_bits_everywhere(again.u0, all.u0));
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
  const int rows = recorded.mesh.max_rows;
  for (int room : {rows / 2, static_cast<int>(detail::least_room(rows))}) {
    recorded.options.memory_budget = bytes(recorded, 2, room);
    const auto few = gradient_with_times(Exec(), LotkaVolterra{}, recorded, ensemble, loss);
    EXPECT_TRUE(same_bits_everywhere(few.u0, all.u0));
    EXPECT_TRUE(same_bits_everywhere(few.params, all.params));
    EXPECT_TRUE(same_bits_everywhere(few.save_times, all.save_times));
    recorded.options.memory_budget = bytes(recorded, 4, room);
    const auto few_product = hessian_product(Exec(), LotkaVolterra{}, recorded, ensemble,
                                             SquaredNorm{}, direction, to_params);
    EXPECT_TRUE(same_bits_everywhere(few_product.u0, product.u0));
    EXPECT_TRUE(same_bits_everywhere(few_product.params, product.params));
  }
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
