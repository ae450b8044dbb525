// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/gradsolve.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <05_parameter_recovery/lbfgs.hpp>
#include <05_parameter_recovery/levenberg_marquardt.hpp>
#include <05_parameter_recovery/systems.hpp>
#include <fstream>
#include <string>
#include <support/host.hpp>
#include <support/solved.hpp>
#include <vector>

/// Least-squares fits with known minimisers, data/fits.json (data/README.md), by the optimisers of
/// examples/05_parameter_recovery. A problem is
///
///     struct Problem {
///       using System = ...;
///       using Method = ...;
///       static constexpr const char* name = ...;  // in the data
///       static constexpr Options options = ...;
///     };
namespace gradsolve::test {

template <class P>
class Fit : public ::testing::Test {
 protected:
  using F = typename P::System;
  using M = typename P::Method;
  static constexpr int N = F::num_states, C = F::num_params;
  using Cube = Kokkos::View<double***, Kokkos::LayoutLeft, Memory>;

  Fit() : study(read().at(P::name)), fits(study.at("fits")), n(static_cast<int>(fits.size())) {}

  static nlohmann::json read() {
    std::ifstream file(GRADSOLVE_TEST_DATA "/fits.json");
    return nlohmann::json::parse(file);
  }
  MatrixOf<double> starts() const {
    return matrix<double>(n, C, [&](int i, int q) { return fits[i]["p_start"][q].get<double>(); });
  }

  /// An element of each data set's observations, on the device.
  template <class Value>
  Cube observations(const Value& value) const {
    const Cube cube("test::observations", n, study["t_obs"].size(), N);
    const auto host = Kokkos::create_mirror_view(cube);
    for (int i = 0; i < n; ++i)
      for (std::size_t j = 0; j < cube.extent(1); ++j)
        for (int c = 0; c < N; ++c) host(i, j, c) = value(i, j * N + c, c);
    Kokkos::deep_copy(cube, host);
    return cube;
  }

  /// The fits as they start, or as change(params, data) makes them: work(record, ensemble, loss).
  template <class Change, class Work>
  auto at_changed_start(Options options, const Change& change, const Work& work) const {
    const auto u0 = matrix<double>(n, N, [&](int, int c) { return study["y0"][c].get<double>(); });
    const auto params = starts();
    const std::vector<double> t = study["t_obs"], scale = study["scale"];
    const double sigma = study["sigma"], m = static_cast<double>(t.size() * N);
    const Cube data = observations(
        [&](int i, int a, int c) { return fits[i]["data"][a].get<double>() / scale[c]; });
    const Cube weights =
        observations([&](int, int, int c) { return scale[c] * scale[c] / (sigma * sigma * m); });
    change(params, data);
    const Ensemble ensemble(u0, params, 0.0, t.back());
    const auto loss = at_saves(save_times(Exec(), ensemble, t), least_squares(data, weights));
    auto recorded = record(Exec(), F{}, M{}, ensemble, options);
    return work(recorded, ensemble, loss);
  }
  template <class Work>
  auto at_start(const Work& work) const {
    return at_changed_start(P::options, [](const auto&, const auto&) {}, work);
  }
  /// Steps that are recorded anew because one trajectory has gone stale are new for all: without.
  template <class Change>
  auto fit_on_first_steps(const Change& change) const {
    Options options = P::options;
    options.rerecord = Rerecord::never;
    return at_changed_start(
        options, change, [&](auto& recorded, const auto& ensemble, const auto& loss) {
          return fit(Exec(), examples::LevenbergMarquardt{}, F{}, recorded, ensemble, loss);
        });
  }

  template <class Optimiser>
  void expect_minimisers(const Optimiser& optimiser) const {
    const auto fitted = at_start([&](auto& recorded, const auto& ensemble, const auto& loss) {
      return fit(Exec(), optimiser, F{}, recorded, ensemble, loss);
    });
    const auto params = on_host(fitted.params);
    const auto loss = on_host(fitted.loss);
    const auto status = on_host(fitted.status);
    for (int i = 0; i < n; ++i) {
      EXPECT_EQ(status(i), examples::FitStatus::converged) << "data set " << i;
      for (int q = 0; q < C; ++q)
        EXPECT_LE(relative_difference(params(i, q), fits[i]["p_hat"][q].get<double>()), 1e-6)
            << "data set " << i << ", parameter " << q;
      EXPECT_LE(relative_difference(loss(i), fits[i]["loss_hat"].get<double>()), 1e-7);
    }
  }

  nlohmann::json study, fits;
  int n;
};

TYPED_TEST_SUITE_P(Fit);

TYPED_TEST_P(Fit, GradientAtStart) {
  const auto& fits = this->fits;
  const auto result =
      this->at_start([&](const auto& recorded, const auto& ensemble, const auto& loss) {
        return gradient(Exec(), typename TestFixture::F{}, recorded, ensemble, loss);
      });
  const auto loss = on_host(result.loss);
  const auto params = on_host(result.params);
  for (int i = 0; i < this->n; ++i) {
    EXPECT_LE(relative_difference(loss(i), fits[i]["loss_start"].template get<double>()), 1e-7);
    long double error = 0, norm = 0;
    for (int q = 0; q < TestFixture::C; ++q) {
      const long double g = fits[i]["grad_start"][q].template get<double>();
      error += (params(i, q) - g) * (params(i, q) - g);
      norm += g * g;
    }
    EXPECT_LE(std::sqrt(error / norm), 1e-7) << "data set " << i;
  }
}

TYPED_TEST_P(Fit, LevenbergMarquardtFindsTheMinimiser) {
  this->expect_minimisers(examples::LevenbergMarquardt{});
}

TYPED_TEST_P(Fit, LbfgsFindsTheMinimiser) { this->expect_minimisers(examples::Lbfgs{}); }

REGISTER_TYPED_TEST_SUITE_P(Fit, GradientAtStart, LevenbergMarquardtFindsTheMinimiser,
                            LbfgsFindsTheMinimiser);

}  // namespace gradsolve::test
