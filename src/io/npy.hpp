// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// NumPy's .npy files, https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
namespace gradsolve::io {

struct Array {
  std::vector<std::size_t> shape;
  std::vector<double> values;  ///< The last index is the fastest.
};

/// Reads a float32 or float64 array of at most `most_dimensions`, little endian, in C or Fortran
/// order, format version 1, 2 or 3. Throws BadInput for anything else, and for a file that is
/// shorter or longer than its header says.
Array read_npy(const std::string& path, std::size_t most_dimensions);

/// Writes values, row after row, as an array of this shape, whose product is their number. Throws
/// BadInput where the file cannot be written.
template <class T>
void write_npy(const std::string& path, const std::vector<std::size_t>& shape,
               const std::vector<T>& values);

extern template void write_npy(const std::string&, const std::vector<std::size_t>&,
                               const std::vector<double>&);
extern template void write_npy(const std::string&, const std::vector<std::size_t>&,
                               const std::vector<float>&);
extern template void write_npy(const std::string&, const std::vector<std::size_t>&,
                               const std::vector<std::int32_t>&);
extern template void write_npy(const std::string&, const std::vector<std::size_t>&,
                               const std::vector<std::int8_t>&);

}  // namespace gradsolve::io
