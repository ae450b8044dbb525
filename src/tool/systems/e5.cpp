// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "e5.hpp"

#include "entry.hpp"
#include "table.hpp"

namespace gradsolve::tool {

// To 1e7 rather than to the usual 1e13, where y1 and y4 have underflowed.
const SystemEntry e5 = entry_of<E5, Stiff>({
    .name = "e5",
    .summary = "a pyrolysis, stiff, with components down to 1e-19",
    .default_ensemble = "A, B, C, M within 20% of the usual ones, from (1.76e-3, 0, 0, 0)",
    .state_names = {"y1", "y2", "y3", "y4"},
    .param_names = {"A", "B", "C", "M"},
    .atol_per_rtol = 1e-18,
    .default_n = 1024,
    .t0 = 0,
    .t1 = 1e7,
    .states = {1.76e-3, 0, 0, 0},
    .params = {7.89e-10, 1.1e7, 1.13e3, 1e6},
    .vary =
        [](int i, int, double*, double* p) {
          for (int k = 0; k < 4; ++k) p[k] *= 1 + 0.2 * scatter(i, k);
        },
});

}  // namespace gradsolve::tool
