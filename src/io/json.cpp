// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "json.hpp"

#include "bad_input.hpp"

#include <nlohmann/json.hpp>

#include <fstream>

namespace gradsolve::io {

Json read_json(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || file.peek() == std::ifstream::traits_type::eof())
    throw BadInput(path + ": cannot be read, or is empty");
  try {
    return Json::parse(file);
  } catch (const Json::exception& error) {
    // Behind "[json.exception.parse_error.101] ".
    const std::string text = error.what();
    throw BadInput(path + ": is not JSON: " + text.substr(text.find("] ") + 2));
  }
}

std::string text_of(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace gradsolve::io
