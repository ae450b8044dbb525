// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/gradient.hpp>
#include <gradsolve/memory_plan.hpp>

/// Ensembles whose mesh does not fit in memory: record and gradient a chunk at a time.
namespace gradsolve {

/// What record_and_gradient_in_chunks() leaves, in MemorySpace: any that the execution space can
/// write to, Kokkos::SharedHostPinnedSpace where the results do not fit on the device.
template <class Scalar = double, class MemorySpace = Kokkos::DefaultExecutionSpace::memory_space>
struct ChunkedGradient {
  using Matrix = Kokkos::View<Scalar**, Kokkos::LayoutLeft, MemorySpace>;

  Kokkos::View<Scalar*, MemorySpace> loss;     ///< (n)
  Matrix states;                               ///< (n, N) u(t1)
  Matrix u0;                                   ///< (n, N) d loss / d u0
  Matrix params;                               ///< (n, P); (1, P), summed, where they are shared
  Kokkos::View<Scalar*, MemorySpace> weights;  ///< As Gradient::weights.
  Kokkos::View<Status*, MemorySpace> status;   ///< (n)
  Kokkos::View<int*, MemorySpace> num_steps;   ///< (n)
  int left_out = 0;                            ///< As Gradient::left_out, of all chunks.
  int num_chunks = 0;
  int largest_chunk = 0;  ///< Trajectories.

  detail::MovedFrom moved_from;  ///< Internal.
};

namespace detail {

/// Bytes that a chunk's mesh took for each of its trajectories, and results. Where spans are Views
/// there is a second mesh (move.hpp).
template <class F, class Rec>
double bytes_a_trajectory(const Rec& record) {
  using S = typename Rec::Scalar;
  const auto& mesh = record.mesh;
  const bool views = mesh.recorded_t0.data != nullptr || mesh.recorded_t1.data != nullptr;
  const double steps = double(mesh.total_rows) * mesh.width / record.size();
  return (views ? 2 : 1) * sizeof(S) * steps + double(result_bytes_v<F, S>);
}

/// A loss as the trajectories of a chunk see it: they are numbered from the chunk's first one.
template <class Loss>
struct ChunkLoss {
  Loss loss;
  int first;

  template <class T, int N, int P>
  KOKKOS_FUNCTION T operator()(const State<T, N>& u, const Params<T, P>& p, int trajectory) const {
    return FinalLoss<Loss>{loss, first + trajectory}(T(0), u, p)[0];
  }
  template <class T, int N, int P>
  KOKKOS_FUNCTION T operator()(const T& t, const State<T, N>& u, const Params<T, P>& p,
                               SaveIndex at) const {
    return loss(t, u, p, SaveIndex{first + at.trajectory, at.save});
  }
};
template <class Exec, class S, class MemorySpace>
constexpr void check_data_accessible(
    const SavedLossSeed<ChunkLoss<LeastSquares<S, MemorySpace>>, S>&) {
  check_data_space<Exec, MemorySpace>();
}
template <class Loss>
ChunkLoss<Loss> loss_of_chunk(const Loss& loss, int begin, int) {
  return {loss, begin};
}
template <class Loss, class S, class MemorySpace>
auto loss_of_chunk(const LossAtSaves<Loss, S, MemorySpace>& loss, int begin, int end) {
  return at_saves(loss.times.range(begin, end), ChunkLoss<Loss>{loss.loss, begin});
}

/// Copies all rows to those from `begin` on.
template <class Exec, class From, class To>
void copy_rows(const Exec& exec, const From& from, const To& to, int begin) {
  Kokkos::parallel_for(
      "gradsolve::chunks::copy", Kokkos::RangePolicy<Exec>(exec, 0, from.extent(0)),
      KOKKOS_LAMBDA(int i) {
        for (std::size_t j = 0; j < from.extent(1); ++j) to(begin + i, j) = from(i, j);
      });
}
template <class Exec, class From, class To>
void copy_numbers(const Exec& exec, const From& from, const To& to, int begin) {
  Kokkos::parallel_for(
      "gradsolve::chunks::copy", Kokkos::RangePolicy<Exec>(exec, 0, from.extent(0)),
      KOKKOS_LAMBDA(int i) { to(begin + i) = from(i); });
}
template <class Exec, class From, class To>
void add_numbers(const Exec& exec, const From& from, const To& to) {
  Kokkos::parallel_for(
      "gradsolve::chunks::add", Kokkos::RangePolicy<Exec>(exec, 0, from.extent(0)),
      KOKKOS_LAMBDA(int i) { to(i) += from(i); });
}

}  // namespace detail

/// record() and gradient() of an ensemble of any size and any number of steps, a chunk of
/// trajectories at a time, each as large as Options::memory_budget allows (0: 4 GiB): half of it
/// for its mesh and results, half for the states on the way. A first, small chunk tells how many
/// steps a trajectory takes. A trajectory's numbers are bitwise those of the two calls, whatever
/// its chunk; sums over shared parameters and weights add up chunk by chunk.
///
///     gradsolve::ChunkedGradient<double, Kokkos::SharedHostPinnedSpace> out;
///     gradsolve::record_and_gradient_in_chunks(exec, Lorenz{}, Tsit5{}, ensemble,
///                                              {.memory_budget = 8'000'000'000}, SquaredNorm{},
///                                              out);
///
/// The Views of the ensemble, and those of `out`, are in any memory that exec can reach: kernels
/// read and write pinned host memory directly, so that its transfers overlap with the solving.
/// loss: as for gradient(); save times and data are of the whole ensemble, and a trajectory has the
/// number that it has there. after_chunk(done, n): called when the rows of the first `done`
/// trajectories are in `out`. Options::keep_states is ignored.
/// Where memory runs out all the same the chunk is halved. Synchronises exec.
/// Throws InvalidArgument as record() and gradient() do.
template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters, class Loss, class AfterChunk>
void record_and_gradient_in_chunks(const Exec& exec, const F& system, M method,
                                   const Ensemble<States, Parameters>& ensemble, Options options,
                                   const Loss& loss, ChunkedGradient<Scalar, MemorySpace>& out,
                                   const AfterChunk& after_chunk) {
  using namespace detail;
  static_assert(std::is_same_v<Scalar, typename Ensemble<States, Parameters>::Scalar>,
                "results have the scalar type of the ensemble");
  check_accessible<Exec, typename ChunkedGradient<Scalar, MemorySpace>::Matrix>();
  const char* const name = "record_and_gradient_in_chunks";
  check_solve<F, M, Exec>(name, system, ensemble, options);
  seed_of<F>(name, loss, ensemble);  // checks what each chunk cannot
  renew_if_moved_from(out);
  constexpr bool shared = Ensemble<States, Parameters>::shared_params;
  const int n = ensemble.size();
  resize(exec, out.loss, n, "gradsolve::ChunkedGradient::loss");
  resize(exec, out.status, n, "gradsolve::ChunkedGradient::status");
  resize(exec, out.num_steps, n, "gradsolve::ChunkedGradient::num_steps");
  resize_rows(exec, out.states, n, F::num_states, "gradsolve::ChunkedGradient::states");
  resize_rows(exec, out.u0, n, num_given_states_v<F>, "gradsolve::ChunkedGradient::u0");
  resize_rows(exec, out.params, shared ? 1 : n, F::num_params,
              "gradsolve::ChunkedGradient::params");
  if (shared) Kokkos::deep_copy(exec, out.params, Scalar(0));
  if constexpr (HasWeights<F>) {
    resize(exec, out.weights, F::num_weights, "gradsolve::ChunkedGradient::weights");
    Kokkos::deep_copy(exec, out.weights, Scalar(0));
  } else {
    out.weights = {};
  }
  out.left_out = out.num_chunks = out.largest_chunk = 0;

  const std::size_t budget = half_of_budget(options);
  options.memory_budget = budget;
  options.keep_states = false;  // the gradient replays: a chunk of more trajectories gains more
  Record<M, Scalar, typename Exec::memory_space> recorded;
  Gradient<Scalar, typename Exec::memory_space> gradients;
  int most = n, size = Kokkos::min(n, pilot_chunk);  // `most`: that memory was seen to hold
  for (int begin = 0; begin < n;) {
    const int end = begin + Kokkos::min(size, n - begin);
    const auto chunk = ensemble.range(begin, end);
    recorded.mesh.planned = false;  // another chunk's steps say nothing
    try {
      record<Width>(exec, system, method, chunk, options, recorded);
      check_states_budget(name, recorded.mesh,
                          row_numbers<SystemOnT<Exec, M, F>>(recorded.mesh.width) * sizeof(Scalar),
                          budget, 2);
      gradient<Width>(exec, system, recorded, chunk, loss_of_chunk(loss, begin, end), gradients);
      exec.fence("gradsolve::record_and_gradient_in_chunks");
    } catch (const InvalidArgument&) {
      throw;
    } catch (const std::exception&) {  // out of memory
      if (size == 1) throw;
      most = size = (end - begin + 1) / 2;
      recorded = {};
      gradients = {};
      continue;
    }
    copy_numbers(exec, gradients.loss, out.loss, begin);
    copy_numbers(exec, recorded.status, out.status, begin);
    copy_numbers(exec, recorded.num_steps, out.num_steps, begin);
    copy_rows(exec, gradients.states, out.states, begin);
    copy_rows(exec, gradients.u0, out.u0, begin);
    if constexpr (shared)
      add_numbers(exec, Kokkos::subview(gradients.params, 0, Kokkos::ALL),
                  Kokkos::subview(out.params, 0, Kokkos::ALL));
    else
      copy_rows(exec, gradients.params, out.params, begin);
    if constexpr (HasWeights<F>) add_numbers(exec, gradients.weights, out.weights);
    ++out.num_chunks;
    out.largest_chunk = Kokkos::max(out.largest_chunk, end - begin);
    begin = end;
    if (gradients.left_out.data() != nullptr) {
      int left_out = 0;
      Kokkos::deep_copy(exec, left_out, gradients.left_out);
      exec.fence("gradsolve::record_and_gradient_in_chunks: left_out");
      out.left_out += left_out;
    }
    exec.fence("gradsolve::record_and_gradient_in_chunks: for after_chunk");
    after_chunk(begin, n);
    size = size_of_chunk(budget, bytes_a_trajectory<F>(recorded), most);
  }
  exec.fence("gradsolve::record_and_gradient_in_chunks: the workspace goes");
}

template <int Width = 0, class Exec, class F, class M, class Scalar, class MemorySpace,
          class States, class Parameters, class Loss>
void record_and_gradient_in_chunks(const Exec& exec, const F& system, M method,
                                   const Ensemble<States, Parameters>& ensemble,
                                   const Options& options, const Loss& loss,
                                   ChunkedGradient<Scalar, MemorySpace>& out) {
  record_and_gradient_in_chunks<Width>(exec, system, method, ensemble, options, loss, out,
                                       [](int, int) {});
}

}  // namespace gradsolve
