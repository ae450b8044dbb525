// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/detail/sweep.hpp>
#include <gradsolve/kernels/replay_kernel.hpp>

namespace gradsolve {

/// What replay() leaves. A handle: copies share their memory, and a sweep into it allocates nothing
/// once it has its size.
template <class Scalar, class MemorySpace>
struct Replay {
  /// (n, N) the states at the end of the recorded steps.
  Kokkos::View<Scalar**, Kokkos::LayoutLeft, MemorySpace> states;
  /// (n) the largest (error estimate / tolerance) of the steps, 1 at most on the values that were
  /// recorded: well above 1, the mesh has gone stale. Filled where it was asked for.
  Kokkos::View<Scalar*, MemorySpace> error_ratio;
};

/// Solves the ensemble, with new initial states or parameters if it has them, on the recorded
/// steps. Asynchronous in exec. Throws InvalidArgument where the ensemble does not match the
/// record. with_error_ratio costs the stages that only the error estimate needs.
template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters>
void replay(const Exec& exec, const F& system, const Record<M, Scalar, MemorySpace>& record,
            const Ensemble<States, Parameters>& ensemble, Replay<Scalar, MemorySpace>& out,
            bool with_error_ratio = false) {
  using namespace detail;
  using L = LaneOf<F, Exec, Scalar, Width>;
  Kokkos::Profiling::ScopedRegion region("gradsolve::replay");
  check_record<F, Exec, L>("replay", record, ensemble);
  const int n = record.size();
  resize_rows(exec, out.states, n, F::num_states, "gradsolve::Replay::states");
  if (with_error_ratio) {
    if (M::error_order == 0)
      refuse("replay", "with_error_ratio", std::string("true for ") + M::name,
             "false: the method has no error estimate");
    resize(exec, out.error_ratio, n, "gradsolve::Replay::error_ratio");
  }
  if (n == 0) return;
  auto launch = [&](auto with) {
    using Kernel = ReplayKernel<decltype(with)::value, M, F, L>;
    const Kernel kernel{system,
                        strided_const(ensemble.states()),
                        strided_const(ensemble.params()),
                        ensemble.t0(),
                        MeshAccess(record.mesh),
                        Scalar(record.options.rtol),
                        Scalar(record.options.atol),
                        strided(out.states),
                        out.error_ratio.data()};
    Kokkos::parallel_for("gradsolve::replay", slice_policy(exec, record.mesh.num_slices), kernel);
  };
  if constexpr (M::error_order > 0) {
    if (with_error_ratio) return launch(std::true_type{});
  }
  launch(std::false_type{});
}

template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters>
Replay<Scalar, MemorySpace> replay(const Exec& exec, const F& system,
                                   const Record<M, Scalar, MemorySpace>& record,
                                   const Ensemble<States, Parameters>& ensemble,
                                   bool with_error_ratio = false) {
  Replay<Scalar, MemorySpace> out;
  replay<Width>(exec, system, record, ensemble, out, with_error_ratio);
  return out;
}

/// What jvp() leaves: (n, N) the states and their derivatives in the given direction.
template <class Scalar, class MemorySpace>
struct Tangent {
  Kokkos::View<Scalar**, Kokkos::LayoutLeft, MemorySpace> states, tangents;
};

/// The derivative of the replay in one direction: d states = (du/du0) du0 + (du/dp) dp, exactly, by
/// dual numbers. du0 has the shape of the ensemble's initial states, dparams that of its
/// parameters; a View without memory (`View()`) stands for zero. Asynchronous in exec. Throws
/// InvalidArgument where shapes disagree.
template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters, class DStates, class DParameters>
void jvp(const Exec& exec, const F& system, const Record<M, Scalar, MemorySpace>& record,
         const Ensemble<States, Parameters>& ensemble, const DStates& du0,
         const DParameters& dparams, Tangent<Scalar, MemorySpace>& out) {
  using namespace detail;
  using L = LaneOf<F, Exec, Scalar, Width>;
  Kokkos::Profiling::ScopedRegion region("gradsolve::jvp");
  check_record<F, Exec, L>("jvp", record, ensemble);
  check_direction<Exec>("jvp", "du0", du0, ensemble.states());
  check_direction<Exec>("jvp", "dparams", dparams, ensemble.params());
  const int n = record.size();
  resize_rows(exec, out.states, n, F::num_states, "gradsolve::Tangent::states");
  resize_rows(exec, out.tangents, n, F::num_states, "gradsolve::Tangent::tangents");
  if (n == 0) return;
  using Kernel = TangentKernel<M, F, L>;
  const Kernel kernel{system,
                      strided_const(ensemble.states()),
                      strided_const(ensemble.params()),
                      strided_const(du0),
                      strided_const(dparams),
                      ensemble.t0(),
                      MeshAccess(record.mesh),
                      strided(out.states),
                      strided(out.tangents)};
  Kokkos::parallel_for("gradsolve::jvp", slice_policy(exec, record.mesh.num_slices), kernel);
}

template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters, class DStates, class DParameters>
Tangent<Scalar, MemorySpace> jvp(const Exec& exec, const F& system,
                                 const Record<M, Scalar, MemorySpace>& record,
                                 const Ensemble<States, Parameters>& ensemble, const DStates& du0,
                                 const DParameters& dparams) {
  Tangent<Scalar, MemorySpace> out;
  jvp<Width>(exec, system, record, ensemble, du0, dparams, out);
  return out;
}

}  // namespace gradsolve
