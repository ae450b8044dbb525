// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "entry.hpp"
#include "table.hpp"

#include <04_black_hole_binaries/precession.hpp>
#include <cmath>

namespace gradsolve::tool {

// Time is the orbital velocity r^(-1/2), in units of the total mass. The states are three unit
// vectors: the tool's loss is 3, its gradient in the parameters 0 but for the error of the
// solution.
const SystemEntry black_hole_binary = entry_of<examples::SpinPrecession, LargeApplication>({
    .name = "black_hole_binary",
    .summary = "spins and orbit of two black holes, precessing (examples/04_black_hole_binaries)",
    .default_ensemble = "q from 0.1 to 0.99, chi from 0.05 to 0.99, all angles; r from 100 to 10",
    .state_names = {"Lx", "Ly", "Lz", "S1x", "S1y", "S1z", "S2x", "S2y", "S2z"},
    .param_names = {"q", "chi1", "chi2"},
    .default_n = 512,
    .t0 = 0.1,
    .t1 = 0.31622776601683794,
    .states = {0, 0, 1, 1, 0, 0, 0, 1, 0},
    .params = {0.8, 0.5, 0.5},
    .vary =
        [](int i, int, double* u, double* p) {
          p[0] = 0.545 + 0.445 * scatter(i, 0);
          for (int k = 1; k < 3; ++k) p[k] = 0.52 + 0.47 * scatter(i, k);
          // L along z, S1 in the xz plane.
          const double cos1 = scatter(i, 3), cos2 = scatter(i, 4);
          const double sin1 = std::sqrt(1 - cos1 * cos1), sin2 = std::sqrt(1 - cos2 * cos2);
          const double dphi = 3.141592653589793 * scatter(i, 5);
          u[3] = sin1, u[4] = 0, u[5] = cos1;
          u[6] = sin2 * std::cos(dphi), u[7] = sin2 * std::sin(dphi), u[8] = cos2;
        },
});

}  // namespace gradsolve::tool
