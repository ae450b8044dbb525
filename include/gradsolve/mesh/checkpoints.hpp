// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Macros.hpp>

#include <cstddef>

/// How the adjoint of a long trajectory fits in little memory. It needs the state at the begin of
/// every step, last step first. Rows are cut into segments of equal length: the states of one
/// segment are kept, and of each earlier segment the state at its begin (a checkpoint), from which
/// it is replayed when its turn comes.
namespace gradsolve::detail {

struct Checkpoints {
  int length = 1;  ///< Rows of a segment; all of them where nothing is replayed.
  int room = 1;    ///< Rows of memory: a segment, and a checkpoint for each one before the last.
};

KOKKOS_FORCEINLINE_FUNCTION constexpr int num_checkpoints(int rows, int length) {
  return rows > 0 ? (rows - 1) / length : 0;
}

/// The longest segments that `room` rows allow for trajectories of `rows` steps: the last one is
/// never replayed. `room` is 0 where it is too short for any; 2 sqrt(rows) is enough.
constexpr Checkpoints plan_checkpoints(int rows, long long room) {
  if (room >= rows) return {rows > 0 ? rows : 1, rows > 0 ? rows : 1};
  for (int count = 1; count < room; ++count) {
    const int length = static_cast<int>(room) - count;
    if (num_checkpoints(rows, length) <= count)
      return {length, length + num_checkpoints(rows, length)};
  }
  return {0, 0};
}

/// The least of such rooms.
constexpr long long least_room(int rows) {
  long long room = 1;
  while (plan_checkpoints(rows, room).room == 0) ++room;
  return room;
}

/// Steps that are taken on the way, there and back, for each step of the trajectory: 1 to 2.
constexpr double replay_factor(int rows, int length) {
  return rows > 0 ? 1 + double(num_checkpoints(rows, length)) * length / rows : 1;
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
