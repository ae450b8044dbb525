// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "../problem.hpp"

namespace gradsolve::tool {

extern const SystemEntry linear, lorenz, lotka_volterra, magnet, pleiades, van_der_pol;

}  // namespace gradsolve::tool
