// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../observed.hpp"
#include "lorenz.hpp"

namespace gradsolve::tool {
template GradientResult observed_of<Lorenz>(const EnsembleData&, const Settings&,
                                            const Observation&);
}
