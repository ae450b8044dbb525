// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../observed.hpp"
#include "van_der_pol.hpp"

namespace gradsolve::tool {
template GradientResult observed_of<VanDerPol>(const EnsembleData&, const Settings&,
                                               const Observation&);
}
