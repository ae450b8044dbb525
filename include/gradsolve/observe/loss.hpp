// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ad/derivatives.hpp>
#include <gradsolve/detail/strided.hpp>

/// Losses: what a gradient is the gradient of, one number for each trajectory, as a functor of its
/// final state that is a template on its scalar:
///
///     struct SquaredNorm {
///       template <class T>
///       KOKKOS_FUNCTION T operator()(const gradsolve::State<T, 3>& u) const {
///         return u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
///       }
///     };
///
/// It may also take (u, p), or (u, p, trajectory) with the trajectory's index, to look up data in a
/// View it carries. It is called once for each trajectory, with plain scalars: it may branch.
namespace gradsolve::detail {

template <class Loss, class T, int N, int P>
KOKKOS_FORCEINLINE_FUNCTION T call_loss(const Loss& loss, const State<T, N>& u,
                                        const Params<T, P>& p, int trajectory) {
  if constexpr (requires { loss(u, p, trajectory); })
    return loss(u, p, trajectory);
  else if constexpr (requires { loss(u, p); })
    return loss(u, p);
  else
    return loss(u);
}

/// A loss as a system of one equation, so that a right-hand side's derivatives serve it too.
template <class Loss, int N, int P>
struct LossSystem {
  static constexpr int num_states = N, num_params = P;
  Loss loss;
  int trajectory;

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, N> operator()(const T&, const State<T, N>& u,
                                                     const Params<T, P>& p) const {
    State<T, N> value = filled<N>(T(0));
    value[0] = call_loss(loss, u, p, trajectory);
    return value;
  }
};

/// The derivatives of a loss, one variable after the other: of a large state. Duals for all of its
/// variables at once would be a minute of compile time for what is done once a trajectory.
template <class Loss, class S, int N, int P>
KOKKOS_FUNCTION void differentiate_loss(const Loss& loss, const State<S, N>& u,
                                        const Params<S, P>& p, int trajectory, State<S, N>& ubar,
                                        Params<S, P>& pbar) {
  using D = Dual<S, 1>;
  State<D, N> ud;
  Params<D, P> pd;
  for_each_index<N>([&](int i) { ud[i] = D(u[i]); });
  if constexpr (P > 0) for_each_index<P>([&](int i) { pd[i] = D(p[i]); });
  auto derivative = [&](D& variable) {
    variable.tangent[0] = S(1);
    const D value = call_loss(loss, ud, pd, trajectory);
    variable.tangent[0] = S(0);
    return value.tangent[0];
  };
  for_each_index<N>([&](int i) { ubar[i] = derivative(ud[i]); });
  if constexpr (P > 0) for_each_index<P>([&](int i) { pbar[i] = derivative(pd[i]); });
}

/// Seeds the reverse sweep with a loss: returns its values and sets its derivatives.
template <class Loss>
struct LossSeed {
  Loss loss;

  template <class Lanes, class L, int N, int P>
  KOKKOS_FORCEINLINE_FUNCTION L operator()(const Lanes& lanes, const Vector<L, N>& u,
                                           const Vector<L, P>& p, Vector<L, N>& ubar,
                                           Vector<L, P>& pbar) const {
    using S = ScalarOf<L>;
    L value(0);
    for (int lane = 0; lane < LaneTraits<L>::width; ++lane) {
      State<S, N> u1, ubar1, w = filled<N>(S(0));
      Params<S, P> p1, pbar1 = filled<P>(S(0));
      S tbar(0);
      for_each_index<N>([&](int i) { u1[i] = lane_of(u[i], lane); });
      for_each_index<P>([&](int i) { p1[i] = lane_of(p[i], lane); });
      const LossSystem<Loss, N, P> system{loss, lanes.source(lane)};
      w[0] = S(1);
      set_lane(value, lane, call_loss(loss, u1, p1, system.trajectory));
      if constexpr (N + P <= max_unrolled)
        vjp<false, LossSystem<Loss, N, P>, S>(system, S(0), u1, p1, w, {ubar1, pbar1, tbar});
      else
        differentiate_loss(loss, u1, p1, system.trajectory, ubar1, pbar1);
      for_each_index<N>([&](int i) { set_lane(ubar[i], lane, ubar1[i]); });
      for_each_index<P>([&](int i) { set_lane(pbar[i], lane, pbar1[i]); });
    }
    return value;
  }
};

/// Seeds the reverse sweep with cotangents of the final states, given in an array; zero without
/// one.
template <class S>
struct CotangentSeed {
  StridedMatrix<const S> cotangents;

  template <class Lanes, class L, int N, int P>
  KOKKOS_FORCEINLINE_FUNCTION L operator()(const Lanes& lanes, const Vector<L, N>&,
                                           const Vector<L, P>&, Vector<L, N>& ubar,
                                           Vector<L, P>& pbar) const {
    if (cotangents.data != nullptr)
      ubar = lanes.template gather<N>(cotangents);
    else
      ubar = filled<N>(L(0));
    pbar = filled<P>(L(0));
    return L(0);
  }
};

}  // namespace gradsolve::detail
