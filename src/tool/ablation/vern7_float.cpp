// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure.hpp"
#include <gradsolve/methods/verner7.hpp>

namespace gradsolve::tool {

Measurement measure_vern7_float(const Arm& arm, double min_seconds) {
  return measure<Verner7, float>(arm, min_seconds);
}

}  // namespace gradsolve::tool
