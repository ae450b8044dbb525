// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One step of each method against a solution in 75-digit arithmetic: the step, its error estimate,
// its tangent and its adjoint.
#include "support/golden_step.hpp"

#include <limits>

namespace {

using golden_step::expect_golden;
using golden_step::expect_identity;
using golden_step::Input;
using golden_step::input;
using golden_step::Output;
using golden_step::run;
using gradsolve::Params;
using gradsolve::State;
using gradsolve::Vector;

template <class M>
struct Steps : ::testing::Test {};
TYPED_TEST_SUITE(Steps, AllMethods, NameOfMethod);

TYPED_TEST(Steps, EqualTheGoldenStep_InDouble) {
  expect_golden<TypeParam>(run<TypeParam>(input<double>()));
}

TYPED_TEST(Steps, EqualTheGoldenStep_InFloat) {
  expect_golden<TypeParam>(run<TypeParam>(input<float>()));
}

TYPED_TEST(Steps, GiveTheSlopeAtTheEnd_WhereFirstSameAsLast) {
  using M = TypeParam;
  if constexpr (M::fsal) {
    const Input<double> in = input<double>();
    const Output<double> out = run<M>(in);
    const State<double, 3> slope = golden_step::Ode3{}(in.t_end, out.attempt, in.p);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(out.k_last[i], slope[i], 1e-15) << i;
  }
}

TYPED_TEST(Steps, AreTheIdentityToTheBit_WhereTheStepIsZero) {
  expect_identity<TypeParam, double>();
  expect_identity<TypeParam, float>();
}

TEST(Combine, NeverTouchesAStage_WithWeightZero) {
  // Verner's weights of stages 1 to 6 are zero; those stages may hold anything, infinities too.
  using M = gradsolve::Verner9;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Vector<double, 1> k[M::num_stages];
  double expected = 0;
  for (int j = 0; j < M::num_stages; ++j) {
    k[j][0] = M::b[j] == 0 ? nan : j + 1.0;
    if (M::b[j] != 0) expected += M::b[j] * (j + 1.0);
  }
  Vector<double, 1> sum{nan};
  EXPECT_TRUE((gradsolve::detail::combine<gradsolve::detail::SolutionRow<M>>(k, sum)));
  EXPECT_NEAR(sum[0], expected, 1e-14);
}

TEST(Combine, LeavesTheSumAlone_WhereAllWeightsAreZero) {
  using M = gradsolve::Tsit5;
  Vector<double, 1> k[M::num_stages] = {};
  Vector<double, 1> sum{7};
  // Stage 0 has no stages before it, and no later stage of the solution uses its last one.
  EXPECT_FALSE((gradsolve::detail::combine<gradsolve::detail::StageRow<M, 0>>(k, sum)));
  EXPECT_FALSE(
      (gradsolve::detail::combine<
          gradsolve::detail::StageColumn<M, 5, gradsolve::detail::SolutionStages<M>>>(k, sum)));
  EXPECT_EQ(sum[0], 7);
}

/// u0' = -u0, u1' = 0: a component that stays where it is.
struct DecayAndRest {
  static constexpr int num_states = 2, num_params = 0;
  template <class T>
  KOKKOS_FUNCTION State<T, 2> operator()(T, const State<T, 2>& u, const Params<T, 0>&) const {
    return {-u[0], T(0)};
  }
};

template <class M>
double ratio2_of_decay(const State<double, 2>& u, double rtol, double atol) {
  const DecayAndRest f;
  return gradsolve::detail::attempt<M>(f, 0.0, 0.5, u, Params<double, 0>{},
                                       f(0.0, u, Params<double, 0>{}),
                                       gradsolve::detail::Tolerances(rtol, atol))
      .ratio2;
}

TEST(Attempt, CountsNothingOverNothingAsNothing_WhereAtolIsZero) {
  const double with_zero = ratio2_of_decay<gradsolve::Tsit5>({1, 0}, 1e-3, 0);
  const double without_zero = ratio2_of_decay<gradsolve::Tsit5>({1, 1}, 1e-3, 0);
  EXPECT_GT(with_zero, 0);
  EXPECT_EQ(with_zero, without_zero);
}

TEST(Attempt, HasRatioZero_WhereBothEstimatesOfDop853AreZero) {
  EXPECT_EQ(ratio2_of_decay<gradsolve::Dop853>({0, 1}, 1e-3, 0), 0);
  EXPECT_EQ(ratio2_of_decay<gradsolve::Dop853>({0, 1}, 0, 1e-3), 0);
}

TEST(Attempt, IsNeverAcceptable_WhereTheStateIsNotANumber) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const double bad : {std::nan(""), inf, -inf}) {
    EXPECT_FALSE(ratio2_of_decay<gradsolve::Tsit5>({bad, 1}, 1e-3, 1e-3) <= 1) << bad;
    EXPECT_FALSE(ratio2_of_decay<gradsolve::Dop853>({bad, 1}, 1e-3, 1e-3) <= 1) << bad;
  }
}

}  // namespace
