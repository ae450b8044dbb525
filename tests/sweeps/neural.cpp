// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Gradients in weights that the ensemble shares, of right-hand sides made of blocks.
#include <gradsolve/gradsolve.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <support/ensembles.hpp>
#include <support/host.hpp>
#include <support/reference.hpp>
#include <support/systems.hpp>

namespace gradsolve::test {
namespace {

using Real = reference::Real;
constexpr double nan_value = Kokkos::Experimental::quiet_NaN_v<double>;

/// y_i = w_i x_i^3: a block of a user's own.
struct Cubes {
  static constexpr int num_in = 2, num_out = 2, num_weights = 2;
  template <class W, class T>
  static KOKKOS_FUNCTION void forward(const W* weights, const Vector<T, 2>& x, Vector<T, 2>& y) {
    for (int i = 0; i < 2; ++i) y[i] = weights[i] * x[i] * x[i] * x[i];
  }
  template <class W, class T, class Sums>
  static KOKKOS_FUNCTION void adjoint(const W* weights, const Vector<T, 2>& x, const Vector<T, 2>&,
                                      Vector<T, 2>& ybar, Vector<T, 2>& xbar,
                                      const Sums& weights_bar) {
    for (int i = 0; i < 2; ++i) {
      xbar[i] = 3.0 * weights[i] * x[i] * x[i] * ybar[i];
      weights_bar.add(i, ybar[i] * x[i] * x[i] * x[i]);
    }
  }
};

template <class Activation>
using NetOf = Chain<Dense<2, 5, Activation>, Dense<5, 9, Activation>, Dense<9, 2>>;
using Small = NetOf<Tanh>;
using OwnBlock = Chain<Cubes, Dense<2, 6, Swish>, Dense<6, 2>>;

/// A net with time and a parameter among its inputs: u' = net(u, t, p) - u.
template <class Scalar>
struct Driven {
  using Net = Chain<Dense<4, 7, Tanh>, Dense<7, 2>>;
  static constexpr int num_states = 2, num_params = 1, num_weights = Net::num_weights;
  Kokkos::View<const Scalar*, Memory> weights;

  template <class T>
  KOKKOS_FUNCTION State<T, 2> operator()(const T& t, const State<T, 2>& u,
                                         const Params<T, 1>& p) const {
    const Vector<T, 4> x{u[0], u[1], t, p[0]};
    State<T, 2> y;
    Net::forward(weights.data(), x, y);
    return {y[0] - u[0], y[1] - u[1]};
  }
  template <class T, class Sums>
  KOKKOS_FUNCTION Cotangents<T, 2, 1> vjp(const T& t, const State<T, 2>& u, const Params<T, 1>& p,
                                          const State<T, 2>& w, const Sums& weights_bar) const {
    const Vector<T, 4> x{u[0], u[1], t, p[0]};
    State<T, 2> ybar = w;
    Vector<T, 4> xbar;
    Net::adjoint(weights.data(), x, ybar, xbar, weights_bar);
    return {{xbar[0] - w[0], xbar[1] - w[1]}, {xbar[3]}, xbar[2]};
  }
};

struct Norm {
  template <class T>
  KOKKOS_FUNCTION T operator()(const State<T, 2>& u) const {
    return u[0] * u[0] + u[0] * u[1] + 2.0 * u[1] * u[1];
  }
};
struct NormAtSaves {
  template <class T, int P>
  KOKKOS_FUNCTION T operator()(const T& t, const State<T, 2>& u, const Params<T, P>&,
                               SaveIndex) const {
    return Norm{}(u) * (T(1) + t);
  }
};

template <class S>
ColumnOf<S> draw_weights(int count) {
  Uniform draw(7);
  std::vector<S> weights;
  for (int k = 0; k < count; ++k) weights.push_back(static_cast<S>(draw(-0.8, 0.8)));
  return column(weights);
}
template <class S>
Inputs<S> draw_inputs(int n, int num_params) {
  Uniform draw(11);
  return {matrix<S>(n, 2, [&](int, int) { return draw(-1.5, 1.5); }),
          matrix<S>(n, num_params, [&](int, int) { return draw(0.2, 1.0); })};
}

/// The functor of a system with weights in long double, on the host.
template <class Block>
struct BlockOnHost {
  static constexpr int num_states = 2, num_params = 0;
  const std::vector<Real>& weights;
  State<Real, 2> operator()(const Real&, const State<Real, 2>& u, const Params<Real, 0>&) const {
    State<Real, 2> y;
    Block::forward(weights.data(), u, y);
    return y;
  }
};
template <class S>
struct DrivenOnHost {
  static constexpr int num_states = 2, num_params = 1;
  const std::vector<Real>& weights;
  State<Real, 2> operator()(const Real& t, const State<Real, 2>& u,
                            const Params<Real, 1>& p) const {
    const Vector<Real, 4> x{u[0], u[1], t, p[0]};
    State<Real, 2> y;
    Driven<S>::Net::forward(weights.data(), x, y);
    return {y[0] - u[0], y[1] - u[1]};
  }
};

/// The losses of an ensemble on recorded steps: at save times, or at the end where there are none.
template <class M, class OnHost, class S>
struct Oracle {
  std::vector<std::vector<S>> ends;
  decltype(on_host(MatrixOf<S>())) u0, params;
  std::vector<double> saves;

  template <class Rec>
  Oracle(const Rec& recorded, const Inputs<S>& inputs, std::vector<double> save_times)
      : u0(on_host(inputs.u0)), params(on_host(inputs.params)), saves(std::move(save_times)) {
    for (int i = 0; i < inputs.size(); ++i) ends.push_back(step_ends(Exec(), recorded, i));
  }

  Real loss(const std::vector<Real>& weights, int i) const {
    const OnHost f{weights};
    reference::Variables<OnHost, Real> v;
    for (int c = 0; c < 2; ++c) v.u0[c] = u0(i, c);
    for (int c = 0; c < OnHost::num_params; ++c) v.params[c] = params(i, c);
    v.t0 = 0;
    v.t1 = 1;
    for (double t : saves) v.saves.push_back(t);
    if (saves.empty()) return Norm{}(reference::final_state<M, OnHost, Real>(f, ends[i], 0, 1, v));
    Real sum = 0;
    const auto states = reference::saved_states<M, OnHost, Real>(f, ends[i], 0, 1, v);
    for (std::size_t k = 0; k < saves.size(); ++k) sum += Norm{}(states[k]) * (1 + Real(saves[k]));
    return sum;
  }

  /// d sum_i loss_i / d weight k, by differences of fourth order.
  template <class Wanted>
  Real slope(const std::vector<Real>& weights, int k, Wanted&& wanted) const {
    auto moved = [&](Real by) {
      auto w = weights;
      w[k] += by;
      Real sum = 0;
      for (std::size_t i = 0; i < ends.size(); ++i)
        if (wanted(static_cast<int>(i))) sum += loss(w, static_cast<int>(i));
      return sum;
    };
    const Real h = 1e-4L;
    return (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h);
  }
};

template <class View>
std::vector<Real> as_real(const View& view) {
  const auto host = on_host(view);
  std::vector<Real> values;
  for (std::size_t k = 0; k < host.extent(0); ++k) values.push_back(host(k));
  return values;
}
bool all(int) { return true; }

/// Every third weight, against the oracle.
template <class M, class OnHost, class S, class F, class Wanted>
void expect_gradient_in_weights(const F& system, const Inputs<S>& inputs,
                                const std::vector<double>& saves, const Options& options,
                                double tolerance, Wanted&& wanted) {
  const auto ensemble = inputs.ensemble(0.0, 1.0);
  const auto recorded = record(Exec(), system, M{}, ensemble, options);
  const auto g = [&] {
    if (saves.empty()) return gradient(Exec(), system, recorded, ensemble, Norm{});
    const auto times = save_times(Exec(), ensemble, saves);
    return gradient(Exec(), system, recorded, ensemble, at_saves(times, NormAtSaves{}));
  }();
  const auto weights = as_real(system.weights), computed = as_real(g.weights);
  ASSERT_EQ(computed.size(), std::size_t(F::num_weights));
  const Oracle<M, OnHost, S> oracle(recorded, inputs, saves);
  for (int k = 0; k < F::num_weights; k += 3)
    EXPECT_LE(relative_difference(computed[k], oracle.slope(weights, k, wanted), 0.1L), tolerance)
        << "weight " << k;
  if constexpr (std::is_same_v<S, double>) {
    const auto value = on_host(g.loss);
    for (int i = 0; i < inputs.size(); ++i)
      if (wanted(i)) {
        EXPECT_LE(relative_difference(value(i), oracle.loss(weights, i), 0.1L), tolerance);
      }
  }
}

const std::vector<double> saves{0.0, 0.21, 0.22, 0.5, 1.0};
constexpr Options options{.rtol = 1e-5, .atol = 1e-7};

template <class Activation>
class Neural : public ::testing::Test {};
using AllActivations = ::testing::Types<Tanh, Softplus, Swish>;
TYPED_TEST_SUITE(Neural, AllActivations);

TYPED_TEST(Neural, GradientInWeightsIsThatOfTheReplay) {
  using Net = NetOf<TypeParam>;
  const BlockSystem<Net> system(draw_weights<double>(Net::num_weights));
  for (const auto& at : {std::vector<double>{}, saves})
    expect_gradient_in_weights<Tsit5, BlockOnHost<Net>>(system, draw_inputs<double>(37, 0), at,
                                                        options, 1e-10, all);
}

TYPED_TEST(Neural, InSinglePrecision) {
  using Net = NetOf<TypeParam>;
  const BlockSystem<Net, float> system(draw_weights<float>(Net::num_weights));
  for (const auto& at : {std::vector<double>{}, saves})
    expect_gradient_in_weights<Tsit5, BlockOnHost<Net>>(system, draw_inputs<float>(19, 0), at,
                                                        {.rtol = 1e-3, .atol = 1e-4}, 1e-3, all);
}

TEST(NeuralSweep, OwnBlock) {
  const BlockSystem<OwnBlock> system(draw_weights<double>(OwnBlock::num_weights));
  expect_gradient_in_weights<DormandPrince5, BlockOnHost<OwnBlock>>(
      system, draw_inputs<double>(11, 0), {}, options, 1e-10, all);
}

TEST(NeuralSweep, TimeAndParametersAmongTheInputs) {
  const Driven<double> system{draw_weights<double>(Driven<double>::num_weights)};
  const auto inputs = draw_inputs<double>(13, 1);
  for (const auto& at : {std::vector<double>{}, saves})
    expect_gradient_in_weights<Verner7, DrivenOnHost<double>>(system, inputs, at, options, 1e-10,
                                                              all);
}

/// The rows of u0 and params, against tangents and differences.
TEST(NeuralSweep, OtherDerivatives) {
  const Driven<double> system{draw_weights<double>(Driven<double>::num_weights)};
  const auto inputs = draw_inputs<double>(13, 1);
  const auto ensemble = inputs.ensemble(0.0, 1.0);
  const auto recorded = record(Exec(), system, Tsit5{}, ensemble, options);
  const auto check = check_gradient(Exec(), system, recorded, ensemble, Norm{});
  EXPECT_TRUE(check.passed()) << check.report();
}

TEST(NeuralSweep, IsTheSameBitByBit) {
  const BlockSystem<Small> system(draw_weights<double>(Small::num_weights));
  const auto inputs = draw_inputs<double>(1000, 0);
  const auto ensemble = inputs.ensemble(0.0, 1.0);
  const auto times = save_times(Exec(), ensemble, saves);
  const auto recorded = record(Exec(), system, Tsit5{}, ensemble, options);
  const auto first = gradient(Exec(), system, recorded, ensemble, at_saves(times, NormAtSaves{}));
  Gradient<double, Memory> again;
  for (int k = 0; k < 5; ++k) {
    gradient(Exec(), system, recorded, ensemble, at_saves(times, NormAtSaves{}), again);
    EXPECT_TRUE(same_bits_everywhere(again.weights, first.weights));
    EXPECT_TRUE(same_bits_everywhere(again.u0, first.u0));
  }
  auto kept = recorded;
  record_and_gradient(Exec(), system, Tsit5{}, ensemble, options, at_saves(times, NormAtSaves{}),
                      kept, again);
  EXPECT_TRUE(same_bits_everywhere(again.weights, first.weights));
}

TEST(NeuralSweep, WithCheckpoints) {
  const BlockSystem<Small> system(draw_weights<double>(Small::num_weights));
  const auto inputs = draw_inputs<double>(64, 0);
  const auto ensemble = inputs.ensemble(0.0, 1.0);
  Options fixed{.fixed_steps = 40};
  const auto recorded = record(Exec(), system, RK4{}, ensemble, fixed);
  const auto expected = gradient(Exec(), system, recorded, ensemble, Norm{});
  // Room for a third of the states of all slots: in as many slots, or else in another order.
  auto tight = recorded;
  const int slots = Kokkos::min(detail::Backend<Exec>::num_slots(Exec()), recorded.mesh.num_slices);
  tight.options.memory_budget = std::size_t(slots) * recorded.mesh.width * 2 * 8 * 14;
  const auto g = gradient(Exec(), system, tight, ensemble, Norm{});
  EXPECT_TRUE(same_bits_everywhere(g.weights, expected.weights));
}

TEST(NeuralSweep, InChunks) {
  const BlockSystem<Small> system(draw_weights<double>(Small::num_weights));
  const auto inputs = draw_inputs<double>(5000, 0);
  const auto ensemble = inputs.ensemble(0.0, 1.0);
  const Options few{.rtol = 1e-2, .atol = 1e-2};
  const auto recorded = record(Exec(), system, Tsit5{}, ensemble, few);
  const auto expected = as_real(gradient(Exec(), system, recorded, ensemble, Norm{}).weights);
  ChunkedGradient<double, Memory> out;
  record_and_gradient_in_chunks(Exec(), system, Tsit5{}, ensemble, few, Norm{}, out);
  EXPECT_EQ(out.num_chunks, 2);
  const auto computed = as_real(out.weights);
  for (std::size_t k = 0; k < expected.size(); ++k)
    EXPECT_LE(relative_difference(computed[k], expected[k], 1.0L), 1e-12) << k;
}

/// What fails contributes nothing, and leaves its neighbours in the slice as they are.
TEST(NeuralSweep, FailedTrajectoriesContributeNothing) {
  const BlockSystem<Small> system(draw_weights<double>(Small::num_weights));
  const auto inputs = draw_inputs<double>(50, 0);
  const auto alone = inputs.ensemble(0.0, 1.0);
  const auto bad = [](int i) { return i == 3 || i == 20 || i == 21; };
  const auto with_bad = draw_inputs<double>(50, 0);
  for (int i = 0; i < 50; ++i)
    if (bad(i))
      Kokkos::deep_copy(Kokkos::subview(with_bad.u0, i, 0), i == 20 ? HUGE_VAL : nan_value);
  const auto ensemble = with_bad.ensemble(0.0, 1.0);
  for (const auto& at : {std::vector<double>{}, saves})
    expect_gradient_in_weights<Tsit5, BlockOnHost<Small>>(system, with_bad, at, options, 1e-10,
                                                          [&](int i) { return !bad(i); });

  // Recorded in good health, and replayed from bad starts.
  const auto recorded = record(Exec(), system, Tsit5{}, alone, options);
  const auto healthy = gradient(Exec(), system, recorded, alone, Norm{});
  const auto g = gradient(Exec(), system, recorded, ensemble, Norm{});
  EXPECT_TRUE(finite_everywhere(g.weights));
  EXPECT_EQ(on_host(g.left_out)(), 3);
  EXPECT_EQ(on_host(healthy.left_out)(), 0);
  const auto du0 = on_host(g.u0), expected = on_host(healthy.u0);
  const auto value = on_host(g.loss);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(std::isnan(du0(i, 0)), bad(i)) << i;
    EXPECT_EQ(std::isfinite(value(i)), !bad(i)) << i;
    EXPECT_TRUE(bad(i) || same_row(du0, i, expected, i)) << i;
  }
}

/// A span or a cotangent that is not a number, while the state is one.
TEST(NeuralSweep, BadSpansAndCotangentsContributeNothing) {
  const BlockSystem<Small> system(draw_weights<double>(Small::num_weights));
  const auto inputs = draw_inputs<double>(50, 0);
  std::vector<double> t1(50, 1.0);
  const auto good = inputs.ensemble(0.0, column(t1));
  t1[7] = nan_value;
  const auto bad = inputs.ensemble(0.0, column(t1));
  const auto w = matrix<double>(50, 2, [](int i, int j) { return i == 7 ? 0.0 : 1.0 + i + j; });
  const auto expected =
      vjp(Exec(), system, record(Exec(), system, Tsit5{}, good, options), good, w);

  const auto broken =
      matrix<double>(50, 2, [](int i, int j) { return i == 7 ? nan_value : 1.0 + i + j; });
  for (const auto& ensemble : {good, bad}) {
    const auto recorded = record(Exec(), system, Tsit5{}, ensemble, options);
    const auto g = vjp(Exec(), system, recorded, ensemble, broken);
    EXPECT_EQ(on_host(g.left_out)(), 1);
    for (int k = 0; k < Small::num_weights; ++k)
      ASSERT_LE(relative_difference(on_host(g.weights)(k), on_host(expected.weights)(k), 1e-3L),
                1e-11);
  }
  const auto recorded = record(Exec(), system, Tsit5{}, good, options);
  const auto moved = gradient(Exec(), system, recorded, bad, Norm{});
  EXPECT_TRUE(finite_everywhere(moved.weights));
  EXPECT_EQ(on_host(moved.left_out)(), 1);
}

/// Trajectories of very different lengths in one slice: a step that is none adds nothing.
TEST(NeuralSweep, LengthsThatDiffer) {
  const BlockSystem<Small> system(draw_weights<double>(Small::num_weights));
  const auto inputs = draw_inputs<double>(9, 0);
  std::vector<double> t1(9);
  for (int i = 0; i < 9; ++i) t1[i] = i == 4 ? 0.0 : 0.1 + 2.0 * i;
  Real expected = 0;
  Real computed = 0;
  auto sum_of = [](const auto& view) {
    Real sum = 0;
    for (const Real x : as_real(view)) sum += x;
    return sum;
  };
  const auto t1_view = column(t1);
  const auto ensemble = inputs.ensemble(0.0, t1_view);
  const auto recorded = record(Exec(), system, Tsit5{}, ensemble, options);
  computed = sum_of(gradient(Exec(), system, recorded, ensemble, Norm{}).weights);
  const auto u0 = on_host(inputs.u0);
  for (int i = 0; i < 9; ++i) {
    const Inputs<double> one{matrix<double>({{u0(i, 0), u0(i, 1)}}), MatrixOf<double>("p", 1, 0)};
    const auto alone = one.ensemble(0.0, t1[i]);
    const auto steps = record(Exec(), system, Tsit5{}, alone, options);
    expected += sum_of(gradient(Exec(), system, steps, alone, Norm{}).weights);
  }
  EXPECT_LE(relative_difference(computed, expected), 1e-13);
}

TEST(NeuralSweep, NoTrajectories) {
  const BlockSystem<Small> system(draw_weights<double>(Small::num_weights));
  const auto inputs = draw_inputs<double>(0, 0);
  const auto ensemble = inputs.ensemble(0.0, 1.0);
  const auto recorded = record(Exec(), system, Tsit5{}, ensemble, options);
  const auto g = gradient(Exec(), system, recorded, ensemble, Norm{});
  for (const Real x : as_real(g.weights)) EXPECT_EQ(x, 0);
}

/// One Gradient for a system with weights and one without.
TEST(NeuralSweep, ReusesResults) {
  const BlockSystem<Small> system(draw_weights<double>(Small::num_weights));
  const auto inputs = draw_inputs<double>(20, 0);
  const auto ensemble = inputs.ensemble(0.0, 1.0);
  const auto recorded = record(Exec(), system, Tsit5{}, ensemble, options);
  Gradient<double, Memory> out;
  gradient(Exec(), system, recorded, ensemble, Norm{}, out);
  const auto first = on_host(out.weights);
  const auto lotka = lotka_volterra(20);
  const auto other = lotka.ensemble(0.0, 1.0);
  gradient(Exec(), LotkaVolterra{}, record(Exec(), LotkaVolterra{}, Tsit5{}, other), other, Norm{},
           out);
  EXPECT_EQ(out.weights.extent(0), 0u);
  gradient(Exec(), system, recorded, ensemble, Norm{}, out);
  EXPECT_TRUE(same_bits_everywhere(out.weights, first));
}

void expect_refusal(const std::function<void()>& call, const std::string& text) {
  try {
    call();
    ADD_FAILURE() << "nothing was refused";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

TEST(NeuralSweep, WeightsOfAnotherSizeAreRefused) {
  const auto short_weights = draw_weights<double>(5);
  expect_refusal([&] { BlockSystem<Small> system(short_weights); },
                 "weights is a View of 5 numbers, expected " + std::to_string(Small::num_weights));
  const auto inputs = draw_inputs<double>(4, 1);
  const auto ensemble = inputs.ensemble(0.0, 1.0);
  const Driven<double> system{draw_weights<double>(Driven<double>::num_weights)};
  const auto recorded = record(Exec(), system, Tsit5{}, ensemble, options);
  const std::string text = "system.weights is a View of 5 numbers, expected " +
                           std::to_string(Driven<double>::num_weights);
  expect_refusal([&] { record(Exec(), Driven<double>{short_weights}, Tsit5{}, ensemble); }, text);
  expect_refusal(
      [&] { gradient(Exec(), Driven<double>{short_weights}, recorded, ensemble, Norm{}); }, text);
  expect_refusal([&] { replay(Exec(), Driven<double>{short_weights}, recorded, ensemble); }, text);
  expect_refusal([&] { make_solution(Exec(), Driven<double>{short_weights}, recorded, ensemble); },
                 text);
}

}  // namespace
}  // namespace gradsolve::test
