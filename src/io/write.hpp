// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <ostream>
#include <string>

namespace gradsolve::io {

/// Writes a file whole or not at all: under another name beside it, which then takes its place.
/// Throws BadInput where that fails, as on a full disk.
void write_whole(const std::string& path, const std::function<void(std::ostream&)>& write);

}  // namespace gradsolve::io
