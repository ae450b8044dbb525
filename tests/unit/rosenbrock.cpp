// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Rosenbrock methods: their numbers, and one step of each against a solution in 75-digit
// arithmetic, with its tangent and its adjoint, of an ordinary differential equation and of one
// with a singular mass matrix.
#include <gradsolve/stepping/dense_output.hpp>

#include <gtest/gtest.h>

#include <support/golden_step.hpp>

namespace {

using golden_step::Dae3;
using golden_step::expect_golden;
using golden_step::input;
using golden_step::Ode3;
using golden_step::run;
using gradsolve::detail::dense_coefficient;

template <class M>
struct Rosenbrock : ::testing::Test {
  const nlohmann::json& published = methods_data().at("methods").at(M::name);
};
TYPED_TEST_SUITE(Rosenbrock, RosenbrockMethods, NameOfMethod);

TYPED_TEST(Rosenbrock, HasThePublishedNumbers) {
  using M = TypeParam;
  EXPECT_EQ(M::gamma, number(this->published.at("gamma")));
  EXPECT_EQ(M::order, this->published.at("order"));
  const int embedded = this->published.at("embedded_order");
  EXPECT_EQ(M::error_order, std::min(M::order, embedded) + 1);
  EXPECT_EQ(M::num_solution_stages, int(this->published["structure"]["solution_stages"].size()));
  auto same = [&](const double* ours, const nlohmann::json& theirs, const char* what) {
    const auto expected = numbers(theirs);
    ASSERT_LE(int(expected.size()), M::num_stages) << what;
    for (int j = 0; j < M::num_stages; ++j)
      EXPECT_EQ(ours[j], j < int(expected.size()) ? expected[j] : 0.0) << what << ", " << j;
  };
  same(M::c, this->published.at("c"), "c");
  same(M::d, this->published.at("d"), "d");
  same(M::b, this->published.at("m"), "m");
  same(M::e, this->published.at("em"), "em");
  for (int i = 0; i < M::num_stages; ++i) {
    same(M::a[i], this->published.at("A")[i], "A");
    same(M::C[i], this->published.at("C")[i], "C");
  }
  if (!this->published.contains("dense")) return;
  const auto& dense = this->published.at("dense");
  EXPECT_EQ(M::dense_order, dense.at("order"));
  ASSERT_EQ(M::dense_degree, int(dense.at("H").size()) + 1);
  for (int r = 0; r < M::dense_degree - 1; ++r) same(M::H[r], dense.at("H")[r], "H");
}

TYPED_TEST(Rosenbrock, TakesTheGoldenStep_AndItsDerivatives) {
  expect_golden<TypeParam>(run<TypeParam>(input<double>()), 40);
}

TYPED_TEST(Rosenbrock, TakesTheGoldenStep_WithASingularMassMatrix) {
  const auto& golden = methods_data().at("golden").at("dae3");
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) EXPECT_EQ(Dae3::mass_matrix[i][j], number(golden.at("M")[i][j]));
  expect_golden<TypeParam, Dae3>(run<TypeParam, Dae3>(input<double, Dae3>()), 100);
}

TEST(RosenbrockStep, IsGoldenInFloat) {
  expect_golden<gradsolve::Rodas4>(run<gradsolve::Rodas4>(input<float>()), 40);
}

#if !defined(__CUDACC__)
TEST(RosenbrockStep, IsGoldenInEveryLaneOfAPack) {
  using L = gradsolve::Pack<double, 4>;
  expect_golden<gradsolve::Rodas4>(run<gradsolve::Rodas4>(input<L>()), 40);
}
#endif

TYPED_TEST(Rosenbrock, ContinuousExtensionEndsInTheSolution_ToRounding) {
  using M = TypeParam;
  for (int i = 0; i < M::num_dense_stages; ++i) {
    double sum = 0, size = 0;
    for (int m = 0; m < M::dense_degree; ++m) {
      sum += dense_coefficient<M>(i, m);
      size += std::abs(dense_coefficient<M>(i, m));
    }
    EXPECT_NEAR(sum, M::b[i], 1e-15 * size) << "stage " << i;
  }
}

}  // namespace
