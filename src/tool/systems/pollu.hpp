// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/system.hpp>

namespace gradsolve::tool {

/// Air pollution: 20 species in 25 reactions (J. G. Verwer, SIAM J. Sci. Comput. 15 (1994) 1243).
/// Parameters: the rates k1 to k25.
struct Pollu {
  static constexpr int num_states = 20, num_params = 25;

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 20> operator()(const T&, const State<T, 20>& u,
                                                      const Params<T, 25>& k) const {
    // The numbers of the paper: reactions from 1, and u[i] is y of i + 1.
    const T r1 = k[0] * u[0], r2 = k[1] * u[1] * u[3], r3 = k[2] * u[4] * u[1], r4 = k[3] * u[6];
    const T r5 = k[4] * u[6], r6 = k[5] * u[6] * u[5], r7 = k[6] * u[8], r8 = k[7] * u[8] * u[5];
    const T r9 = k[8] * u[10] * u[1], r10 = k[9] * u[10] * u[0], r11 = k[10] * u[12];
    const T r12 = k[11] * u[9] * u[1], r13 = k[12] * u[13], r14 = k[13] * u[0] * u[5];
    const T r15 = k[14] * u[2], r16 = k[15] * u[3], r17 = k[16] * u[3], r18 = k[17] * u[15];
    const T r19 = k[18] * u[15], r20 = k[19] * u[16] * u[5], r21 = k[20] * u[18];
    const T r22 = k[21] * u[18], r23 = k[22] * u[0] * u[3], r24 = k[23] * u[18] * u[0];
    const T r25 = k[24] * u[19];
    return {r2 + r3 + r9 + r11 + r12 + r22 + r25 - r1 - r10 - r14 - r23 - r24,
            r1 + r21 - r2 - r3 - r9 - r12,
            r1 + r17 + r19 + r22 - r15,
            r15 - r2 - r16 - r17 - r23,
            r4 + r4 + r6 + r7 + r13 + r20 - r3,
            r3 + r18 + r18 - r6 - r8 - r14 - r20,
            r13 - r4 - r5 - r6,
            r4 + r5 + r6 + r7,
            -r7 - r8,
            r7 + r9 - r12,
            r8 + r11 - r9 - r10,
            r9,
            r10 - r11,
            r12 - r13,
            r14,
            r16 - r18 - r19,
            -r20,
            r20,
            r23 + r25 - r21 - r22 - r24,
            r24 - r25};
  }
};

}  // namespace gradsolve::tool
