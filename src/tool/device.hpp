// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace gradsolve::tool {

/// Kokkos, from here to the end of the scope. It takes its settings from KOKKOS_* variables.
class KokkosScope {
 public:
  KokkosScope();
  ~KokkosScope();
  KokkosScope(const KokkosScope&) = delete;
  KokkosScope& operator=(const KokkosScope&) = delete;
};

/// Where the sweeps run: "Cuda, NVIDIA H200" or "OpenMP, 8 threads on AMD EPYC 9654". Needs Kokkos
/// to be initialised.
std::string device_text();
/// The same of a back end of this build, "cuda" or "openmp".
std::string device_text(const std::string& backend);

/// "Kokkos 5.0.2, OpenMP"
std::string kokkos_text();

}  // namespace gradsolve::tool
