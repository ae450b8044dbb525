// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/detail/reverse.hpp>

/// The gradient in two launches, for comparison with the fused one: a replay that writes the state
/// at the begin of every step to memory, and an adjoint that reads them back.
namespace gradsolve::tool {

template <class M, class F, class L>
struct KeepStatesKernel {
  using S = ScalarOf<L>;
  using System = F;
  using Method = M;
  using Number = L;
  static constexpr int N = F::num_states;

  F f;
  detail::Inputs<S> in;
  MeshAccess<S> mesh;
  detail::StridedMatrix<S> states;
  S* kept;  // as Record::kept

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    detail::for_slice(*this, team,
                      [](const auto& kernel, int slice, int lane) { kernel.replay(slice, lane); });
  }

  KOKKOS_FUNCTION GRADSOLVE_FLATTEN void replay(int slice, int first_lane) const {
    const detail::LaneIndices<L> lanes(mesh.order, slice * mesh.width + first_lane);
    const detail::Steps<L> steps(mesh, lanes.gather(in.t0), slice, first_lane);
    auto u = detail::initial_states<F>(f, lanes, in.u0);
    const auto p = lanes.template gather<F::num_params>(in.params);
    S* const rows = kept + mesh.first_row[slice] * N * mesh.width + first_lane;
    steps.for_each([&](int row, const L& t, const L& t_end) GRADSOLVE_INLINE_LAMBDA {
      for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA {
        store(rows + (std::int64_t(row) * N + i) * mesh.width, u[i]);
      });
      detail::update_where(t_end != t, u, [&] { return detail::step<M>(f, t, t_end, u, p); });
    });
    lanes.scatter(u, states);
  }
};

template <int Width, class Exec, class F, class M, class S, class Ens, class Loss>
void gradient_in_two_launches(const Exec& exec, const F& system,
                              Record<M, S, typename Exec::memory_space>& record,
                              const Ens& ensemble, const Loss& loss,
                              Gradient<S, typename Exec::memory_space>& out) {
  using namespace detail;
  using L = LaneOf<F, Exec, S, Width>;
  const std::size_t states = std::size_t(record.mesh.total_rows) * record.mesh.width;
  reserve(exec, record.kept, states * F::num_states, "gradsolve_tool::kept");
  const KeepStatesKernel<M, F, L> kernel{system, inputs_of(ensemble), MeshAccess(record.mesh),
                                         strided(record.states), record.kept.data()};
  launch_slices("gradsolve_tool::keep_states", exec, record.mesh.num_slices, kernel);
  reverse_sweep<false, Width>("ablate", exec, system, record, ensemble)
      .on_kept_states()
      .run(seed_of<F>("ablate", loss, ensemble), true, out);
}

}  // namespace gradsolve::tool
