// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/kernels/values.hpp>
#include <gradsolve/observe/save_times.hpp>

/// Losses: what a gradient is the gradient of, one number for each trajectory, as a functor that is
/// a template on its scalar. Either of the final state,
///
///     struct SquaredNorm {
///       template <class T>
///       KOKKOS_FUNCTION T operator()(const gradsolve::State<T, 3>& u) const {
///         return u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
///       }
///     };
///
/// which may also take (u, p), or (u, p, trajectory) with the trajectory's index, to look up data
/// in a View that it carries; or of the states at save times, see at_saves(). It is called with
/// plain scalars, trajectory by trajectory: it may branch.
namespace gradsolve {

/// Which save of which trajectory.
struct SaveIndex {
  int trajectory, save;
};

/// A loss that is a sum over save times.
template <class Loss, class Scalar, class MemorySpace>
struct LossAtSaves {
  SaveTimes<Scalar, MemorySpace> times;
  Loss loss;
};

/// The sum over the save times of loss(t, u, p, at), for gradient() and its kin:
///
///     template <class T>
///     KOKKOS_FUNCTION T operator()(const T& t, const State<T, N>& u, const Params<T, P>& p,
///                                  SaveIndex at) const;
///
/// u is interpolated within the steps; no states are stored.
template <class Loss, class Scalar, class MemorySpace>
LossAtSaves<Loss, Scalar, MemorySpace> at_saves(const SaveTimes<Scalar, MemorySpace>& times,
                                                const Loss& loss) {
  return {times, loss};
}

template <class S, class MemorySpace>
struct LeastSquares;
namespace detail {
/// Data belong to save times.
template <class S, class MemorySpace>
void check_data(const char* function, const LeastSquares<S, MemorySpace>& loss, int n, int saves,
                int num_states) {
  if (loss.num_trajectories != n || loss.num_saves != saves || loss.num_observed > num_states)
    refuse(function, "data",
           shape_text(loss.num_trajectories, loss.num_saves) + " x " +
               std::to_string(loss.num_observed),
           shape_text(n, saves) + " x at most " + std::to_string(num_states));
}
}  // namespace detail

/// Weighted least squares: sum_i w_i (u_i - d_i)^2 over the components of a saved state. A datum
/// that is NaN is missing, and its weight taken as 0.
template <class S, class MemorySpace = Kokkos::DefaultExecutionSpace::memory_space>
struct LeastSquares {
  using memory_space = MemorySpace;  ///< Of the data.

  detail::StridedCube<const S> data, weights;  // (n, saves, M <= N); weights without memory: 1
  int num_trajectories, num_saves, num_observed;

  struct Observation {
    S datum, weight;
  };
  /// Of component i; zeros where it is missing.
  KOKKOS_FORCEINLINE_FUNCTION Observation observation(SaveIndex at, int i) const {
    if (i >= num_observed) return {S(0), S(0)};
    const S datum = data(at.trajectory, at.save, i);
    if (datum != datum) return {S(0), S(0)};
    return {datum, weights.data == nullptr ? S(1) : weights(at.trajectory, at.save, i)};
  }

  template <class T, int N, int P>
  KOKKOS_FUNCTION T operator()(const T&, const State<T, N>& u, const Params<T, P>&,
                               SaveIndex at) const {
    T sum(0);
    static_for<N>([&](auto i) GRADSOLVE_INLINE_LAMBDA {
      const Observation o = observation(at, i);
      const T r = u[i] - T(o.datum);
      sum = sum + T(o.weight) * r * r;
    });
    return sum;
  }
};

/// data, weights: Views (n, saves, M) of the first M <= N components, on the device; NaN marks what
/// was not observed. The Views must outlive the loss.
template <class Data>
auto least_squares(const Data& data) {
  using S = typename Data::non_const_value_type;
  static_assert(Data::rank() == 3, "data are a View of rank 3: (n, saves, M)");
  return LeastSquares<S, typename Data::memory_space>{detail::strided_const(data),
                                                      {},
                                                      static_cast<int>(data.extent(0)),
                                                      static_cast<int>(data.extent(1)),
                                                      static_cast<int>(data.extent(2))};
}
template <class Data, class Weights>
auto least_squares(const Data& data, const Weights& weights) {
  for (int r = 0; r < 3; ++r)
    if (data.extent(r) != weights.extent(r))
      detail::refuse("least_squares", "weights",
                     "a View with " + std::to_string(weights.extent(r)) + " rows in dimension " +
                         std::to_string(r),
                     std::to_string(data.extent(r)) + ", the shape of data");
  static_assert(std::is_same_v<typename Data::memory_space, typename Weights::memory_space>,
                "data and weights are in one memory space");
  auto loss = least_squares(data);
  loss.weights = detail::strided_const(weights);
  return loss;
}

namespace detail {

/// A final loss as one number of (t, u, p).
template <class Loss>
struct FinalLoss {
  const Loss& loss;
  int trajectory;

  template <class T, int N, int P>
  KOKKOS_FORCEINLINE_FUNCTION Vector<T, 1> operator()(const T&, const State<T, N>& u,
                                                      const Params<T, P>& p) const {
    if constexpr (requires { loss(u, p, trajectory); })
      return {loss(u, p, trajectory)};
    else if constexpr (requires { loss(u, p); })
      return {loss(u, p)};
    else
      return {loss(u)};
  }
};
/// The loss at one save, likewise.
template <class Loss>
struct SavedLoss {
  const Loss& loss;
  SaveIndex at;

  template <class T, int N, int P>
  KOKKOS_FORCEINLINE_FUNCTION Vector<T, 1> operator()(const T& t, const State<T, N>& u,
                                                      const Params<T, P>& p) const {
    return {loss(t, u, p, at)};
  }
};

/// Returns g(t, u, p), one number, and adds its derivatives. Duals for all variables of a large
/// state at once would be a minute of compile time for what is done a few times a trajectory: they
/// are taken one variable after the other.
template <bool WithTime, class G, class S, int N, int P>
KOKKOS_FORCEINLINE_FUNCTION S differentiate(const G& g, const S& t, const State<S, N>& u,
                                            const Params<S, P>& p, Adjoints<S, N, P> bar) {
  if constexpr (N + P + WithTime <= max_unrolled) {
    add_pullbacks<WithTime, 0>(g, t, u, p, Vector<S, 1>{S(1)}, bar);
  } else {
    using D = Dual<S, 1>;
    D td(t);
    State<D, N> ud;
    Params<D, P> pd;
    for_each_index<N>([&](int i) { ud[i] = D(u[i]); });
    if constexpr (P > 0) for_each_index<P>([&](int i) { pd[i] = D(p[i]); });
    auto derivative = [&](D& variable) {
      variable.tangent[0] = S(1);
      const D value = g(td, ud, pd)[0];
      variable.tangent[0] = S(0);
      return value.tangent[0];
    };
    for_each_index<N>([&](int i) { bar.u[i] = bar.u[i] + derivative(ud[i]); });
    if constexpr (P > 0) for_each_index<P>([&](int i) { bar.p[i] = bar.p[i] + derivative(pd[i]); });
    if constexpr (WithTime) bar.t = bar.t + derivative(td);
  }
  return g(t, u, p)[0];
}

/// Differentiates g in each of the lanes: returns the values and adds the derivatives.
/// make(lane) gives the g of a lane.
template <bool WithTime, class T, int N, int P, class C, class Make>
KOKKOS_FORCEINLINE_FUNCTION T differentiate_lanes(const C& wanted, const LaneBeneathT<T>& t,
                                                  const State<T, N>& u, const Params<T, P>& p,
                                                  Adjoints<T, N, P> bar, Make&& make) {
  using S = ScalarValueT<T>;
  T value(0);
  for (int lane = 0; lane < LaneTraits<LaneBeneathT<T>>::width; ++lane) {
    if (!lane_of(wanted, lane)) continue;
    State<S, N> ubar = vector_of_lane(bar.u, lane);
    Params<S, P> pbar = vector_of_lane(bar.p, lane);
    S tbar = value_of_lane(bar.t, lane);
    set_value_of_lane(
        value, lane,
        differentiate<WithTime>(make(lane), S(lane_of(t, lane)), vector_of_lane(u, lane),
                                vector_of_lane(p, lane), {ubar, pbar, tbar}));
    set_vector_of_lane(bar.u, lane, ubar);
    set_vector_of_lane(bar.p, lane, pbar);
    set_value_of_lane(bar.t, lane, tbar);
  }
  return value;
}

// Seeds of the reverse sweep: each returns a loss and adds its derivatives to `bar`.

/// A loss of the final state.
template <class Loss>
struct FinalLossSeed {
  static constexpr bool at_saves = false;
  Loss loss;

  template <bool WithTime, class L, class T, int N, int P>
  KOKKOS_FORCEINLINE_FUNCTION T add(const LaneIndices<L>& lanes, const L& t, const State<T, N>& u,
                                    const Params<T, P>& p, Adjoints<T, N, P> bar) const {
    return differentiate_lanes<false>(MaskOf<L>(true), t, u, p, bar, [&](int lane) {
      return FinalLoss<Loss>{loss, lanes.source(lane)};
    });
  }
};

/// A loss at save times.
template <class Loss, class S>
struct SavedLossSeed {
  static constexpr bool at_saves = true;
  SaveTimesAccess<S> saves;
  Loss loss;

  template <bool WithTime, class L, class T, int N, int P, class Cursor>
  KOKKOS_FORCEINLINE_FUNCTION T add(const LaneIndices<L>& lanes, const MaskOf<L>& now,
                                    const Cursor& cursor, const L& t, const State<T, N>& u,
                                    const Params<T, P>& p, Adjoints<T, N, P> bar) const {
    return differentiate_lanes<WithTime>(now, t, u, p, bar, [&](int lane) {
      return SavedLoss<Loss>{loss, {lanes.source(lane), cursor.index(lane)}};
    });
  }
};

/// Cotangents of the final states in an array; without memory: zero.
template <class S>
struct CotangentSeed {
  static constexpr bool at_saves = false;
  StridedMatrix<const S> cotangents;

  template <bool WithTime, class L, class T, int N, int P>
  KOKKOS_FORCEINLINE_FUNCTION T add(const LaneIndices<L>& lanes, const L&, const State<T, N>&,
                                    const Params<T, P>&, Adjoints<T, N, P> bar) const {
    if (cotangents.data != nullptr) {
      const Vector<L, N> w = lanes.template gather<N>(cotangents);
      for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA { bar.u[i] = bar.u[i] + w[i]; });
    }
    return T(0);
  }
};

/// Cotangents of the saved states in an array (n, saves, N).
template <class S>
struct SavedCotangentSeed {
  static constexpr bool at_saves = true;
  SaveTimesAccess<S> saves;
  StridedCube<const S> cotangents;

  template <bool WithTime, class L, class T, int N, int P, class Cursor>
  KOKKOS_FORCEINLINE_FUNCTION T add(const LaneIndices<L>& lanes, const MaskOf<L>& now,
                                    const Cursor& cursor, const L&, const State<T, N>&,
                                    const Params<T, P>&, Adjoints<T, N, P> bar) const {
    for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA {
      L w(0);
      for (int lane = 0; lane < LaneTraits<L>::width; ++lane)
        if (lane_of(now, lane))
          set_lane(w, lane, cotangents(lanes.source(lane), cursor.index(lane), i));
      bar.u[i] = bar.u[i] + w;
    });
    return T(0);
  }
};

}  // namespace detail
}  // namespace gradsolve
