// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "table.hpp"

#include "bad_input.hpp"
#include "csv.hpp"
#include "npy.hpp"

#include <cmath>
#include <filesystem>

namespace gradsolve::io {

namespace {

Table table_of(Array array) {
  const bool is_vector = array.shape.size() == 1;
  return {array.shape[0], is_vector ? 1 : array.shape[1], is_vector, std::move(array.values)};
}

Table read_by_suffix(const std::string& path) {
  const std::string suffix = std::filesystem::path(path).extension();
  if (suffix == ".npy") return table_of(read_npy(path, 2));
  if (suffix == ".csv") return read_csv(path);
  throw BadInput(path + ": expected a name that ends in .npy or .csv");
}

}  // namespace

Table read_table(const std::string& path) {
  Table table = read_by_suffix(path);
  for (std::size_t i = 0; i < table.values.size(); ++i)
    if (!std::isfinite(table.values[i]))
      throw BadInput(path + ": row " + std::to_string(i / table.columns) + ", column " +
                     std::to_string(i % table.columns) + " (counted from 0) is " +
                     (std::isnan(table.values[i]) ? "NaN" : "infinite"));
  return table;
}

}  // namespace gradsolve::io
