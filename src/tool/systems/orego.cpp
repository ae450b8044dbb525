// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "orego.hpp"

#include "entry.hpp"
#include "table.hpp"

namespace gradsolve::tool {

const SystemEntry orego = entry_of<Orego, Stiff>({
    .name = "orego",
    .summary = "the Oregonator, a stiff oscillator (Field, Noyes 1974)",
    .default_ensemble = "s, q, w within 2% of (77.27, 8.375e-6, 0.161), from (1, 2, 3)",
    .state_names = {"y1", "y2", "y3"},
    .param_names = {"s", "q", "w"},
    .default_n = 1024,
    .t0 = 0,
    .t1 = 360,
    .states = {1, 2, 3},
    .params = {77.27, 8.375e-6, 0.161},
    .vary =
        [](int i, int, double*, double* p) {
          for (int k = 0; k < 3; ++k) p[k] *= 1 + 0.02 * scatter(i, k);
        },
});

}  // namespace gradsolve::tool
