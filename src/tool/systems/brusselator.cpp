// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "brusselator.hpp"

#include "entry.hpp"
#include "table.hpp"

namespace gradsolve::tool {

const SystemEntry brusselator = entry_of<Brusselator, Stiff>({
    .name = "brusselator",
    .summary = "an autocatalytic reaction that oscillates",
    .default_ensemble = "A and B within 10% of (1, 3), from (1.5, 3)",
    .state_names = {"u", "v"},
    .param_names = {"A", "B"},
    .default_n = 4096,
    .t0 = 0,
    .t1 = 20,
    .states = {1.5, 3},
    .params = {1, 3},
    .vary =
        [](int i, int, double*, double* p) {
          for (int k = 0; k < 2; ++k) p[k] *= 1 + 0.1 * scatter(i, k);
        },
});

}  // namespace gradsolve::tool
