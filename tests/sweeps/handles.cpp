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

/// Sweeps into what was moved from write nothing where it went.
TEST(Handles, MovedFrom_AreAsNew) {
  const auto inputs = lotka_volterra(n), others = lotka_volterra(n);
  Kokkos::deep_copy(others.u0, 0.7);
  const auto ensemble = inputs.ensemble(0.0, 1.0), other = others.ensemble(0.0, 1.0);
  const Exec exec;
  const LotkaVolterra system;
  auto recorded = record(exec, system, Tsit5{}, ensemble, options);
  const auto expect_renewed = [&](const char* what, auto&& sweep, auto&& numbers) {
    std::remove_cvref_t<decltype(sweep(ensemble))> out = sweep(ensemble), before = sweep(ensemble);
    auto best = std::move(out);
    sweep(other, &out);
    EXPECT_TRUE(same_bits_everywhere(numbers(best), numbers(before))) << what;
    EXPECT_TRUE(same_bits_everywhere(numbers(out), numbers(sweep(other)))) << what;
  };
  const auto states = [](const auto& out) { return out.states; };
  const auto into = [](auto out, auto&& call) {  // out: a pointer, or null
    using Out = std::remove_pointer_t<decltype(out)>;
    Out fresh;
    call(out == nullptr ? fresh : *out);
    return fresh;
  };
  expect_renewed(
      "record",
      [&](const auto& e, Record<Tsit5>* out = nullptr) {
        return into(out, [&](auto& o) { record(exec, system, Tsit5{}, e, options, o); });
      },
      states);
  expect_renewed(
      "solve",
      [&](const auto& e, Solved<>* out = nullptr) {
        return into(out, [&](auto& o) { solve(exec, system, Tsit5{}, e, options, o); });
      },
      states);
  expect_renewed(
      "replay",
      [&](const auto& e, Replay<>* out = nullptr) {
        return into(out, [&](auto& o) { replay(exec, system, recorded, e, o); });
      },
      states);
  expect_renewed(
      "gradient",
      [&](const auto& e, Gradient<>* out = nullptr) {
        return into(out, [&](auto& o) { gradient(exec, system, recorded, e, SquaredNorm{}, o); });
      },
      [](const auto& out) { return out.u0; });
  expect_renewed(
      "sensitivity",
      [&](const auto& e, Sensitivity<>* out = nullptr) {
        return into(out, [&](auto& o) { sensitivity(exec, system, recorded, e, {}, o); });
      },
      [](const auto& out) { return out.sensitivities; });

  expect_renewed(
      "hessian_product",
      [&](const auto& e, HessianProduct<>* out = nullptr) {
        return into(out, [&](auto& o) {
          hessian_product(exec, system, recorded, e, SquaredNorm{}, e.states(), e.params(), o);
        });
      },
      [](const auto& out) { return out.u0; });

  const auto first = std::move(recorded);
  EXPECT_THROW(gradient(exec, system, recorded, ensemble, SquaredNorm{}), InvalidArgument);
  EXPECT_THROW(step_ends(exec, recorded, 0), InvalidArgument);
}

TEST(Handles, OfARecord_TakeTheirOwnOptions_WhereACopyHasItsMemory) {
  const auto inputs = lotka_volterra(5);
  const auto ensemble = inputs.ensemble(0.0, 1.0);
  auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, {.rtol = 1e-10});
  const auto copy = recorded;
  record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, recorded.options, recorded);
  EXPECT_EQ(recorded.options.rtol, 1e-10);
  EXPECT_TRUE(same_bits_everywhere(recorded.states, copy.states));
}

TEST(Handles, KeepWhatTheyHave_WhereAnArgumentIsRefused) {
  const auto inputs = lotka_volterra(5);
  const auto ensemble = inputs.ensemble(0.0, 1.0);
  const auto times = save_times(Exec(), ensemble, std::vector{0.5});
  auto recorded = record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, times, options);
  const auto copy = recorded;
  EXPECT_THROW(record(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, {.rtol = -1}, recorded),
               InvalidArgument);
  EXPECT_EQ(recorded.states.data(), copy.states.data());
  EXPECT_EQ(recorded.saved.data(), copy.saved.data());
  auto solved = solve(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, times, options);
  EXPECT_THROW(solve(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, {.rtol = -1}, solved),
               InvalidArgument);
  EXPECT_EQ(solved.saved.extent(0), 5u);
  auto replayed = replay(Exec(), LotkaVolterra{}, recorded, ensemble, times);
  const auto wrong = lotka_volterra(4);
  EXPECT_THROW(replay(Exec(), LotkaVolterra{}, recorded, wrong.ensemble(0.0, 1.0), replayed),
               InvalidArgument);
  EXPECT_EQ(replayed.saved.extent(0), 5u);
  // A budget that is too small, for more trajectories than the result has.
  const auto more = lotka_volterra(7);
  auto out_of_few = gradient(Exec(), LotkaVolterra{}, recorded, ensemble, SquaredNorm{});
  const auto recorded_more =
      record(Exec(), LotkaVolterra{}, Tsit5{}, more.ensemble(0.0, 1.0), {.memory_budget = 16});
  EXPECT_THROW(gradient(Exec(), LotkaVolterra{}, recorded_more, more.ensemble(0.0, 1.0),
                        SquaredNorm{}, out_of_few),
               InvalidArgument);
  EXPECT_EQ(out_of_few.loss.extent(0), 5u);

  // Before it records: the save times are those of another ensemble.
  const auto elsewhere = save_times(Exec(), wrong.ensemble(0.0, 1.0), std::vector{0.5});
  Gradient<> out;
  EXPECT_THROW(record_and_gradient(Exec(), LotkaVolterra{}, Tsit5{}, ensemble, options,
                                   at_saves(elsewhere, WeightedSaves{}), recorded, out),
               InvalidArgument);
  EXPECT_EQ(recorded.saved.data(), copy.saved.data());
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

/// A product of its own for numbers alone, that of another function: wherever it is not asked, the
/// gradient is another.
struct OwnProduct {
  static constexpr int num_states = 1, num_params = 1;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 1> operator()(const T&, const State<T, 1>&,
                                                     const Params<T, 1>& p) const {
    return {p[0]};
  }
  KOKKOS_FUNCTION Cotangents<double, 1, 1> vjp(double, const State<double, 1>&,
                                               const Params<double, 1>&,
                                               const State<double, 1>& w) const {
    return {{0.0}, {2 * w[0]}, 0.0};
  }
};
struct FirstState {
  template <class T>
  KOKKOS_FUNCTION T operator()(const State<T, 1>& u) const {
    return u[0];
  }
};
TEST(OwnProducts, OfNumbersAloneAreAskedEverywhere) {
  const Inputs<double> inputs{matrix<double>(20, 1, [](int, int) { return 0.0; }),
                              matrix<double>(20, 1, [](int i, int) { return i; })};
  const auto ensemble = inputs.ensemble(0.0, 1.0);
  const auto recorded = record(Exec(), OwnProduct{}, Tsit5{}, ensemble, options);
  const auto out = gradient(Exec(), OwnProduct{}, recorded, ensemble, FirstState{});
  for (int i = 0; i < 20; ++i) EXPECT_NEAR(on_host(out.params)(i, 0), 2, 1e-14) << i;
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

TEST(Ensemble, OfASystemWithoutParameters_NeedsNone) {
  const auto u0 = matrix<double>({{0.0}, {0.5}});
  const Ensemble ensemble(u0, 0.0, 1.0);
  const auto recorded = record(Exec(), Approach{}, Tsit5{}, ensemble, {.rtol = 1e-10});
  const auto out = gradient(Exec(), Approach{}, recorded, ensemble, Square{});
  const double e = std::exp(-1.0);  // u(1) = 1 - (1 - u0) / e
  const double u1[] = {1 - e, 1 - 0.5 * e};
  for (int i = 0; i < 2; ++i) EXPECT_NEAR(on_host(out.u0)(i, 0), 2 * u1[i] * e, 1e-9) << i;
  EXPECT_NEAR(sum_of_losses(Exec(), out), u1[0] * u1[0] + u1[1] * u1[1], 1e-9);
  EXPECT_EQ(ensemble.num_params(), 0);
  EXPECT_EQ(ensemble.range(1, 2).num_params(), 0);
  const auto columns =
      sensitivity(Exec(), Approach{}, recorded, ensemble, Variables::all_u0<Approach>());
  EXPECT_NEAR(on_host(columns.sensitivities)(1, 0, 0), e, 1e-9);
}

TEST(Variables, AreAllOfAKind) {
  const auto all = Variables::all_params<LotkaVolterra>();
  EXPECT_EQ(all.params, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_TRUE(all.u0.empty());
}

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
