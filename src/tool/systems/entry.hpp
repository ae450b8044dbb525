// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "../linspace.hpp"
#include "../sweeps.hpp"

namespace gradsolve::tool {

/// Completes a table entry with what the system F itself says, and the sweeps of its kind of
/// methods.
template <class F, class Kind = Nonstiff>
SystemEntry entry_of(SystemEntry entry) {
  entry.methods = names_of(typename Kind::Methods{});
  entry.float_methods = names_of(typename Kind::FloatMethods{});
  entry.branches = branches_v<F>;
  entry.gradient = gradient_of<F, Kind>;
  entry.check = check_of<F, Kind>;
  return entry;
}

/// Number i of a sequence that fills [-1, 1] evenly, another one for each k < 8.
inline double scatter(int i, int k) {
  constexpr double roots[] = {1.4142135623730951, 1.7320508075688772, 2.23606797749979,
                              2.6457513110645907, 3.3166247903554,    3.605551275463989,
                              4.123105625617661,  4.358898943540674};  // of primes
  const double x = (i + 1) * roots[k];
  return 2 * (x - static_cast<long long>(x)) - 1;
}

}  // namespace gradsolve::tool
