// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kvaerno 5(4): its numbers, and one step against a solution in 75-digit arithmetic, with its
// tangent and its adjoint, of an ordinary differential equation and of one with a singular mass
// matrix.
#include <gradsolve/methods/kvaerno5.hpp>
#include <gradsolve/stepping/dense_output.hpp>

#include <gtest/gtest.h>

#include <support/golden_step.hpp>

namespace {

using golden_step::Dae3;
using golden_step::expect_golden;
using golden_step::input;
using golden_step::Ode3;
using golden_step::run;
using gradsolve::Kvaerno5;

TEST(Kvaerno5, HasThePublishedNumbers) {
  const auto& published = methods_data().at("methods").at("kvaerno5");
  EXPECT_EQ(Kvaerno5::order, published.at("order"));
  EXPECT_EQ(Kvaerno5::error_order, int(published.at("embedded_order")) + 1);
  EXPECT_EQ(Kvaerno5::gamma, number(published.at("gamma")));
  EXPECT_EQ(Kvaerno5::dense_order, published.at("dense_stage").at("order"));
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(Kvaerno5::c[i], number(published.at("c")[i])) << i;
    const auto row = numbers(published.at("A_refined")[i]);
    for (int j = 0; j < 7; ++j) EXPECT_EQ(Kvaerno5::a[i][j], row[j]) << i << ", " << j;
    const auto dense = numbers(published.at("dense_stage").at("L")[i]);
    for (int m = 0; m < 4; ++m) EXPECT_EQ(Kvaerno5::dense[i][m], dense[m]) << i << ", " << m;
  }
}

TEST(Kvaerno5, TakesTheGoldenStep_AndItsDerivatives) {
  expect_golden<Kvaerno5>(run<Kvaerno5>(input<double>()), 40);
}

TEST(Kvaerno5, TakesTheGoldenStep_WithASingularMassMatrix) {
  expect_golden<Kvaerno5, Dae3>(run<Kvaerno5, Dae3>(input<double, Dae3>()), 100);
}

TEST(Kvaerno5, TakesTheGoldenStep_InFloat) {
  expect_golden<Kvaerno5>(run<Kvaerno5>(input<float>()), 40);
}

#if !defined(__CUDACC__)
TEST(Kvaerno5, TakesTheGoldenStep_InEveryLaneOfAPack) {
  expect_golden<Kvaerno5>(run<Kvaerno5>(input<gradsolve::Pack<double, 4>>()), 40);
}
#endif

}  // namespace
