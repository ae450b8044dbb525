// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gradsolve::io {

/// Numbers in rows, as a file holds them.
struct Table {
  std::size_t rows = 0, columns = 0;
  bool is_vector = false;      ///< The file held a one-dimensional array: rows = its length.
  std::vector<double> values;  ///< Row after row.
};

/// Reads a .npy or a .csv file, by its name. Throws BadInput, with the file's name, also where a
/// number is infinite or NaN.
Table read_table(const std::string& path);

}  // namespace gradsolve::io
