// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The continuous extension of one step and its adjoint, of every method: values against the golden
// data, the adjoint against tangents.
#include <gradsolve/stepping/dense_output.hpp>

#include <gtest/gtest.h>

#include <support/golden_step.hpp>

namespace {

using golden_step::Ode3;
using gradsolve::Dual;
using gradsolve::Params;
using gradsolve::State;
using gradsolve::Vector;
using namespace gradsolve::detail;

struct Interpolated {
  State<double, 3> value;
  Vector<double, 4> tangent[3];  // d value[i] / d (y0, p)
  State<double, 3> dy0[3];       // by the adjoint, row by row
  double dp[3];
  State<double, 3> dy0_with_time[3];
  double dp_with_time[3];
};

template <class M>
struct Interpolate {
  golden_step::Input<double> in;
  double theta;

  template <class T>
  KOKKOS_FUNCTION State<T, 3> at(const State<T, 3>& u, const Params<T, 1>& p) const {
    StageValues<DenseStages<M>, Ode3, T> s;
    evaluate_stages<true, M>(Ode3{}, in.t, in.t_end, u, p, s);
    return interpolated<M, Ode3>(u, in.t_end - in.t, s, theta);
  }

  template <bool WithTime>
  KOKKOS_FUNCTION void adjoint(int row, State<double, 3>& lambda, double& dp) const {
    StageValues<DenseStages<M>, Ode3, double> s;
    evaluate_stages<true, M>(Ode3{}, in.t, in.t_end, in.y0, in.p, s);
    DenseAdjoint<M, Ode3, double> dense;
    dense.add(State<double, 3>{double(row == 0), double(row == 1), double(row == 2)}, theta);
    lambda = {0, 0, 0};
    Params<double, 1> pbar{0};
    TimeAdjoints<double> tbar;
    stages_adjoint<WithTime, M>(Ode3{}, in.t, in.t_end, in.y0, in.p, s, dense, lambda, pbar, tbar);
    axpy(1.0, dense.u, lambda);
    dp = pbar[0];
  }

  KOKKOS_FUNCTION Interpolated operator()() const {
    Interpolated out;
    out.value = at(in.y0, in.p);
    using D = Dual<double, 4>;
    State<D, 3> y;
    Params<D, 1> p;
    for (int i = 0; i < 3; ++i) {
      y[i] = D(in.y0[i]);
      y[i].tangent[i] = 1;
    }
    p[0] = D(in.p[0]);
    p[0].tangent[3] = 1;
    const State<D, 3> v = at(y, p);
    for (int i = 0; i < 3; ++i) {
      out.tangent[i] = v[i].tangent;
      adjoint<false>(i, out.dy0[i], out.dp[i]);
      adjoint<true>(i, out.dy0_with_time[i], out.dp_with_time[i]);
    }
    return out;
  }
};

template <class M>
class DenseOutput : public ::testing::Test {};
TYPED_TEST_SUITE(DenseOutput, AllMethods);

TYPED_TEST(DenseOutput, IsGolden_AndItsAdjointIsItsTangentTransposed) {
  using M = TypeParam;
  const auto& golden = golden_step::expected_step<M>();
  const auto in = golden_step::input<double>();
  const double theta = number(methods_data()["golden"]["ode3"]["theta"]);
  const Interpolated out = on_device(Interpolate<M>{in, theta});
  const auto expected = numbers(golden.at("dense"));
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(out.value[i], expected[i], 4e-15 * std::abs(expected[i])) << i;
    for (int j = 0; j < 3; ++j) {
      const double bound = 2e-13 * (1 + std::abs(out.tangent[i][j]));
      EXPECT_NEAR(out.dy0[i][j], out.tangent[i][j], bound) << i << ", " << j;
      EXPECT_NEAR(out.dy0_with_time[i][j], out.tangent[i][j], bound) << i << ", " << j;
    }
    EXPECT_NEAR(out.dp[i], out.tangent[i][3], 2e-13 * (1 + std::abs(out.dp[i]))) << i;
    EXPECT_NEAR(out.dp_with_time[i], out.tangent[i][3], 2e-13 * (1 + std::abs(out.dp[i]))) << i;
  }
}

/// At the ends of the step it is the step's ends.
TYPED_TEST(DenseOutput, JoinsTheEndsOfTheStep) {
  using M = TypeParam;
  const auto in = golden_step::input<double>();
  const auto y1 = numbers(golden_step::expected_step<M>().at("y1"));
  const auto begin = on_device(Interpolate<M>{in, 0.0}).value;
  const auto end = on_device(Interpolate<M>{in, 1.0}).value;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(begin[i], in.y0[i]);
    EXPECT_NEAR(end[i], y1[i], 1e-13 * std::abs(y1[i]));
  }
}

}  // namespace
