// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The execution space under test against the host's, one trajectory a thread at a time: CUDA
// against OpenMP in a build for a GPU; in one for a CPU, packs against scalars.
#include <gradsolve/gradsolve.hpp>

#include <support/ensembles.hpp>
#include <support/systems.hpp>

namespace gradsolve::test {
namespace {

using Host = Kokkos::DefaultHostExecutionSpace;
using HostMatrix = Kokkos::View<double**, Kokkos::LayoutLeft, Host::memory_space>;

/// A copy in the memory of the host's execution space, even where that is the one under test.
HostMatrix host_copy(const MatrixOf<double>& view) {
  HostMatrix copy("host", view.extent(0), view.extent(1));
  Kokkos::deep_copy(copy, view);
  return copy;
}

template <class M, class F>
void expect_agreement(const F& f, const Inputs<double>& inputs, double t1, const Options& options) {
  const auto here = inputs.ensemble(0.0, t1);
  const auto record_here = record(Exec(), f, M{}, here, options);
  const auto gradient_here = gradient(Exec(), f, record_here, here, SquaredNorm{});
  const Ensemble there(host_copy(inputs.u0), host_copy(inputs.params), 0.0, t1);
  const auto record_there = record<1>(Host(), f, M{}, there, options);
  const auto gradient_there = gradient<1>(Host(), f, record_there, there, SquaredNorm{});

  EXPECT_TRUE(same_bits_everywhere(record_here.num_steps, record_there.num_steps)) << M::name;
  EXPECT_TRUE(same_bits_everywhere(record_here.status, record_there.status)) << M::name;
  auto near = [&](const auto& a, const auto& b, const char* what) {
    const auto x = on_host(a);
    const auto y = on_host(b);
    double size = 0;
    for (std::size_t i = 0; i < y.extent(0); ++i)
      for (std::size_t j = 0; j < y.extent(1); ++j) size = std::max(size, std::abs(y(i, j)));
    for (std::size_t i = 0; i < y.extent(0); ++i)
      for (std::size_t j = 0; j < y.extent(1); ++j)
        ASSERT_LE(relative_difference(x(i, j), y(i, j), size), 1e-12)
            << M::name << ", " << what << ", trajectory " << i;
  };
  near(record_here.states, record_there.states, "states");
  near(gradient_here.u0, gradient_there.u0, "d / du0");
  near(gradient_here.params, gradient_there.params, "d / dp");
}

TEST(BackEnds, Agree) {
  expect_agreement<Tsit5>(LorenzRho{}, published_lorenz(128), 1.0, published_options(1e-6));
  expect_agreement<Verner7>(LotkaVolterra{}, lotka_volterra(77), 3.0, {.rtol = 1e-8});
  expect_agreement<Dop853>(DrivenPendulum{}, spread_around(33, {0.5, 1.0}, {2.0, 0.7}), 3.0,
                           {.rtol = 1e-8});
  expect_agreement<RK4>(VanDerPol{}, van_der_pol(33), 2.0, {.fixed_steps = 50});
}

}  // namespace
}  // namespace gradsolve::test
