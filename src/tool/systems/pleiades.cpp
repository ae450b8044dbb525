// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pleiades.hpp"

#include "entry.hpp"
#include "table.hpp"

namespace gradsolve::tool {

const SystemEntry pleiades = entry_of<Pleiades>({
    .name = "pleiades",
    .summary = "seven stars in a plane; its vector-Jacobian product is written by hand",
    .default_ensemble = "masses within 1% of (1, ..., 7), from the usual positions",
    .state_names = {"x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "y1",  "y2",  "y3",
                    "y4",  "y5",  "y6",  "y7",  "vx1", "vx2", "vx3", "vx4", "vx5", "vx6",
                    "vx7", "vy1", "vy2", "vy3", "vy4", "vy5", "vy6", "vy7"},
    .param_names = {"m1", "m2", "m3", "m4", "m5", "m6", "m7"},
    .default_n = 256,
    .t0 = 0,
    .t1 = 3,
    .states = {3, 3,  -1, -3,    2, -2,   2,     // x
               3, -3, 2,  0,     0, -4,   4,     // y
               0, 0,  0,  0,     0, 1.75, -1.5,  // x'
               0, 0,  0,  -1.25, 1, 0,    0},    // y'
    .params = {1, 2, 3, 4, 5, 6, 7},
    .vary =
        [](int i, int, double*, double* m) {
          for (int k = 0; k < 7; ++k) m[k] *= 1 + 0.01 * scatter(i, k);
        },
});

}  // namespace gradsolve::tool
