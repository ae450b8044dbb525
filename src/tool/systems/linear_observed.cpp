// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../observed.hpp"
#include "linear.hpp"

namespace gradsolve::tool {
template GradientResult observed_of<Linear>(const EnsembleData&, const Settings&,
                                            const Observation&);
}
