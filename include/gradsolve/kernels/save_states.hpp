// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/kernels/values.hpp>
#include <gradsolve/observe/save_times.hpp>
#include <gradsolve/stepping/dense_output.hpp>

/// What a forward sweep does at save times.
namespace gradsolve::detail {

/// The save that each lane comes to next, forward (Sign = 1) or backward (Sign = -1) in the list.
template <class L, int Sign>
class SaveCursor {
  using S = ScalarOf<L>;
  static constexpr int width = LaneTraits<L>::width;

 public:
  KOKKOS_FORCEINLINE_FUNCTION SaveCursor(const SaveTimesAccess<S>& saves,
                                         const LaneIndices<L>& lanes, const L& t0, const L& t1)
      : saves_(saves), lanes_(lanes), direction_(select(t1 < t0, L(-1), L(1))) {
    for (int lane = 0; lane < width; ++lane)
      next_[lane] = !lanes.used(lane) ? (Sign > 0 ? saves.size : -1)
                    : Sign > 0        ? 0
                                      : saves.count(lanes.index[lane]) - 1;
  }

  /// The lanes that have a save left, and its time; 0 in the others.
  KOKKOS_FORCEINLINE_FUNCTION MaskOf<L> left(L& time) const {
    MaskOf<L> any_left(false);
    time = L(0);
    for (int lane = 0; lane < width; ++lane) {
      if (!is_left(lane)) continue;
      set_lane(any_left, lane, true);
      set_lane(time, lane, saves_.time(lanes_.index[lane], next_[lane]));
    }
    return any_left;
  }
  /// Those of them, where `allowed`, whose save is not behind `bound`: forward up to and with the
  /// bound, backward without it.
  KOKKOS_FORCEINLINE_FUNCTION MaskOf<L> find(const L& bound, const MaskOf<L>& allowed,
                                             L& time) const {
    const MaskOf<L> any_left = left(time);
    const L ahead = direction_ * (time - bound);
    return any_left && allowed && (Sign > 0 ? ahead <= L(0) : ahead > L(0));
  }
  KOKKOS_FORCEINLINE_FUNCTION int index(int lane) const { return next_[lane]; }
  KOKKOS_FORCEINLINE_FUNCTION void advance(const MaskOf<L>& present) {
    for (int lane = 0; lane < width; ++lane)
      if (lane_of(present, lane)) next_[lane] += Sign;
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION bool is_left(int lane) const {
    if (!lanes_.used(lane)) return false;
    return Sign > 0 ? next_[lane] < saves_.count(lanes_.index[lane]) : next_[lane] >= 0;
  }

  const SaveTimesAccess<S>& saves_;
  const LaneIndices<L>& lanes_;
  L direction_;
  int next_[width];
};

/// Position of a time in a step; 0 in lanes that are not asked for.
template <class L>
KOKKOS_FORCEINLINE_FUNCTION L position_in_step(const MaskOf<L>& present, const L& time, const L& t,
                                               const L& t_end) {
  const L h = t_end - t;
  const auto inside = present && h != L(0);
  return select(inside, time - t, L(0)) / select(inside, h, L(1));
}

/// No save times: all calls vanish.
struct NoSaves {
  static constexpr bool active = false;
};

/// Writes the states at the save times of the trajectories. Sink: (trajectory, save, component,
/// part, number), part as in part_of().
template <class Sink>
struct SavesTo {
  static constexpr bool active = true;
  SaveTimesAccess<typename Sink::Scalar> saves;
  Sink sink;
};

template <class M, class F, class T, class Saves>
class StateSaver {
 public:
  template <class... Ignored>
  KOKKOS_FORCEINLINE_FUNCTION explicit StateSaver(const Ignored&...) {}
  template <class... Ignored>
  KOKKOS_FORCEINLINE_FUNCTION void start(const Ignored&...) {}
  template <class... Ignored>
  KOKKOS_FORCEINLINE_FUNCTION void step(const Ignored&...) {}
  KOKKOS_FORCEINLINE_FUNCTION void finish() {}
};

template <class M, class F, class T, class Sink>
class StateSaver<M, F, T, SavesTo<Sink>> {
  using L = LaneBeneathT<T>;
  using S = ScalarOf<L>;
  static constexpr int N = F::num_states, width = LaneTraits<L>::width;

 public:
  KOKKOS_FORCEINLINE_FUNCTION StateSaver(const F& f, const SavesTo<Sink>& to,
                                         const LaneIndices<L>& lanes, const L& t0, const L& t1)
      : f_(f), to_(to), lanes_(lanes), cursor_(to.saves, lanes, t0, t1) {}

  /// Saves at t0. Those before it, of a span that has moved since they were checked, are NaN.
  KOKKOS_FORCEINLINE_FUNCTION void start(const L& t0, const StateOf<F, T>& u) {
    L time;
    for (auto now = cursor_.find(t0, MaskOf<L>(true), time); any(now);
         now = cursor_.find(t0, MaskOf<L>(true), time)) {
      const S nan = Kokkos::Experimental::quiet_NaN_v<S>;
      StateOf<F, T> v = filled<N>(T(L(nan)));
      keep_where(time == t0, u, v);
      write(now, v);
    }
  }

  /// Saves in (t, t_end] of a step from u to u_new, in the lanes that take it.
  KOKKOS_FORCEINLINE_FUNCTION void step(const L& t, const L& t_end, const MaskOf<L>& taken,
                                        const StateOf<F, T>& u, const StateOf<F, T>& u_new,
                                        const ParamsOf<F, T>& p) {
    L time;
    auto now = cursor_.find(t_end, taken, time);
    if (!any(now)) return;
    StageValues<DenseStages<M>, F, T> s;
    evaluate_stages<true, M>(f_, t, t_end, u, p, s);
    do {
      const L theta = position_in_step<L>(now, time, t, t_end);
      StateOf<F, T> v = interpolated<M, F>(u, L(t_end - t), s, theta);
      keep_where(time == t_end, u_new, v);
      write(now, v);
      now = cursor_.find(t_end, taken, time);
    } while (any(now));
  }

  /// Saves that were not reached, or that a ragged list does not have, are NaN.
  KOKKOS_FORCEINLINE_FUNCTION void finish() {
    for (int lane = 0; lane < width; ++lane) {
      if (!lanes_.used(lane)) continue;
      for (int save = cursor_.index(lane); save < to_.saves.size; ++save)
        for (int i = 0; i < N; ++i)
          for (int k = 0; k < num_parts<T>; ++k)
            if (component_of(f_, i) >= 0)
              to_.sink(lanes_.index[lane], save, component_of(f_, i), k,
                       Kokkos::Experimental::quiet_NaN_v<S>);
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void write(const MaskOf<L>& now, const StateOf<F, T>& v) {
    for (int lane = 0; lane < width; ++lane) {
      if (!lane_of(now, lane)) continue;
      for_each_index<N>([&](int place) GRADSOLVE_INLINE_LAMBDA {
        const int i = component_of(f_, place);
        if (i < 0) return;
        static_for<num_parts<T>>([&](auto k) GRADSOLVE_INLINE_LAMBDA {
          to_.sink(lanes_.index[lane], cursor_.index(lane), i, k, lane_of(part(v[place], k), lane));
        });
      });
    }
    cursor_.advance(now);
  }

  const F& f_;
  const SavesTo<Sink>& to_;
  const LaneIndices<L>& lanes_;
  SaveCursor<L, 1> cursor_;
};

/// Into a View (n, saves, N).
template <class S>
struct StateSink {
  using Scalar = S;
  StridedCube<S> states;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int trajectory, int save, int i, int, S x) const {
    states(trajectory, save, i) = x;
  }
};

}  // namespace gradsolve::detail
