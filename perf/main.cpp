// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The main of every benchmark: says what ran on what, so that a JSON file can be read years later.
#include <Kokkos_Core.hpp>

#include <benchmark/benchmark.h>

#include <fstream>
#include <sstream>

namespace {

/// "NVIDIA H200", or what Linux says of the first processor.
template <class Exec>
std::string device_name() {
  const Exec exec;
  if constexpr (requires { exec.cuda_device_prop(); }) {
    return exec.cuda_device_prop().name;
  } else {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
      if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    return "unknown";
  }
}

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
  benchmark::AddCustomContext("flags", GRADSOLVE_BUILD);
  benchmark::AddCustomContext("device", device_name<Kokkos::DefaultExecutionSpace>());
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
