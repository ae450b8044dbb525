// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace gradsolve::tool {

enum ExitCode { success = 0, failed = 1, bad_input = 2, broken = 3 };

}  // namespace gradsolve::tool
