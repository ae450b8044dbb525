// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Results that are used again: by another kind of sweep, after a copy, as the start of the next
// leg, after a record without steps. Under the sanitizers, too.
#include <gradsolve/gradsolve.hpp>

#include <support/ensembles.hpp>
#include <support/systems.hpp>

namespace gradsolve::test {
namespace {

constexpr int n = 2000;
constexpr double nan_value = Kokkos::Experimental::quiet_NaN_v<double>;
const Options options{.rtol = 1e-5};

TEST(Handles, CopiedBeforeTheirFirstUse_AreTheirOwn) {
  const auto inputs = lotka_volterra(n);
  const auto ensemble = inputs.ensemble(0.0, 1.0);
  const auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, options);
  const std::vector<Gradient<double, Memory>> unused(3);
  auto out = unused;
  std::fill(out.begin(), out.end(), unused[0]);
  for (auto& each : out) gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{}, each);
  EXPECT_TRUE(finite_everywhere(out[0].params));
  for (const auto& each : out) EXPECT_TRUE(same_bits_everywhere(each.params, out[0].params));
}

/// The second leg takes more steps than the first one's mesh has room for.
TEST(Handles, OfARecord_GoOnFromWhereItEnded) {
  const auto inputs = lotka_volterra(n);
  auto leg = record(Exec(), LotkaVolterra{}, Tsit5{}, inputs.ensemble(0.0, 0.5), options);
  const Inputs<double> next{leg.states, inputs.params};
  const auto kept = on_host(leg.states);
  const Inputs<double> copied{matrix<double>(n, 2, [&](int i, int j) { return kept(i, j); }),
                              inputs.params};
  const auto expected =
      record(Exec(), LotkaVolterra{}, Tsit5{}, copied.ensemble(0.5, 4.0), options);
  const auto ensemble = next.ensemble(0.5, 4.0);
  record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, options, leg);
  EXPECT_TRUE(finite_everywhere(leg.states));
  EXPECT_TRUE(same_bits_everywhere(leg.states, expected.states));
  EXPECT_TRUE(same_bits_everywhere(leg.num_steps, expected.num_steps));
  const auto a = gradient(Exec(), LotkaVolterra{}, leg, ensemble, SquaredNorm{});
  const auto b =
      gradient(Exec(), LotkaVolterra{}, expected, copied.ensemble(0.5, 4.0), SquaredNorm{});
  EXPECT_TRUE(same_bits_everywhere(a.u0, b.u0));
}

/// The second record has as many slices as the first, and trajectories for which the first mesh has
/// no room.
TEST(Handles, OfARecord_KeepWhatTheyHave_WhenACopyIsRecordedIntoAgain) {
  const auto small = lotka_volterra(33), large = lotka_volterra(34);
  const auto ensemble = small.ensemble(0.0, 0.5);
  const auto first = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, options);
  const auto before = gradient(Exec(), LotkaVolterra{}, first, ensemble, SquaredNorm{});
  const auto expect_unchanged = [&](const char* after) {
    const auto now = gradient(Exec(), LotkaVolterra{}, first, ensemble, SquaredNorm{});
    EXPECT_TRUE(same_bits_everywhere(now.u0, before.u0)) << after;
    EXPECT_TRUE(same_bits_everywhere(first.states, before.states)) << after;
  };
  auto copy = first;
  record(Exec(), LotkaVolterra{}, Tsit5{}, large.ensemble(0.0, 0.5), options, copy);
  EXPECT_EQ(copy.size(), 34);
  expect_unchanged("another size");
  copy = first;
  record(Exec(), LotkaVolterra{}, Tsit5{}, small.ensemble(0.0, 8.0), options, copy);
  expect_unchanged("more steps");

  auto solved = solve(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, options);
  const auto kept = solved;
  solve(Exec(), LotkaVolterra{}, Tsit5{}, large.ensemble(0.0, 8.0), options, solved);
  EXPECT_TRUE(same_bits_everywhere(kept.states, first.states));
}

TEST(Handles, MovedFrom_AreAsNew) {
  const auto inputs = lotka_volterra(n);
  const auto ensemble = inputs.ensemble(0.0, 1.0);
  auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, options);
  auto out = gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{});
  const auto expected = std::move(out);
  gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{}, out);
  EXPECT_TRUE(same_bits_everywhere(out.u0, expected.u0));

  Sensitivity<double, Memory> forward;
  sensitivity(Exec(), LotkaVolterra{}, recorded, ensemble, {}, forward);
  const auto expected_forward = std::move(forward);
  sensitivity(Exec(), LotkaVolterra{}, recorded, ensemble, {}, forward);
  EXPECT_TRUE(same_bits_everywhere(forward.sensitivities, expected_forward.sensitivities));

  const auto first = std::move(recorded);
  record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, options, recorded);
  EXPECT_TRUE(same_bits_everywhere(recorded.states, first.states));
}

/// Its passes all start from the ensemble's states.
TEST(Handles, OfASensitivity_GoOnFromWhereItEnded) {
  const auto inputs = lotka_volterra(n);
  const auto leg = record(Exec(), LotkaVolterra{}, Tsit5{}, inputs.ensemble(0.0, 0.5), options);
  Sensitivity<double, Memory> out;
  sensitivity(Exec(), LotkaVolterra{}, leg, inputs.ensemble(0.0, 0.5), {}, out);
  const Inputs<double> next{out.states, inputs.params};
  const auto ensemble = next.ensemble(0.5, 1.0);
  const auto second = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, options);
  Sensitivity<double, Memory> expected;
  sensitivity(Exec(), LotkaVolterra{}, second, ensemble, {}, expected);
  sensitivity(Exec(), LotkaVolterra{}, second, ensemble, {}, out);
  EXPECT_TRUE(same_bits_everywhere(out.states, expected.states));
  EXPECT_TRUE(same_bits_everywhere(out.sensitivities, expected.sensitivities));
}

TEST(Handles, OfARecordThatFailed_AreRefused) {
  const auto inputs = lotka_volterra(n);
  const auto ensemble = inputs.ensemble(0.0, 1.0);
  auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, options);
  recorded.mesh.planned = false;  // as where memory ran out
  EXPECT_THROW(gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{}),
               InvalidArgument);
}

TEST(Solve, NamesItselfInAComplaint) {
  const auto inputs = lotka_volterra(3);
  try {
    solve(Exec(), LotkaVolterra{}, Tsit5{}, inputs.ensemble(0.0, 1.0), {.rtol = -1});
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(std::string(error.what()).rfind("gradsolve::solve: options.rtol is -1", 0), 0u);
  }
}

/// Where no trajectory takes a step there is nothing to go back over.
TEST(RecordAndGradient, OfEmptySpansAndOfBadInputs_Ends) {
  auto inputs = lotka_volterra(50);
  Record<Tsit5, double, Memory> recorded;
  Gradient<double, Memory> out;
  record_and_gradient(Exec(), LotkaVolterra{}, Tsit5{}, inputs.ensemble(1.0, 1.0), options,
                      SquaredNorm{}, recorded, out);
  const auto du0 = on_host(out.u0), u0 = on_host(inputs.u0);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(du0(i, 0), 2 * u0(i, 0)) << i;

  Kokkos::deep_copy(inputs.params, nan_value);
  recorded = {};
  record_and_gradient(Exec(), LotkaVolterra{}, Tsit5{}, inputs.ensemble(0.0, 1.0), options,
                      SquaredNorm{}, recorded, out);
  EXPECT_EQ(count_status(Exec(), recorded)[int(Status::bad_input)], 50);
  EXPECT_TRUE(std::isnan(on_host(out.u0)(7, 0)));
}

/// u' = 1 - u
struct Approach {
  static constexpr int num_states = 1, num_params = 0;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 1> operator()(const T&, const State<T, 1>& u,
                                                     const Params<T, 0>&) const {
    return {T(1.0) - u[0]};
  }
};
struct Square {
  template <class T>
  KOKKOS_FUNCTION T operator()(const State<T, 1>& u) const {
    return u[0] * u[0];
  }
};

TEST(Handles, OfSharedParametersCountWhatIsLeftOutAnew) {
  const auto shared = column(std::vector<double>{1, 1, 1, 1});
  auto inputs = lotka_volterra(10);
  Kokkos::deep_copy(Kokkos::subview(inputs.u0, 3, 0), nan_value);
  const Ensemble bad(inputs.u0, shared, 0.0, 1.0);
  Gradient<double, Memory> out;
  gradient(Exec(), LotkaVolterra{}, record(Exec(), LotkaVolterra{}, Tsit5{}, bad), bad,
           SquaredNorm{}, out);
  EXPECT_EQ(on_host(out.left_out)(), 1);
  const Ensemble good(matrix<double>({{0.0}, {0.5}}), ColumnOf<double>("none", 0), 0.0, 1.0);
  gradient(Exec(), Approach{}, record(Exec(), Approach{}, Tsit5{}, good), good, Square{}, out);
  EXPECT_EQ(on_host(out.left_out)(), 0);
}

}  // namespace
}  // namespace gradsolve::test
