// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <common/program.hpp>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

/// Comparison with reference values, tests/data/applications.json.
namespace examples {

inline nlohmann::json read_reference(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  return nlohmann::json::parse(file);
}

/// Of the file that argument k names; an empty object where it is not given.
inline nlohmann::json reference_values(const Arguments& arguments, int k) {
  return arguments.has(k) ? read_reference(arguments.text(k)) : nlohmann::json::object();
}

/// The members whose derivatives are known.
inline Members members_of(const nlohmann::json& reference) {
  std::vector<int> numbers;
  for (const auto& member : reference.at("members")) numbers.push_back(member.at("index"));
  return on_device(numbers);
}

/// Of errors: one for each member.
struct Distribution {
  double median, p99, max;

  explicit Distribution(std::vector<double> errors) {
    // A NaN is the largest error of all.
    for (double& e : errors) e = std::isnan(e) ? HUGE_VAL : e;
    std::sort(errors.begin(), errors.end());
    const std::size_t n = errors.size();
    median = errors[(n - 1) / 2], p99 = errors[(99 * n + 99) / 100 - 1], max = errors[n - 1];
  }
  /// Prints it; whether 99 of 100 are at most `rule`.
  bool meets(double rule, const char* of) const {
    std::printf("  %-46s median %.1e  p99 %.1e  max %.1e  (rule %.0e)%s\n", of, median, p99, max,
                rule, p99 <= rule ? "" : "  NOT met");
    return p99 <= rule;
  }
};

/// Of error(i), of `count` members.
template <class Error>
Distribution errors_of(int count, Error&& error) {
  std::vector<double> errors;
  for (int i = 0; i < count; ++i) errors.push_back(error(i));
  return Distribution(errors);
}

/// |x - y| / |y| of two vectors: x(k) is computed, y[k] is the reference.
template <class X, class Y>
double relative_error(const X& x, const Y& y, int size) {
  double difference2 = 0, norm2 = 0;
  for (int k = 0; k < size; ++k) {
    const double reference = y(k);
    difference2 += std::pow(x(k) - reference, 2);
    norm2 += reference * reference;
  }
  return std::sqrt(difference2 / norm2);
}

/// The largest error among the columns of a matrix of derivatives, each relative to its norm.
template <class X, class Y>
double largest_column_error(const X& x, const Y& y, int rows, int columns) {
  double largest = 0;
  for (int c = 0; c < columns; ++c)
    largest = std::max(largest, relative_error([&](int j) { return x(j, c); },
                                               [&](int j) { return y(j, c); }, rows));
  return largest;
}

/// The same of all members, whose derivatives are the reference's matrices of that key; the first
/// `columns` of them.
inline Distribution column_errors(const Cube& derivatives, const nlohmann::json& members,
                                  const char* key, int columns) {
  const auto d = on_host(derivatives);
  return errors_of(d.extent_int(0), [&](int i) {
    const auto& reference = members[i][key];
    return largest_column_error([&](int j, int c) { return d(i, j, c); },
                                [&](int j, int c) -> double { return reference[j][c]; },
                                static_cast<int>(reference.size()), columns);
  });
}

/// The same of member i, whose derivatives to the initial state and to the parameters are two
/// matrices of the reference.
template <class S>
double derivative_error(const S& s, int i, const nlohmann::json& to_state,
                        const nlohmann::json& to_params) {
  const int rows = static_cast<int>(to_state.size()), states = static_cast<int>(to_state[0].size());
  return largest_column_error([&](int j, int c) { return s(i, j, c); },
                              [&](int j, int c) -> double {
                                return c < states ? to_state[j][c] : to_params[j][c - states];
                              },
                              rows, states + static_cast<int>(to_params[0].size()));
}

}  // namespace examples
