// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <common/reference.hpp>

namespace examples {

/// Errors of positions beside a table of rows that begin with `skip` other numbers.
template <class States>
Distribution position_errors(const States& states, const nlohmann::json& table, int skip) {
  const auto w = on_host(states);
  std::vector<double> errors;
  for (int i = 0; i < std::min(w.extent_int(0), static_cast<int>(table.size())); ++i)
    errors.push_back(relative_error([&](int j) { return w(i, j); },
                                    [&](int j) { return table[i][j + skip].get<double>(); }, 3));
  return Distribution(errors);
}

}  // namespace examples
