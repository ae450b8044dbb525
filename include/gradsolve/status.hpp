// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string_view>

namespace gradsolve {

/// How one trajectory ended. Anything but success stops that trajectory alone: its last good state
/// and its steps so far are kept, its neighbours do not notice. docs/status.md has a page on each.
enum class Status : std::int8_t {
  success = 0,         ///< Reached t1.
  max_steps = 1,       ///< Used up Options::max_steps attempted steps before t1.
  step_too_small = 2,  ///< The error test still failed at Options::min_step.
  stalled = 3,         ///< The step became so small that t + h == t.
  non_finite = 4,      ///< f, or the state, stayed infinite or NaN however small the step.
  bad_input = 5,       ///< Its initial state, parameters or time span are infinite or NaN.
  /// Its initial state violates the algebraic constraints of a singular mass matrix, or Newton's
  /// method found none that satisfies them (Options::find_consistent_start).
  inconsistent_start = 6,
};
inline constexpr int num_status_values = 7;

/// One short name ("max_steps") and one sentence for people.
std::string_view name(Status status);
std::string_view describe(Status status);

}  // namespace gradsolve
