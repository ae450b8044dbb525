// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What derivatives cost beside the gradient of the final state: the published Lorenz ensemble at
// rtol 1e-6, Tsit5, float64.
//
//   final                 gradient of |u(1)|^2
//   saves/k               gradient of sum |u(t_i)|^2 at k times spread over [0, 1]
//   record_saves/k        record with k saves; replay_saves/k likewise
//   final_times, saves_times   the same gradients with derivatives in times
//   hessian, hessian_saves     Hessian-vector products of the two losses (12 saves)
//   record_then_gradient, record_and_gradient
//   forward_K/P, reverse/P     du(1)/dp for P parameters, K directions at once, and the gradient of
//                              one loss, of a Lorenz system with P parameters
#include "bench.hpp"

#include <string>

namespace {

using namespace bench;
using gradsolve::Params;
using gradsolve::SaveIndex;
using gradsolve::State;

struct SquaredNormAtSaves {
  template <class T, int P>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const T&, const State<T, 3>& u, const Params<T, P>&,
                                           SaveIndex) const {
    return u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
  }
};

/// The Lorenz system with P parameters: rho in the middle, and small terms for the others.
template <int P>
struct LorenzOf {
  static constexpr int num_states = 3, num_params = P;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 3> operator()(const T&, const State<T, 3>& u,
                                                     const Params<T, P>& p) const {
    State<T, 3> r{10.0 * (u[1] - u[0]), u[0] * (p[0] - u[2]) - u[1],
                  u[0] * u[1] - (8.0 / 3.0) * u[2]};
    gradsolve::static_for<P - 1>([&](auto k) GRADSOLVE_INLINE_LAMBDA {
      constexpr int i = k % 3, j = (k + 1) % 3;
      r[i] = r[i] + 1e-3 * p[k + 1] * u[j];
    });
    return r;
  }
};

template <int P>
struct Solved {
  Exec exec;
  gradsolve::Ensemble<Matrix, Matrix> ensemble;
  gradsolve::Record<Tsit5, double, Memory> record;

  explicit Solved(int n) : ensemble(initial_states(n), params(n), 0.0, 1.0) {
    gradsolve::record(exec, LorenzOf<P>{}, Tsit5{}, ensemble, published_options(1e-6), record);
  }
  static Matrix params(int n) {
    Matrix p("params", n, P);
    Kokkos::deep_copy(Kokkos::subview(p, Kokkos::ALL, 0),
                      Kokkos::subview(rho(n, false), Kokkos::ALL, 0));
    return p;
  }
  auto times(int count) const {
    std::vector<double> t;
    for (int i = 1; i <= count; ++i) t.push_back(double(i) / count);
    return gradsolve::save_times(exec, ensemble, t);
  }
};

using Run = void (*)(benchmark::State&, int n, int k);
void add(const std::string& name, Run run, const std::vector<std::int64_t>& k = {0}) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [run](benchmark::State& s) {
                                 run(s, static_cast<int>(s.range(0)), static_cast<int>(s.range(1)));
                               })
      ->ArgsProduct({{32768, 1048576}, k})
      ->ArgNames({"n", "k"})
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}

template <int Chunk, int P>
void forward(benchmark::State& state, int n, int) {
  using namespace gradsolve::detail;
  Solved<P> s(n);
  gradsolve::Sensitivity<double, Memory> out;
  gradsolve::Variables variables;
  for (int i = 0; i < P; ++i) variables.params.push_back(i);
  place_variables<LorenzOf<P>>(s.exec, variables, out);
  resize_rows(s.exec, out.states, n, 3, "states");
  resize_saves(s.exec, out.sensitivities, n, 3, P, "sensitivities");
  time(state, s.exec, [&] {
    tangent_sweep<0>("forward", s.exec, LorenzOf<P>{}, s.record, s.ensemble,
                     UnitDirections<Chunk>{out.variable.data()}, out.states,
                     tangent_sink<false>(out.sensitivities), NoSaves{}, out.moved);
  });
}
template <int P>
void reverse(benchmark::State& state, int n, int) {
  Solved<P> s(n);
  gradsolve::Gradient<double, Memory> out;
  time(state, s.exec, [&] {
    gradsolve::gradient(s.exec, LorenzOf<P>{}, s.record, s.ensemble, SquaredNorm{}, out);
  });
}
template <int P>
void add_forward_and_reverse() {
  const std::string of = "/P:" + std::to_string(P);
  if constexpr (P <= 4) add("forward_1" + of, forward<1, P>);
  add("forward_2" + of, forward<2, P>);
  if constexpr (P >= 4) add("forward_4" + of, forward<4, P>);
  add("reverse" + of, reverse<P>);
}

const bool registered = [] {
  add("final", [](benchmark::State& state, int n, int) {
    Solved<1> s(n);
    gradsolve::Gradient<double, Memory> out;
    time(state, s.exec, [&] {
      gradsolve::gradient(s.exec, LorenzOf<1>{}, s.record, s.ensemble, SquaredNorm{}, out);
    });
  });
  add("final_times", [](benchmark::State& state, int n, int) {
    Solved<1> s(n);
    gradsolve::Gradient<double, Memory> out;
    time(state, s.exec, [&] {
      gradsolve::gradient_with_times(s.exec, LorenzOf<1>{}, s.record, s.ensemble, SquaredNorm{},
                                     out);
    });
  });
  add("saves",
      [](benchmark::State& state, int n, int k) {
        Solved<1> s(n);
        gradsolve::Gradient<double, Memory> out;
        const auto loss = gradsolve::at_saves(s.times(k), SquaredNormAtSaves{});
        time(state, s.exec,
             [&] { gradsolve::gradient(s.exec, LorenzOf<1>{}, s.record, s.ensemble, loss, out); });
      },
      {1, 12, 48});
  add("saves_times",
      [](benchmark::State& state, int n, int k) {
        Solved<1> s(n);
        gradsolve::Gradient<double, Memory> out;
        const auto loss = gradsolve::at_saves(s.times(k), SquaredNormAtSaves{});
        time(state, s.exec, [&] {
          gradsolve::gradient_with_times(s.exec, LorenzOf<1>{}, s.record, s.ensemble, loss, out);
        });
      },
      {12});
  add("record_saves",
      [](benchmark::State& state, int n, int k) {
        Solved<1> s(n);
        const auto times = s.times(k);
        time(state, s.exec, [&] {
          gradsolve::record(s.exec, LorenzOf<1>{}, Tsit5{}, s.ensemble, times,
                            published_options(1e-6), s.record);
        });
      },
      {12});
  add("replay_saves",
      [](benchmark::State& state, int n, int k) {
        Solved<1> s(n);
        const auto times = s.times(k);
        gradsolve::Replay<double, Memory> out;
        time(state, s.exec,
             [&] { gradsolve::replay(s.exec, LorenzOf<1>{}, s.record, s.ensemble, times, out); });
      },
      {12});
  add("hessian", [](benchmark::State& state, int n, int) {
    Solved<1> s(n);
    gradsolve::HessianProduct<double, Memory> out;
    time(state, s.exec, [&] {
      gradsolve::hessian_product(s.exec, LorenzOf<1>{}, s.record, s.ensemble, SquaredNorm{},
                                 s.ensemble.states(), s.ensemble.params(), out);
    });
  });
  add("hessian_saves",
      [](benchmark::State& state, int n, int k) {
        Solved<1> s(n);
        gradsolve::HessianProduct<double, Memory> out;
        const auto loss = gradsolve::at_saves(s.times(k), SquaredNormAtSaves{});
        time(state, s.exec, [&] {
          gradsolve::hessian_product(s.exec, LorenzOf<1>{}, s.record, s.ensemble, loss,
                                     s.ensemble.states(), s.ensemble.params(), out);
        });
      },
      {12});
  add("record_then_gradient", [](benchmark::State& state, int n, int) {
    Solved<1> s(n);
    gradsolve::Gradient<double, Memory> out;
    time(state, s.exec, [&] {
      gradsolve::record(s.exec, LorenzOf<1>{}, Tsit5{}, s.ensemble, published_options(1e-6),
                        s.record);
      gradsolve::gradient(s.exec, LorenzOf<1>{}, s.record, s.ensemble, SquaredNorm{}, out);
    });
  });
  add("record_and_gradient", [](benchmark::State& state, int n, int) {
    Solved<1> s(n);
    gradsolve::Gradient<double, Memory> out;
    time(state, s.exec, [&] {
      gradsolve::record_and_gradient(s.exec, LorenzOf<1>{}, Tsit5{}, s.ensemble,
                                     published_options(1e-6), SquaredNorm{}, s.record, out);
    });
  });
  add_forward_and_reverse<1>();
  add_forward_and_reverse<2>();
  add_forward_and_reverse<4>();
  add_forward_and_reverse<8>();
  add_forward_and_reverse<13>();
  add_forward_and_reverse<32>();
  return true;
}();

}  // namespace
