// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "duffing.hpp"
#include <gradsolve/gradsolve.hpp>

#include <common/program.hpp>
#include <cstdio>
#include <vector>

/// The Poincare section of the driven Duffing oscillator for n dampings: where it is at the end of
/// each period of the drive, once its start is forgotten. Fixed points, period doubling, chaos.
namespace examples {

inline constexpr double drive_period = 6.283185307179586;

struct PoincareSection {
  Column damping;
  Cube states;  ///< (n, sections, 2)
};

inline PoincareSection poincare_section(const Exec& exec, int n, int transient_periods,
                                        int sections) {
  const Matrix u("u", n, 2), params("params", n, 2);
  const PoincareSection result{Column("damping", n), {}};
  Kokkos::parallel_for(
      "dampings", Policy(exec, 0, n), KOKKOS_LAMBDA(int i) {
        u(i, 0) = -0.5;
        u(i, 1) = -0.1;
        params(i, 0) = result.damping(i) = 0.2 + 0.1 * i / Kokkos::max(n - 1, 1);
        params(i, 1) = 0.3;
      });
  const gradsolve::Options options{.rtol = 1e-9, .atol = 1e-9};

  // The drive is the same in every period: the transient goes by in pieces that all start at 0,
  // each from where the last one ended, on one record whose memory is that of a piece.
  constexpr int piece = 8;
  const gradsolve::Ensemble pieces(u, params, 0.0, piece * drive_period);
  gradsolve::Record<gradsolve::Verner7, double, Memory> record;
  for (int period = 0; period < transient_periods; period += piece) {
    gradsolve::record(exec, Duffing{}, gradsolve::Verner7{}, pieces, options, record);
    Kokkos::deep_copy(exec, u, record.states);
  }

  const gradsolve::Ensemble observed(u, params, 0.0, sections * drive_period);
  std::vector<double> ends;
  for (int k = 1; k <= sections; ++k) ends.push_back(k * drive_period);
  const auto times = gradsolve::save_times(exec, observed, ends);
  gradsolve::record(exec, Duffing{}, gradsolve::Verner7{}, observed, times, options, record);
  return {result.damping, record.saved};
}

inline void write(const PoincareSection& section, const char* path) {
  const OutputFile file(path);
  const auto damping = on_host(section.damping);
  const auto states = on_host(section.states);
  std::fprintf(file, "k,x\n");
  for (std::size_t i = 0; i < states.extent(0); ++i)
    for (std::size_t k = 0; k < states.extent(1); ++k)
      std::fprintf(file, "%.6f,%.5f\n", damping(i), states(i, k, 0));
}

}  // namespace examples
