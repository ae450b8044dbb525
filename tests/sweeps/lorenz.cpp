// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gradsolve/gradsolve.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <support/ensembles.hpp>
#include <support/host.hpp>
#include <support/reference.hpp>
#include <support/systems.hpp>

/// The published Lorenz benchmark, against published numbers and against the oracle.
namespace gradsolve::test {
namespace {

auto record_published(const Inputs<double>& inputs, double rtol) {
  return record(Exec(), LorenzRho{}, Tsit5{}, inputs.ensemble(0.0, 1.0), published_options(rtol));
}

auto gradient_published(const Inputs<double>& inputs, double rtol) {
  const auto recorded = record_published(inputs, rtol);
  return gradient(Exec(), LorenzRho{}, recorded, inputs.ensemble(0.0, 1.0), SquaredNorm{});
}

struct PublishedCounts {
  double rtol;
  int min_steps, max_steps, max_attempts;
  double mean_steps, mean_rejected;  // two decimals
};

class LorenzCounts : public ::testing::TestWithParam<PublishedCounts> {};

TEST_P(LorenzCounts, AreThoseOfTheReferenceLoop) {
  const PublishedCounts expected = GetParam();
  const int n = 32768;
  const auto recorded = record_published(published_lorenz(n), expected.rtol);
  const auto steps = on_host(recorded.num_steps);
  const auto rejected = on_host(recorded.num_rejected);
  const auto status = on_host(recorded.status);
  int least = steps(0), most = 0, most_attempts = 0;
  double sum_steps = 0, sum_rejected = 0;
  for (int i = 0; i < n; ++i) {
    ASSERT_EQ(status(i), Status::success);
    least = std::min(least, steps(i));
    most = std::max(most, steps(i));
    most_attempts = std::max(most_attempts, steps(i) + rejected(i));
    sum_steps += steps(i);
    sum_rejected += rejected(i);
  }
  EXPECT_EQ(least, expected.min_steps);
  EXPECT_EQ(most, expected.max_steps);
  EXPECT_EQ(most_attempts, expected.max_attempts);
  EXPECT_NEAR(sum_steps / n, expected.mean_steps, 0.00501);
  EXPECT_NEAR(sum_rejected / n, expected.mean_rejected, 0.00501);
  EXPECT_EQ(recorded.mesh.max_rows, expected.max_steps);
}

INSTANTIATE_TEST_SUITE_P(Published, LorenzCounts,
                         ::testing::Values(PublishedCounts{1e-3, 9, 15, 18, 11.58, 1.41},
                                           PublishedCounts{1e-4, 12, 21, 24, 16.45, 1.39},
                                           PublishedCounts{1e-5, 17, 32, 35, 24.19, 1.62},
                                           PublishedCounts{1e-6, 25, 49, 54, 36.65, 2.58},
                                           PublishedCounts{1e-7, 37, 77, 81, 56.65, 2.77},
                                           PublishedCounts{1e-8, 57, 121, 125, 88.48, 2.70}));

TEST(Lorenz, EveryStepIsThatOfTheReferenceLoop) {
  const int n = 128;
  const double rtol = 1e-6;
  const auto inputs = published_lorenz(n);
  const auto recorded = record_published(inputs, rtol);
  const auto steps = on_host(recorded.num_steps);
  const auto rejected = on_host(recorded.num_rejected);
  const auto rhs = on_host(recorded.num_rhs);
  const auto states = on_host(recorded.states);
  const auto rho = on_host(inputs.params);
  for (int i = 0; i < n; ++i) {
    const auto expected = reference::record<Tsit5>(LorenzRho{}, 0.0, 1.0, State<double, 3>{1, 0, 0},
                                                   Params<double, 1>{rho(i, 0)}, rtol, 1e-3 * rtol);
    ASSERT_EQ(steps(i), static_cast<int>(expected.ends.size())) << "trajectory " << i;
    EXPECT_EQ(rejected(i), expected.num_rejected) << "trajectory " << i;
    EXPECT_EQ(rhs(i), 1 + 6 * (steps(i) + rejected(i)));
    const auto ends = step_ends(Exec(), recorded, i);
    ASSERT_EQ(ends.size(), expected.ends.size());
    for (std::size_t k = 0; k < ends.size(); ++k) EXPECT_NEAR(ends[k], expected.ends[k], 1e-10);
    EXPECT_TRUE(same_bits(ends.back(), 1.0));
    for (int j = 0; j < 3; ++j)
      EXPECT_LE(relative_difference(states(i, j), expected.u[j], 1e-2L), 1e-10);
  }
}

struct PublishedError {
  int n;
  double rtol, median;
};

class LorenzError : public ::testing::TestWithParam<PublishedError> {};

/// The median over all components of |y - exact| / |exact|, which the benchmark prints.
TEST_P(LorenzError, IsThePublishedMedian) {
  const auto [n, rtol, median] = GetParam();
  const auto inputs = published_lorenz(n);
  const auto states = on_host(record_published(inputs, rtol).states);
  const auto rho = on_host(inputs.params);
  const auto ends = reference::equal_steps(0, 1, 100);
  std::vector<double> errors;
  for (int i = 0; i < n; ++i) {
    const auto exact = reference::replay<Verner9, long double>(
        LorenzRho{}, ends, 0.0L, State<long double, 3>{1, 0, 0}, Params<long double, 1>{rho(i, 0)});
    for (int j = 0; j < 3; ++j)
      errors.push_back(relative_difference(states(i, j), exact[j], 1e-30L));
  }
  std::sort(errors.begin(), errors.end());
  const std::size_t half = errors.size() / 2;
  EXPECT_NEAR((errors[half - 1] + errors[half]) / 2 / median, 1, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Published, LorenzError,
                         ::testing::Values(PublishedError{128, 1e-3, 1.038171e-3},
                                           PublishedError{128, 1e-4, 1.502543e-4},
                                           PublishedError{128, 1e-5, 6.239052e-6},
                                           PublishedError{2048, 1e-3, 1.050056e-3},
                                           PublishedError{2048, 1e-4, 1.575444e-4},
                                           PublishedError{2048, 1e-5, 5.995393e-6}));

TEST(Lorenz, FinalStatesAreAccurateAtTightTolerance) {
  const int n = 64;
  const auto inputs = published_lorenz(n);
  const auto recorded = record(Exec(), LorenzRho{}, Verner9{}, inputs.ensemble(0.0, 1.0),
                               {.rtol = 1e-13, .atol = 1e-14});
  const auto states = on_host(recorded.states);
  const auto rho = on_host(inputs.params);
  const auto ends = reference::equal_steps(0, 1, 100);
  for (int i = 0; i < n; ++i) {
    const auto exact = reference::replay<Dop853, long double>(
        LorenzRho{}, ends, 0.0L, State<long double, 3>{1, 0, 0}, Params<long double, 1>{rho(i, 0)});
    for (int j = 0; j < 3; ++j) EXPECT_LE(relative_difference(states(i, j), exact[j], 0.1L), 1e-10);
  }
}

TEST(Lorenz, GradientsAreThoseOfTheComplexStep) {
  struct Published {
    double rtol, first, middle, last;
  };
  for (const auto& [rtol, first, middle, last] :
       {Published{1e-6, 4.1133432758e-6, -17.5785687795, 108.526230749},
        Published{1e-8, 4.11331243965e-6, -17.5784965422, 108.525716187}}) {
    const auto slopes = on_host(gradient_published(published_lorenz(128), rtol).params);
    EXPECT_LE(relative_difference(slopes(0, 0), first), 1e-10);
    EXPECT_LE(relative_difference(slopes(64, 0), middle), 1e-10);
    EXPECT_LE(relative_difference(slopes(127, 0), last), 1e-10);
  }
}

TEST(Lorenz, EveryGradientIsThatOfTheOracle) {
  const int n = 128;
  const auto inputs = published_lorenz(n);
  const auto recorded = record_published(inputs, 1e-5);
  const auto result =
      gradient(Exec(), LorenzRho{}, recorded, inputs.ensemble(0.0, 1.0), SquaredNorm{});
  const auto loss = on_host(result.loss);
  const auto du0 = on_host(result.u0), dparams = on_host(result.params);
  const auto rho = on_host(inputs.params);
  for (int i = 0; i < n; ++i) {
    const auto oracle =
        reference::gradient<Tsit5>(LorenzRho{}, SquaredNorm{}, step_ends(Exec(), recorded, i), 0.0,
                                   State<double, 3>{1, 0, 0}, Params<double, 1>{rho(i, 0)});
    EXPECT_LE(relative_difference(loss(i), oracle.loss), 1e-12);
    EXPECT_LE(relative_difference(dparams(i, 0), oracle.params[0], 1e-2L), 1e-11);
    for (int j = 0; j < 3; ++j)
      EXPECT_LE(relative_difference(du0(i, j), oracle.u0[j], 1e-2L), 1e-11);
  }
}

struct PublishedSum {
  int n;
  double rtol, sum;
};

class LorenzGradientSum : public ::testing::TestWithParam<PublishedSum> {};

TEST_P(LorenzGradientSum, IsThePublishedNumber) {
  const auto [n, rtol, expected] = GetParam();
  if (n > 100'000 && std::getenv("GRADSOLVE_SLOW_TESTS") == nullptr)
    GTEST_SKIP() << "takes minutes on a CPU; set GRADSOLVE_SLOW_TESTS to run it";
  const auto slopes = on_host(gradient_published(published_lorenz(n), rtol).params);
  const double sum = std::accumulate(slopes.data(), slopes.data() + n, 0.0);
  EXPECT_LE(relative_difference(sum, expected), 1e-10) << sum;
}

INSTANTIATE_TEST_SUITE_P(
    Published, LorenzGradientSum,
    ::testing::Values(
        PublishedSum{128, 1e-4, 2086.957233339}, PublishedSum{128, 1e-6, 2082.559810202},
        PublishedSum{128, 1e-8, 2082.549263363}, PublishedSum{2048, 1e-4, 32812.103819793},
        PublishedSum{2048, 1e-6, 32741.358194482}, PublishedSum{2048, 1e-8, 32741.191938558},
        PublishedSum{32768, 1e-4, 524419.0743129}, PublishedSum{32768, 1e-6, 523286.9876233},
        PublishedSum{32768, 1e-8, 523284.3300480}, PublishedSum{524288, 1e-4, 8390131.12904},
        PublishedSum{524288, 1e-6, 8372017.35958}, PublishedSum{524288, 1e-8, 8371974.84083}));

}  // namespace
}  // namespace gradsolve::test
