// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "stars.hpp"
#include "table.hpp"

#include <02_stellar_streams/potentials.hpp>

namespace gradsolve::tool {

const SystemEntry milky_way = entry_of<examples::MilkyWay, Application>({
    .name = "milky_way",
    .summary = "a star in a disc, a bulge and a halo, kpc, Myr, Msun (examples/02_stellar_streams)",
    .default_ensemble = "stars 5 to 30 kpc from the centre, at 0.2 to 1.1 times 0.225 kpc/Myr",
    .state_names = {"x", "y", "z", "vx", "vy", "vz"},
    .param_names = {"Md", "a", "b", "Mb", "c", "Mh", "rs", "q"},
    .default_n = 512,
    .t0 = 0,
    .t1 = 4000,
    .states = {8, 0, 0, 0, 0.225, 0},
    .params = {6.8e10, 3, 0.28, 5e9, 1, 5.4e11, 15.62, 0.95},
    .vary = [](int i, int, double* w, double*) { place_star(i, w); },
});

}  // namespace gradsolve::tool
