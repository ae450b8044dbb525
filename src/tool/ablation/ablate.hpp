// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "../exit_code.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gradsolve::tool {

/// The options of `ablate`, as they were typed.
struct AblateArguments {
  std::map<std::string, std::string> axes;  // comma-separated values by name
  bool one_at_a_time = false;
  std::optional<double> min_time;
  std::string json, resume, picture;
  std::vector<std::string> join;
};

/// Measures the cells of a grid that its file does not hold yet, or joins two files.
ExitCode run_ablate(const AblateArguments& arguments, const std::vector<std::string>& command_line);

}  // namespace gradsolve::tool
