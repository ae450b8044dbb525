// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace gradsolve::tool {

/// Number i of n, evenly spaced from a to b, both included.
inline double linspace(double a, double b, int i, int n) {
  return i + 1 < n ? a + i * ((b - a) / (n - 1)) : n > 1 ? b : a;
}

}  // namespace gradsolve::tool
