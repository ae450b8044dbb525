// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <stdexcept>

namespace gradsolve::io {

/// What a person handed to a program cannot be used. The text is one line that says what and why.
class BadInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace gradsolve::io
