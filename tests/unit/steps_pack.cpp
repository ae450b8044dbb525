// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The steps of steps.cpp for several trajectories at once, in the lanes of a pack.
#include "support/golden_step.hpp"

// A pack is SIMD vectors, which nvcc refuses in any function that a GPU could call.
#ifndef __CUDACC__
namespace {

using golden_step::expect_golden;
using golden_step::expect_identity;
using golden_step::Input;
using golden_step::input;
using golden_step::Output;
using golden_step::run;
using gradsolve::LaneTraits;
using gradsolve::Pack;

template <class M>
struct PackSteps : ::testing::Test {};
TYPED_TEST_SUITE(PackSteps, AllMethods, NameOfMethod);

template <class M, class L>
void expect_lanes_equal_scalars() {
  const Input<L> in = input<L>();
  const Output<L> out = run<M>(in);

  expect_golden<M>(out);
  for (int lane = 1; lane < LaneTraits<L>::width; ++lane) {
    auto of = [&](const L& x) { return gradsolve::lane_of(x, lane); };
    const Output<double> alone = run<M>(Input<double>{
        of(in.t), of(in.t_end), {of(in.y0[0]), of(in.y0[1]), of(in.y0[2])}, {of(in.p[0])}});
    // A compiler may fuse multiplications and additions in one of the two.
    auto near = [&](const L& x, double expected) {
      EXPECT_NEAR(of(x), expected, 1e-14 * std::max(1.0, std::abs(expected))) << "lane " << lane;
    };
    near(out.absolute_ratio2, alone.absolute_ratio2);
    near(out.relative_ratio2, alone.relative_ratio2);
    for (int i = 0; i < 3; ++i) {
      near(out.step[i], alone.step[i]);
      near(out.attempt[i], alone.attempt[i]);
      near(out.k_last[i], alone.k_last[i]);
      near(out.dp[i], alone.dp[i]);
      near(out.begin[i], alone.begin[i]);
      near(out.end[i], alone.end[i]);
      for (int j = 0; j < 3; ++j) {
        near(out.tangent[i][j], alone.tangent[i][j]);
        near(out.dy0[i][j], alone.dy0[i][j]);
      }
    }
  }
}

TYPED_TEST(PackSteps, EqualTheGoldenStepAndScalarSteps_InEachLane) {
  expect_lanes_equal_scalars<TypeParam, Pack<double, 4>>();
}

TYPED_TEST(PackSteps, AreTheIdentityToTheBit_WhereTheStepIsZero) {
  expect_identity<TypeParam, Pack<double, 4>>();
}

// Other widths: they compile slowly, and methods differ in their numbers only.
TEST(PackStepsOfTsit5, EqualTheGoldenStepAndScalarSteps_WithTwoLanes) {
  expect_lanes_equal_scalars<gradsolve::Tsit5, Pack<double, 2>>();
}

TEST(PackStepsOfTsit5, EqualTheGoldenStep_WithEightLanesOfFloat) {
  expect_golden<gradsolve::Tsit5>(run<gradsolve::Tsit5>(input<Pack<float, 8>>()));
}

}  // namespace

#endif
