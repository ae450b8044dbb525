// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The neural spiral of examples/09_neural_ode: values and gradients of the first loss.
#include <gtest/gtest.h>

#include <09_neural_ode/spiral.hpp>
#include <common/reference.hpp>

namespace examples {
namespace {

using Net = SpiralNet<16>;

/// The references are exact solutions: values and derivatives are off by the error of the steps.
constexpr gradsolve::Options options{.rtol = 1e-10, .atol = 1e-12};
constexpr double tolerance = 1e-8;

struct NeuralSpiral : ::testing::Test {
  nlohmann::json reference = read_reference(GRADSOLVE_TEST_DATA "/neural.json")["neural_spiral"];
  Exec exec;
  gradsolve::BlockSystem<Net> system{draw_weights({2, 16, 16, 2})};

  auto gradient_of(const SpiralData& spiral) const {
    gradsolve::Record<gradsolve::Tsit5, double, Memory> record;
    gradsolve::Gradient<double, Memory> gradient;
    gradsolve::record_and_gradient(exec, system, gradsolve::Tsit5{}, spiral.ensemble, options,
                                   spiral.loss(), record, gradient);
    return gradient;
  }
  static double error(const auto& computed, const nlohmann::json& expected, double factor = 1) {
    return relative_error([&](int k) { return factor * computed(k); },
                          [&](int k) -> double { return expected[k]; },
                          static_cast<int>(expected.size()));
  }
};

TEST_F(NeuralSpiral, DataAndPredictions) {
  const SpiralData spiral(exec, 0, 8);
  const auto u0 = on_host(spiral.ensemble.states());
  const auto data = on_host(spiral.data);
  const auto predicted = on_host(
      gradsolve::record(exec, system, gradsolve::Tsit5{}, spiral.ensemble, spiral.times, options)
          .saved);
  for (int i = 0; i < 8; ++i) {
    const auto& member = reference["members"][i];
    // A GPU rounds once where the host rounds twice.
    EXPECT_NEAR(u0(i, 0), double(member["y0"][0]), 1e-15);
    EXPECT_NEAR(u0(i, 1), double(member["y0"][1]), 1e-15);
    EXPECT_LE(error([&](int k) { return data(i, k / 2, k % 2); }, member["data"]), 1e-10) << i;
    EXPECT_LE(error([&](int k) { return predicted(i, k / 2, k % 2); }, member["y_pred"]), tolerance)
        << i;
  }
}

TEST_F(NeuralSpiral, LossAndGradientOfEachMember) {
  for (int i = 0; i < 8; ++i) {
    const auto& member = reference["members"][i];
    const auto g = gradient_of(SpiralData(exec, i, 1));
    const auto value = on_host(g.loss);
    const auto u0 = on_host(g.u0);
    EXPECT_LE(std::abs(value(0) / double(member["loss"]) - 1), tolerance) << i;
    EXPECT_LE(error([&](int k) { return u0(0, k); }, member["dloss_dy0"]), tolerance) << i;
    EXPECT_LE(error(on_host(g.weights), member["dloss_dw"]), tolerance) << i;
  }
}

TEST_F(NeuralSpiral, LossAndGradientOfTheEnsemble) {
  const auto g = gradient_of(SpiralData(exec, 0, 64));
  const auto value = on_host(g.loss);
  double sum = 0;
  for (int i = 0; i < 64; ++i) sum += value(i);
  EXPECT_LE(std::abs(sum / 64 / double(reference["total_loss_mean64"]) - 1), tolerance);
  EXPECT_LE(error(on_host(g.weights), reference["total_grad_mean64"], 1.0 / 64), tolerance);
  EXPECT_EQ(on_host(g.left_out)(), 0);
}

}  // namespace
}  // namespace examples
