// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../observed.hpp"
#include "magnet.hpp"

namespace gradsolve::tool {
template GradientResult observed_of<Magnet>(const EnsembleData&, const Settings&,
                                            const Observation&);
}
