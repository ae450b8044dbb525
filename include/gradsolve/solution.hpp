// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/detail/sweep.hpp>
#include <gradsolve/record_data.hpp>
#include <gradsolve/stepping/dense_output.hpp>

namespace gradsolve {

/// A solved ensemble as functions of time, on the device: solution(trajectory, t) is the state of a
/// trajectory at any time of its span, by the method's continuous extension; NaN beyond where it
/// came to. Made by make_solution(); copy it into a kernel.
template <class M, class F, class Scalar, class MemorySpace>
class Solution {
 public:
  static constexpr int N = F::num_states;

  /// Costs a binary search over the steps and one step's stages.
  KOKKOS_FUNCTION State<Scalar, N> operator()(int trajectory, Scalar t) const {
    using namespace detail;
    const int lane = lane_(trajectory), slice = lane / mesh_.width, l = lane % mesh_.width;
    const Scalar begin = mesh_.t0(trajectory), final = mesh_.t1(trajectory);
    const Scalar sign = final < begin ? Scalar(-1) : Scalar(1);
    const std::int64_t first = mesh_.first_row(slice);
    auto end = [&](int row) { return mesh_.ends((first + row) * mesh_.width + l); };
    const int steps = num_steps_(trajectory);
    const Scalar nan = Kokkos::Experimental::quiet_NaN_v<Scalar>;
    State<Scalar, N> u;
    if (t == begin && steps == 0) {
      for (int i = 0; i < N; ++i) u[i] = states_(trajectory, i);
      return u;
    }
    if (steps == 0 || !(sign * (t - begin) >= 0) || !(sign * (end(steps - 1) - t) >= 0))
      return filled<N>(nan);
    int low = 0, high = steps - 1;  // the first step that ends at or behind t
    while (low < high) {
      const int middle = (low + high) / 2;
      if (sign * (end(middle) - t) >= 0)
        high = middle;
      else
        low = middle + 1;
    }
    const Scalar t_begin = low > 0 ? end(low - 1) : begin, t_end = end(low);
    auto begin_of = [&](int row, int i) {
      return kept_(((first + row) * kept_states_ + i) * mesh_.width + l);
    };
    if (t == t_end) {  // to the bit
      for (int i = 0; i < N; ++i)
        u[i] = low + 1 < steps ? begin_of(low + 1, i) : states_(trajectory, i);
      return u;
    }
    Params<Scalar, F::num_params> p;
    for (int i = 0; i < F::num_params; ++i) p[i] = params_(trajectory, i);
    for (int i = 0; i < N; ++i) u[i] = begin_of(low, i);
    StageValues<DenseStages<M>, F, Scalar> s;
    evaluate_stages<true, M>(system_, t_begin, t_end, u, p, s);
    const Scalar h = t_end - t_begin, theta = (t - t_begin) / h;
    return interpolated<M, F>(u, h, s, theta);
  }

 private:
  template <class Exec, class G, class M2, class S2, class Mem2, class States, class Parameters>
  friend Solution<M2, G, S2, Mem2> make_solution(const Exec&, const G&, const Record<M2, S2, Mem2>&,
                                                 const Ensemble<States, Parameters>&);

  explicit Solution(const F& system) : system_(system) {}

  F system_;
  Mesh<Scalar, MemorySpace> mesh_;
  Kokkos::View<Scalar*, MemorySpace> kept_;
  int kept_states_;  // numbers of a trajectory in a row: more than N where a warp has it
  Kokkos::View<Scalar**, Kokkos::LayoutLeft, MemorySpace> states_;
  Kokkos::View<int*, MemorySpace> num_steps_;
  Kokkos::View<int*, MemorySpace> lane_;  // of a trajectory in the mesh
  detail::StridedMatrix<const Scalar> params_;
};

/// The solution of an ensemble recorded with Options::keep_states. It refers to the record's memory
/// and to the ensemble's parameters, which must stay as they were recorded. Asynchronous in exec.
/// Throws InvalidArgument for a record without states.
template <class Exec, class F, class M, class Scalar, class MemorySpace, class States,
          class Parameters>
Solution<M, F, Scalar, MemorySpace> make_solution(const Exec& exec, const F& system,
                                                  const Record<M, Scalar, MemorySpace>& record,
                                                  const Ensemble<States, Parameters>& ensemble) {
  detail::check_ensemble<F, Exec>("make_solution", ensemble);
  detail::check_weights<Exec>("make_solution", system);
  if (record.size() != ensemble.size())
    detail::refuse("make_solution", "ensemble", std::to_string(ensemble.size()) + " trajectories",
                   std::to_string(record.size()) + ", as many as were recorded");
  detail::check_complete("make_solution", record);
  if (!record.options.keep_states)
    detail::refuse("make_solution", "record", "one without its states",
                   "one recorded with Options::keep_states");
  if (static_cast<int>(record.states.extent(1)) != F::num_states)
    detail::refuse("make_solution", "record",
                   "of a system with " + std::to_string(record.states.extent(1)) + " states",
                   std::to_string(F::num_states) + ": a record of this very system");
  Solution<M, F, Scalar, MemorySpace> solution(system);
  solution.mesh_ = record.mesh;
  solution.kept_ = record.kept;
  solution.kept_states_ = static_cast<int>(
      detail::row_numbers<detail::SystemOnT<Exec, M, F>>(record.mesh.width) / record.mesh.width);
  solution.states_ = record.states;
  solution.num_steps_ = record.num_steps;
  solution.params_ = detail::strided_const(ensemble.params());
  solution.lane_ = Kokkos::View<int*, MemorySpace>(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "gradsolve::Solution::lane"),
      record.size());
  const auto lane_of = solution.lane_;
  const auto order = record.mesh.order;
  Kokkos::parallel_for(
      "gradsolve::make_solution", Kokkos::RangePolicy<Exec>(exec, 0, order.extent(0)),
      KOKKOS_LAMBDA(int lane) {
        if (order(lane) >= 0) lane_of(order(lane)) = lane;
      });
  return solution;
}

}  // namespace gradsolve
