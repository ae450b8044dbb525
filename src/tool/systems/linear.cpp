// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linear.hpp"

#include "entry.hpp"
#include "table.hpp"

namespace gradsolve::tool {

const SystemEntry linear = entry_of<Linear>({
    .name = "linear",
    .summary = "a damped oscillator, with a closed form",
    .default_ensemble = "omega evenly spaced from 1 to 3, zeta = 0.1, from (1, 0)",
    .state_names = {"x", "v"},
    .param_names = {"omega", "zeta"},
    .default_n = 4096,
    .t0 = 0,
    .t1 = 10,
    .states = {1, 0},
    .params = {1, 0.1},
    .vary = [](int i, int n, double*, double* p) { p[0] = linspace(1, 3, i, n); },
    .observed = observed_of<Linear>,
});

}  // namespace gradsolve::tool
