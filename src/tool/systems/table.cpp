// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "table.hpp"

namespace gradsolve::tool {

const std::vector<const SystemEntry*>& systems() {
  static const std::vector<const SystemEntry*> all = {
      GRADSOLVE_TOOL_SYSTEMS};  // src/CMakeLists.txt
  return all;
}

}  // namespace gradsolve::tool
