// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Macros.hpp>

#include <cstddef>
#include <cstdint>

namespace gradsolve {

/// Step size control. With e_n the error of step n over its tolerance and q the order of the error
/// estimate, the step is multiplied by
///
///     safety * e_n^(-b1/q) * e_{n-1}^(-b2/q) * e_{n-2}^(-b3/q)   within [min_factor, max_factor]
///     b1 = integral + proportional + derivative,  b2 = -(proportional + 2 derivative),
///     b3 = derivative                                             (Soederlind 2003)
///
/// over the accepted steps; a rejected step uses safety * e_n^(-1/q) and leaves the history alone.
/// A step whose error is infinite or NaN is rejected with min_factor.
struct Controller {
  double integral = 1;
  double proportional = 0;
  double derivative = 0;
  double safety = 0.9;
  double min_factor = 0.2;
  double max_factor = 5;

  static constexpr Controller I() { return {}; }
  /// ARKODE's PI controller: b = (0.8, -0.31, 0).
  static constexpr Controller PI() { return {.integral = 0.49, .proportional = 0.31}; }
  /// ARKODE's PID controller: b = (0.58, -0.21, 0.1).
  static constexpr Controller PID() {
    return {.integral = 0.47, .proportional = 0.01, .derivative = 0.1};
  }
};

/// How the first step is chosen where Options::first_step is not given.
enum class FirstStep : std::int8_t {
  span_over_100,  ///< (t1 - t0) / 100
  hairer,         ///< Hairer, Norsett, Wanner I, II.4: from |u|, |f| and a probing Euler step
};

/// When refresh() records again, for those who move parameters in a loop.
enum class Rerecord : std::int8_t {
  never,       ///< The first mesh serves for good.
  always,      ///< Every time.
  when_stale,  ///< Where some trajectory's largest error ratio exceeds Options::stale_ratio.
};

/// How trajectories are solved. Checked by record(); see there for what is refused.
struct Options {
  double rtol = 1e-6;
  double atol = 1e-9;
  Controller controller = {};

  double first_step = 0;  ///< Size of the first step; 0: by first_step_rule.
  double min_step = 0;    ///< Smaller steps end in Status::step_too_small; the last may be smaller.
  double max_step = 0;    ///< 0: no bound.

  /// Attempted steps, accepted and rejected, after which a trajectory ends in Status::max_steps.
  int max_steps = 100'000;

  /// > 0: that many equal steps instead of error control.
  int fixed_steps = 0;
  /// > 0: steps of this size instead of error control, the last one shorter where need be.
  double fixed_step = 0;

  /// > 0: bytes for the states that a gradient keeps on its way. Where a trajectory has more steps
  /// than that has room for, it keeps a state now and then and replays what lies between: the same
  /// gradient bit by bit, for one to four more replays (docs/memory.md). 0: what the device has.
  std::size_t memory_budget = 0;

  FirstStep first_step_rule = FirstStep::span_over_100;

  // Bits: kernels take their arguments the slower way where these are over 512 bytes.

  /// Whether extra states (system.hpp) take part in the error control, as CVodeSetQuadErrCon and
  /// CVodeSetSensErrCon ask.
  bool control_extra_states : 1 = false;

  /// Of a system with a singular mass matrix: moves the initial state, in the directions that the
  /// mass matrix does not see, to where the algebraic constraints hold (Newton's method, at t0).
  /// Derivatives go through it. Without this a start that violates them ends in
  /// Status::inconsistent_start.
  bool find_consistent_start : 1 = false;

  /// Keeps the state at the begin of every step in Record::kept, N numbers a step: for
  /// record_and_gradient() and make_solution().
  bool keep_states : 1 = false;

  /// Trajectories of like step counts share a slice (mesh.hpp); false: neighbours do, which costs
  /// padding unless the ensemble is in order. Heeded where a mesh is laid out.
  bool sort : 1 = true;

  Rerecord rerecord = Rerecord::when_stale;
  float stale_ratio = 4;  ///< Error over tolerance.

  KOKKOS_INLINE_FUNCTION bool is_fixed() const { return fixed_steps > 0 || fixed_step > 0; }
};

}  // namespace gradsolve
