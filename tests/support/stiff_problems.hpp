// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/gradsolve.hpp>
#include <gradsolve/methods/rodas5p.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>
#include <string>
#include <support/ensembles.hpp>
#include <support/host.hpp>
#include <vector>

/// Stiff problems of the literature, solved by Rodas5P: their end values and the derivatives of
/// those, against the exact flow in data/stiff.json (data/README.md). A problem is
///
///     struct Problem {
///       using System = ...;
///       static constexpr const char* name = ...;  // in the data
///       static constexpr Options options = ...;
///       // Bounds of relative errors: of the values, of the derivatives, of the adjoint beside
///       // the tangents, and of the invariant.
///       static constexpr double value, slope, rounding, drift;
///       static constexpr double invariant[N];  // w, where w . f = 0; all zero: it has none
///     };
namespace gradsolve::test {

inline const nlohmann::json& stiff_members(const char* problem) {
  static const nlohmann::json data = [] {
    const std::string path = GRADSOLVE_TEST_DATA "/stiff.json";
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read " + path);
    return nlohmann::json::parse(file);
  }();
  return data.at(problem);
}

/// Of the magnitudes: weighs every component alike, however small.
struct SumOfLogarithms {
  template <class T, int N>
  KOKKOS_FUNCTION T operator()(const State<T, N>& u) const {
    using gradsolve::log;
    T sum(0);
    for (int i = 0; i < N; ++i) sum = sum + T(0.5) * log(u[i] * u[i]);
    return sum;
  }
};

/// A sum, and what its rounding errors are relative to.
struct Sum {
  double value = 0, size = 0;
  void add(double x) {
    value += x;
    size += std::abs(x);
  }
};

/// One ensemble of all members of a problem, solved and differentiated both ways. Variables are
/// the initial states, then the parameters.
template <class P>
class StiffProblem : public ::testing::Test {
 protected:
  using F = typename P::System;
  static constexpr int N = F::num_states, C = N + F::num_params;

  StiffProblem() {
    const Inputs<double> inputs{matrix_of("y0", N), matrix_of("p", C - N)};
    const auto ensemble = inputs.ensemble(column_of("t0"), column_of("t1"));
    const auto recorded = record(Exec(), F{}, Rodas5P{}, ensemble, P::options);
    const auto forward = sensitivity(Exec(), F{}, recorded, ensemble);
    const auto reverse = gradient(Exec(), F{}, recorded, ensemble, SumOfLogarithms{});
    status = on_host(recorded.status);
    states = on_host(recorded.states);
    sensitivities = on_host(forward.sensitivities);
    du0 = on_host(reverse.u0);
    dparams = on_host(reverse.params);
  }

  // The exact flow.
  double y(int i, int j) const { return data[i]["y"][j]; }
  double dy(int i, int j, int variable) const {
    return variable < N ? data[i]["dy_dy0"][j][variable] : data[i]["dy_dp"][j][variable - N];
  }
  // The derivative of the loss, by the adjoint.
  double adjoint(int i, int variable) const {
    return variable < N ? du0(i, variable) : dparams(i, variable - N);
  }

  const nlohmann::json& data = stiff_members(P::name);
  const int n = static_cast<int>(data.size());
  Kokkos::View<Status*, Kokkos::HostSpace> status;
  Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> states, du0, dparams;
  Kokkos::View<double***, Kokkos::LayoutLeft, Kokkos::HostSpace> sensitivities;

 private:
  MatrixOf<double> matrix_of(const char* key, int columns) const {
    return matrix<double>(n, columns, [&](int i, int j) -> double { return data[i][key][j]; });
  }
  ColumnOf<double> column_of(const char* key) const {
    std::vector<double> values;
    for (const auto& member : data) values.push_back(member[key]);
    return column(values);
  }
};

TYPED_TEST_SUITE_P(StiffProblem);

TYPED_TEST_P(StiffProblem, EndsWhereTheFlowDoes_InEveryComponent) {
  ASSERT_GT(this->n, 0);
  for (int i = 0; i < this->n; ++i) {
    EXPECT_EQ(this->status(i), Status::success) << "member " << i;
    for (int j = 0; j < this->N; ++j)
      EXPECT_LE(relative_difference(this->states(i, j), this->y(i, j)), TypeParam::value)
          << "member " << i << ", state " << j;
  }
}

TYPED_TEST_P(StiffProblem, SensitivitiesAreThoseOfTheFlow_ColumnByColumn) {
  for (int i = 0; i < this->n; ++i)
    for (int c = 0; c < this->C; ++c) {
      double error2 = 0, norm2 = 0;
      for (int j = 0; j < this->N; ++j) {
        const double expected = this->dy(i, j, c);
        error2 += std::pow(this->sensitivities(i, j, c) - expected, 2);
        norm2 += expected * expected;
      }
      EXPECT_LE(std::sqrt(error2), TypeParam::slope * std::sqrt(norm2))
          << "member " << i << ", variable " << c;
    }
}

// An adjoint rounds relative to the largest of its components, and those of the initial states may
// be of very different size.
TYPED_TEST_P(StiffProblem, GradientIsThatOfTheFlow_AndOfTheSensitivities) {
  for (int i = 0; i < this->n; ++i) {
    std::vector<Sum> flow(this->C), forward(this->C);
    double largest = 0;
    for (int c = 0; c < this->C; ++c) {
      for (int j = 0; j < this->N; ++j) {
        flow[c].add(this->dy(i, j, c) / this->y(i, j));
        forward[c].add(this->sensitivities(i, j, c) / this->states(i, j));
      }
      if (c < this->N) largest = std::max(largest, flow[c].size);
    }
    for (int c = 0; c < this->C; ++c) {
      const double size = c < this->N ? largest : flow[c].size;
      EXPECT_LE(std::abs(this->adjoint(i, c) - flow[c].value), TypeParam::slope * size)
          << "member " << i << ", variable " << c;
      EXPECT_LE(std::abs(this->adjoint(i, c) - forward[c].value), TypeParam::rounding * size)
          << "member " << i << ", variable " << c;
    }
  }
}

TYPED_TEST_P(StiffProblem, KeepsItsInvariant_AndItsDerivatives) {
  const auto& w = TypeParam::invariant;
  for (int i = 0; i < this->n; ++i) {
    Sum drift;
    for (int j = 0; j < this->N; ++j) {
      drift.add(w[j] * this->states(i, j));
      drift.value -= w[j] * this->data[i]["y0"][j].template get<double>();
    }
    EXPECT_LE(std::abs(drift.value), TypeParam::drift * drift.size) << "member " << i;
    for (int c = 0; c < this->C; ++c) {
      Sum slope;
      for (int j = 0; j < this->N; ++j) slope.add(w[j] * this->sensitivities(i, j, c));
      if (c < this->N) slope.value -= w[c];
      EXPECT_LE(std::abs(slope.value), TypeParam::slope * slope.size)
          << "member " << i << ", variable " << c;
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(StiffProblem, EndsWhereTheFlowDoes_InEveryComponent,
                            SensitivitiesAreThoseOfTheFlow_ColumnByColumn,
                            GradientIsThatOfTheFlow_AndOfTheSensitivities,
                            KeepsItsInvariant_AndItsDerivatives);

struct NameOfProblem {
  template <class P>
  static std::string GetName(int) {
    return P::name;
  }
};

}  // namespace gradsolve::test
