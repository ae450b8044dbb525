// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pollu.hpp"

#include "entry.hpp"
#include "table.hpp"

namespace gradsolve::tool {

const SystemEntry pollu = entry_of<Pollu, LargeStiff>({
    .name = "pollu",
    .summary = "air pollution, 20 species in 25 reactions, stiff (Verwer 1994)",
    .default_ensemble = "k1 to k8 within 10% of the usual rates",
    .state_names = {"y1",  "y2",  "y3",  "y4",  "y5",  "y6",  "y7",  "y8",  "y9",  "y10",
                    "y11", "y12", "y13", "y14", "y15", "y16", "y17", "y18", "y19", "y20"},
    .param_names = {"k1",  "k2",  "k3",  "k4",  "k5",  "k6",  "k7",  "k8",  "k9",
                    "k10", "k11", "k12", "k13", "k14", "k15", "k16", "k17", "k18",
                    "k19", "k20", "k21", "k22", "k23", "k24", "k25"},
    .default_n = 256,
    .t0 = 0,
    .t1 = 60,
    .states = {0, 0.2, 0, 0.04, 0, 0, 0.1, 0.3, 0.01, 0, 0, 0, 0, 0, 0, 0, 0.007, 0, 0, 0},
    .params = {0.35,    26.6,   1.23e4, 8.6e-4, 8.2e-4, 1.5e4,  1.3e-4, 2.4e4,  1.65e4,
               9e3,     0.022,  1.2e4,  1.88,   1.63e4, 4.8e6,  3.5e-4, 0.0175, 1e8,
               4.44e11, 1.24e3, 2.1,    5.78,   0.0474, 1.78e3, 3.12},
    .vary =
        [](int i, int, double*, double* k) {
          for (int j = 0; j < 8; ++j) k[j] *= 1 + 0.1 * scatter(i, j);
        },
});

}  // namespace gradsolve::tool
