// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Gradients in double whose states on the way are kept in float: half of the memory, final states
// and their losses bit by bit, derivatives and losses at save times to the digits of float.
#include <gradsolve/gradsolve.hpp>

#include <support/ensembles.hpp>
#include <support/gradients.hpp>
#include <support/observed.hpp>
#include <support/systems.hpp>

namespace gradsolve::test {
namespace {

using InFloat = Gradient<double, Memory, float>;

/// The largest difference, relative to the largest number.
template <class V>
double difference(const V& a, const V& b) {
  const auto x = on_host(a), y = on_host(b);
  double most = 0, size = 0;
  for (std::size_t i = 0; i < x.extent(0); ++i)
    for (std::size_t j = 0; j < x.extent(1); ++j) {
      most = std::max(most, std::abs(x(i, j) - y(i, j)));
      size = std::max(size, std::abs(y(i, j)));
    }
  return most / size;
}
/// Not the same numbers, but to within the rounding of float and what a few tens of steps make of
/// it.
void expect_rounded(double difference) {
  EXPECT_GT(difference, 1e-10);
  EXPECT_LT(difference, 1e-6);
}

struct FloatStore : ::testing::Test {
  static constexpr int n = 37;
  const Inputs<double> inputs = lotka_volterra(n);
  const Ensemble<MatrixOf<double>, MatrixOf<double>> ensemble = inputs.ensemble(0.0, 4.0);
  Record<Tsit5> recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, {.rtol = 1e-7});
};

TEST_F(FloatStore, OfFinalStates) {
  const auto exact = gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{});
  InFloat out;
  gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{}, out);
  EXPECT_TRUE(same_bits_everywhere(out.states, exact.states));
  EXPECT_TRUE(same_bits_everywhere(out.loss, exact.loss));
  expect_rounded(difference(out.u0, exact.u0));
  expect_rounded(difference(out.params, exact.params));
  EXPECT_EQ(out.workspace.buffer.extent(0), exact.workspace.buffer.extent(0));  // numbers

  // The budget counts bytes: what holds all states in float is half of what double takes.
  recorded.options.memory_budget = out.workspace.buffer.extent(0) * sizeof(float);
  InFloat within;
  gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{}, within);
  EXPECT_TRUE(same_bits_everywhere(within.u0, out.u0));
  Gradient<double, Memory> few;
  gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{}, few);
  EXPECT_LE(2 * few.workspace.buffer.extent(0), exact.workspace.buffer.extent(0) + 1);
}

TEST_F(FloatStore, OfSaves_AndOfCotangents) {
  const auto times = save_times(Exec(), ensemble, std::vector{0.0, 0.5, 1.7, 4.0});
  const auto loss = at_saves(times, WeightedSaves{});
  const auto exact = gradient_with_times(Exec(), LotkaVolterra{}, recorded, ensemble, loss);
  InFloat out;
  gradient_with_times(Exec(), LotkaVolterra{}, recorded, ensemble, loss, out);
  expect_rounded(difference(out.u0, exact.u0));
  expect_rounded(difference(out.params, exact.params));

  const auto losses = on_host(out.loss), exact_losses = on_host(exact.loss);
  for (int i = 0; i < n; ++i) EXPECT_NEAR(losses(i) / exact_losses(i), 1, 1e-6) << i;

  const auto cotangents = matrix<double>(n, 2, [](int i, int j) { return i - j; });
  const auto product = vjp(Exec(), LotkaVolterra{}, recorded, ensemble, cotangents);
  vjp(Exec(), LotkaVolterra{}, recorded, ensemble, cotangents, out);
  expect_rounded(difference(out.u0, product.u0));
  expect_rounded(difference(out.params, product.params));
}

}  // namespace
}  // namespace gradsolve::test
