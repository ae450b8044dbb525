// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/gradsolve.hpp>

#include <support/ensembles.hpp>
#include <support/host.hpp>
#include <support/systems.hpp>

namespace gradsolve::test {

/// Compares the Hessian-vector product of |u(t1)|^2 in the direction (1, 0.3) of two parameters
/// with differences of fourth order of gradients on the same steps.
template <class F, class M>
void expect_hessian_product_of_differences(const F& f, const Inputs<double>& inputs,
                                           const Record<M, double, Memory>& recorded, double t0,
                                           double t1) {
  const int n = inputs.size();
  const auto v = matrix<double>(n, 2, [](int, int j) { return j == 0 ? 1.0 : 0.3; });
  const auto product = hessian_product(Exec(), f, recorded, inputs.ensemble(t0, t1), SquaredNorm{},
                                       MatrixOf<double>(), v);
  const auto hp = on_host(product.params), p = on_host(inputs.params);
  auto gradient_at = [&](double size) {
    Inputs<double> moved = inputs;
    moved.params =
        matrix<double>(n, 2, [&](int i, int j) { return p(i, j) + size * (j == 0 ? 1.0 : 0.3); });
    return on_host(gradient(Exec(), f, recorded, moved.ensemble(t0, t1), SquaredNorm{}).params);
  };
  const double h = 1e-3;
  const auto a = gradient_at(h), b = gradient_at(-h), c = gradient_at(2 * h),
             d = gradient_at(-2 * h);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < 2; ++j) {
      const double expected = (8 * (a(i, j) - b(i, j)) - (c(i, j) - d(i, j))) / (12 * h);
      EXPECT_NEAR(hp(i, j), expected, 1e-8 * (1 + std::abs(expected)));
    }
}

}  // namespace gradsolve::test
