// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "../problem.hpp"

namespace gradsolve::tool {

extern const SystemEntry black_hole_binary, brusselator, duffing, e5, hires, keller_miksis, linear,
    lorenz, lotka_volterra, magnet, milky_way, orbits, orego, pleiades, pollu, quintessence,
    robertson, van_der_pol;

}  // namespace gradsolve::tool
