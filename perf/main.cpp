// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The main of every benchmark: says what ran on what, so that a JSON file can be read years later.
#include <Kokkos_Core.hpp>

#include <benchmark/benchmark.h>

#include <sstream>

namespace {

void add_context() {
  std::ostringstream configuration;
  Kokkos::print_configuration(configuration);
  std::string line;
  std::istringstream lines(configuration.str());
  int number = 0;
  while (std::getline(lines, line)) {
    const auto begin = line.find_first_not_of(' ');
    if (begin != std::string::npos)
      benchmark::AddCustomContext("kokkos_" + std::to_string(++number), line.substr(begin));
  }
  benchmark::AddCustomContext("gradsolve", GRADSOLVE_VERSION);
  benchmark::AddCustomContext("compiler", __VERSION__);
  benchmark::AddCustomContext("execution_space", Kokkos::DefaultExecutionSpace::name());
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard guard(argc, argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  add_context();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
