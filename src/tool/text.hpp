// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

/// Tables want columns.
namespace gradsolve::tool {

/// Appends a line, printf's way.
__attribute__((format(printf, 2, 3))) void add(std::string& text, const char* format, ...);

/// printf's way.
__attribute__((format(printf, 1, 2))) std::string formatted(const char* format, ...);

/// Rows of cells in columns as wide as need be, the first `left` of them flush left.
std::string aligned(const std::vector<std::vector<std::string>>& rows, std::size_t left);

}  // namespace gradsolve::tool
