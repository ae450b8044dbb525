// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/all_methods.hpp"
#include "support/methods_data.hpp"
#include "support/on_device.hpp"
#include <gradsolve/stepping/step.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

/// One step of a method on the problem of the golden data, in every form that the library has, and
/// what it must be.
namespace golden_step {

using gradsolve::Dual;
using gradsolve::LaneTraits;
using gradsolve::Pack;
using gradsolve::Params;
using gradsolve::ScalarOf;
using gradsolve::State;
using gradsolve::Vector;
using gradsolve::detail::Attempt;
using gradsolve::detail::TimeAdjoints;

/// The problem of the golden data: it depends on time, and no derivative of it vanishes by
/// accident.
struct Ode3 {
  static constexpr const char* name = "ode3";
  static constexpr int num_states = 3, num_params = 1;
  template <class T>
  KOKKOS_FUNCTION State<T, 3> operator()(T t, const State<T, 3>& x, const Params<T, 1>& p) const {
    using gradsolve::cos, gradsolve::log;
    const T g = T(1) + T(0.5) * cos(T(2) * t);
    const T slope = g * log(x[0]);
    return {g * x[0] * x[1] * x[2], -slope * x[2], -p[0] * slope * x[1]};
  }
};

/// M v' = Lm F(t, R v) with a full singular mass matrix: two differential equations and a
/// constraint of index 1, mixed with one another.
struct Dae3 {
  static constexpr const char* name = "dae3";
  static constexpr int num_states = 3, num_params = 1;
  static constexpr gradsolve::Matrix<double, 3> mass_matrix{
      {{{1, 0, 0}}, {{0.75, 1, -0.5}}, {{-0.25, -1, 0.5}}}};
  template <class T>
  KOKKOS_FUNCTION State<T, 3> operator()(T t, const State<T, 3>& v, const Params<T, 1>& p) const {
    using gradsolve::cos, gradsolve::log, gradsolve::sin;
    const T g = T(1) + T(0.5) * cos(T(2) * t);
    const T x0 = v[0], x1 = T(0.25) * v[0] + v[1] - T(0.5) * v[2], x2 = T(0.5) * v[1] + v[2];
    const T w = x2 - T(0.125) * sin(t), slope = g * log(x0);
    const T f0 = g * x0 * x1 * w, f1 = -slope * w, f2 = w * w - T(1) + p[0] * log(x0) * log(x0);
    return {f0 + f2, T(0.5) * f0 + f1, T(2) * f2 - f1};
  }
};

template <class L>
struct Input {
  L t, t_end;
  State<L, 3> y0;
  Params<L, 1> p;
};

/// All that a step can tell.
template <class L>
struct Output {
  State<L, 3> step;
  State<L, 3> tangent_value;
  Vector<L, 4> tangent[3];  // d step[i] / d (y0, p)
  State<L, 3> attempt, k_last;
  L absolute_ratio2, relative_ratio2;  // with atol = 1 alone, with rtol = 1 alone
  // Row i from the unit cotangent of component i.
  State<L, 3> dy0[3];
  L dp[3], begin[3], end[3];
  // The same without time, and with pbar = 1 before.
  State<L, 3> dy0_without_time[3];
  L dp_without_time[3];
};

template <class M, class L, class Problem>
struct OneStep {
  Input<L> in;

  KOKKOS_FUNCTION Output<L> operator()() const {
    using S = ScalarOf<L>;
    const Problem f{};
    Output<L> out;
    out.step = gradsolve::detail::step<M>(f, in.t, in.t_end, in.y0, in.p);

    using D = Dual<L, 4>;
    State<D, 3> y;
    Params<D, 1> p;
    for (int i = 0; i < 3; ++i) y[i] = seeded<D>(in.y0[i], i);
    p[0] = seeded<D>(in.p[0], 3);
    const State<D, 3> y1 = gradsolve::detail::step<M>(f, in.t, in.t_end, y, p);
    for (int i = 0; i < 3; ++i) {
      out.tangent_value[i] = y1[i].value;
      out.tangent[i] = y1[i].tangent;
    }

    const State<L, 3> k0 = f(in.t, in.y0, in.p);
    for (bool absolute : {true, false}) {
      const Attempt<Problem, L> trial = gradsolve::detail::attempt<M>(
          f, in.t, in.t_end, in.y0, in.p, k0,
          gradsolve::detail::Tolerances<S>(S(absolute ? 0 : 1), S(absolute ? 1 : 0)));
      (absolute ? out.absolute_ratio2 : out.relative_ratio2) = trial.ratio2;
      out.attempt = trial.u;
      out.k_last = M::fsal && M::error_order > 0 ? trial.k_last : k0;
    }

    for (int row = 0; row < 3; ++row) {
      State<L, 3> lambda = unit(row);
      Params<L, 1> pbar{L(0)};
      TimeAdjoints<L> tbar{L(0), L(0)};
      gradsolve::detail::step_adjoint<true, M>(f, in.t, in.t_end, in.y0, in.p, lambda, pbar, tbar);
      out.dy0[row] = lambda;
      out.dp[row] = pbar[0];
      out.begin[row] = tbar.begin;
      out.end[row] = tbar.end;

      lambda = unit(row);
      pbar[0] = L(1);
      gradsolve::detail::step_adjoint<false, M>(f, in.t, in.t_end, in.y0, in.p, lambda, pbar, tbar);
      out.dy0_without_time[row] = lambda;
      out.dp_without_time[row] = pbar[0];
    }
    return out;
  }

  template <class D>
  static KOKKOS_FUNCTION D seeded(const L& value, int direction) {
    D x(value);
    x.tangent[direction] = L(1);
    return x;
  }
  static KOKKOS_FUNCTION State<L, 3> unit(int row) {
    return {L(row == 0 ? 1 : 0), L(row == 1 ? 1 : 0), L(row == 2 ? 1 : 0)};
  }
};

/// Lane 0 is the golden step, or its interval's begin twice where span = 0; the others are steps
/// from elsewhere, so that lanes that mix are seen.
template <class L, class Problem = Ode3>
Input<L> input(double span = 1) {
  const auto& golden = methods_data().at("golden").at(Problem::name);
  const auto y0 = numbers(golden.at("y0"));
  Input<L> in;
  for (int lane = 0; lane < LaneTraits<L>::width; ++lane) {
    const double t = number(golden.at("t")) + lane;
    gradsolve::set_lane(in.t, lane, t);
    gradsolve::set_lane(in.t_end, lane, t + span * (1 + lane) * number(golden.at("h")));
    gradsolve::set_lane(in.p[0], lane, number(golden.at("p")) - 0.25 * lane);
    for (int i = 0; i < 3; ++i) gradsolve::set_lane(in.y0[i], lane, y0[i] * (1 + 0.125 * lane));
  }
  return in;
}

template <class M, class Problem = Ode3, class L>
Output<L> run(const Input<L>& in) {
  if constexpr (LaneTraits<L>::width == 1)
    return on_device(OneStep<M, L, Problem>{in});
  else
    return OneStep<M, L, Problem>{in}();  // a pack belongs to the CPU
}

/// What one lane type must reach.
template <class S>
struct Tolerance {
  static constexpr double state = 1e-15, error = 3e-16, derivative = 1e-14;
};
template <>
struct Tolerance<float> {
  static constexpr double state = 5e-7, error = 2e-7, derivative = 5e-6;
};

template <class M, class Problem = Ode3>
const nlohmann::json& expected_step() {
  return methods_data().at("golden").at(Problem::name).at("methods").at(M::name);
}

/// The square root of Attempt::ratio2 from the golden errors.
template <class M, class Problem>
double golden_ratio(const std::vector<double>& scale) {
  auto mean_square = [&](const char* key) {
    const auto error = numbers(expected_step<M, Problem>().at(key));
    double sum = 0;
    for (int i = 0; i < 3; ++i) sum += std::pow(error[i] / scale[i], 2) / 3;
    return sum;
  };
  if (M::error_order == 0) return 0;
  const double square = mean_square("err");
  if constexpr (requires { M::e3; }) return square / std::sqrt(square + 0.01 * mean_square("err3"));
  return std::sqrt(square);
}

/// `rounding`: that of the method beside an explicit one's.
template <class M, class Problem = Ode3, class L>
void expect_golden(const Output<L>& out, double rounding = 1) {
  using Bound = Tolerance<ScalarOf<L>>;
  const auto& golden = expected_step<M, Problem>();
  auto value = [](const auto& x) { return double(gradsolve::lane_of(x, 0)); };
  auto near_state = [&](const State<L, 3>& state, const char* what) {
    const auto y1 = numbers(golden.at("y1"));
    for (int i = 0; i < 3; ++i)
      EXPECT_NEAR(value(state[i]), y1[i], rounding * Bound::state * y1[i])
          << what << "[" << i << "]";
  };
  near_state(out.step, "step");
  near_state(out.attempt, "attempt");
  near_state(out.tangent_value, "value of the tangent");

  const auto y0 = numbers(methods_data()["golden"][Problem::name]["y0"]),
             y1 = numbers(golden.at("y1"));
  const std::vector<double> larger{std::max(y0[0], y1[0]), std::max(y0[1], y1[1]),
                                   std::max(y0[2], y1[2])};
  EXPECT_NEAR(std::sqrt(value(out.absolute_ratio2)), (golden_ratio<M, Problem>({1, 1, 1})),
              rounding * Bound::error);
  EXPECT_NEAR(std::sqrt(value(out.relative_ratio2)), (golden_ratio<M, Problem>(larger)),
              rounding * Bound::error);

  auto near = [&](const L& x, double expected, const std::string& what) {
    EXPECT_NEAR(value(x), expected,
                rounding * Bound::derivative * std::max(std::abs(expected), 0.01))
        << what;
  };
  const auto dp = numbers(golden.at("dy1_dp")), dt = numbers(golden.at("dy1_dt")),
             dh = numbers(golden.at("dy1_dh"));
  for (int i = 0; i < 3; ++i) {
    const std::string row = "y1[" + std::to_string(i) + "]";
    const auto dy0 = numbers(golden.at("dy1_dy0")[i]);
    for (int j = 0; j < 3; ++j) {
      const std::string column = "y0[" + std::to_string(j) + "]";
      near(out.tangent[i][j], dy0[j], "tangent of " + row + " to " + column);
      near(out.dy0[i][j], dy0[j], "adjoint of " + row + " to " + column);
      near(out.dy0_without_time[i][j], dy0[j], "adjoint without time of " + row + " to " + column);
    }
    near(out.tangent[i][3], dp[i], "tangent of " + row + " to p");
    near(out.dp[i], dp[i], "adjoint of " + row + " to p");
    near(out.dp_without_time[i], 1 + dp[i], "adjoint of " + row + " to p, added to 1");
    // The ends of the step are t and t + h: moving t with h fixed moves both.
    near(out.begin[i] + out.end[i], dt[i], "adjoint of " + row + " to t");
    near(out.end[i], dh[i], "adjoint of " + row + " to h");
  }
}

/// A step from t to t: lanes that are through repeat their last time, and must change no bit.
template <class M, class L>
void expect_identity() {
  const Input<L> in = input<L>(0);
  const Output<L> out = run<M>(in);

  for (int lane = 0; lane < LaneTraits<L>::width; ++lane) {
    auto bits = [&](const L& x) {
      return std::bit_cast<gradsolve::detail::SameSizeInt<ScalarOf<L>>>(
          gradsolve::lane_of(x, lane));
    };
    EXPECT_EQ(gradsolve::lane_of(out.absolute_ratio2, lane), 0);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(bits(out.step[i]), bits(in.y0[i])) << i;
      EXPECT_EQ(bits(out.attempt[i]), bits(in.y0[i])) << i;
      EXPECT_EQ(bits(out.tangent_value[i]), bits(in.y0[i])) << i;
      for (int j = 0; j < 3; ++j) {
        const ScalarOf<L> identity = i == j ? 1 : 0;
        EXPECT_EQ(gradsolve::lane_of(out.tangent[i][j], lane), identity) << i << ", " << j;
        EXPECT_EQ(gradsolve::lane_of(out.dy0[i][j], lane), identity) << i << ", " << j;
      }
      EXPECT_EQ(gradsolve::lane_of(out.tangent[i][3], lane), 0) << i;
      EXPECT_EQ(gradsolve::lane_of(out.dp[i], lane), 0) << i;
      EXPECT_EQ(gradsolve::lane_of(out.begin[i] + out.end[i], lane), 0) << i;
    }
  }
}

}  // namespace golden_step
