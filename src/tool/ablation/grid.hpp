// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "arm.hpp"

#include <map>
#include <string>
#include <vector>

/// The grid of `gradsolve ablate`: axes, their values, and the cells between them.
namespace gradsolve::tool {

/// A factor. The first of its values is that of the baseline.
struct Axis {
  std::string name;
  std::vector<std::string> values;
};

/// What an axis offers, for --help.
struct AxisHelp {
  std::string name, text, initial;
};
std::vector<AxisHelp> axes_help();

/// A value for each axis, in their order.
using Cell = std::vector<std::string>;

struct Grid {
  std::vector<Axis> axes;
  bool one_at_a_time = false;

  Cell baseline() const;
  /// All combinations, or the baseline and what differs from it in one value. The baseline is the
  /// first.
  std::vector<Cell> cells() const;
};

/// From comma-separated lists by the name of their axis, where they were given. Throws
/// io::BadInput.
Grid make_grid(const std::map<std::string, std::string>& typed, bool one_at_a_time);

Arm arm_of(const Cell& cell);

/// Why there is no such cell: this build lacks it, or the value means nothing beside the others;
/// empty where there is.
std::string missing_for(const Cell& cell);

/// Runs it; missing_for() is empty.
Measurement measure(const Cell& cell, double min_seconds);

}  // namespace gradsolve::tool
