// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/detail/sweep.hpp>
#include <gradsolve/gradient_data.hpp>
#include <gradsolve/kernels/gradient_kernel.hpp>
#include <gradsolve/kernels/sum_kernel.hpp>
#include <gradsolve/record_data.hpp>

namespace gradsolve::detail {

/// The seed of the reverse sweep for what a user calls a loss.
template <class F, class Loss, class States, class Parameters>
auto seed_of(const char*, const Loss& loss, const Ensemble<States, Parameters>&) {
  return FinalLossSeed<Loss>{loss};
}
template <class F, class Loss, class S, class MemorySpace, class States, class Parameters>
auto seed_of(const char* function, const LossAtSaves<Loss, S, MemorySpace>& loss,
             const Ensemble<States, Parameters>& ensemble) {
  check_saves(function, loss.times, ensemble);
  if constexpr (requires { check_data(function, loss.loss, 0, 0, 0); })
    check_data(function, loss.loss, ensemble.size(), loss.times.size(), F::num_states);
  return SavedLossSeed<Loss, S>{loss.times.access(), loss.loss};
}

/// Of data that a sweep reads.
template <class Exec, class MemorySpace>
constexpr void check_data_space() {
  static_assert(Kokkos::SpaceAccessibility<Exec, MemorySpace>::accessible,
                "data that a sweep reads must be accessible from its execution space");
}
/// Of a loss that reads data.
template <class Exec, class Seed>
constexpr void check_data_accessible(const Seed&) {}
template <class Exec, class S, class MemorySpace>
constexpr void check_data_accessible(const SavedLossSeed<LeastSquares<S, MemorySpace>, S>&) {
  check_data_space<Exec, MemorySpace>();
}

/// Puts the schedule of checkpoints on the device, where each segment's own is not enough.
/// Synchronises exec where the plan is a new one.
template <class Exec, class Workspace>
CheckpointSchedule schedule_checkpoints(const Exec& exec, int rows, const Checkpoints& plan,
                                        Workspace& work) {
  if (!needs_schedule(rows, plan)) return {};
  const int count = num_checkpoints(rows, plan.length) + 1;
  auto& segments = work.segments;
  if (segments.extent_int(0) != count || work.places != plan.places) {
    auto planned = plan_schedule(count, plan.places);
    segments = {};  // copies of this object have theirs
    resize(exec, segments, count, "gradsolve::Gradient::segments");
    Kokkos::deep_copy(exec, segments,
                      Kokkos::View<Segment*, Kokkos::HostSpace>(planned.data(), count));
    exec.fence("gradsolve::gradient: the schedule of checkpoints is the host's");
    work.places = plan.places;
  }
  return {segments.data()};
}

/// Bytes that the states of one slice take at least, row_bytes a step.
template <class S, class MemorySpace>
std::size_t least_states_bytes(const Mesh<S, MemorySpace>& mesh, std::size_t row_bytes) {
  return row_bytes * least_room(mesh.max_rows);
}
/// Refuses a budget (0: none) that has no room for them: it is the user's over `share`.
template <class S, class MemorySpace>
void check_states_budget(const char* function, const Mesh<S, MemorySpace>& mesh,
                         std::size_t row_bytes, std::size_t budget, int share = 1) {
  if (budget == 0) return;
  const std::size_t least = least_states_bytes(mesh, row_bytes);
  if (budget < least)
    refuse(function, "options.memory_budget", std::to_string(budget * share) + " bytes",
           "at least " + std::to_string(least * share) + " for the states of a slice of " +
               std::to_string(mesh.max_rows) + " steps");
}

/// Buffer for the states of the slices in flight, `row` numbers a step, of `budget` bytes at most
/// (0: what there is), which check_states_budget() has let pass. Throws what Kokkos throws
/// (std::runtime_error) where memory has no room for one slice. Where memory ran out once, what it
/// had then is the budget of the result's later sweeps, too.
template <class Exec, class S, class MemorySpace, class Workspace>
auto reserve_buffer(const Exec& exec, const Mesh<S, MemorySpace>& mesh, std::size_t row,
                    std::size_t budget, Workspace& work) {
  using Store = typename decltype(work.buffer)::value_type;
  const std::size_t row_bytes = row * sizeof(Store);
  const int max_slots = Kokkos::min(Backend<Exec>::num_slots(exec), mesh.num_slices);
  if (work.room > 0 && (budget == 0 || work.room < budget) &&
      work.room >= least_states_bytes(mesh, row_bytes))
    budget = work.room;
  while (true) {
    const auto [slots, plan] = plan_states(max_slots, mesh.max_rows, row_bytes, budget);
    const std::size_t size = row * plan.room * slots;
    try {
      reserve(exec, work.buffer, size, "gradsolve::Gradient::buffer");
    } catch (const std::exception&) {  // out of memory
      budget = work.room = size * sizeof(Store) / 2;
      if (budget < least_states_bytes(mesh, row_bytes)) throw;
      continue;
    }
    KeptStates<S, Store> kept{};
    kept.num_slots = slots;
    kept.segment_rows = plan.length;
    kept.room = plan.room;
    kept.checkpoints = schedule_checkpoints(exec, mesh.max_rows, plan, work);
    kept.buffer = work.buffer.data();
    return kept;
  }
}

/// One reverse sweep over a record: for a gradient, and with a direction for a Hessian-vector
/// product.
template <bool WithTimes, int Width, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters>
class ReverseSweep {
  using L = LaneOf<F, Exec, Scalar, Width>;
  using System = SystemOnT<Exec, M, F>;
  using Matrix = Kokkos::View<Scalar**, Kokkos::LayoutLeft, MemorySpace>;
  static constexpr int P = F::num_params, given = num_given_states_v<F>;
  static constexpr bool shared = Ensemble<States, Parameters>::shared_params;
  using Summing = SummingSystem<System, L, Backend<Exec>::threads_per_slice>;

 public:
  ReverseSweep(const char* function, const Exec& exec, const F& system,
               const Record<M, Scalar, MemorySpace>& record,
               const Ensemble<States, Parameters>& ensemble)
      : function_(function), exec_(exec), system_(system), record_(record), ensemble_(ensemble) {
    check_record<Exec, L, M>(function, system, record, ensemble);
    if constexpr (HasWeights<F>) {
      static_assert(!WithTimes, "gradients in weights come without derivatives in times");
      static_assert(!ImplicitMethod<M>, "gradients in weights need an explicit method");
    }
  }

  /// Goes back over the states that record() kept.
  ReverseSweep& on_kept_states() {
    on_kept_states_ = true;
    return *this;
  }

  template <class Seed, class Store>
  void run(const Seed& seed, bool with_loss, Gradient<Scalar, MemorySpace, Store>& out) const {
    check_budget<Store>(1);
    renew_if_moved_from(out);
    sweep<L>(seed, with_loss, {}, out);
    sum_shared(out, out.workspace.params_each, out.params);
    if constexpr (HasWeights<F>) count_left_out(out);
  }

  /// With a direction: also d gradient / d direction.
  template <class Seed>
  void run(const Seed& seed, const Direction<Scalar>& direction, Gradient<Scalar, MemorySpace>& out,
           Matrix& product_u0, Matrix& product_params) const {
    static_assert(!HasWeights<F>, "no second derivatives of a system with weights");
    check_budget<Scalar>(num_parts<Dual<L, 1>>);
    renew_if_moved_from(out);
    auto& each = shared ? out.workspace.product_each : product_params;
    const int n = record_.size();
    resize_rows(exec_, product_u0, n, given, "gradsolve::HessianProduct::u0");
    resize_rows(exec_, product_params, shared ? 1 : n, P, "gradsolve::HessianProduct::params");
    resize_rows(exec_, each, n, P, "gradsolve::HessianProduct::params_each");
    sweep<Dual<L, 1>>(seed, true, {direction, strided(product_u0), strided(each)}, out);
    sum_shared(out, out.workspace.params_each, out.params);
    sum_shared(out, each, product_params);
  }

 private:
  /// Before anything of the result is touched.
  template <class Store>
  void check_budget(int parts) const {
    const auto& mesh = record_.mesh;
    if (!on_kept_states_ && record_.size() > 0)
      check_states_budget(function_, mesh, row_numbers<System>(mesh.width) * parts * sizeof(Store),
                          record_.options.memory_budget);
  }

  template <class T, class Seed, class Store>
  void sweep(const Seed& seed, bool with_loss, const Product<Scalar, (num_parts<T> > 1)>& product,
             Gradient<Scalar, MemorySpace, Store>& out) const {
    const int n = record_.size();
    resize_rows(exec_, out.states, n, F::num_states, "gradsolve::Gradient::states");
    resize_rows(exec_, out.u0, n, given, "gradsolve::Gradient::u0");
    resize_rows(exec_, out.params, shared ? 1 : n, P, "gradsolve::Gradient::params");
    auto& each = shared ? out.workspace.params_each : out.params;
    resize_rows(exec_, each, n, P, "gradsolve::Gradient::params_each");
    resize(exec_, out.loss, with_loss ? n : 0, "gradsolve::Gradient::loss");
    check_data_accessible<Exec>(seed);
    prepare_times(seed, out);
    prepare_weights(out);
    if (n == 0) return;
    TimeOutput<Scalar, WithTimes> times;
    if constexpr (WithTimes) times = {out.t0.data(), out.t1.data(), strided(out.save_times)};
    const KeptStates<Scalar, Store> kept = kept_states(num_parts<T>, out);
    const auto system = summing_system(kept.num_slots, out);
    const GradientKernel<WithTimes, M, std::remove_const_t<decltype(system)>, T, Seed, Store>
        kernel{
            system,
            record_.options.find_consistent_start,
            inputs_of(ensemble_),
            mesh_on_span(exec_, record_.mesh, ensemble_.t0(), ensemble_.t1(), out.workspace.moved),
            record_.status.data(),
            seed,
            kept,
            strided(out.states),
            with_loss ? out.loss.data() : nullptr,  // a View of no rows may have an address
            strided(out.u0),
            strided(each),
            times,
            product};
    launch_slices("gradsolve::gradient", exec_, kept.num_slots, kernel);
    // Every slot takes one slice too many, after its first.
    if constexpr (!HasWeights<F>) *out.workspace.taken_before += record_.mesh.num_slices;
    if constexpr (HasWeights<F>)
      sum_weights<Summing::Sums::numbers_a_weight>(exec_, out.workspace.weights_each.data(),
                                                   kept.num_slots, F::num_weights,
                                                   out.weights.data());
  }

  template <class Store>
  void prepare_weights(Gradient<Scalar, MemorySpace, Store>& out) const {
    if constexpr (HasWeights<F>) {
      resize(exec_, out.weights, F::num_weights, "gradsolve::Gradient::weights");
      if (record_.size() == 0) Kokkos::deep_copy(exec_, out.weights, Scalar(0));
    } else {
      out.weights = {};
    }
  }

  /// The system as the kernel sees it, with room for the derivatives in its weights.
  template <class Store>
  auto summing_system(int num_slots, Gradient<Scalar, MemorySpace, Store>& out) const {
    if constexpr (HasWeights<F>) {
      auto& each = out.workspace.weights_each;
      resize(exec_, each, std::size_t(num_slots) * F::num_weights * Summing::Sums::numbers_a_weight,
             "gradsolve::Gradient::weights_each");
      Kokkos::deep_copy(exec_, each, Scalar(0));
      return Summing{system_on<Exec, M>(system_), each.data(), nullptr, 0};
    } else {
      return system_on<Exec, M>(system_);
    }
  }

  template <class Seed, class Store>
  void prepare_times(const Seed& seed, Gradient<Scalar, MemorySpace, Store>& out) const {
    const int n = WithTimes ? record_.size() : 0;
    resize(exec_, out.t0, n, "gradsolve::Gradient::t0");
    resize(exec_, out.t1, n, "gradsolve::Gradient::t1");
    int saves = 0;
    if constexpr (WithTimes && Seed::at_saves) saves = seed.saves.size;
    resize_rows(exec_, out.save_times, n, saves, "gradsolve::Gradient::save_times");
    if (saves > 0)  // of a ragged list
      Kokkos::deep_copy(exec_, out.save_times, Kokkos::Experimental::quiet_NaN_v<Scalar>);
  }

  template <class Store>
  KeptStates<Scalar, Store> kept_states(int parts,
                                        Gradient<Scalar, MemorySpace, Store>& out) const {
    auto& work = out.workspace;
    if (work.taken_before == nullptr) {  // new
      work.taken = Kokkos::View<unsigned, MemorySpace>(
          Kokkos::view_alloc(exec_, "gradsolve::Gradient::taken"));  // 0, as *taken_before
      work.taken_before = std::make_shared<unsigned>(0u);  // not that of who was copied before
    }
    KeptStates<Scalar, Store> kept{};
    if (on_kept_states_) {
      kept.num_slots = Kokkos::min(Backend<Exec>::num_slots(exec_), record_.mesh.num_slices);
      kept.recorded = record_.kept.data();
      kept.final_states = record_.states.data();
      kept.num_trajectories = record_.size();
      kept.segment_rows = kept.room = 1;  // where no trajectory took a step, nothing was kept
    } else {
      kept = reserve_buffer(exec_, record_.mesh, row_numbers<System>(record_.mesh.width) * parts,
                            record_.options.memory_budget, work);
    }
    kept.taken = work.taken.data();
    kept.taken_before = *work.taken_before;
    return kept;
  }

  template <class Store>
  void sum_shared(Gradient<Scalar, MemorySpace, Store>& out, const Matrix& each,
                  const Matrix& sum) const {
    if constexpr (shared) {
      auto& work = out.workspace;
      resize_rows(exec_, work.partial, num_partial_sums, P, "gradsolve::Gradient::partial");
      resize(exec_, work.partial_left_out, num_partial_sums,
             "gradsolve::Gradient::partial_left_out");
      prepare_left_out(out);
      sum_rows<Exec, Scalar, MemorySpace>(exec_, strided_const(each), record_.size(), P,
                                          work.partial, work.partial_left_out, strided(sum),
                                          out.left_out.data());
    } else if constexpr (!HasWeights<F>) {
      out.left_out = {};
    }
  }
  template <class Store>
  void prepare_left_out(Gradient<Scalar, MemorySpace, Store>& out) const {
    if (out.left_out.data() == nullptr)
      out.left_out = Kokkos::View<int, MemorySpace>(
          Kokkos::view_alloc(exec_, "gradsolve::Gradient::left_out"));
  }
  /// Trajectories without a gradient are NaN, all of them.
  template <class Store>
  void count_left_out(Gradient<Scalar, MemorySpace, Store>& out) const {
    prepare_left_out(out);
    Kokkos::parallel_reduce("gradsolve::gradient::left_out",
                            Kokkos::RangePolicy<Exec>(exec_, 0, record_.size()),
                            CountNotFinite<Scalar>{strided_const(out.u0)}, out.left_out);
  }

  const char* function_;
  const Exec& exec_;
  const F& system_;
  const Record<M, Scalar, MemorySpace>& record_;
  const Ensemble<States, Parameters>& ensemble_;
  bool on_kept_states_ = false;
};

template <bool WithTimes, int Width, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters>
auto reverse_sweep(const char* function, const Exec& exec, const F& system,
                   const Record<M, Scalar, MemorySpace>& record,
                   const Ensemble<States, Parameters>& ensemble) {
  return ReverseSweep<WithTimes, Width, Exec, F, M, Scalar, MemorySpace, States, Parameters>(
      function, exec, system, record, ensemble);
}

}  // namespace gradsolve::detail
