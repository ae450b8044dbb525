// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <utility>
#include <vector>

/// Where and with what a measurement was made: a number without it is a rumour.
namespace gradsolve::tool {

/// Names and texts, in order.
using Context = std::vector<std::pair<std::string, std::string>>;

/// Of this run. Needs Kokkos to be initialised.
Context context_of(const std::vector<std::string>& command_line);

/// "" where there is none of that name.
std::string text_of(const Context& context, const std::string& name);

/// What the clocks of a back end's device are at now; "" where nothing tells.
std::string clock_text(const std::string& backend);

/// "2026-11-30T12:00:00Z"
std::string date_text();

/// The words of a command line, quoted where a shell needs it.
std::string command_text(const std::vector<std::string>& words);

}  // namespace gradsolve::tool
