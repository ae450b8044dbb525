// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "../io/bad_input.hpp"

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

/// Reads what a person typed. Throws io::BadInput, which names the option, its value and what was
/// expected.
namespace gradsolve::tool {

template <class T>
void require(bool condition, const char* option, const T& value, const std::string& expected) {
  if (condition) return;
  std::ostringstream text;
  text << option << " is " << value << ", expected " << expected;
  throw io::BadInput(text.str());
}

/// The position of a name in a list. Suggests the nearest one.
std::size_t find_name(const std::string& option, const std::string& name,
                      const std::vector<std::string_view>& known);

double number_in(const std::string& typed, const char* option, const char* expected);

/// "(3, 4)", "(3,)"
std::string shape_text(const std::vector<std::size_t>& shape);
/// "a, b"
std::string joined(const std::vector<std::string_view>& names);

}  // namespace gradsolve::tool
