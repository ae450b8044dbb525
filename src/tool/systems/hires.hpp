// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/system.hpp>

namespace gradsolve::tool {

/// HIRES: a plant's high irradiance response by way of phytochrome, eight reactants (E. Schaefer,
/// J. Math. Biol. 2 (1975) 41). Parameters: the rates k1 to k9, and the supply oks.
struct Hires {
  static constexpr int num_states = 8, num_params = 10;

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 8> operator()(const T&, const State<T, 8>& u,
                                                     const Params<T, 10>& p) const {
    const T &k1 = p[0], &k2 = p[1], &k3 = p[2], &k4 = p[3], &k5 = p[4];
    const T &k6 = p[5], &k7 = p[6], &k8 = p[7], &k9 = p[8], &oks = p[9];
    // kI_J: reaction I of reactant J.
    const T k1_0 = k1 * u[0], k2_1 = k2 * u[1], k3_1 = k3 * u[1], k6_2 = k6 * u[2];
    const T k1_2 = k1 * u[2], k2_3 = k2 * u[3], k1_4 = k1 * u[4], k5_4 = k5 * u[4];
    const T k2_5 = k2 * u[5], k2_6 = k2 * u[6], k8_6 = k8 * u[6], bind = k7 * u[5] * u[7];
    const T bound = bind - (k2_6 + k8_6 + k9 * u[6]);
    return {k2_1 - k1_0 + k6_2 + oks,
            k1_0 - k2_1 - k3_1,
            k2_3 - k6_2 - k1_2 + k5_4,
            k3_1 + k1_2 - k4 * u[3] - k2_3,
            k2_5 + k2_6 - k1_4 - k5_4,
            k8 * u[3] + k1_4 - k2_5 + k8_6 - bind,
            bound,
            -bound};
  }
};

}  // namespace gradsolve::tool
