// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "stars.hpp"
#include "table.hpp"

#include <02_stellar_streams/potentials.hpp>

namespace gradsolve::tool {

const SystemEntry orbits = entry_of<examples::LogarithmicHalo, Application>({
    .name = "orbits",
    .summary = "a star in a logarithmic halo, kpc and Myr (examples/02_stellar_streams)",
    .default_ensemble = "stars 5 to 30 kpc from the centre, at 0.2 to 1.1 times vc = 0.225",
    .state_names = {"x", "y", "z", "vx", "vy", "vz"},
    .param_names = {"vc", "rh", "q"},
    .default_n = 512,
    .t0 = 0,
    .t1 = 4000,
    .states = {8, 0, 0, 0, 0.225, 0},
    .params = {0.225, 2, 0.9},
    .vary = [](int i, int, double* w, double*) { place_star(i, w); },
});

}  // namespace gradsolve::tool
