// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "magnet.hpp"

#include "entry.hpp"
#include "table.hpp"

namespace gradsolve::tool {

const SystemEntry magnet = entry_of<Magnet>({
    .name = "magnet",
    .summary = "magnetisation in an oscillating field, by Langevin's function",
    .default_ensemble = "temperature evenly spaced from 0.5 to 1.5, field = 0.5, from 0.1",
    .state_names = {"m"},
    .param_names = {"temperature", "field"},
    .default_n = 1024,
    .t0 = 0,
    .t1 = 5,
    .states = {0.1},
    .params = {1, 0.5},
    .vary = [](int i, int n, double*, double* p) { p[0] = linspace(0.5, 1.5, i, n); },
    .observed = observed_of<Magnet>,
});

}  // namespace gradsolve::tool
