// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "entry.hpp"
#include "table.hpp"

#include <03_dark_energy/quintessence.hpp>

namespace gradsolve::tool {

// v0 is the example's first guess: that E = 1 today takes a root, which the example finds.
const SystemEntry quintessence =
    entry_of<examples::Quintessence<examples::Exponential>, Application>({
        .name = "quintessence",
        .summary = "dark energy of the potential v0 exp(-lambda phi) (examples/03_dark_energy)",
        .default_ensemble = "Om from 0.2 to 0.4, h 0.6 to 0.8, lambda to 1.5, v0 = 1 - Om - Or",
        .state_names = {"phi", "dphi"},
        .param_names = {"Om", "Or", "lambda", "v0"},
        .default_n = 4096,
        .t0 = -7,  // ln a
        .t1 = 0,
        .states = {0, 0},
        .params = {0.3, 8.5e-5, 0.775, 0.699915},
        .vary =
            [](int i, int, double*, double* p) {
              const double h = 0.7 + 0.1 * scatter(i, 1);
              p[0] = 0.3 + 0.1 * scatter(i, 0);
              p[1] = 4.18343e-5 / (h * h);
              p[2] = 0.775 + 0.725 * scatter(i, 2);
              p[3] = 1 - p[0] - p[1];
            },
    });

}  // namespace gradsolve::tool
