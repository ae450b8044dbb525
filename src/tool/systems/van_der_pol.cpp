// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "van_der_pol.hpp"

#include "entry.hpp"
#include "table.hpp"

namespace gradsolve::tool {

const SystemEntry van_der_pol = entry_of<VanDerPol>({
    .name = "van_der_pol",
    .summary = "an oscillator that settles on a limit cycle",
    .default_ensemble = "mu evenly spaced from 0.5 to 5, from (2, 0)",
    .state_names = {"x", "v"},
    .param_names = {"mu"},
    .default_n = 4096,
    .t0 = 0,
    .t1 = 10,
    .states = {2, 0},
    .params = {1},
    .vary = [](int i, int n, double*, double* p) { p[0] = linspace(0.5, 5, i, n); },
    .observed = observed_of<VanDerPol>,
});

}  // namespace gradsolve::tool
