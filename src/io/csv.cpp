// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "csv.hpp"

#include "bad_input.hpp"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

namespace gradsolve::io {

namespace {

std::string_view trimmed(std::string_view text) {
  const char* const blank = " \t\r";
  const auto begin = text.find_first_not_of(blank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

/// The number that the whole text is, in any locale.
std::optional<double> number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Cuts the first field off a line.
std::string_view take_field(std::string_view& line) {
  const auto comma = line.find(',');
  const std::string_view field = trimmed(line.substr(0, comma));
  line = comma == std::string_view::npos ? std::string_view() : line.substr(comma + 1);
  return field;
}

bool is_header(std::string_view line) {
  while (!line.empty())
    if (number(take_field(line))) return false;
  return true;
}

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), file_(path) {
    if (!file_ || std::filesystem::is_directory(path)) throw BadInput(path + ": cannot be read");
  }

  Table read() {
    std::string line;
    for (bool first = true; std::getline(file_, line);) {
      ++line_number_;
      const std::string_view text = trimmed(line);
      if (text.empty() || text.starts_with('#')) continue;
      if (!first || !is_header(text)) add_row(text);
      first = false;
    }
    if (file_.bad()) throw BadInput(path_ + ": cannot be read");
    if (table_.rows == 0) throw BadInput(path_ + ": holds no numbers");
    return std::move(table_);
  }

 private:
  void add_row(std::string_view line) {
    std::size_t columns = 0;
    const bool ends_in_comma = line.ends_with(',');
    while (!line.empty()) add_number(take_field(line), columns++);
    if (ends_in_comma) add_number({}, columns++);
    if (table_.rows == 0) table_.columns = columns;
    if (columns != table_.columns)
      refuse(std::to_string(columns) + " numbers, expected " + std::to_string(table_.columns) +
             " as in the first row");
    ++table_.rows;
  }

  void add_number(std::string_view field, std::size_t column) {
    const std::optional<double> value = number(field);
    if (!value)
      refuse("column " + std::to_string(column) + " is '" + std::string(field.substr(0, 40)) +
             "', expected a number");
    table_.values.push_back(*value);
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw BadInput(path_ + ": line " + std::to_string(line_number_) + ": " + what);
  }

  std::string path_;
  std::ifstream file_;
  std::size_t line_number_ = 0;
  Table table_;
};

}  // namespace

Table read_csv(const std::string& path) { return Reader(path).read(); }

}  // namespace gradsolve::io
