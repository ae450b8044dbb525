// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/kernels/save_states.hpp>
#include <gradsolve/status.hpp>
#include <gradsolve/stepping/consistent_start.hpp>
#include <gradsolve/stepping/controller.hpp>
#include <gradsolve/stepping/step.hpp>

namespace gradsolve::detail {

template <class Scalar>
struct RecordOutput {
  StridedMatrix<Scalar> states;
  Status* status;
  int *num_steps, *num_rejected, *num_rhs;
  Scalar *t0, *t1;  // the spans, where steps are stored
  int* overflow;    // set to 1: some slice was too short
  Scalar* kept;     // the states at the begins of the steps; null: not wanted
};

/// The adaptive solve. Stores the end of each accepted step where `store`, and counts them anyway:
/// past the room of a slice it only counts. Saves states at save times where `save`.
template <class M, class F, class L, class Saves>
struct RecordKernel {
  using S = ScalarOf<L>;
  using System = F;
  using Method = M;
  using Number = L;
  static constexpr int N = F::num_states, P = F::num_params;
  static constexpr int width = LaneTraits<L>::width;
  static constexpr int order = M::error_order > 0 ? M::error_order : 1;

  F f;
  Saves saves;
  bool store, save;
  StepRules rules;
  Inputs<S> in;
  Options options;
  MeshAccess<S> mesh;
  RecordOutput<S> out;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const int slice = slice_of(team);
    if (slice >= mesh.num_slices) return;
    constexpr int threads = Backend<typename Member::execution_space>::threads_per_slice;
    const auto lanes = Kokkos::ThreadVectorRange(team, threads);
    void* const scratch = slice_scratch<RecordKernel>(team);
    int longest = 0;
    Kokkos::parallel_reduce(
        lanes,
        [&](int thread, int& rows) {
          const auto& kernel = on_thread(*this, scratch, thread);
          rows = Kokkos::max(rows, kernel.solve(slice, first_lane_of<RecordKernel>(thread)));
        },
        Kokkos::Max<int>(longest));
    if (!store) return;
    const int rows = Kokkos::min(longest, mesh.capacity(slice));
    Kokkos::parallel_for(lanes, [&](int thread) {
      on_thread(*this, scratch, thread).pad(slice, first_lane_of<RecordKernel>(thread), rows);
    });
    Kokkos::single(Kokkos::PerThread(team), [&]() {
      mesh.num_rows[slice] = rows;
      if (longest > rows) *out.overflow = 1;
    });
  }

  /// Solves the trajectories of one thread; returns the largest number of steps among them.
  KOKKOS_FUNCTION GRADSOLVE_FLATTEN int solve(int slice, int first_lane) const {
    const LaneIndices<L> lanes(mesh.order, slice * mesh.width + first_lane);
    const L t_begin = lanes.gather(in.t0), t_final = lanes.gather(in.t1);
    StateOf<F, L> u = initial_states<F>(f, lanes, in.u0);
    const ParamsOf<F, L> p = lanes.template gather<P>(in.params);
    const Tolerances<S> tolerances(options);
    L t = t_begin;
    Status status[width];
    for (int lane = 0; lane < width; ++lane)
      status[lane] =
          input_is_finite(lane, t_begin, t_final, u, p) ? Status::success : Status::bad_input;
    if constexpr (has_constraints_v<F>) {
      prepare_start(f, options.find_consistent_start, t_begin, u, p);
      const MaskOf<L> consistent = is_consistent(f, t_begin, u, p, tolerances);
      for (int lane = 0; lane < width; ++lane)
        if (status[lane] == Status::success && !lane_of(consistent, lane))
          status[lane] = Status::inconsistent_start;
    }
    StateSaver<M, F, L, Saves> saver(f, saves, lanes, t_begin, t_final);
    if (save) saver.start(t_begin, u);

    MaskOf<L> active(false);
    for (int lane = 0; lane < width; ++lane) {
      const bool good = status[lane] == Status::success;
      set_lane(active, lane,
               lanes.used(lane) && good && lane_of(t_begin, lane) != lane_of(t_final, lane));
    }

    StateOf<F, L> k0 = evaluate(f, t, u, p);
    const MaskOf<L> start_is_finite = all_finite(f, k0);
    for (int lane = 0; lane < width; ++lane)
      if (lane_of(active, lane) && !lane_of(start_is_finite, lane))
        status[lane] = Status::non_finite;
    active = active && start_is_finite;

    const L direction = select(t_final < t_begin, L(-1), L(1));
    L dt = first_step(t_begin, t_final, u, p, k0, direction);
    StepControl<order, L> control;
    IntOf<L> steps(0), rejected(0), evaluations(1);
    int attempts = 0;
    S* const ends = store ? mesh.ends_of(slice, first_lane) : nullptr;
    const int capacity = store ? mesh.capacity(slice) : 0;
    const bool fixed = rules.fixed;
    const MaskOf<L> stuck = active && MaskOf<L>(!fixed) && t + dt == t;
    for (int lane = 0; lane < width; ++lane)
      if (lane_of(stuck, lane)) status[lane] = Status::stalled;
    active = active && !stuck;
    while (any(active)) {
      ++attempts;
      MaskOf<L> last = !(abs(t_final - t) > abs(dt));
      L t_new = select(last, t_final, t + dt);
      if (fixed) fixed_step_end(t_begin, t_final, attempts, last, t_new);
      last = last || t_new == t_final;  // t + dt may round onto the end
      const L h = t_new - t;
      const Attempt<F, L> trial = attempt<M>(f, t, t_new, u, p, k0, tolerances);

      // Steps of fixed size ask nothing of the error estimate.
      const L ratio2 = fixed ? L(0) : trial.ratio2;
      const MaskOf<L> finite = all_finite(f, trial.u, ratio2);
      const MaskOf<L> accepted = active && finite && ratio2 <= L(1);
      store_ends(ends, capacity, accepted, steps, t_new);
      if (store && out.kept != nullptr) keep(slice, first_lane, capacity, accepted, steps, u);
      if (save) saver.step(t, t_new, accepted, u, trial.u, p);
      keep_where(accepted, trial.u, u);
      t = select(accepted, t_new, t);
      if constexpr (M::fsal) {
        keep_where(accepted, trial.k_last, k0);
      } else if constexpr (takes_slope_v<M>) {
        if (any(accepted)) copy(evaluate(f, t, u, p), k0);
      }
      if constexpr (EsdirkMethod<M>)
        evaluations = evaluations + select(active, trial.num_evaluations, IntOf<L>(0));
      steps = steps + select(accepted, IntOf<L>(1), IntOf<L>(0));
      rejected = rejected + select(active && !accepted, IntOf<L>(1), IntOf<L>(0));

      MaskOf<L> failed = active && !accepted, too_small(false);
      if (!fixed) {
        if (rules.has_min_step)  // (t + dt) - t may be larger than dt by rounding
          too_small = min(abs(dt), abs(h)) <= L(S(options.min_step));
        dt = h * control.factor(options.controller, rules, ratio2, accepted, finite);
        // Rounding may lead to the end that has just failed, for ever.
        dt = select(!accepted && t + dt == t_new, L(S(0.25)) * h, dt);
        if (rules.has_max_step) dt = direction * min(abs(dt), L(S(options.max_step)));
        if (rules.has_min_step) dt = direction * max(abs(dt), L(S(options.min_step)));
        failed = (failed && too_small) || (active && t + dt == t);
      }
      active = active && !(accepted && last);
      failed = active && (failed || MaskOf<L>(attempts >= options.max_steps));
      if (any(failed)) {
        for (int lane = 0; lane < width; ++lane)
          if (lane_of(failed, lane))
            status[lane] = why(!lane_of(finite, lane), attempts, lane_of(too_small, lane));
        active = active && !failed;
      }
    }

    if (save) saver.finish();
    lanes.template scatter_states<Whole<F>::num_states>(f, u, out.states);
    int longest = 0;
    for (int lane = 0; lane < width; ++lane) {
      const int n = static_cast<int>(lane_of(steps, lane)),
                r = static_cast<int>(lane_of(rejected, lane));
      longest = Kokkos::max(longest, n);
      if (!lanes.used(lane)) continue;
      const int j = lanes.index[lane];
      out.status[j] = status[lane];
      if (store) {
        out.t0[j] = lane_of(t_begin, lane);
        out.t1[j] = lane_of(t_final, lane);
      }
      out.num_steps[j] = n;
      out.num_rejected[j] = r;
      out.num_rhs[j] =
          EsdirkMethod<M> ? static_cast<int>(lane_of(evaluations, lane)) : num_evaluations<M>(n, r);
    }
    return longest;
  }

  KOKKOS_FUNCTION bool input_is_finite(int lane, const L& t_begin, const L& t_final,
                                       const StateOf<F, L>& u, const ParamsOf<F, L>& p) const {
    S sum = S(0) * lane_of(t_begin, lane) + S(0) * lane_of(t_final, lane);
    for_each_index<N>([&](int i) { sum += S(0) * lane_of(u[i], lane); });
    sum = sum_of_threads(f, sum);
    for_each_index<P>([&](int i) { sum += S(0) * lane_of(p[i], lane); });
    return sum == S(0);
  }

  KOKKOS_FORCEINLINE_FUNCTION L first_step(const L& t_begin, const L& t_final,
                                           const StateOf<F, L>& u, const ParamsOf<F, L>& p,
                                           const StateOf<F, L>& k0, const L& direction) const {
    L dt = abs(t_final - t_begin) / L(100);
    if (options.first_step > 0)
      dt = L(S(options.first_step));
    else if (options.first_step_rule == FirstStep::hairer)
      dt = hairer_first_step<order>(f, t_begin, t_final, u, p, k0, Tolerances<S>(options));
    if (rules.has_max_step) dt = min(dt, L(S(options.max_step)));
    if (rules.has_min_step) dt = max(dt, L(S(options.min_step)));
    return direction * dt;
  }

  /// Step number `step` (from 1) of a fixed mesh ends at t0 + step h, the last one at t1.
  KOKKOS_FORCEINLINE_FUNCTION void fixed_step_end(const L& t_begin, const L& t_final, int step,
                                                  MaskOf<L>& last, L& t_new) const {
    const L span = t_final - t_begin;
    if (options.fixed_steps > 0) {
      last = MaskOf<L>(step >= options.fixed_steps);
      t_new = select(last, t_final, t_begin + span * (L(S(step)) / L(S(options.fixed_steps))));
    } else {
      // A last step shorter than a millionth is the rounding of span / h, not a step.
      const L reached = L(S((step + 1e-6) * options.fixed_step));
      last = !(abs(span) > reached);
      const L moved = L(S(step * options.fixed_step));
      t_new = select(last, t_final, t_begin + select(span < L(0), -moved, moved));
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void store_ends(S* ends, int capacity, const MaskOf<L>& accepted,
                                              const IntOf<L>& steps, const L& t_new) const {
    for (int lane = 0; lane < width; ++lane) {
      const int row = static_cast<int>(lane_of(steps, lane));
      if (lane_of(accepted, lane) && row < capacity)
        ends[std::int64_t(row) * mesh.width + lane] = lane_of(t_new, lane);
    }
  }

  /// Keeps the state at the begin of the steps just accepted.
  KOKKOS_FORCEINLINE_FUNCTION void keep(int slice, int first_lane, int capacity,
                                        const MaskOf<L>& accepted, const IntOf<L>& steps,
                                        const StateOf<F, L>& u) const {
    const int columns = row_width<F>(mesh.width);
    S* const kept = out.kept + mesh.first_row[slice] * N * columns + place_in_row(f, first_lane);
    for (int lane = 0; lane < width; ++lane) {
      const std::int64_t row = static_cast<std::int64_t>(lane_of(steps, lane));
      if (lane_of(accepted, lane) && row < capacity)
        for (int i = 0; i < N; ++i) kept[(row * N + i) * columns + lane] = lane_of(u[i], lane);
    }
  }

  /// Lanes that are through repeat their last time up to the slice's longest trajectory.
  KOKKOS_FUNCTION void pad(int slice, int first_lane, int rows) const {
    const LaneIndices<L> lanes(mesh.order, slice * mesh.width + first_lane);
    for (int lane = 0; lane < width; ++lane) {
      const int steps = lanes.used(lane) ? out.num_steps[lanes.index[lane]] : 0;
      S* const ends = mesh.ends_of(slice, first_lane + lane);
      S last = in.t0(lanes.source(lane));
      if (steps > 0 && steps <= rows) last = ends[std::int64_t(steps - 1) * mesh.width];
      for (int row = steps; row < rows; ++row) ends[std::int64_t(row) * mesh.width] = last;
      if (out.kept == nullptr) continue;
      const int columns = row_width<F>(mesh.width);
      S* const kept =
          out.kept + mesh.first_row[slice] * N * columns + place_in_row(f, first_lane) + lane;
      for (int row = steps; row < rows; ++row)
        for (int i = 0; i < N; ++i)
          if (component_of(f, i) >= 0)
            kept[(std::int64_t(row) * N + i) * columns] =
                out.states(lanes.source(lane), component_of(f, i));
    }
  }

  KOKKOS_FUNCTION Status why(bool non_finite, int attempts, bool too_small) const {
    if (attempts >= options.max_steps) return Status::max_steps;
    if (non_finite) return Status::non_finite;
    return too_small ? Status::step_too_small : Status::stalled;
  }
};

}  // namespace gradsolve::detail
