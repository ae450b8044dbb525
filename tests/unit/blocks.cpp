// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Blocks of right-hand sides: what they compute, and their adjoints against forward derivatives.
#include <gradsolve/blocks/chain.hpp>
#include <gradsolve/blocks/dense.hpp>
#include <gradsolve/kernels/weights.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <support/host.hpp>
#include <support/on_device.hpp>

namespace gradsolve::test {
namespace {

template <class Activation>
class Activations : public ::testing::Test {};
using AllActivations = ::testing::Types<Identity, Tanh, Softplus, Swish>;
TYPED_TEST_SUITE(Activations, AllActivations);

constexpr double arguments[] = {-600, -40, -3, -0.7, -1e-9, 0, 1e-9, 0.3, 2, 40, 600};

TYPED_TEST(Activations, SlopeIsTheDerivative) {
  for (const double z : arguments) {
    const auto y = TypeParam::value(Dual<double, 1>(z, {1.0}));
    EXPECT_LE(std::abs(TypeParam::slope(z, y.value) - y.tangent[0]), 1e-15) << z;
  }
}

long double value(Identity, long double z) { return z; }
long double value(Tanh, long double z) { return std::tanh(z); }
long double value(Softplus, long double z) {
  return z > 30 ? z + std::exp(-z) : std::log1p(std::exp(z));
}
long double value(Swish, long double z) { return z / (1 + std::exp(-z)); }

TYPED_TEST(Activations, ValueIsThatOfItsFormula) {
  for (const double z : arguments) {
    const double expected = static_cast<double>(value(TypeParam{}, z));
    EXPECT_LE(std::abs(TypeParam::value(z) - expected), 8e-16 * std::abs(expected)) << z;
    const float single = TypeParam::value(static_cast<float>(z));
    EXPECT_LE(std::abs(single - expected), 5e-7 * std::abs(expected) + 1e-34) << z;
  }
}

TYPED_TEST(Activations, ValueIsAccurateEverywhere) {
  Uniform draw(5);
  double worst = 0, worst_single = 0;
  for (int k = 0; k < 20000; ++k) {
    const float z = static_cast<float>(std::ldexp(draw(-1, 1), k % 20 - 14));
    const long double expected = value(TypeParam{}, z);
    worst = std::max(worst, relative_difference(TypeParam::value(double(z)), expected));
    worst_single = std::max(worst_single, relative_difference(TypeParam::value(z), expected));
  }
  EXPECT_LE(worst, 8e-16);
  EXPECT_LE(worst_single, 5e-7);
}

template <class Activation>
struct ValueAt {
  double z;
  KOKKOS_FUNCTION double operator()() const { return Activation::value(z); }
};
TYPED_TEST(Activations, OnTheDeviceAreThoseOfTheHost) {
  for (const double z : arguments) {
    const double expected = TypeParam::value(z);
    EXPECT_LE(std::abs(on_device(ValueAt<TypeParam>{z}) - expected), 8e-16 * std::abs(expected));
  }
}

/// A layer of sizes that tiles do not divide.
using Net =
    Chain<Dense<3, 17, Tanh>, Chain<Dense<17, 9, Swish>, Dense<9, 5, Softplus>>, Dense<5, 2>>;
static_assert(Net::num_in == 3 && Net::num_out == 2);
static_assert(Net::num_weights == 17 * 4 + 9 * 18 + 5 * 10 + 2 * 6);

struct Inputs {
  std::vector<double> weights;
  Vector<double, 3> x;
  Vector<double, 2> ybar;

  explicit Inputs(std::uint64_t seed) {
    Uniform draw(seed);
    for (int k = 0; k < Net::num_weights; ++k) weights.push_back(draw(-0.7, 0.7));
    for (int i = 0; i < 3; ++i) x[i] = draw(-1, 1);
    for (int i = 0; i < 2; ++i) ybar[i] = draw(-1, 1);
  }
};

/// The same net, loop by loop.
Vector<long double, 2> by_hand(const std::vector<long double>& weights,
                               const std::vector<long double>& x) {
  const long double* w = weights.data();
  auto layer = [&](int out, auto activation, const std::vector<long double>& in) {
    std::vector<long double> y(out);
    for (int i = 0; i < out; ++i) {
      long double z = w[out * in.size() + i];
      for (std::size_t j = 0; j < in.size(); ++j) z += w[i * in.size() + j] * in[j];
      y[i] = value(activation, z);
    }
    w += out * (in.size() + 1);
    return y;
  };
  const auto y =
      layer(2, Identity{}, layer(5, Softplus{}, layer(9, Swish{}, layer(17, Tanh{}, x))));
  return {y[0], y[1]};
}

TEST(Chain, IsItsLayersOneAfterTheOther) {
  const Inputs in(1);
  Vector<double, 2> y;
  Net::forward(in.weights.data(), in.x, y);
  const auto expected =
      by_hand({in.weights.begin(), in.weights.end()}, {in.x[0], in.x[1], in.x[2]});
  for (int i = 0; i < 2; ++i) EXPECT_LE(relative_difference(y[i], expected[i]), 1e-14);
}

TEST(Chain, AdjointIsTheDerivative) {
  const Inputs in(2);
  std::vector<double> weights_bar(Net::num_weights, 1.0);  // added to
  Vector<double, 3> xbar;
  Vector<double, 2> ybar = in.ybar;
  Net::adjoint(in.weights.data(), in.x, ybar, xbar,
               detail::SliceSums<double, 1>(weights_bar.data(), nullptr, 0));

  std::vector<long double> variables(in.weights.begin(), in.weights.end());
  for (int i = 0; i < 3; ++i) variables.push_back(in.x[i]);
  auto slope = [&](int k) {
    auto moved = [&](long double h) {
      auto v = variables;
      v[k] += h;
      const auto y = by_hand(v, {v.end() - 3, v.end()});
      return in.ybar[0] * y[0] + in.ybar[1] * y[1];
    };
    const long double h = 1e-4L;
    return (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h);
  };
  for (int k = 0; k < Net::num_weights; ++k)
    EXPECT_LE(relative_difference(weights_bar[k] - 1, slope(k), 0.01L), 1e-12) << k;
  for (int i = 0; i < 3; ++i)
    EXPECT_LE(relative_difference(xbar[i], slope(Net::num_weights + i), 0.01L), 1e-12) << i;
}

TEST(Chain, ForwardDerivativesAgreeWithTheAdjoint) {
  const Inputs in(3);
  using D = Dual<double, 3>;
  Vector<D, 3> x;
  for (int i = 0; i < 3; ++i) {
    x[i] = D(in.x[i]);
    x[i].tangent[i] = 1;
  }
  Vector<D, 2> y;
  Net::forward(in.weights.data(), x, y);
  std::vector<double> weights_bar(Net::num_weights, 0.0);
  Vector<double, 3> xbar;
  Vector<double, 2> ybar = in.ybar;
  Net::adjoint(in.weights.data(), in.x, ybar, xbar,
               detail::SliceSums<double, 1>(weights_bar.data(), nullptr, 0));
  for (int i = 0; i < 3; ++i)
    EXPECT_LE(relative_difference(
                  xbar[i], in.ybar[0] * y[0].tangent[i] + in.ybar[1] * y[1].tangent[i], 0.01L),
              1e-13);
}

#if !defined(__CUDACC__)  // which has no packs
TYPED_TEST(Activations, OfAPackAreThoseOfItsLanes) {
  using L = Pack<double, 4>;
  L z;
  for (int lane = 0; lane < 4; ++lane) z.set(lane, arguments[2 * lane + 1]);
  const L y = TypeParam::value(z), slope = TypeParam::slope(z, y);
  for (int lane = 0; lane < 4; ++lane) {
    const double one = TypeParam::value(z[lane]);
    EXPECT_LE(std::abs(y[lane] - one), 4e-16 * std::abs(one));
    EXPECT_LE(std::abs(slope[lane] - TypeParam::slope(z[lane], y[lane])), 4e-16);
  }
}

/// Lanes that do not count add nothing, whatever is in them.
TEST(Sums, LeaveOutWhatDoesNotCount) {
  using L = Pack<double, 2>;
  alignas(64) double sums[2 * 8] = {};
  Mask<double, 2> counts(true);
  counts.set(1, false);
  L v(3.0);
  v.set(1, std::nan(""));
  const auto weights_bar = detail::SliceSums<L, 1>(sums, nullptr, 0).where(counts).from(1);
  weights_bar.add(0, v);
  weights_bar.add(1, Vector<L, 2>{v, v});
  weights_bar.add_outer(3, Vector<L, 2>{v, v}, Vector<L, 2>{v, L(2.0)});
  const double expected[] = {0, 3, 3, 3, 9, 6, 9, 6};
  for (int k = 0; k < 8; ++k) {
    EXPECT_EQ(sums[2 * k], expected[k]) << k;
    EXPECT_EQ(sums[2 * k + 1], 0) << k;
  }
}
#endif

}  // namespace
}  // namespace gradsolve::test
