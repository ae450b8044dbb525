// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hires.hpp"

#include "entry.hpp"
#include "table.hpp"

#include <cmath>

namespace gradsolve::tool {

const SystemEntry hires = entry_of<Hires, LargeStiff>({
    .name = "hires",
    .summary = "eight reactants of a plant's response to light, stiff (Schaefer 1975)",
    .default_ensemble = "k1 evenly spaced in its logarithm, within a factor 10^(1/4) of 1.71",
    .state_names = {"y1", "y2", "y3", "y4", "y5", "y6", "y7", "y8"},
    .param_names = {"k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8", "k9", "oks"},
    .default_n = 2048,
    .t0 = 0,
    .t1 = 321.8122,
    .states = {1, 0, 0, 0, 0, 0, 0, 0.0057},
    .params = {1.71, 0.43, 8.32, 0.69, 0.035, 8.32, 280, 0.69, 0.69, 0.0007},
    .vary = [](int i, int n, double*,
               double* p) { p[0] *= std::pow(10.0, linspace(-0.25, 0.25, i, n)); },
});

}  // namespace gradsolve::tool
