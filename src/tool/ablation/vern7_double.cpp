// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure.hpp"
#include <gradsolve/methods/verner7.hpp>

namespace gradsolve::tool {

Measurement measure_vern7_double(const Arm& arm, double min_seconds) {
  return measure<Verner7, double>(arm, min_seconds);
}

}  // namespace gradsolve::tool
