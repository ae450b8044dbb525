// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "write.hpp"

#include "bad_input.hpp"

#include <filesystem>
#include <fstream>

namespace gradsolve::io {

void write_whole(const std::string& path, const std::function<void(std::ostream&)>& write) {
  namespace fs = std::filesystem;
  std::error_code error;
  const bool is_device = fs::exists(path, error) && !fs::is_regular_file(path, error);
  const std::string beside = is_device ? path : path + ".part";
  std::ofstream file(beside, std::ios::binary);
  write(file);
  file.close();
  if (file && !is_device) fs::rename(beside, path, error);
  if (file && !error) return;
  if (!is_device) fs::remove(beside, error);
  throw BadInput(path + ": cannot be written: the disk may be full");
}

}  // namespace gradsolve::io
