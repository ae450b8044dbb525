// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lorenz.hpp"

#include "entry.hpp"
#include "table.hpp"

namespace gradsolve::tool {

// The published benchmark: n = 32768, rtol 1e-6.
const SystemEntry lorenz = entry_of<Lorenz, EveryNonstiff>({
    .name = "lorenz",
    .summary = "convection in a fluid layer (Lorenz 1963), sigma = 10, beta = 8/3",
    .default_ensemble = "rho evenly spaced from 0 to 21, from (1, 0, 0)",
    .state_names = {"x", "y", "z"},
    .param_names = {"rho"},
    .default_n = 32768,
    .t0 = 0,
    .t1 = 1,
    .states = {1, 0, 0},
    .params = {28},
    .vary = [](int i, int n, double*, double* p) { p[0] = linspace(0, 21, i, n); },
    .observed = observed_of<Lorenz>,
});

}  // namespace gradsolve::tool
