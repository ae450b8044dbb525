// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

/// data/methods.json; data/README.md says what is in it.
inline const nlohmann::json& methods_data() {
  static const nlohmann::json data = [] {
    const std::string path = GRADSOLVE_TEST_DATA "/methods.json";
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read " + path);
    return nlohmann::json::parse(file);
  }();
  return data;
}

/// The double next to "p/q" or to a decimal. p and q are below 2^53: the quotient rounds once.
inline double number(const nlohmann::json& text) {
  const auto& s = text.get_ref<const std::string&>();
  char* rest = nullptr;
  const double x = std::strtod(s.c_str(), &rest);
  if (*rest != '/') return x;
  return x / std::strtod(rest + 1, nullptr);
}

inline std::vector<double> numbers(const nlohmann::json& texts) {
  std::vector<double> values;
  for (const auto& text : texts) values.push_back(number(text));
  return values;
}
