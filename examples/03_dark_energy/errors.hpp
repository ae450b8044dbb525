// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "dark_energy.hpp"

#include <common/reference.hpp>

namespace examples {

/// The largest error of D_M over all redshifts, member by member.
inline Distribution distance_errors(const Matrix& distance, const nlohmann::json& table) {
  const auto d = on_host(distance);
  std::vector<double> errors;
  for (int i = 0; i < std::min(d.extent_int(0), static_cast<int>(table.size())); ++i) {
    double largest = 0;
    for (int z = 0; z < num_redshifts; ++z)
      largest = std::max(largest, std::abs(d(i, z) / table[i][z].get<double>() - 1));
    errors.push_back(largest);
  }
  return Distribution(errors);
}

}  // namespace examples
