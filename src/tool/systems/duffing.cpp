// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "entry.hpp"
#include "table.hpp"

#include <07_oscillators/duffing.hpp>

namespace gradsolve::tool {

// Ten periods of the drive.
const SystemEntry duffing = entry_of<examples::Duffing, Application>({
    .name = "duffing",
    .summary = "a driven particle in a double well, in parts chaotic (examples/07_oscillators)",
    .default_ensemble = "damping k evenly spaced from 0.2 to 0.3, from (-0.5, -0.1)",
    .state_names = {"x", "v"},
    .param_names = {"k", "B"},
    .default_n = 4096,
    .t0 = 0,
    .t1 = 62.83185307179586,
    .states = {-0.5, -0.1},
    .params = {0.25, 0.3},
    .vary = [](int i, int n, double*, double* p) { p[0] = linspace(0.2, 0.3, i, n); },
});

}  // namespace gradsolve::tool
