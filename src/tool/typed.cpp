// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "typed.hpp"

#include <algorithm>
#include <charconv>

namespace gradsolve::tool {

namespace {

/// Levenshtein's distance: insertions, deletions and replacements of one letter.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

[[noreturn]] void refuse_name(const std::string& option, const std::string& name,
                              const std::vector<std::string_view>& known) {
  std::string message = "unknown " + option + " '" + name + "'";
  const auto nearest = *std::min_element(known.begin(), known.end(), [&](auto a, auto b) {
    return edit_distance(name, a) < edit_distance(name, b);
  });
  if (edit_distance(name, nearest) <= 2)
    message += ", did you mean '" + std::string(nearest) + "'?";
  message += " There is:";
  for (const auto each : known) message += ' ' + std::string(each);
  throw io::BadInput(message);
}

}  // namespace

std::size_t find_name(const std::string& option, const std::string& name,
                      const std::vector<std::string_view>& known) {
  const auto found = std::find(known.begin(), known.end(), name);
  if (found == known.end()) refuse_name(option, name, known);
  return found - known.begin();
}

double number_in(const std::string& typed, const char* option, const char* expected) {
  double value = 0;
  const char* const end = typed.data() + typed.size();
  const auto [rest, error] = std::from_chars(typed.data(), end, value);
  require(error == std::errc() && rest == end, option, typed, expected);
  return value;
}

std::string shape_text(const std::vector<std::size_t>& shape) {
  std::string text;
  for (const std::size_t extent : shape)
    text += (text.empty() ? "" : ", ") + std::to_string(extent);
  return "(" + text + (shape.size() == 1 ? ",)" : ")");
}

std::string joined(const std::vector<std::string_view>& names) {
  std::string list;
  for (const auto name : names) list += (list.empty() ? "" : ", ") + std::string(name);
  return list;
}

}  // namespace gradsolve::tool
