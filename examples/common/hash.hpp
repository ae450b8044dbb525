// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_MathematicalFunctions.hpp>

#include <cstdint>

namespace examples {

/// Random numbers by counter: number k of member i depends on (seed, i, k) alone, so that every
/// thread draws for itself, any member can be drawn again, and CPU and GPU draw the same ensemble.
/// The mixing function is that of SplitMix64 (Steele, Lea, Flood 2014).
struct Draws {
  std::uint64_t seed, member;

  /// In (0, 1), exact in double precision.
  KOKKOS_FUNCTION double uniform(std::uint64_t k) const {
    const std::uint64_t bits = mix(mix(seed + golden * (member + 1)) + golden * (k + 1));
    return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
  }
  /// Standard normal (Box and Muller), from the uniform numbers 2k and 2k + 1.
  KOKKOS_FUNCTION double normal(std::uint64_t k) const {
    return Kokkos::sqrt(-2 * Kokkos::log(uniform(2 * k))) *
           Kokkos::cos(6.283185307179586 * uniform(2 * k + 1));
  }

 private:
  static constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;

  static KOKKOS_FUNCTION std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
};

}  // namespace examples
