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

using Problems = ::testing::Types<Lorenz, LotkaVolterra>;
INSTANTIATE_TYPED_TEST_SUITE_P(Applications, Fit, Problems);

}  // namespace
}  // namespace gradsolve::test
