// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "robertson.hpp"

#include "entry.hpp"
#include "table.hpp"

#include <cmath>

namespace gradsolve::tool {

const SystemEntry robertson = entry_of<Robertson, EveryStiff>({
    .name = "robertson",
    .summary = "three reactions, stiff (Robertson 1966)",
    .default_ensemble = "k1 evenly spaced in its logarithm, 0.04 / sqrt(10) to 0.04 sqrt(10)",
    .state_names = {"a", "b", "c"},
    .param_names = {"k1", "k2", "k3"},
    .default_n = 2048,
    .t0 = 0,
    .t1 = 1e4,
    .states = {1, 0, 0},
    .params = {0.04, 3e7, 1e4},
    .vary = [](int i, int n, double*,
               double* k) { k[0] *= std::pow(10.0, linspace(-0.5, 0.5, i, n)); },
});

}  // namespace gradsolve::tool
