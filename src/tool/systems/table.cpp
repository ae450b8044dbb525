// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "table.hpp"

namespace gradsolve::tool {

const std::vector<const SystemEntry*>& systems() {
  static const std::vector<const SystemEntry*> all = {&lorenz, &lotka_volterra, &van_der_pol,
                                                      &linear, &pleiades,       &magnet};
  return all;
}

}  // namespace gradsolve::tool
