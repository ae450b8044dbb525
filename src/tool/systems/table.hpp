// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "../problem.hpp"

namespace gradsolve::tool {

extern const SystemEntry brusselator, e5, hires, linear, lorenz, lotka_volterra, magnet, orego,
    pleiades, pollu, robertson, van_der_pol;

}  // namespace gradsolve::tool
