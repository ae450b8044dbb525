// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "table.hpp"

namespace gradsolve::io {

/// Numbers separated by commas, the same number of them in each line. The first line may hold
/// names; empty lines and lines that start with # are skipped. Throws BadInput, with the line's
/// number.
Table read_csv(const std::string& path);

}  // namespace gradsolve::io
