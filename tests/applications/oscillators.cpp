// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gradsolve/gradsolve.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <07_oscillators/duffing.hpp>
#include <07_oscillators/keller_miksis.hpp>
#include <fstream>
#include <string>
#include <support/ensembles.hpp>
#include <support/host.hpp>

/// The oscillators of examples/07_oscillators against their exact flow, data/oscillators.json
/// (data/README.md).
namespace gradsolve::test {
namespace {

struct SquaredNorm {
  template <class T>
  KOKKOS_FUNCTION T operator()(const State<T, 2>& u) const {
    return u[0] * u[0] + u[1] * u[1];
  }
};

/// Relative errors of two states: of the values and of the derivatives to one variable, each
/// relative to the larger component.
double relative_error(double a0, double b0, double a1, double b1) {
  const double size = std::max(std::abs(b0), std::abs(b1));
  const double difference = std::max(std::abs(a0 - b0), std::abs(a1 - b1));
  return size > 0 ? difference / size : difference;
}

struct Bounds {
  double value, slope;
};

template <class F>
void expect_exact_flow(const char* name, const Options& options, const Bounds& bounds) {
  std::ifstream file(GRADSOLVE_TEST_DATA "/oscillators.json");
  const auto members = nlohmann::json::parse(file).at(name);
  const int n = static_cast<int>(members.size());
  auto number = [&](int i, const char* key, int j) {
    return members[i][key][j].template get<double>();
  };
  const Inputs<double> inputs{
      matrix<double>(n, 2, [&](int i, int j) { return number(i, "y0", j); }),
      matrix<double>(n, F::num_params, [&](int i, int j) { return number(i, "p", j); })};
  std::vector<double> t1;
  for (const auto& member : members) t1.push_back(member["t1"]);
  const auto ensemble = inputs.ensemble(0.0, column(t1));
  const auto recorded = record(Exec(), F{}, Verner7{}, ensemble, options);
  const auto forward = sensitivity(Exec(), F{}, recorded, ensemble);
  const auto reverse = gradient(Exec(), F{}, recorded, ensemble, SquaredNorm{});
  const auto u = on_host(recorded.states), du0 = on_host(reverse.u0),
             dparams = on_host(reverse.params);
  const auto s = on_host(forward.sensitivities);
  const auto status = on_host(recorded.status);
  for (int i = 0; i < n; ++i) {
    SCOPED_TRACE(std::string(name) + " " + members[i]["index"].dump() + " to " +
                 members[i]["t1"].dump());
    ASSERT_EQ(status(i), Status::success);
    EXPECT_LE(relative_error(u(i, 0), number(i, "y", 0), u(i, 1), number(i, "y", 1)), bounds.value);
    for (int c = 0; c < 2 + F::num_params; ++c) {
      const auto& slopes = members[i][c < 2 ? "dy_dy0" : "dy_dp"];
      const int k = c < 2 ? c : c - 2;
      EXPECT_LE(relative_error(s(i, 0, c), slopes[0][k], s(i, 1, c), slopes[1][k]), bounds.slope)
          << "variable " << c;
      // The adjoint is the tangents' contraction with 2 u.
      const double along = 2 * (u(i, 0) * s(i, 0, c) + u(i, 1) * s(i, 1, c));
      const double size = 2 * (std::abs(u(i, 0) * s(i, 0, c)) + std::abs(u(i, 1) * s(i, 1, c)));
      EXPECT_LE(std::abs((c < 2 ? du0(i, k) : dparams(i, k)) - along), 1e-9 * size + 1e-300);
    }
  }
}

// To ten periods some members multiply an error by 7e6: one ulp is 1e-9.
TEST(Oscillators, Duffing) {
  expect_exact_flow<examples::Duffing>("duffing", {.rtol = 1e-13, .atol = 1e-15}, {1e-8, 1e-7});
}
TEST(Oscillators, KellerMiksisOneWave) {
  expect_exact_flow<examples::KellerMiksis>("keller_miksis_mpgos_T5",
                                            {.rtol = 1e-12, .atol = 1e-14}, {1e-9, 1e-7});
}
TEST(Oscillators, KellerMiksisTwoWaves) {
  expect_exact_flow<examples::KellerMiksis>("keller_miksis_dual", {.rtol = 1e-12, .atol = 1e-14},
                                            {1e-9, 1e-7});
}
// At the tolerance of the example.
TEST(Oscillators, KellerMiksisAtModerateTolerance) {
  for (const char* name : {"keller_miksis_mpgos_T5", "keller_miksis_dual"})
    expect_exact_flow<examples::KellerMiksis>(name, {.rtol = 1e-10, .atol = 1e-10}, {1e-6, 1e-4});
}

}  // namespace
}  // namespace gradsolve::test
