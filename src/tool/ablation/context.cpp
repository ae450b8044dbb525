// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "context.hpp"

#include "../backends.hpp"
#include "../device.hpp"
#include "../text.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>
#include <thread>
#include <unistd.h>

namespace gradsolve::tool {

namespace {

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

std::string compiler_text() {
  std::string text = __VERSION__;
#if defined(__GNUC__) && !defined(__clang__)
  text = "g++ " + text;
#endif
#if defined(__CUDACC_VER_MAJOR__)
  text += formatted(", nvcc %d.%d", __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__);
#endif
  return text;
}

/// The first line that a command prints; "" where it fails.
[[maybe_unused]] std::string output_of(const std::string& command) {
  std::FILE* const pipe = popen((command + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return "";
  char line[256] = "";
  if (std::fgets(line, sizeof line, pipe) == nullptr) line[0] = '\0';
  if (pclose(pipe) != 0) return "";
  std::string text = line;
  return text.substr(0, text.find('\n'));
}

/// "2400 to 3100 MHz", of all processors.
std::string cpu_clocks() {
  std::ifstream file("/proc/cpuinfo");
  double least = 0, most = 0;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("cpu MHz")) continue;
    const double mhz = std::strtod(line.c_str() + line.find(':') + 1, nullptr);
    least = most == 0 ? mhz : std::min(least, mhz);
    most = std::max(most, mhz);
  }
  return most == 0 ? "" : formatted("%.0f to %.0f MHz", least, most);
}

template <class Exec>
std::string clocks_of() {
  const Exec exec;
  if constexpr (requires { exec.cuda_device_prop(); }) {
    const auto& device = exec.cuda_device_prop();
    return output_of(
        formatted("nvidia-smi --id=%08x:%02x:%02x.0 --format=csv,noheader "
                  "--query-gpu=clocks.sm,clocks.max.sm,clocks.mem,power.limit,driver_version",
                  device.pciDomainID, device.pciBusID, device.pciDeviceID));
  } else if constexpr (std::is_same_v<typename Exec::memory_space, Kokkos::HostSpace>) {
    return cpu_clocks();
  } else {
    return "";
  }
}

/// The lines of Kokkos' own description.
void add_kokkos_configuration(Context& context) {
  std::ostringstream text;
  Kokkos::print_configuration(text);
  std::istringstream lines(text.str());
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto begin = line.find_first_not_of(" \t");
    if (begin != std::string::npos)
      context.emplace_back("kokkos_" + std::to_string(++number), line.substr(begin));
  }
}

}  // namespace

std::string date_text() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

std::string command_text(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    const bool plain = word.find_first_of(" \t\n'\"\\$&|;<>()*?[]#~`!") == std::string::npos;
    std::string quoted = plain && !word.empty() ? word : "'";
    if (quoted == "'") {
      for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
      quoted += '\'';
    }
    text += (text.empty() ? "" : " ") + quoted;
  }
  return text;
}

Context context_of(const std::vector<std::string>& command_line) {
  Context context{{"date", date_text()},
                  {"command", command_text(command_line)},
                  {"gradsolve", GRADSOLVE_VERSION},
                  {"commit", GRADSOLVE_COMMIT},  // when it was configured
                  {"kokkos", kokkos_text()},
                  {"compiler", compiler_text()},
                  {"build", GRADSOLVE_BUILD},
                  {"host", host_name()},
                  {"hardware_threads", std::to_string(std::thread::hardware_concurrency())}};
  for_each_backend([&]<class Exec>(std::type_identity<Exec>) {
    const std::string name = name_of_backend<Exec>();
    context.emplace_back("device_" + name, device_text(name));
    context.emplace_back("clocks_" + name, clocks_of<Exec>());
  });
  for (const char* variable : {"OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES",
                               "KOKKOS_NUM_THREADS", "CUDA_VISIBLE_DEVICES"})
    if (const char* const value = std::getenv(variable)) context.emplace_back(variable, value);
  add_kokkos_configuration(context);
  return context;
}

std::string text_of(const Context& context, const std::string& name) {
  for (const auto& [key, text] : context)
    if (key == name) return text;
  return "";
}

std::string clock_text(const std::string& backend) {
  std::string text;
  for_each_backend([&]<class Exec>(std::type_identity<Exec>) {
    if (name_of_backend<Exec>() == backend) text = clocks_of<Exec>();
  });
  return text;
}

}  // namespace gradsolve::tool
