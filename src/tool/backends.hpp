// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <cctype>
#include <string>
#include <type_traits>

/// The execution spaces of this build: Kokkos' default one, and those of the host beside it.
namespace gradsolve::tool {

/// "cuda", "openmp", ...
template <class Exec>
std::string name_of_backend() {
  std::string name = Exec::name();
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

/// Calls visit(std::type_identity<Exec>()) for each, the default one first.
template <class Visit>
void for_each_backend(Visit&& visit) {
  using Default = Kokkos::DefaultExecutionSpace;
  visit(std::type_identity<Default>());
  [[maybe_unused]] auto visit_other = [&]<class Exec>(std::type_identity<Exec> exec) {
    if constexpr (!std::is_same_v<Exec, Default>) visit(exec);
  };
#if defined(KOKKOS_ENABLE_OPENMP)
  visit_other(std::type_identity<Kokkos::OpenMP>());
#endif
#if defined(KOKKOS_ENABLE_THREADS)
  visit_other(std::type_identity<Kokkos::Threads>());
#endif
#if defined(KOKKOS_ENABLE_SERIAL)
  visit_other(std::type_identity<Kokkos::Serial>());
#endif
}

}  // namespace gradsolve::tool
