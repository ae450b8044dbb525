// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "entry.hpp"
#include "table.hpp"

#include <07_oscillators/keller_miksis.hpp>
#include <cmath>

namespace gradsolve::tool {

const SystemEntry keller_miksis = entry_of<examples::KellerMiksis, Application>({
    .name = "keller_miksis",
    .summary = "the radius of a bubble under sound, SI units (examples/07_oscillators)",
    .default_ensemble = "PA1 from 0.3 to 1.2 bar, f1 evenly in ln f from 20 kHz to 1 MHz, at rest",
    .state_names = {"R", "dR"},
    .param_names = {"PA1", "f1", "PA2", "f2", "theta", "RE"},
    .default_n = 4096,
    .t0 = 0,  // in periods of the first wave
    .t1 = 2,
    .states = {1, 0},
    .params = {0.6e5, 1e5, 0, 0, 0, 1e-5},
    .vary =
        [](int i, int n, double*, double* p) {
          p[0] = 0.75e5 + 0.45e5 * scatter(i, 0);
          p[1] = 20e3 * std::pow(50.0, linspace(0, 1, i, n));
        },
});

}  // namespace gradsolve::tool
