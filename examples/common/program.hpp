// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <charconv>
#include <common/ensemble.hpp>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

/// What the programs share: main(), its arguments, and the files of their pictures.
namespace examples {

/// The arguments of a program, numbered from 1.
class Arguments {
 public:
  Arguments(int count, char** values) : count_(count), values_(values) {}

  bool has(int k) const { return k < count_; }
  std::string text(int k) const { return values_[k]; }

  /// Argument k; `otherwise` where it is not given. Throws where it is no number of [least, most].
  int whole_number(int k, const char* name, int otherwise, int least = 1,
                   int most = std::numeric_limits<int>::max()) const {
    return parsed(k, name, otherwise, least, most, "a whole number");
  }
  double number(int k, const char* name, double otherwise, double least, double most) const {
    return parsed(k, name, otherwise, least, most, "a number");
  }

 private:
  template <class T>
  T parsed(int k, const char* name, T otherwise, T least, T most, const char* kind) const {
    if (!has(k)) return otherwise;
    const std::string_view given = values_[k];
    T value{};
    const auto end = given.data() + given.size();
    const auto [stopped, error] = std::from_chars(given.data(), end, value);
    if (error != std::errc() || stopped != end || !(value >= least && value <= most))
      throw std::invalid_argument(std::string(name) + " is '" + std::string(given) +
                                  "', expected " + kind + " from " + std::to_string(least) +
                                  " to " + std::to_string(most));
    return value;
  }

  int count_;
  char** values_;
};

/// main(): 0 where body(exec, arguments) says that all is well, 1 where not, 2 where something was
/// thrown.
template <class Body>
int run_program(int argc, char** argv, Body&& body) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  try {
    return body(Exec(), Arguments(argc, argv)) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 2;
  }
}

/// A file to write to, for std::fprintf.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path) : file_(std::fopen(path.c_str(), "w")) {
    if (file_ == nullptr) throw std::runtime_error("cannot write " + path);
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile() { std::fclose(file_); }
  operator std::FILE*() const { return file_; }

 private:
  std::FILE* file_;
};

}  // namespace examples
