// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Hessian-vector products, Hessians, Gauss-Newton products, Fisher matrices.
#include <gradsolve/gradsolve.hpp>

#include <support/observed.hpp>
#include <support/systems.hpp>

namespace gradsolve::test {
namespace {

constexpr int n = 7;

struct Directions {
  MatrixOf<double> u0, params;
};
Directions random_directions(int rows, int states, int params) {
  Uniform uniform(11);
  return {matrix<double>(rows, states, [&](int, int) { return uniform(-1, 1); }),
          matrix<double>(rows, params, [&](int, int) { return uniform(-1, 1); })};
}

/// Against differences of complex steps of the recorded steps. saves: empty for the final state.
template <class M, class F, class Loss>
void expect_product_of_the_oracle(const F& f, const Loss& loss, const Inputs<double>& inputs,
                                  double t1, const std::vector<double>& saves) {
  constexpr int N = F::num_states, P = F::num_params;
  const auto ensemble = inputs.ensemble(0.0, t1);
  const Options options{.rtol = 1e-5, .atol = 1e-7};
  const auto recorded = record(Exec(), f, M{}, ensemble, options);
  const Directions d = random_directions(inputs.size(), N, P);
  const auto times = save_times(Exec(), ensemble, saves);
  const auto product = [&] {
    if constexpr (requires { loss(State<double, N>{}); })
      return hessian_product(Exec(), f, recorded, ensemble, loss, d.u0, d.params);
    else
      return hessian_product(Exec(), f, recorded, ensemble, at_saves(times, loss), d.u0, d.params);
  }();
  const auto hu = on_host(product.u0), hp = on_host(product.params);
  const auto gu = on_host(product.gradient.u0);
  const auto u0 = on_host(inputs.u0), params = on_host(inputs.params);
  const auto du = on_host(d.u0), dp = on_host(d.params);
  for (int i = 0; i < inputs.size(); ++i) {
    const auto ends = step_ends(Exec(), recorded, i);
    using V = reference::Variables<F, double>;
    const V at{row<N>(u0, i), row<P>(params, i), 0.0, t1, saves};
    const V direction{row<N>(du, i), row<P>(dp, i), 0.0, 0.0, saves};
    auto loss_of = [&](const auto& v) {
      using T = std::decay_t<decltype(v.t0)>;
      if constexpr (requires { loss(State<T, N>{}); }) {
        return loss(reference::final_state<M>(f, ends, 0, t1, v));
      } else {
        const auto states = reference::saved_states<M>(f, ends, 0, t1, v);
        T sum(0);
        for (std::size_t k = 0; k < states.size(); ++k)
          sum += loss(v.saves[k], states[k], v.params, SaveIndex{i, static_cast<int>(k)});
        return sum;
      }
    };
    const auto expected = reference::hessian_product(at, direction, loss_of);
    const auto gradient = reference::differentiate(at, loss_of);
    long double size = 0.1L;
    for (int j = 0; j < N; ++j) size = std::max(size, std::abs(expected.u0[j]));
    for (int j = 0; j < N; ++j) {
      EXPECT_LE(relative_difference(hu(i, j), expected.u0[j], size), 1e-9) << i << ", u0 " << j;
      EXPECT_LE(relative_difference(gu(i, j), gradient.u0[j], size), 1e-11) << i << ", gradient";
    }
    for (int j = 0; j < P; ++j)
      EXPECT_LE(relative_difference(hp(i, j), expected.params[j], size), 1e-9) << i << ", p " << j;
  }
}

TEST(HessianProduct, OfTheFinalState_IsThatOfTheOracle) {
  expect_product_of_the_oracle<Tsit5>(LotkaVolterra{}, SquaredNorm{}, lotka_volterra(n), 2.0, {});
  expect_product_of_the_oracle<BogackiShampine3>(DrivenPendulum{}, SquaredNorm{},
                                                 spread_around(n, {0.5, 1.0}, {2.0, 0.7}), 2.0, {});
}

TEST(HessianProduct, OfSaves_IsThatOfTheOracle) {
  expect_product_of_the_oracle<Tsit5>(DrivenPendulum{}, WeightedSaves{},
                                      spread_around(n, {0.5, 1.0}, {2.0, 0.7}), 2.0,
                                      {0.0, 0.3, 0.3, 1.7, 2.0});
}

TEST(HessianProduct, OfAHandWrittenProduct_IsTheSame) {
  const auto inputs = lotka_volterra(n);
  const auto ensemble = inputs.ensemble(0.0, 2.0);
  const auto d = random_directions(n, 2, 4);
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble);
  const auto a =
      hessian_product(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{}, d.u0, d.params);
  const auto b = hessian_product(Exec(), LotkaVolterraByHand{}, recorded, ensemble, SquaredNorm{},
                                 d.u0, d.params);
  const auto c = hessian_product(Exec(), LotkaVolterraJacobian{}, recorded, ensemble, SquaredNorm{},
                                 d.u0, d.params);
  const auto x = on_host(a.params), y = on_host(b.params), z = on_host(c.params);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < 4; ++j) {
      EXPECT_NEAR(x(i, j), y(i, j), 1e-11 * (1 + std::abs(x(i, j))));
      EXPECT_NEAR(x(i, j), z(i, j), 1e-11 * (1 + std::abs(x(i, j))));
    }
}

TEST(Hessian, IsSymmetric_AndSumsOverSharedParameters) {
  const auto inputs = lotka_volterra(n);
  const auto ensemble = inputs.ensemble(0.0, 2.0);
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble);
  const auto h = cube_on_host(hessian(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{}));
  for (int i = 0; i < n; ++i) {
    double size = 0;
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < 4; ++b) size = std::max(size, std::abs(h(i, a, b)));
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < a; ++b) EXPECT_NEAR(h(i, a, b), h(i, b, a), 1e-12 * size) << i;
  }

  const auto shared = column<double>({1.5, 1.0, 3.0, 1.0});
  const MatrixOf<double> same =
      matrix<double>(n, 4, [](int, int j) { return std::vector{1.5, 1.0, 3.0, 1.0}[j]; });
  const Ensemble together(inputs.u0, shared, 0.0, 2.0);
  const Ensemble apart(inputs.u0, same, 0.0, 2.0);
  const auto record_both = record(Exec(), LotkaVolterra{}, Tsit5{}, apart);
  const auto sum =
      cube_on_host(hessian(Exec(), LotkaVolterra{}, record_both, together, SquaredNorm{}));
  const auto each =
      cube_on_host(hessian(Exec(), LotkaVolterra{}, record_both, apart, SquaredNorm{}));
  ASSERT_EQ(sum.extent(0), 1u);
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b) {
      double expected = 0, size = 0;
      for (int i = 0; i < n; ++i) {
        expected += each(i, a, b);
        size += std::abs(each(i, a, b));
      }
      EXPECT_NEAR(sum(0, a, b), expected, 1e-13 * size);
    }
}

/// Data for three saves of both states, some of them missing.
struct Observed {
  Kokkos::View<double***, Kokkos::LayoutLeft, Memory> data{"data", n, 3, 2},
      weights{"weights", n, 3, 2};
  Observed() {
    auto d = Kokkos::create_mirror_view(data), w = Kokkos::create_mirror_view(weights);
    Uniform uniform(5);
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < 3; ++k)
        for (int c = 0; c < 2; ++c) {
          d(i, k, c) = (i + 2 * k + c) % 5 == 0 ? nan_value : uniform(0.5, 2);
          w(i, k, c) = uniform(0.5, 2);
        }
    Kokkos::deep_copy(data, d);
    Kokkos::deep_copy(weights, w);
  }
};

TEST(GaussNewton, ProductAndFisherMatrix_AreMadeOfTheSensitivities) {
  const auto inputs = lotka_volterra(n);
  const auto ensemble = inputs.ensemble(0.0, 1.0);
  const auto times = save_times(Exec(), ensemble, std::vector{0.25, 0.5, 1.0});
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble);
  const Observed observed;
  const auto loss = least_squares(observed.data, observed.weights);
  const auto s = sensitivity(Exec(), LotkaVolterra{}, recorded, ensemble, times);
  const auto J = cube_on_host(s.saved_sensitivities);
  const auto data = cube_on_host(observed.data), w = cube_on_host(observed.weights);
  const auto F = fisher(Exec(), s, loss);
  const auto fisher_host = cube_on_host(F);
  const auto total = on_host(sum_over_ensemble(Exec(), F));
  const auto d = random_directions(n, 2, 4);
  GaussNewtonProduct<double, Memory> product;
  gauss_newton_product(Exec(), LotkaVolterra{}, recorded, ensemble, at_saves(times, loss), d.u0,
                       d.params, product);
  const auto pu = on_host(product.gradient.u0), pp = on_host(product.gradient.params);
  const auto du = on_host(d.u0), dp = on_host(d.params);
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    double expected[6][6] = {};
    for (int k = 0; k < 3; ++k)
      for (int c = 0; c < 2; ++c)
        if (!std::isnan(data(i, k, c)))
          for (int a = 0; a < 6; ++a)
            for (int b = 0; b < 6; ++b)
              expected[a][b] += w(i, k, c) * J(i, k, c, a) * J(i, k, c, b);
    sum += expected[2][3];
    for (int a = 0; a < 6; ++a) {
      double times_v = 0;
      for (int b = 0; b < 6; ++b) {
        EXPECT_NEAR(fisher_host(i, a, b), expected[a][b], 1e-13 * (1 + std::abs(expected[a][b])));
        times_v += 2 * expected[a][b] * (b < 2 ? du(i, b) : dp(i, b - 2));
      }
      EXPECT_NEAR(a < 2 ? pu(i, a) : pp(i, a - 2), times_v, 1e-12 * (1 + std::abs(times_v))) << i;
    }
  }
  EXPECT_NEAR(total(0, 2 + 6 * 3), sum, 1e-13 * std::abs(sum));
}

}  // namespace
}  // namespace gradsolve::test
