// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Macros.hpp>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <limits>
#include <vector>

/// How the adjoint of a long trajectory fits in little memory. It needs the state at the begin of
/// every step, last step first. Rows are cut into segments of equal length: the states of one
/// segment are kept, and of earlier segments the states at their begins (checkpoints), from which
/// they are replayed when their turn comes.
///
/// With a checkpoint for each earlier segment none is replayed more than once. With fewer, a
/// segment without one is reached from the nearest before it, and the places that are free by then
/// take checkpoints on the way: c places serve C(c + r, r) segments of which none is replayed more
/// than r times (A. Griewank, A. Walther 2000, algorithm 799: revolve).
namespace gradsolve::detail {

struct Checkpoints {
  int length = 1;  ///< Rows of a segment; all of them where nothing is replayed.
  int places = 0;  ///< For checkpoints.
  int room = 1;    ///< Rows of memory: a segment and the places; 0: there is no such plan.
};

/// Segments before the last one, of trajectories of `rows` steps.
KOKKOS_FORCEINLINE_FUNCTION constexpr int num_checkpoints(int rows, int length) {
  return rows > 0 ? (rows - 1) / length : 0;
}

/// Beyond four replays of a step it is cheaper to have half as many slices in flight: a step back
/// costs about two forward.
inline constexpr int max_replays = 4;

/// C(places + replays, replays): the segments that can be swept back.
constexpr int num_segments_within(int places, int replays) {
  long long count = 1;
  for (int k = 1; k <= replays; ++k) {
    count = count * (places + k) / k;
    if (count > INT_MAX) return INT_MAX;
  }
  return static_cast<int>(count);
}

/// The least number of replays for so many segments; more than max_replays where they are too many.
constexpr int num_replays(int segments, int places) {
  int replays = 0;
  while (replays <= max_replays && num_segments_within(places, replays) < segments) ++replays;
  return replays;
}

/// For trajectories of `rows` steps in `room` rows of memory: the plan of the fewest steps. With r
/// replays these are (r + 1) m - C(places + r, r - 1) segments, m in all. 2 sqrt(rows) are enough
/// for one replay; the last segment is never replayed, so that the longest are best.
constexpr Checkpoints plan_checkpoints(int rows, long long room) {
  if (room >= rows) return {std::max(rows, 1), 0, std::max(rows, 1)};
  for (int places = 1; places < room; ++places) {
    const int length = static_cast<int>(room) - places;
    const int earlier = num_checkpoints(rows, length);
    if (earlier <= places) return {length, earlier, length + earlier};
  }
  Checkpoints best{0, 0, 0};
  long long fewest = std::numeric_limits<long long>::max();
  for (int places = 1; places < room; ++places) {
    const int length = static_cast<int>(room) - places;
    const int segments = num_checkpoints(rows, length) + 1;
    const int replays = num_replays(segments, places);
    if (replays > max_replays) continue;
    const long long steps =
        length * ((replays + 1LL) * segments - num_segments_within(places + 1, replays - 1));
    if (steps < fewest) best = {length, places, length + places};
    fewest = std::min(fewest, steps);
  }
  return best;
}

/// The least of such rooms.
constexpr long long least_room(int rows) {
  long long room = 1;
  while (plan_checkpoints(rows, room).room == 0) ++room;
  return room;
}

/// What the way back needs to know of a segment.
struct Segment {
  int place;  ///< Of its checkpoint.
  int until;  ///< The checkpoint is used on the ways to the segments before this one.
  int from;   ///< When its turn comes: the segment with the nearest checkpoint.
};

/// As a kernel sees it.
struct CheckpointSchedule {
  const Segment* segments = nullptr;  ///< Null: each has a checkpoint, in the place of its number.

  KOKKOS_FORCEINLINE_FUNCTION int place(int segment) const {
    return segments == nullptr ? segment : segments[segment].place;
  }
  KOKKOS_FORCEINLINE_FUNCTION int nearest(int segment) const {
    return segments == nullptr ? segment : segments[segment].from;
  }
  /// Whether the way to segment `goal` leaves a checkpoint at the begin of an earlier one.
  KOKKOS_FORCEINLINE_FUNCTION bool keeps(int segment, int goal) const {
    return segments == nullptr || segments[segment].until > goal;
  }
};

/// How many of `count` segments, with `places` for checkpoints, come before the next checkpoint,
/// the first having one: the fewest that the least number of replays allows.
constexpr int num_before_next(int count, int places) {
  const int replays = num_replays(count, places);
  const int least = replays < 2 ? 1 : num_segments_within(places, replays - 2);
  return std::max(least, count - num_segments_within(places - 1, replays));
}

/// Plans segments [first, first + count), of which the first has its checkpoint in `place`, with
/// `places` from that one on.
inline void plan_segments(std::vector<Segment>& segments, int first, int count, int place,
                          int places) {
  segments[first].place = place;
  segments[first].until = first + count;
  while (count > 1) {
    const int before = num_before_next(count, places);
    plan_segments(segments, first + before, count - before, place + 1, places - 1);
    count = before;
  }
}

/// The schedule for `count` segments. Trajectories of fewer take the first ones of it.
inline std::vector<Segment> plan_schedule(int count, int places) {
  std::vector<Segment> segments(count);
  plan_segments(segments, 0, count, 0, places);
  std::vector<int> held;  // checkpoints left by the way to the next segment
  for (int goal = 0; goal < count; ++goal) {
    held.push_back(goal);
    while (held.size() > 1 && segments[held.back()].until <= goal + 1) held.pop_back();
    segments[goal].from = held.back();
  }
  return segments;
}

/// Whether not every segment has its own checkpoint.
constexpr bool needs_schedule(int rows, const Checkpoints& plan) {
  return plan.places < num_checkpoints(rows, plan.length);
}
constexpr std::size_t schedule_bytes(int rows, const Checkpoints& plan) {
  return needs_schedule(rows, plan)
             ? sizeof(Segment) * (num_checkpoints(rows, plan.length) + std::size_t(1))
             : 0;
}

/// Steps that are taken on the way, there and back, for each step of the trajectory: from 1 to
/// 1 + max_replays.
inline double replay_factor(int rows, const Checkpoints& plan) {
  if (rows == 0 || plan.places == 0) return 1;
  const int last = num_checkpoints(rows, plan.length);
  const std::vector<Segment> segments = plan_schedule(last + 1, plan.places);
  double steps = rows;
  for (int k = 0; k < last; ++k) steps += double(k + 1 - segments[k].from) * plan.length;
  return steps / rows;
}

/// The slices in flight and how they keep their states; num_slots is 0 where not one fits.
struct StatesPlan {
  int num_slots = 0;
  Checkpoints checkpoints;
};

/// For slices of up to `rows` steps, of which a row of states takes row_bytes, within `budget`
/// bytes (0: what it takes to keep all). First slices keep checkpoints, then fewer are in flight.
constexpr StatesPlan plan_states(int max_slots, int rows, std::size_t row_bytes,
                                 std::size_t budget) {
  for (int slots = max_slots; slots > 0; slots /= 2) {
    const std::size_t room = budget == 0 ? rows : budget / (row_bytes * slots);
    const Checkpoints plan = plan_checkpoints(rows, static_cast<long long>(room));
    if (plan.room > 0) return {slots, plan};
  }
  return {};
}

}  // namespace gradsolve::detail
