// SPDX-FileCopyrightText: The gradsolve authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A placeholder: it shows that the library is found, compiles and links.

#include <gradsolve/gradsolve.hpp>

#include <Kokkos_Core.hpp>

int main(int argc, char* argv[]) { Kokkos::ScopeGuard guard(argc, argv); }
