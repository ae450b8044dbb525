// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ensemble.hpp>
#include <gradsolve/kernels/values.hpp>
#include <gradsolve/mesh/move.hpp>
#include <gradsolve/mesh/plan.hpp>
#include <gradsolve/observe/save_times.hpp>
#include <gradsolve/record_data.hpp>
#include <gradsolve/system.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

/// What the host side of every sweep shares: the choice of the lane type and the checks.
namespace gradsolve::detail {

/// Whether what a system has for numbers of type S, its own derivatives among it, serves packs,
/// too.
template <class F, class S, class Lanes>
inline constexpr bool serves_v = SystemOn<F, Lanes> && (HasVjp<F, Lanes> || !HasVjp<F, S>) &&
                                 (HasJacobian<F, Lanes> || !HasJacobian<F, S>);

/// The lanes of a thread: Width trajectories, or by default as many as SIMD registers hold; one
/// where the system branches on its values or cannot be called with a pack.
template <class F, class Exec, class Scalar, int Width>
constexpr int lane_width() {
  constexpr int simd = Backend<Exec>::simd_width(sizeof(Scalar));
  if constexpr (Width > 0)
    return Width;
  else if constexpr (simd == 1 || branches_v<F>)
    return 1;
  else
    return serves_v<F, Scalar, Pack<Scalar, simd>> ? simd : 1;
}
template <class F, class Exec, class Scalar, int Width>
using LaneOf = typename LaneOfWidth<Scalar, lane_width<F, Exec, Scalar, Width>()>::Type;

template <class Exec, class V>
constexpr void check_accessible() {
  static_assert(Kokkos::SpaceAccessibility<Exec, typename V::memory_space>::accessible,
                "a View that a sweep reads must be accessible from its execution space");
}

template <class F, class Exec, class States, class Parameters>
void check_ensemble(const char* function, const Ensemble<States, Parameters>& ensemble) {
  static_assert(System<F>,
                "a right-hand side has static constexpr int num_states, num_params and a call "
                "operator (T t, const State<T, N>& u, const Params<T, P>& p) -> State<T, N>");
  check_accessible<Exec, States>();
  check_accessible<Exec, Parameters>();
  constexpr int given = num_given_states_v<F>;
  if (ensemble.num_states() != given)
    refuse(function, "ensemble: u0", shape_text(ensemble.states().extent(0), ensemble.num_states()),
           "a row of " + std::to_string(given) + " states for each trajectory");
  if (ensemble.num_params() != F::num_params)
    refuse(function, "ensemble: params", std::to_string(ensemble.num_params()) + " parameters",
           std::to_string(F::num_params));
}

/// Of a system with weights.
template <class Exec, class F>
void check_weights(const char* function, const F& system) {
  if constexpr (HasWeights<F>) {
    check_accessible<Exec, std::remove_cvref_t<decltype(system.weights)>>();
    if (system.weights.extent(0) != F::num_weights)
      refuse(function, "system.weights",
             "a View of " + std::to_string(system.weights.extent(0)) + " numbers",
             std::to_string(F::num_weights));
  }
}

template <class Rec>
void check_complete(const char* function, const Rec& record) {
  if (record.moved_from) refuse(function, "record", "one that was moved from", "a whole one");
  if (record.size() > 0 && !record.mesh.planned)
    refuse(function, "record", "one that failed for want of memory", "a whole one");
}

template <class Exec, class L, class M, class F, class Rec, class States, class Parameters>
void check_record(const char* function, const F& system, const Rec& record,
                  const Ensemble<States, Parameters>& ensemble) {
  check_ensemble<F, Exec>(function, ensemble);
  check_weights<Exec>(function, system);
  static_assert(std::is_same_v<typename Rec::Scalar, typename Ensemble<States, Parameters>::Scalar>,
                "a record and an ensemble have the same scalar type");
  check_complete(function, record);
  if (record.size() != ensemble.size())
    refuse(function, "ensemble", std::to_string(ensemble.size()) + " trajectories",
           std::to_string(record.size()) + ", as many as were recorded");
  if (record.mesh.width != slice_width<Exec, L, F, M>)
    refuse(function, "record", "a mesh in slices of " + std::to_string(record.mesh.width),
           std::to_string(slice_width<Exec, L, F, M>) +
               ": record and replay on the same execution space, with the same system and Width");
}

/// Where the ensemble starts from what a sweep is about to write, and reads it more than once, the
/// ensemble keeps it.
template <class States, class Parameters, class View>
void leave_to(const Ensemble<States, Parameters>& ensemble, View& out) {
  const auto* const from = ensemble.states().data();
  if (from >= out.data() && from < out.data() + out.span()) out = View();
}

/// Numbers that a sweep reads, of rank 1 or 2; without memory they are zero, and fit anything.
template <class Exec, class S, class V>
void check_shape(const char* function, const char* argument, const V& view, std::size_t rows,
                 std::size_t columns) {
  check_accessible<Exec, V>();
  static_assert(std::is_same_v<S, typename V::non_const_value_type>,
                "directions and cotangents have the scalar type of the ensemble");
  if (view.data() == nullptr) return;
  const std::size_t view_columns = V::rank() == 2 ? view.extent(1) : 1;
  if (view.extent(0) != rows || view_columns != columns)
    refuse(function, argument, shape_text(view.extent(0), view_columns), shape_text(rows, columns));
}

/// A direction has the shape of what it belongs to.
template <class Exec, class D, class V>
void check_direction(const char* function, const char* argument, const D& direction, const V& of) {
  static_assert(D::rank() == V::rank(), "a direction has the rank of what it is a direction of");
  check_shape<Exec, typename V::non_const_value_type>(function, argument, direction, of.extent(0),
                                                      V::rank() == 2 ? of.extent(1) : 1);
}

/// Save times belong to the ensemble.
template <class S, class MemorySpace, class States, class Parameters>
void check_saves(const char* function, const SaveTimes<S, MemorySpace>& times,
                 const Ensemble<States, Parameters>& ensemble) {
  static_assert(std::is_same_v<S, typename Ensemble<States, Parameters>::Scalar>,
                "save times have the scalar type of the ensemble");
  if (times.num_trajectories() != ensemble.size())
    refuse(function, "times",
           "save times of " + std::to_string(times.num_trajectories()) + " trajectories",
           std::to_string(ensemble.size()) + ", the ensemble's");
}
template <class V>
void check_saved_shape(const char* function, const char* argument, const V& view, int n, int saves,
                       int columns) {
  static_assert(V::rank() == 3, "numbers at save times are a View of rank 3: (n, saves, N)");
  if (int(view.extent(0)) != n || int(view.extent(1)) != saves || int(view.extent(2)) != columns)
    refuse(function, argument,
           shape_text(view.extent(0), view.extent(1)) + " x " + std::to_string(view.extent(2)),
           shape_text(n, saves) + " x " + std::to_string(columns));
}

template <class Exec, class S, class MemorySpace>
void resize_saves(const Exec& exec, Kokkos::View<S***, Kokkos::LayoutLeft, MemorySpace>& view,
                  int n, int saves, int columns, const std::string& label) {
  if (std::int64_t(n) * saves > std::int64_t(0xffffffff))  // strides are 32-bit (strided.hpp)
    refuse("View", label.c_str(), "(" + std::to_string(n) + ", " + std::to_string(saves) + ", ...)",
           "at most 4294967295 rows");
  if (int(view.extent(0)) != n || int(view.extent(1)) != saves || int(view.extent(2)) != columns)
    view = Kokkos::View<S***, Kokkos::LayoutLeft, MemorySpace>(
        Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label), n, saves, columns);
}

template <class States, class Parameters>
auto inputs_of(const Ensemble<States, Parameters>& ensemble) {
  return Inputs<typename States::non_const_value_type>{strided_const(ensemble.states()),
                                                       strided_const(ensemble.params()),
                                                       ensemble.t0(), ensemble.t1()};
}

/// A View (n, columns) with the trajectory as the fast index; reallocated only to change shape.
template <class Exec, class S, class MemorySpace>
void resize_rows(const Exec& exec, Kokkos::View<S**, Kokkos::LayoutLeft, MemorySpace>& view,
                 int rows, int columns, const std::string& label) {
  if (static_cast<int>(view.extent(0)) != rows || static_cast<int>(view.extent(1)) != columns)
    view = Kokkos::View<S**, Kokkos::LayoutLeft, MemorySpace>(
        Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label), rows, columns);
}
template <class Exec, class S, class MemorySpace>
void resize(const Exec& exec, Kokkos::View<S*, MemorySpace>& view, std::size_t size,
            const std::string& label) {
  if (view.extent(0) != size)
    view = Kokkos::View<S*, MemorySpace>(
        Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label), size);
}

}  // namespace gradsolve::detail
