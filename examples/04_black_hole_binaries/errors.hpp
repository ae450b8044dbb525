// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "binaries.hpp"

#include <common/reference.hpp>

namespace examples {

/// |x - y| modulo 2 pi.
inline double angle_error(double x, double y) {
  return std::abs(std::remainder(x - y, 6.283185307179586));
}

/// The largest error of the three angles, modulo 2 pi, member by member.
inline Distribution angle_errors(const Matrix& angles, const nlohmann::json& table) {
  const auto a = on_host(angles);
  std::vector<double> errors;
  for (int i = 0; i < std::min(a.extent_int(0), static_cast<int>(table.size())); ++i) {
    double largest = 0;
    for (int k = 0; k < num_angles; ++k)
      largest = std::max(largest, angle_error(a(i, k), table[i][k]));
    errors.push_back(largest);
  }
  return Distribution(errors);
}

}  // namespace examples
