// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/detail/reverse.hpp>
#include <gradsolve/record.hpp>

namespace gradsolve {

/// The loss of every trajectory and its exact derivatives with respect to initial state and
/// parameters: of the replay on the recorded steps, with the steps held fixed (the discrete
/// adjoint). `ensemble` may have other values than were recorded.
///
///     auto gradient = gradsolve::gradient(exec, Lorenz{}, record, ensemble, SquaredNorm{});
///
/// loss: a functor of the final state, or at_saves(times, functor); see observe/loss.hpp.
/// Asynchronous in exec, but where a memory budget asks for a new schedule of checkpoints (another
/// mesh, so little memory that not every segment has one); `out` is reused.
/// Memory: the states of the slices in flight, not of the ensemble (docs/memory.md).
/// Throws InvalidArgument where the ensemble does not match the record.
template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters, class Loss, class Store>
void gradient(const Exec& exec, const F& system, const Record<M, Scalar, MemorySpace>& record,
              const Ensemble<States, Parameters>& ensemble, const Loss& loss,
              Gradient<Scalar, MemorySpace, Store>& out) {
  Kokkos::Profiling::ScopedRegion region("gradsolve::gradient");
  detail::reverse_sweep<false, Width>("gradient", exec, system, record, ensemble)
      .run(detail::seed_of<F>("gradient", loss, ensemble), true, out);
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

/// The gradient with its derivatives in times: d loss / d t0, d t1 and, of a loss at save times, d
/// save times. The steps move with the span, each at its fixed place (t - t0) / (t1 - t0); save
/// times move on their own (docs/times.md).
template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters, class Loss, class Store>
void gradient_with_times(const Exec& exec, const F& system,
                         const Record<M, Scalar, MemorySpace>& record,
                         const Ensemble<States, Parameters>& ensemble, const Loss& loss,
                         Gradient<Scalar, MemorySpace, Store>& out) {
  Kokkos::Profiling::ScopedRegion region("gradsolve::gradient_with_times");
  detail::reverse_sweep<true, Width>("gradient_with_times", exec, system, record, ensemble)
      .run(detail::seed_of<F>("gradient_with_times", loss, ensemble), true, out);
}

template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters, class Loss>
Gradient<Scalar, MemorySpace> gradient_with_times(const Exec& exec, const F& system,
                                                  const Record<M, Scalar, MemorySpace>& record,
                                                  const Ensemble<States, Parameters>& ensemble,
                                                  const Loss& loss) {
  Gradient<Scalar, MemorySpace> out;
  gradient_with_times<Width>(exec, system, record, ensemble, loss, out);
  return out;
}

/// The vector-Jacobian product of the replay: for cotangents w of the final states, (n, N), the
/// cotangents w^T du/du0 and w^T du/dp. For losses that live elsewhere. Otherwise as gradient().
template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters, class Cotangent, class Store>
void vjp(const Exec& exec, const F& system, const Record<M, Scalar, MemorySpace>& record,
         const Ensemble<States, Parameters>& ensemble, const Cotangent& cotangents,
         Gradient<Scalar, MemorySpace, Store>& out) {
  using namespace detail;
  Kokkos::Profiling::ScopedRegion region("gradsolve::vjp");
  static_assert(Cotangent::rank() == 2, "cotangents are a View of rank 2: (n, N)");
  const auto sweep = reverse_sweep<false, Width>("vjp", exec, system, record, ensemble);
  if (cotangents.data() == nullptr && record.size() > 0)
    refuse("vjp", "cotangents", "a View without memory", shape_text(record.size(), F::num_states));
  check_shape<Exec, Scalar>("vjp", "cotangents", cotangents, record.size(), F::num_states);
  sweep.run(CotangentSeed<Scalar>{strided_const(cotangents)}, false, out);
}

/// The same for cotangents of the states at save times, (n, saves, N).
template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters, class S, class TimesSpace, class Cotangent, class Store>
void vjp(const Exec& exec, const F& system, const Record<M, Scalar, MemorySpace>& record,
         const Ensemble<States, Parameters>& ensemble, const SaveTimes<S, TimesSpace>& times,
         const Cotangent& cotangents, Gradient<Scalar, MemorySpace, Store>& out) {
  using namespace detail;
  Kokkos::Profiling::ScopedRegion region("gradsolve::vjp");
  const auto sweep = reverse_sweep<false, Width>("vjp", exec, system, record, ensemble);
  check_saves("vjp", times, ensemble);
  check_accessible<Exec, Cotangent>();
  check_saved_shape("vjp", "cotangents", cotangents, record.size(), times.size(), F::num_states);
  sweep.run(SavedCotangentSeed<Scalar>{times.access(), strided_const(cotangents)}, false, out);
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
template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters, class S, class TimesSpace, class Cotangent>
  requires(Kokkos::is_view_v<Cotangent>)
Gradient<Scalar, MemorySpace> vjp(const Exec& exec, const F& system,
                                  const Record<M, Scalar, MemorySpace>& record,
                                  const Ensemble<States, Parameters>& ensemble,
                                  const SaveTimes<S, TimesSpace>& times,
                                  const Cotangent& cotangents) {
  Gradient<Scalar, MemorySpace> out;
  vjp<Width>(exec, system, record, ensemble, times, cotangents, out);
  return out;
}

/// The sum of the losses over the ensemble; NaN where a trajectory has none. Synchronises exec.
template <class Exec, class Scalar, class MemorySpace, class Store>
Scalar sum_of_losses(const Exec& exec, const Gradient<Scalar, MemorySpace, Store>& gradient) {
  const auto loss = gradient.loss;
  Scalar total(0);
  Kokkos::parallel_reduce(
      "gradsolve::sum_of_losses", Kokkos::RangePolicy<Exec>(exec, 0, loss.extent(0)),
      KOKKOS_LAMBDA(int i, Scalar& sum) { sum += loss(i); }, total);
  return total;
}

/// record() and gradient() for those who move every step: the record keeps its states
/// (Options::keep_states), and the gradient goes straight back over them without a replay. Bitwise
/// the answer of the two calls. Costs N numbers a step and trajectory. Synchronises exec as
/// record() does.
template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters, class Loss>
void record_and_gradient(const Exec& exec, const F& system, M method,
                         const Ensemble<States, Parameters>& ensemble, Options options,
                         const Loss& loss, Record<M, Scalar, MemorySpace>& record_out,
                         Gradient<Scalar, MemorySpace>& out) {
  Kokkos::Profiling::ScopedRegion region("gradsolve::record_and_gradient");
  const auto seed = detail::seed_of<F>("record_and_gradient", loss, ensemble);
  options.keep_states = true;
  record<Width>(exec, system, method, ensemble, options, record_out);
  detail::reverse_sweep<false, Width>("record_and_gradient", exec, system, record_out, ensemble)
      .on_kept_states()
      .run(seed, true, out);
}

}  // namespace gradsolve
