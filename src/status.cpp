// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gradsolve/status.hpp>

namespace gradsolve {

std::string_view name(Status status) {
  switch (status) {
    case Status::success:
      return "success";
    case Status::max_steps:
      return "max_steps";
    case Status::step_too_small:
      return "step_too_small";
    case Status::stalled:
      return "stalled";
    case Status::non_finite:
      return "non_finite";
    case Status::bad_input:
      return "bad_input";
    case Status::inconsistent_start:
      return "inconsistent_start";
  }
  return "unknown";
}

std::string_view describe(Status status) {
  switch (status) {
    case Status::success:
      return "reached t1";
    case Status::max_steps:
      return "used up max_steps attempted steps before t1";
    case Status::step_too_small:
      return "the error test still failed at min_step";
    case Status::stalled:
      return "the step became so small that t + h == t";
    case Status::non_finite:
      return "the right-hand side or the state stayed infinite or NaN however small the step";
    case Status::bad_input:
      return "initial state, parameters or time span are infinite or NaN";
    case Status::inconsistent_start:
      return "the initial state violates the algebraic constraints";
  }
  return "not a status";
}

}  // namespace gradsolve
