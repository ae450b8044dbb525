// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <support/fits.hpp>

namespace gradsolve::test {
namespace {

struct Lorenz {
  using System = examples::Lorenz;
  using Method = Tsit5;
  static constexpr const char* name = "fit_lorenz";
  static constexpr Options options{.rtol = 1e-10, .atol = 1e-12};
};
struct LotkaVolterra {
  using System = examples::LotkaVolterra;
  using Method = Tsit5;
  static constexpr const char* name = "fit_lv";
  static constexpr Options options{.rtol = 1e-10, .atol = 1e-12};
};

/// Of a batch, data set 3 cannot start, data set 5 is not observed at all.
using Batch = Fit<LotkaVolterra>;

TEST_F(Batch, EachFitIsOnItsOwn) {
  const auto alone = fit_on_first_steps([](const auto&, const auto&) {});
  const auto beside = fit_on_first_steps([](const auto& params, const auto& data) {
    Kokkos::deep_copy(Kokkos::subview(params, 3, 0), nan_value);
    Kokkos::deep_copy(Kokkos::subview(data, 5, Kokkos::ALL, Kokkos::ALL), nan_value);
  });
  const auto status = on_host(beside.status);
  EXPECT_EQ(status(3), examples::FitStatus::bad_start);
  EXPECT_EQ(status(5), examples::FitStatus::converged);  // where it started: nothing to gain
  const auto expected = on_host(alone.params), params = on_host(beside.params),
             start = on_host(starts());
  EXPECT_TRUE(same_row(params, 5, start, 5));
  for (int i : {0, 1, 2, 4, 6, 7}) EXPECT_TRUE(same_row(params, i, expected, i)) << i;
}

using Problems = ::testing::Types<Lorenz, LotkaVolterra>;
INSTANTIATE_TYPED_TEST_SUITE_P(Applications, Fit, Problems);

}  // namespace
}  // namespace gradsolve::test
