// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The error of a solution on equal steps falls with the order of its method.
#include <gradsolve/gradsolve.hpp>

#include <support/all_methods.hpp>
#include <support/ensembles.hpp>
#include <support/reference.hpp>
#include <support/systems.hpp>

namespace gradsolve::test {
namespace {

template <class M>
class Convergence : public ::testing::Test {};
TYPED_TEST_SUITE(Convergence, AllMethods, NameOfMethod);

/// Equal steps at which the error is small, and not yet rounding.
int steps_of(int order) {
  if (order >= 8) return 4;
  if (order >= 7) return 6;
  if (order >= 5) return 12;
  return order >= 3 ? 32 : 256;
}

TYPED_TEST(Convergence, HasTheOrderOfTheMethod) {
  using M = TypeParam;
  const Inputs<double> inputs{matrix<double>({{0.5, 1.0}}), matrix<double>({{2.0, 0.7}})};
  const auto exact = reference::replay<Verner9, reference::Real>(
      DrivenPendulum{}, reference::equal_steps(0, 2, 2000), reference::Real(0), {0.5L, 1.0L},
      {2.0L, 0.7L});
  auto error = [&](int steps) {
    const auto recorded =
        record(Exec(), DrivenPendulum{}, M{}, inputs.ensemble(0.0, 2.0), {.fixed_steps = steps});
    const auto u = on_host(recorded.states);
    return std::hypot(u(0, 0) - double(exact[0]), u(0, 1) - double(exact[1]));
  };
  const int steps = steps_of(M::order);
  const double slope = std::log2(error(steps) / error(2 * steps));
  EXPECT_GT(slope, M::order - 0.5) << error(steps) << ", " << error(2 * steps);
}

}  // namespace
}  // namespace gradsolve::test
