// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/kernels/replay_kernel.hpp>

namespace gradsolve::detail {

/// The length of the interval [-x, 0] in which the method is stable: |R(z)| <= 1 for a step of
/// u' = z u with h = 1.
template <class M>
constexpr double stability_interval() {
  for (double x = 0.05;; x += 0.05) {
    double k[M::num_solution_stages] = {}, u_new = 1;
    for (int i = 0; i < M::num_solution_stages; ++i) {
      double u = 1;
      for (int j = 0; j < i; ++j) u += M::a[i][j] * k[j];
      k[i] = -x * u;
      u_new += M::b[i] * k[i];
    }
    if (u_new > 1 || u_new < -1) return x;
  }
}
/// Steps with h |lambda| beyond this are at the edge of stability.
template <class M>
inline constexpr double stability_edge_v = 0.8 * stability_interval<M>();

/// (h |J e| / |e|)^2 at the end of a step, in the norm of the error test: e is the error estimate,
/// in which the fastest mode stands out where stability limits the step. 0 where there is no error.
template <class M, class F, class L>
KOKKOS_FORCEINLINE_FUNCTION L fastest_mode2(const F& f, const L& t, const L& t_end,
                                            const StateOf<F, L>& u, const ParamsOf<F, L>& p,
                                            const Tolerances<ScalarOf<L>>& tol,
                                            StateOf<F, L>& u_new) {
  using D = Dual<L, 1>;
  const L h = t_end - t;
  StageValues<ErrorStages<M>, F, L> s;
  evaluate_stages<true, M>(f, t, t_end, u, p, s);
  copy(solution<M>(u, h, s.k), u_new);
  StateOf<F, L> error;
  combine<ErrorRow<M>>(s.k, error);
  StateOf<F, D> moved;
  ParamsOf<F, D> pd;
  for_each_index<F::num_states>(
      [&](int i) GRADSOLVE_INLINE_LAMBDA { moved[i] = D(u_new[i], Vector<L, 1>{error[i]}); });
  for_each_index<F::num_params>([&](int i) GRADSOLVE_INLINE_LAMBDA { pd[i] = D(p[i]); });
  const StateOf<F, D> slope = evaluate(f, D(t_end), moved, pd);
  L size(0), size_of_slope(0);
  for_each_index<F::num_states>([&](int i) GRADSOLVE_INLINE_LAMBDA {
    if (!tol.holds_for(f, i)) return;
    const L inverse_scale = reciprocal(tol.scale(f, i, abs(u_new[i])));
    const L e = error[i] * inverse_scale, de = slope[i].tangent[0] * inverse_scale;
    size = size + e * e;
    size_of_slope = size_of_slope + de * de;
  });
  size = sum_of_threads(f, size);
  size_of_slope = sum_of_threads(f, size_of_slope);
  return h * h * (size_of_slope / select(size == L(0), L(1), size));
}

/// The share of each trajectory's steps that stability limits.
template <class M, class F, class L>
struct StiffnessKernel {
  using System = F;
  using Method = M;
  using Number = L;
  using S = ScalarOf<L>;

  F f;
  Inputs<S> in;
  MeshAccess<S> mesh;
  Tolerances<S> tolerances;
  S* share;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    for_slice(*this, team,
              [](const auto& kernel, int slice, int lane) { kernel.replay(slice, lane); });
  }

  KOKKOS_FUNCTION GRADSOLVE_FLATTEN void replay(int slice, int first_lane) const {
    const LaneIndices<L> lanes(mesh.order, slice * mesh.width + first_lane);
    const Steps<L> steps(mesh, lanes.gather(in.t0), slice, first_lane);
    StateOf<F, L> u = initial_states<F>(f, lanes, in.u0);
    const ParamsOf<F, L> p = lanes.template gather<F::num_params>(in.params);
    L limited(0), all(0);
    steps.for_each([&](int, const L& t, const L& t_end) GRADSOLVE_INLINE_LAMBDA {
      const MaskOf<L> moves = t_end != t;
      StateOf<F, L> u_new;
      const L mode2 = fastest_mode2<M>(f, t, t_end, u, p, tolerances, u_new);
      keep_where(moves, u_new, u);
      all = all + select(moves, L(1), L(0));
      const L edge2(S(stability_edge_v<M> * stability_edge_v<M>));
      limited = limited + select(moves && mode2 > edge2, L(1), L(0));
    });
    for (int lane = 0; lane < LaneTraits<L>::width; ++lane)
      if (lanes.used(lane))
        share[lanes.index[lane]] = lane_of(limited, lane) / Kokkos::max(S(1), lane_of(all, lane));
  }
};

}  // namespace gradsolve::detail
