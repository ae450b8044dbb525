// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../observed.hpp"
#include "lotka_volterra.hpp"

namespace gradsolve::tool {
template GradientResult observed_of<LotkaVolterra>(const EnsembleData&, const Settings&,
                                                   const Observation&);
}
