// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/detail/sweep.hpp>
#include <gradsolve/kernels/gradient_kernel.hpp>
#include <gradsolve/kernels/sum_kernel.hpp>
#include <gradsolve/observe/loss.hpp>

namespace gradsolve {

/// What gradient() and vjp() leave. A handle: copies share their memory, and a sweep into it
/// allocates nothing once it has its size.
///
/// A trajectory whose Record::status is not success has no gradient: its rows are NaN.
template <class Scalar, class MemorySpace>
struct Gradient {
  using Matrix = Kokkos::View<Scalar**, Kokkos::LayoutLeft, MemorySpace>;

  Kokkos::View<Scalar*, MemorySpace> loss;  ///< (n); empty after vjp().
  Matrix states;                            ///< (n, N) final states of the replay.
  Matrix u0;                                ///< (n, N) d loss / d u0
  /// (n, P) d loss / d params; (1, P), the sum over the ensemble, where its parameters are shared.
  /// The sum takes a fixed order and leaves out trajectories whose gradient is not finite.
  Matrix params;

  struct Workspace {
    Kokkos::View<Scalar*, MemorySpace> buffer;  // states of the slices in flight
    Matrix params_each;                         // (n, P) before they are summed
    Matrix partial;                             // partial sums
    Kokkos::View<unsigned, MemorySpace> taken;  // slices taken by the sweeps into this object
    unsigned taken_before = 0;
  } workspace;
};

namespace detail {

/// Buffer for the states of the slices in flight. Where memory is short, fewer slices are in
/// flight. Returns their number.
template <class Exec, class S, class MemorySpace>
int reserve_buffer(const Exec& exec, const Mesh<S, MemorySpace>& mesh, int num_states,
                   Kokkos::View<S*, MemorySpace>& buffer) {
  const std::size_t each = std::size_t(mesh.max_rows) * num_states * mesh.width;
  int slots = Kokkos::min(Backend<Exec>::num_slots(exec), mesh.num_slices);
  while (true) {
    try {
      reserve(exec, buffer, each * slots, "gradsolve::Gradient::buffer");
      return slots;
    } catch (const std::exception&) {
      if (slots == 1)
        refuse("gradient", "record",
               "a mesh whose longest trajectory has " + std::to_string(mesh.max_rows) + " steps",
               "one that needs less than the " + std::to_string(each * sizeof(S)) +
                   " bytes that its states take");
      slots = (slots + 1) / 2;
    }
  }
}

template <int Width, class Exec, class F, class M, class Scalar, class MemorySpace, class States,
          class Parameters, class Seed>
void reverse_sweep(const char* function, const Exec& exec, const F& system,
                   const Record<M, Scalar, MemorySpace>& record,
                   const Ensemble<States, Parameters>& ensemble, const Seed& seed,
                   Gradient<Scalar, MemorySpace>& out) {
  using L = LaneOf<F, Exec, Scalar, Width>;
  using Kernel = GradientKernel<M, F, L, Seed>;
  constexpr int P = F::num_params;
  constexpr bool shared = Ensemble<States, Parameters>::shared_params;
  check_record<F, Exec, L>(function, record, ensemble);
  const int n = record.size();
  resize_rows(exec, out.states, n, F::num_states, "gradsolve::Gradient::states");
  resize_rows(exec, out.u0, n, F::num_states, "gradsolve::Gradient::u0");
  resize_rows(exec, out.params, shared ? 1 : n, P, "gradsolve::Gradient::params");
  auto& each = shared ? out.workspace.params_each : out.params;
  if (shared) {
    resize_rows(exec, each, n, P, "gradsolve::Gradient::params_each");
    resize_rows(exec, out.workspace.partial, num_partial_sums, P, "gradsolve::Gradient::partial");
  }
  if (out.workspace.taken.data() == nullptr)
    out.workspace.taken =
        Kokkos::View<unsigned, MemorySpace>(Kokkos::view_alloc(exec, "gradsolve::Gradient::taken"));
  if (n > 0) {
    const int slots = reserve_buffer(exec, record.mesh, F::num_states, out.workspace.buffer);
    const Kernel kernel{system,
                        strided_const(ensemble.states()),
                        strided_const(ensemble.params()),
                        ensemble.t0(),
                        MeshAccess(record.mesh),
                        record.status.data(),
                        seed,
                        slots,
                        out.workspace.buffer.data(),
                        out.workspace.taken.data(),
                        out.workspace.taken_before,
                        strided(out.states),
                        strided(out.u0),
                        strided(each),
                        out.loss.data()};
    // Every slot takes one slice too many, after its first.
    out.workspace.taken_before += record.mesh.num_slices;
    Kokkos::parallel_for("gradsolve::gradient", slice_policy(exec, slots), kernel);
  }
  if (shared)
    sum_rows<Exec, Scalar, MemorySpace>(exec, strided_const(each), n, P, out.workspace.partial,
                                        strided(out.params));
}

}  // namespace detail

/// The loss of every trajectory and its exact derivatives with respect to initial state and
/// parameters: of the replay on the recorded steps, with the steps held fixed (the discrete
/// adjoint). `ensemble` may have other values than were recorded.
///
///     auto gradient = gradsolve::gradient(exec, Lorenz{}, record, ensemble, SquaredNorm{});
///
/// loss: see observe/loss.hpp. Asynchronous in exec; `out` is reused.
/// Memory: the states of the slices in flight, not of the ensemble (docs/memory.md).
/// Throws InvalidArgument where the ensemble does not match the record.
template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters, class Loss>
void gradient(const Exec& exec, const F& system, const Record<M, Scalar, MemorySpace>& record,
              const Ensemble<States, Parameters>& ensemble, const Loss& loss,
              Gradient<Scalar, MemorySpace>& out) {
  Kokkos::Profiling::ScopedRegion region("gradsolve::gradient");
  detail::resize(exec, out.loss, record.size(), "gradsolve::Gradient::loss");
  detail::reverse_sweep<Width>("gradient", exec, system, record, ensemble,
                               detail::LossSeed<Loss>{loss}, out);
}

template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters, class Loss>
Gradient<Scalar, MemorySpace> gradient(const Exec& exec, const F& system,
                                       const Record<M, Scalar, MemorySpace>& record,
                                       const Ensemble<States, Parameters>& ensemble,
                                       const Loss& loss) {
  Gradient<Scalar, MemorySpace> out;
  gradient<Width>(exec, system, record, ensemble, loss, out);
  return out;
}

/// The vector-Jacobian product of the replay: for cotangents w of the final states, (n, N), the
/// cotangents w^T du/du0 and w^T du/dp. For losses that live elsewhere. Otherwise as gradient().
template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters, class Cotangent>
void vjp(const Exec& exec, const F& system, const Record<M, Scalar, MemorySpace>& record,
         const Ensemble<States, Parameters>& ensemble, const Cotangent& cotangents,
         Gradient<Scalar, MemorySpace>& out) {
  Kokkos::Profiling::ScopedRegion region("gradsolve::vjp");
  static_assert(Cotangent::rank() == 2, "cotangents are a View of rank 2: (n, N)");
  detail::check_direction<Exec>("vjp", "cotangents", cotangents, ensemble.states());
  out.loss = {};
  detail::reverse_sweep<Width>("vjp", exec, system, record, ensemble,
                               detail::CotangentSeed<Scalar>{detail::strided_const(cotangents)},
                               out);
}

template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters, class Cotangent>
Gradient<Scalar, MemorySpace> vjp(const Exec& exec, const F& system,
                                  const Record<M, Scalar, MemorySpace>& record,
                                  const Ensemble<States, Parameters>& ensemble,
                                  const Cotangent& cotangents) {
  Gradient<Scalar, MemorySpace> out;
  vjp<Width>(exec, system, record, ensemble, cotangents, out);
  return out;
}

}  // namespace gradsolve
