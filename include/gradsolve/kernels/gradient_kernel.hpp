// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/kernels/replay_kernel.hpp>
#include <gradsolve/kernels/weights.hpp>
#include <gradsolve/mesh/checkpoints.hpp>
#include <gradsolve/observe/loss.hpp>
#include <gradsolve/status.hpp>

namespace gradsolve::detail {

/// Derivatives in times, where they are wanted.
template <class S, bool Wanted>
struct TimeOutput {};
template <class S>
struct TimeOutput<S, true> {
  S *t0, *t1;
  StridedMatrix<S> saves;  // (n, saves)
};

/// The direction of a Hessian-vector product, and where it goes. A gradient has none: a kernel's
/// arguments are few.
template <class S, bool IsProduct>
struct Product {};
template <class S>
struct Product<S, true> {
  Direction<S> direction;
  StridedMatrix<S> u0, params;
};

/// Where the states at the begins of the steps are kept for the way back, as numbers of type Store.
template <class S, class Store = S>
struct KeptStates {
  int num_slots;
  int segment_rows;  // see mesh/checkpoints.hpp
  int room;          // rows of a slot: a segment, then checkpoints
  CheckpointSchedule checkpoints;
  Store* buffer;    // (num_slots, room, N, width): of the slices in flight
  unsigned* taken;  // slices taken so far, in this and in all earlier launches
  unsigned taken_before;
  const S* recorded;      // (total_rows, N, width): by record(), null: not
  const S* final_states;  // with them: (n, N), the trajectory as the fast index
  int num_trajectories;
};

/// Replay and adjoint in one launch. Each of `num_slots` threads (warps on a GPU) takes slice after
/// slice, keeps the states of the slice it is at in a buffer of its own, and sweeps back over them:
/// the buffer stays in cache, whatever the size of the ensemble. It is as long as the tallest
/// slice, or shorter, with checkpoints. Where record() kept the states, there is no replay.
///
/// The reverse sweep counts rows down from the slice's longest trajectory, so that the lanes of a
/// warp load adjacent states; a lane idles (h = 0) until its own last step.
///
/// T: the lane type L for a gradient; Dual<L, 1> for its derivative in a direction, which makes it
/// forward over reverse: a Hessian-vector product.
template <bool WithTimes, class M, class F, class T, class Seed,
          class Store = ScalarOf<LaneBeneathT<T>>>
struct GradientKernel {
  using L = LaneBeneathT<T>;
  using S = ScalarOf<L>;
  using System = F;
  using Method = M;
  using Number = T;
  static constexpr int N = F::num_states, P = F::num_params;
  static constexpr int width = LaneTraits<L>::width;
  static constexpr bool is_product = num_parts<T> > 1;
  static constexpr bool with_weights = sums_weights_v<F>;
  /// Whether the states may be those of record().
  static constexpr bool may_be_recorded = !is_product && std::is_same_v<Store, S>;

  F f;
  bool find_start;  // as Options::find_consistent_start
  Inputs<S> in;
  MeshAccess<S> mesh;
  const Status* status;
  Seed seed;
  KeptStates<S, Store> keep;
  StridedMatrix<S> states;
  S* loss;
  StridedMatrix<S> du0, dparams;
  TimeOutput<S, WithTimes> times;
  Product<S, is_product> product;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    constexpr int threads = Backend<typename Member::execution_space>::threads_per_slice;
    const int slot = slice_of(team);
    if (slot >= keep.num_slots) return;
    void* const scratch = slice_scratch<GradientKernel>(team);
    int slice = slot;
    while (slice < mesh.num_slices) {
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, threads), [&](int thread) {
        on_thread(*this, scratch, thread, slot)
            .sweep(slot, slice, first_lane_of<GradientKernel>(thread));
      });
      // Derivatives in weights are summed in a fixed order.
      slice = with_weights ? slice + keep.num_slots : next_slice(team);
    }
  }

  /// Slices differ in length: a slot that is through takes the next one that nobody has.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION int next_slice(const Member& team) const {
    int slice = 0;
    Kokkos::single(
        Kokkos::PerThread(team),
        [&](int& next) {
          next = keep.num_slots +
                 static_cast<int>(Kokkos::atomic_fetch_add(keep.taken, 1u) - keep.taken_before);
        },
        slice);
    return slice;
  }

  struct Nothing {
    KOKKOS_FORCEINLINE_FUNCTION explicit Nothing(bool) {}
  };
  /// What the reverse sweep accumulates for one thread's trajectories.
  struct Cotangent {
    StateOf<F, T> lambda;  // of the state
    ParamsOf<F, T> p;
    T t0, t1, loss;
    // Whose derivatives in weights are summed; the others have a lambda of zero.
    [[no_unique_address]] std::conditional_t<with_weights, MaskOf<L>, Nothing> counts;

    KOKKOS_FORCEINLINE_FUNCTION Cotangent() : t0(0), t1(0), loss(0), counts(true) {
      lambda = filled<N>(T(0));
      if constexpr (P > 0) p = filled<P>(T(0));
    }
  };

  KOKKOS_FUNCTION GRADSOLVE_FLATTEN void sweep(int slot, int slice, int first_lane) const {
    const LaneIndices<L> lanes(mesh.order, slice * mesh.width + first_lane);
    const Steps<L> steps(mesh, lanes.gather(in.t0), slice, first_lane);
    StateOf<F, T> u;
    ParamsOf<F, T> p;
    read_inputs(lanes, u, p);

    Cotangent bar;
    if constexpr (Seed::at_saves)
      reverse_with_saves(lanes, steps, slot, slice, first_lane, u, p, bar);
    else
      reverse(lanes, steps, slot, slice, first_lane, u, p, bar);
    if constexpr (has_constraints_v<F>) {
      if (find_start) {
        read_inputs(lanes, u, p);
        consistent_start_adjoint<WithTimes>(f, T(steps.begin()), u, p, bar.lambda, bar.p, bar.t0);
      }
    }
    write(lanes, bar);
  }

  KOKKOS_FORCEINLINE_FUNCTION void read_inputs(const LaneIndices<L>& lanes, StateOf<F, T>& u,
                                               ParamsOf<F, T>& p) const {
    const StateOf<F, L> u_value = initial_states<F>(f, lanes, in.u0);
    const ParamsOf<F, L> p_value = lanes.template gather<P>(in.params);
    if constexpr (is_product) {
      copy(states_in_direction(f, lanes, u_value, product.direction.u0), u);
      if constexpr (P > 0) copy(params_in_direction(lanes, p_value, product.direction.params), p);
    } else {
      copy(u_value, u);
      if constexpr (P > 0) copy(p_value, p);
    }
    prepare_start(f, find_start, T(lanes.gather(in.t0)), u, p);
  }

  /// Rows of states, of one thread's trajectories.
  KOKKOS_FORCEINLINE_FUNCTION void store_state(Store* rows, int row, const StateOf<F, T>& u) const {
    for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA {
      static_for<num_parts<T>>([&](auto k) GRADSOLVE_INLINE_LAMBDA {
        store(rows + ((std::int64_t(row) * N + i) * num_parts<T> + k) * row_width<F>(mesh.width),
              part(u[i], k));
      });
    });
  }
  KOKKOS_FORCEINLINE_FUNCTION void load_state(const Store* rows, int row, StateOf<F, T>& u) const {
    for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA {
      static_for<num_parts<T>>([&](auto k) GRADSOLVE_INLINE_LAMBDA {
        part(u[i], k) = load<L>(rows + ((std::int64_t(row) * N + i) * num_parts<T> + k) *
                                           row_width<F>(mesh.width));
      });
    });
  }

  /// Replays the steps from u on, calls at_end(u) with the final state, then visit(t, t_end, u) for
  /// each row from the last on, with the state at its begin.
  template <class AtEnd, class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void there_and_back(const LaneIndices<L>& lanes,
                                                  const Steps<L>& steps, int slot, int slice,
                                                  int first_lane, StateOf<F, T>& u,
                                                  const ParamsOf<F, T>& p, AtEnd&& at_end,
                                                  Visit&& visit) const {
    const std::int64_t row_size = std::int64_t(N) * num_parts<T> * row_width<F>(mesh.width);
    const int rows = steps.rows();
    bool recorded = false;
    if constexpr (may_be_recorded) recorded = keep.recorded != nullptr;
    const int length = recorded ? Kokkos::max(rows, 1) : keep.segment_rows;
    // Segments, the last one first. There is one way back in the code, for all: it is long.
    for (int begin = num_checkpoints(rows, length) * length; begin >= 0; begin -= length) {
      const int end = Kokkos::min(begin + length, rows);
      const Store* kept = nullptr;
      if (recorded) {
        if constexpr (may_be_recorded) {
          const StridedMatrix<const S> final_states{keep.final_states, 1,
                                                    Stride(keep.num_trajectories)};
          copy(lanes.template gather_states<Whole<F>::num_states>(f, final_states,
                                                                  [](int) { return L(0); }),
               u);
          kept = keep.recorded + mesh.first_row[slice] * row_size + place_in_row(f, first_lane);
        }
      } else {
        kept = replay_segment(steps, slot, first_lane, begin, end, u, p);
      }
      if (end == rows) at_end(u);
      back(steps, kept, begin, end, visit);
    }
  }

  /// Replays up to row `end` and keeps the states of the rows [begin, end); returns where row 0
  /// would be. The last segment is replayed from the start, any other from the nearest checkpoint;
  /// on the way checkpoints are left behind.
  KOKKOS_FORCEINLINE_FUNCTION const Store* replay_segment(const Steps<L>& steps, int slot,
                                                          int first_lane, int begin, int end,
                                                          StateOf<F, T>& u,
                                                          const ParamsOf<F, T>& p) const {
    const std::int64_t row_size = std::int64_t(N) * num_parts<T> * row_width<F>(mesh.width);
    const int length = keep.segment_rows;
    Store* const slot_rows =
        keep.buffer + std::int64_t(slot) * keep.room * row_size + place_in_row(f, first_lane);
    Store* const kept = slot_rows - begin * row_size;
    Store* const checkpoints = slot_rows + length * row_size;
    const CheckpointSchedule& schedule = keep.checkpoints;
    const int segment = begin / length;
    int first = 0;
    if (end != steps.rows()) {
      first = schedule.nearest(segment);
      load_state(checkpoints, schedule.place(first), u);
    }
    steps.for_each(first * length, end,
                   [&](int row, const L& t, const L& t_end) GRADSOLVE_INLINE_LAMBDA {
                     if (row >= begin)
                       store_state(kept, row, u);
                     else if (row % length == 0 && schedule.keeps(row / length, segment))
                       store_state(checkpoints, schedule.place(row / length), u);
                     update_where(t_end != t, u, [&] { return step<M>(f, t, t_end, u, p); });
                   });
    return kept;
  }

  /// Calls visit(t, t_end, u) for the rows [begin, end), the last one first; what the next row
  /// needs is loaded before the step that hides the wait.
  template <class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void back(const Steps<L>& steps, const Store* kept, int begin,
                                        int end, Visit&& visit) const {
    if (begin == end) return;
    L t_end = steps.end_of(end - 1), t = steps.begin_of(end - 1);
    StateOf<F, T> u;
    load_state(kept, end - 1, u);
    for (int row = end - 1; row >= begin; --row) {
      const int next = row > begin ? row - 1 : begin;
      const L t_next = steps.begin_of(next);
      StateOf<F, T> u_next;
      load_state(kept, next, u_next);
      visit(t, t_end, u);
      t_end = t;
      t = t_next;
      copy(u_next, u);
    }
  }

  /// A loss of the final state.
  KOKKOS_FORCEINLINE_FUNCTION void reverse(const LaneIndices<L>& lanes, const Steps<L>& steps,
                                           int slot, int slice, int first_lane, StateOf<F, T>& u0,
                                           const ParamsOf<F, T>& p, Cotangent& bar) const {
    const L t_final = lanes.gather(in.t1);
    there_and_back(
        lanes, steps, slot, slice, first_lane, u0, p,
        [&](const StateOf<F, T>& u) GRADSOLVE_INLINE_LAMBDA {
          write_states(lanes, u);
          T unused(0);
          bar.loss = add_loss(u, bar.lambda, bar.p, unused,
                              [&](const auto& v, auto w) GRADSOLVE_INLINE_LAMBDA {
                                return seed.template add<WithTimes>(lanes, t_final, v, p, w);
                              });
          if constexpr (with_weights) leave_out_failed(lanes, u, bar);
          if constexpr (WithTimes) add_empty_span(steps.begin(), t_final, u, p, bar);
        },
        [&](const L& t, const L& t_end, const StateOf<F, T>& u) GRADSOLVE_INLINE_LAMBDA {
          step_back(t_end != t, bar, [&](Cotangent& c) GRADSOLVE_INLINE_LAMBDA {
            plain_step(steps, t_final, finite(t), finite(t_end), u, p, c);
          });
        });
  }

  /// A loss at save times: a step with saves in it takes the cotangents of its interpolated states
  /// along.
  KOKKOS_FORCEINLINE_FUNCTION void reverse_with_saves(const LaneIndices<L>& lanes,
                                                      const Steps<L>& steps, int slot, int slice,
                                                      int first_lane, StateOf<F, T>& u0,
                                                      const ParamsOf<F, T>& p,
                                                      Cotangent& bar) const {
    const L t_final = lanes.gather(in.t1);
    SaveCursor<L, -1> cursor(seed.saves, lanes, steps.begin(), t_final);
    StateOf<F, T> u_first;
    copy(u0, u_first);
    there_and_back(
        lanes, steps, slot, slice, first_lane, u0, p,
        [&](const StateOf<F, T>& u) GRADSOLVE_INLINE_LAMBDA {
          write_states(lanes, u);
          copy(u, u_first);  // of a trajectory without steps
          L last;
          spoil_loss(cursor.find(t_final, MaskOf<L>(true), last), bar);
          if constexpr (with_weights) leave_out_failed(lanes, u, bar);
        },
        [&](const L& t, const L& t_end, const StateOf<F, T>& u) GRADSOLVE_INLINE_LAMBDA {
          const MaskOf<L> moves = t_end != t;
          L time;
          const MaskOf<L> now = cursor.find(t, moves, time);
          if (any_of_these(now)) {
            step_back(moves, bar, [&](Cotangent& c) GRADSOLVE_INLINE_LAMBDA {
              observed_step(lanes, steps, t_final, cursor, finite(t), finite(t_end), moves, u, p,
                            c);
            });
          } else {
            step_back(moves, bar, [&](Cotangent& c) GRADSOLVE_INLINE_LAMBDA {
              plain_step(steps, t_final, finite(t), finite(t_end), u, p, c);
            });
          }
          keep_where(moves, u, u_first);
        });
    saves_at_begin(lanes, steps, cursor, u_first, p, bar);
  }

  /// add(u, adjoints) returns a loss and adds its derivatives: those of all states, of a spread
  /// one, which is put together for it on each thread.
  template <class Add>
  KOKKOS_FORCEINLINE_FUNCTION T add_loss(const StateOf<F, T>& u, StateOf<F, T>& ubar,
                                         ParamsOf<F, T>& pbar, T& tbar, Add&& add) const {
    if constexpr (is_spread<F>) {
      constexpr int all = Whole<F>::num_states;
      const State<T, all> v = f.gathered(u);
      State<T, all> vbar = filled<all>(T(0));
      ParamsOf<F, T> qbar = filled<P>(T(0));
      const T value = add(v, Adjoints<T, all, P>{vbar, qbar, tbar});
      axpy(BaseScalar<T>(1), f.own(vbar), ubar);
      if constexpr (P > 0)
        if (f.thread == 0) axpy(BaseScalar<T>(1), qbar, pbar);
      return value;
    } else {
      return add(u, Adjoints<T, N, P>{ubar, pbar, tbar});
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void write_states(const LaneIndices<L>& lanes,
                                                const StateOf<F, T>& u) const {
    if (states.data != nullptr)
      lanes.template scatter_states<Whole<F>::num_states>(f, part_of<0>(u), states);
  }

  /// Trajectories without a gradient: that did not reach t1, or whose state, loss or cotangent
  /// there is not a number.
  KOKKOS_FORCEINLINE_FUNCTION void leave_out_failed(const LaneIndices<L>& lanes,
                                                    const StateOf<F, T>& u, Cotangent& bar) const {
    bar.counts = all_finite(f, u, bar.loss) && all_finite(f, bar.lambda);
    for (int lane = 0; lane < width; ++lane)
      if (!lanes.used(lane) || status[lanes.index[lane]] != Status::success)
        set_lane(bar.counts, lane, false);
    zero_failed(bar, bar.lambda);
  }
  KOKKOS_FORCEINLINE_FUNCTION void zero_failed(const Cotangent& bar, StateOf<F, T>& w) const {
    if constexpr (with_weights)
      for_each_index<N>([&](int i)
                            GRADSOLVE_INLINE_LAMBDA { w[i] = select(bar.counts, w[i], T(0)); });
  }

  /// A time of a step. Times of trajectories that failed may not be numbers, and 0 times those
  /// would get into the sums over trajectories.
  static KOKKOS_FORCEINLINE_FUNCTION L finite(const L& t) {
    if constexpr (with_weights)
      return select(is_finite(t), t, L(0));
    else
      return t;
  }

  /// Whether the condition holds for any of the trajectories that must take the same way: those of
  /// a thread, or of a slice that sums derivatives in weights together.
  static KOKKOS_FORCEINLINE_FUNCTION bool any_of_these(const MaskOf<L>& condition) {
    if constexpr (with_weights)
      return Warp<F::threads>::any(any(condition));
    else
      return any(condition);
  }

  /// Lanes without a step here (h = 0) keep their cotangents, whatever f does there.
  template <class Adjoint>
  KOKKOS_FORCEINLINE_FUNCTION void step_back(const MaskOf<L>& moves, Cotangent& bar,
                                             Adjoint&& adjoint) const {
    if constexpr (std::is_same_v<MaskOf<L>, bool> && !with_weights) {
      if (moves) adjoint(bar);
    } else {
      Cotangent next;
      copy(bar.lambda, next.lambda);
      if constexpr (P > 0) copy(bar.p, next.p);
      next.loss = bar.loss;
      if constexpr (with_weights) next.counts = bar.counts;
      if constexpr (WithTimes) {
        next.t0 = bar.t0;
        next.t1 = bar.t1;
      }
      adjoint(next);
      keep_where(moves, next.lambda, bar.lambda);
      keep_where(moves, next.p, bar.p);
      bar.loss = select(moves, next.loss, bar.loss);
      if constexpr (WithTimes) {
        bar.t0 = select(moves, next.t0, bar.t0);
        bar.t1 = select(moves, next.t1, bar.t1);
      }
    }
  }

  /// The ends of a step move with the span: t = t0 + x (t1 - t0) with x held fixed.
  KOKKOS_FORCEINLINE_FUNCTION void add_times(const Steps<L>& steps, const L& t_final, const L& t,
                                             const L& t_end, const TimeAdjoints<T>& tbar,
                                             Cotangent& bar) const {
    if constexpr (WithTimes) {
      const L begin = steps.begin(), span = t_final - begin;
      const L inverse = L(1) / select(span == L(0), L(1), span);
      auto add = [&](const L& time, const T& cotangent) GRADSOLVE_INLINE_LAMBDA {
        const L x = (time - begin) * inverse;
        bar.t0 = bar.t0 + (L(1) - x) * cotangent;
        // The cotangent of t0 may be infinite, where that of t1 is not.
        bar.t1 = bar.t1 + select(x == L(0), T(0), T(x * cotangent));
      };
      add(t, tbar.begin);
      add(t_end, tbar.end);
    }
  }

  /// The adjoint of a step without saves.
  KOKKOS_FORCEINLINE_FUNCTION void plain_step(const Steps<L>& steps, const L& t_final, const L& t,
                                              const L& t_end, const StateOf<F, T>& u,
                                              const ParamsOf<F, T>& p, Cotangent& bar) const {
    TimeAdjoints<T> tbar;
    step_adjoint<WithTimes, M>(f, t, t_end, u, p, bar.lambda, bar.p, tbar);
    add_times(steps, t_final, t, t_end, tbar, bar);
  }

  /// The adjoint of a step and of all saves within it.
  KOKKOS_FORCEINLINE_FUNCTION void observed_step(const LaneIndices<L>& lanes, const Steps<L>& steps,
                                                 const L& t_final, SaveCursor<L, -1>& cursor,
                                                 const L& t, const L& t_end, const MaskOf<L>& moves,
                                                 const StateOf<F, T>& u, const ParamsOf<F, T>& p,
                                                 Cotangent& bar) const {
    const L h = t_end - t;
    StageValues<DenseStages<M>, F, T> s;
    evaluate_stages<true, M>(f, t, t_end, u, p, s);
    StateOf<F, T> u_new;
    copy(solution<M>(u, h, s.k), u_new);
    DenseAdjoint<M, F, T> dense;
    TimeAdjoints<T> tbar;
    L time;
    for (MaskOf<L> now = cursor.find(t, moves, time); any(now); now = cursor.find(t, moves, time)) {
      const L theta = position_in_step<L>(now, time, t, t_end);
      const MaskOf<L> at_end = time == t_end;
      StateOf<F, T> v = interpolated<M, F>(u, h, s, theta);
      keep_where(at_end, u_new, v);
      StateOf<F, T> w = filled<N>(T(0)), zero = filled<N>(T(0)), inside;
      T time_bar(0);
      bar.loss =
          bar.loss +
          add_loss(v, w, bar.p, time_bar, [&](const auto& x, auto xbar) GRADSOLVE_INLINE_LAMBDA {
            return seed.template add<WithTimes>(lanes, now, cursor, time, x, p, xbar);
          });
      zero_failed(bar, w);
      copy(w, inside);
      keep_where(at_end, zero, inside);
      dense.add(inside, theta);
      keep_where(!at_end, zero, w);
      axpy(BaseScalar<T>(1), w, bar.lambda);
      if constexpr (WithTimes) {
        axpy(BaseScalar<T>(1), inside, w);  // the whole cotangent again
        const T slope = dot(f, w, interpolated_slope<M, F>(h, s, theta));
        const T size = dense_size_slope<M>(f, inside, s, theta);
        tbar.begin = tbar.begin - (L(1) - theta) * slope - size;
        tbar.end = tbar.end - theta * slope + size;
        write_save_time(lanes, now, cursor, time_bar + slope);
      }
      cursor.advance(now);
    }
    stages_adjoint<WithTimes, M>(f, t, t_end, u, p, s, dense, bar.lambda, bar.p, tbar);
    axpy(BaseScalar<T>(1), dense.u, bar.lambda);
    add_times(steps, t_final, t, t_end, tbar, bar);
  }

  /// Saves at t0.
  KOKKOS_FORCEINLINE_FUNCTION void saves_at_begin(const LaneIndices<L>& lanes,
                                                  const Steps<L>& steps, SaveCursor<L, -1>& cursor,
                                                  const StateOf<F, T>& u, const ParamsOf<F, T>& p,
                                                  Cotangent& bar) const {
    L time;
    for (MaskOf<L> now = cursor.left(time); any(now); now = cursor.left(time)) {
      spoil_loss(now && time != steps.begin(), bar);
      StateOf<F, T> w = filled<N>(T(0));
      T time_bar(0);
      bar.loss =
          bar.loss +
          add_loss(u, w, bar.p, time_bar, [&](const auto& x, auto xbar) GRADSOLVE_INLINE_LAMBDA {
            return seed.template add<WithTimes>(lanes, now, cursor, time, x, p, xbar);
          });
      axpy(BaseScalar<T>(1), w, bar.lambda);
      if constexpr (WithTimes) {
        const T slope = dot(f, w, time_derivative(f, T(steps.begin()), u, p));
        bar.t0 = bar.t0 - slope;
        write_save_time(lanes, now, cursor, time_bar + slope);
      }
      cursor.advance(now);
    }
  }

  /// u(t1) of a trajectory without steps, t1 = t0: its derivative to t1 is f, to t0 it is -f.
  KOKKOS_FORCEINLINE_FUNCTION void add_empty_span(const L& t0, const L& t1, const StateOf<F, T>& u,
                                                  const ParamsOf<F, T>& p, Cotangent& bar) const {
    const MaskOf<L> empty = t0 == t1;
    if (!any(empty)) return;
    const T slope = dot(f, bar.lambda, time_derivative(f, T(t1), u, p));
    bar.t1 = select(empty, bar.t1 + slope, bar.t1);
    bar.t0 = select(empty, bar.t0 - slope, bar.t0);
  }

  /// A save outside of the span, which has moved since the save times were checked, has no state.
  KOKKOS_FORCEINLINE_FUNCTION void spoil_loss(const MaskOf<L>& outside, Cotangent& bar) const {
    const S nan = Kokkos::Experimental::quiet_NaN_v<S>;
    bar.loss = select(outside, T(L(nan)), bar.loss);
  }

  KOKKOS_FORCEINLINE_FUNCTION void write_save_time(const LaneIndices<L>& lanes,
                                                   const MaskOf<L>& now,
                                                   const SaveCursor<L, -1>& cursor,
                                                   const T& cotangent) const {
    for (int lane = 0; lane < width; ++lane)
      if (lane_of(now, lane))
        times.saves(lanes.index[lane], cursor.index(lane)) = lane_of(part(cotangent, 0), lane);
  }

  /// A trajectory that did not reach t1, or whose loss is not a number, has no gradient: NaN, which
  /// cannot be taken for one.
  KOKKOS_FUNCTION void write(const LaneIndices<L>& lanes, Cotangent& bar) const {
    for_each_index<P>([&](int i) { bar.p[i] = sum_of_threads(f, bar.p[i]); });
    const S nan = Kokkos::Experimental::quiet_NaN_v<S>;
    for (int lane = 0; lane < width; ++lane) {
      if (!lanes.used(lane)) continue;
      const int j = lanes.index[lane];
      const S value = lane_of(part(bar.loss, 0), lane);
      bool failed = status[j] != Status::success || value - value != S(0);
      if constexpr (with_weights) failed = failed || !lane_of(bar.counts, lane);
      if (failed) {
        auto spoil = [&](T& x) {
          static_for<num_parts<T>>([&](auto k) { set_lane(part(x, k), lane, nan); });
        };
        if (status[j] != Status::success) spoil(bar.loss);
        for_each_index<N>([&](int i) { spoil(bar.lambda[i]); });
        for_each_index<P>([&](int i) { spoil(bar.p[i]); });
        spoil(bar.t0);
        spoil(bar.t1);
        if constexpr (WithTimes && Seed::at_saves)
          for (int save = 0; save < seed.saves.size; ++save) times.saves(j, save) = nan;
      }
      if (loss != nullptr) loss[j] = lane_of(part(bar.loss, 0), lane);
      if constexpr (WithTimes) {
        times.t0[j] = lane_of(part(bar.t0, 0), lane);
        times.t1[j] = lane_of(part(bar.t1, 0), lane);
      }
    }
    constexpr int given = num_given_states_v<Whole<F>>;
    lanes.template scatter_states<given>(f, part_of<0>(bar.lambda), du0);
    lanes.scatter(part_of<0>(bar.p), dparams);
    if constexpr (is_product) {
      lanes.template scatter_states<given>(f, part_of<1>(bar.lambda), product.u0);
      lanes.scatter(part_of<1>(bar.p), product.params);
    }
  }
};

}  // namespace gradsolve::detail
