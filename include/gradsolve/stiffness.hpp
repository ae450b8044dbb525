// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/detail/sweep.hpp>
#include <gradsolve/kernels/stiffness_kernel.hpp>

namespace gradsolve {

/// Whether an explicit method was the wrong one: (n), for each trajectory the share of its steps,
/// from 0 to 1, that stability limited and not accuracy. Much above one half, a Rosenbrock method
/// takes fewer steps. `record` is that of the explicit method, `ensemble` as it was recorded.
///
/// On such a step the error estimate e holds little but the fastest mode of the system, and h |J e|
/// / |e| lies at the edge of the method's stability interval, beyond 0.8 of its length; where
/// accuracy limits the step it is below. Costs about a replay and a half. Asynchronous in exec.
/// Throws InvalidArgument where the ensemble does not match the record.
template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters>
Kokkos::View<Scalar*, MemorySpace> stability_limited_share(
    const Exec& exec, const F& system, const Record<M, Scalar, MemorySpace>& record,
    const Ensemble<States, Parameters>& ensemble) {
  using namespace detail;
  using L = LaneOf<F, Exec, Scalar, Width>;
  static_assert(!ImplicitMethod<M> && M::error_order > 0,
                "a question to explicit methods with an error estimate");
  Kokkos::Profiling::ScopedRegion region("gradsolve::stability_limited_share");
  check_record<Exec, L, M>("stability_limited_share", system, record, ensemble);
  Kokkos::View<Scalar*, MemorySpace> share(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "gradsolve::stability_limited_share"),
      record.size());
  if (record.size() == 0) return share;
  MovedMesh<Scalar, MemorySpace> moved;
  const StiffnessKernel<M, SystemOnT<Exec, M, F>, L> kernel{
      system_on<Exec, M>(system), inputs_of(ensemble),
      mesh_on_span(exec, record.mesh, ensemble.t0(), ensemble.t1(), moved),
      Tolerances<Scalar>(record.options), share.data()};
  launch_slices("gradsolve::stability_limited_share", exec, record.mesh.num_slices, kernel);
  return share;
}

}  // namespace gradsolve
