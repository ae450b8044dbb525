// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../observed.hpp"
#include "pleiades.hpp"

namespace gradsolve::tool {
template GradientResult observed_of<Pleiades>(const EnsembleData&, const Settings&,
                                              const Observation&);
}
