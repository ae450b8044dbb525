// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <stdexcept>
#include <string>

namespace gradsolve {

/// What the library throws when it is misused: an argument, its value, what was expected. Thrown on
/// the host before anything is launched.
class InvalidArgument : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

namespace detail {

/// Throws "<function>: <argument> is <value>, expected <expected>".
[[noreturn]] void refuse(const char* function, const std::string& argument,
                         const std::string& value, const std::string& expected);

/// The shortest text that is that number.
std::string to_text(double value);
std::string to_text(float value);
std::string shape_text(std::size_t rows, std::size_t columns);

/// Throws unless [begin, end) is a range of `size` trajectories.
void check_range(const char* function, int begin, int end, int size);

inline void require(bool condition, const char* function, const char* argument, double value,
                    const char* expected) {
  if (!condition) refuse(function, argument, to_text(value), expected);
}

}  // namespace detail
}  // namespace gradsolve
