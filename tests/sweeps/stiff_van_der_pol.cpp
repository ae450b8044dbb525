// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <support/stiff_problems.hpp>

/// Van der Pol's oscillator in its stiff form, which has jumps of width eps, for eps from 1e-6.
namespace gradsolve::test {
namespace {

/// y0' = y1, eps y1' = (1 - y0^2) y1 - y0. Parameter: eps.
struct StiffVanDerPol {
  static constexpr int num_states = 2, num_params = 1;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 2> operator()(const T&, const State<T, 2>& u,
                                                     const Params<T, 1>& eps) const {
    return {u[1], ((T(1) - u[0] * u[0]) * u[1] - u[0]) / eps[0]};
  }
};

// Steps are held fixed in a derivative, and those of a jump stay where the jump was: the
// derivatives have an error of some rtol / eps, and the values one of rtol.
struct Problem {
  using System = StiffVanDerPol;
  static constexpr const char* name = "stiff_van_der_pol";
  static constexpr Options options{.rtol = 1e-12, .atol = 1e-12};
  static constexpr double value = 1e-11, slope = 1e-5, rounding = 1e-8, drift = 0;
  static constexpr double invariant[2] = {};
};
INSTANTIATE_TYPED_TEST_SUITE_P(VanDerPol, StiffProblem, Problem, NameOfProblem);

}  // namespace
}  // namespace gradsolve::test
