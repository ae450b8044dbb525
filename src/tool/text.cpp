// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "text.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace gradsolve::tool {

namespace {

std::string formatted_list(const char* format, va_list values) {
  char line[512];
  std::vsnprintf(line, sizeof line, format, values);
  return line;
}

}  // namespace

void add(std::string& text, const char* format, ...) {
  va_list values;
  va_start(values, format);
  text += formatted_list(format, values) + '\n';
  va_end(values);
}

std::string formatted(const char* format, ...) {
  va_list values;
  va_start(values, format);
  const std::string text = formatted_list(format, values);
  va_end(values);
  return text;
}

std::string aligned(const std::vector<std::vector<std::string>>& rows, std::size_t left) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - row[i].size(), ' ');
      line += (i > 0 ? "  " : "") + (i < left ? row[i] + space : space + row[i]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return text;
}

}  // namespace gradsolve::tool
