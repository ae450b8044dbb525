// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "device.hpp"

#include "backends.hpp"

#include <Kokkos_Core.hpp>

#include <fstream>

namespace gradsolve::tool {

namespace {

using Exec = Kokkos::DefaultExecutionSpace;

/// What Linux says of the first processor.
std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "CPU";
}

template <class Space>
std::string hardware_name(const Space& exec) {
  if constexpr (requires { exec.cuda_device_prop(); }) {
    return exec.cuda_device_prop().name;
  } else if constexpr (requires { exec.hip_device_prop(); }) {
    return exec.hip_device_prop().name;
  } else {
    const int threads = exec.concurrency();
    return std::to_string(threads) + (threads == 1 ? " thread on " : " threads on ") + cpu_name();
  }
}

}  // namespace

// Its warnings are advice on how to bind threads, which every run would print.
KokkosScope::KokkosScope() {
  Kokkos::initialize(Kokkos::InitializationSettings().set_disable_warnings(true));
}
KokkosScope::~KokkosScope() { Kokkos::finalize(); }

std::string device_text() { return device_text(name_of_backend<Exec>()); }

std::string device_text(const std::string& backend) {
  std::string text;
  for_each_backend([&]<class Space>(std::type_identity<Space>) {
    if (name_of_backend<Space>() != backend) return;
    const Space exec;
    text = std::string(exec.name()) + ", " + hardware_name(exec);
  });
  return text;
}

std::string kokkos_text() {
  return "Kokkos " + std::to_string(KOKKOS_VERSION / 10000) + "." +
         std::to_string(KOKKOS_VERSION / 100 % 100) + "." + std::to_string(KOKKOS_VERSION % 100) +
         ", " + Exec::name();
}

}  // namespace gradsolve::tool
