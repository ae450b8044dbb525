// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lotka_volterra.hpp"

#include "entry.hpp"
#include "table.hpp"

namespace gradsolve::tool {

const SystemEntry lotka_volterra = entry_of<LotkaVolterra>({
    .name = "lotka_volterra",
    .summary = "prey and predators",
    .default_ensemble = "parameters within 10% of (1.5, 1, 3, 1), from (1, 1)",
    .state_names = {"prey", "predators"},
    .param_names = {"alpha", "beta", "gamma", "delta"},
    .default_n = 4096,
    .t0 = 0,
    .t1 = 10,
    .states = {1, 1},
    .params = {1.5, 1, 3, 1},
    .vary =
        [](int i, int, double*, double* p) {
          for (int k = 0; k < 4; ++k) p[k] *= 1 + 0.1 * scatter(i, k);
        },
    .observed = observed_of<LotkaVolterra>,
});

}  // namespace gradsolve::tool
