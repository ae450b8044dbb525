// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure.hpp"
#include <gradsolve/methods/tsit5.hpp>

namespace gradsolve::tool {

Measurement measure_tsit5_float(const Arm& arm, double min_seconds) {
  return measure<Tsit5, float>(arm, min_seconds);
}

}  // namespace gradsolve::tool
