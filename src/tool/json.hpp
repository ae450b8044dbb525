// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace gradsolve::tool {

/// Writes one JSON object, member after member. An infinite or NaN number is null, as JSON has
/// none.
class Json {
 public:
  Json() { begin('{', '}'); }

  template <class T>
  void add(std::string_view key, const T& value) {
    start(key);
    if constexpr (std::is_same_v<T, bool>)
      text_ += value ? "true" : "false";
    else if constexpr (std::is_arithmetic_v<T>)
      add_number(value);
    else
      add_string(value);
  }
  /// In a list the keys are left out.
  void begin_object(std::string_view key = {}) { start(key), begin('{', '}'); }
  void begin_list(std::string_view key) { start(key), begin('[', ']'); }
  void end() {
    text_ += ends_.back();
    ends_.pop_back();
    first_ = false;
  }
  std::string text() {
    end();
    return text_ + '\n';
  }

 private:
  void begin(char open, char close) {
    text_ += open;
    ends_.push_back(close);
    first_ = true;
  }
  void start(std::string_view key) {
    if (!first_) text_ += ", ";
    first_ = false;
    if (ends_.back() == '}') {
      add_string(key);
      text_ += ": ";
    }
  }
  template <class T>
  void add_number(T value) {
    if (!std::isfinite(static_cast<double>(value))) {
      text_ += "null";
      return;
    }
    char digits[32];
    text_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  }
  void add_string(std::string_view value) {
    text_ += '"';
    for (const char c : value) {
      if (c == '"' || c == '\\') text_ += '\\';
      if (static_cast<unsigned char>(c) >= ' ') text_ += c;
    }
    text_ += '"';
  }

  std::string text_;
  std::vector<char> ends_;
  bool first_ = true;
};

}  // namespace gradsolve::tool
