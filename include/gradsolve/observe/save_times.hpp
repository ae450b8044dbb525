// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ensemble.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

/// Times at which solutions are looked at.
namespace gradsolve {

namespace detail {

/// What kernels see of save times.
template <class S>
struct SaveTimesAccess {
  const S* times = nullptr;
  Stride stride_trajectory = 0, stride_save = 0;
  const int* counts = nullptr;  // null: `size` for all
  int size = 0;

  KOKKOS_FORCEINLINE_FUNCTION S time(int trajectory, int save) const {
    return times[std::size_t(trajectory) * stride_trajectory + std::size_t(save) * stride_save];
  }
  KOKKOS_FORCEINLINE_FUNCTION int count(int trajectory) const {
    return counts == nullptr ? size : counts[trajectory];
  }
};

/// Finds the first save time that makes no sense.
template <class S>
struct CheckSaveTimes {
  enum Fault { not_finite, not_sorted, outside, bad_count };
  static constexpr std::int64_t good = std::int64_t(1) << 62;

  SaveTimesAccess<S> saves;
  PerTrajectory<S> t0, t1;

  KOKKOS_FUNCTION void operator()(int trajectory, std::int64_t& first) const {
    const S begin = t0(trajectory), end = t1(trajectory);
    const int count = saves.count(trajectory);
    if (count < 0 || count > saves.size) return note(trajectory, 0, bad_count, first);
    if (begin - begin != S(0) || end - end != S(0)) return;  // its status will say so
    const S direction = end < begin ? S(-1) : S(1);
    S before = begin;
    for (int save = 0; save < count; ++save) {
      const S t = saves.time(trajectory, save);
      if (t - t != S(0)) return note(trajectory, save, not_finite, first);
      if (direction * (t - begin) < S(0) || direction * (end - t) < S(0))
        return note(trajectory, save, outside, first);
      if (direction * (t - before) < S(0)) return note(trajectory, save, not_sorted, first);
      before = t;
    }
  }
  KOKKOS_FUNCTION void note(int trajectory, int save, Fault fault, std::int64_t& first) const {
    const std::int64_t code =
        (std::int64_t(trajectory) * (saves.size + 1) + save) * 4 + static_cast<int>(fault);
    if (code < first) first = code;
  }
};

/// Brings what is wrong with one save time to the host.
template <class S>
struct ReadSaveTime {
  CheckSaveTimes<S> check;
  int trajectory, save;
  bool count_alone;
  double* seen;  // t0, t1, the number of saves, the time

  KOKKOS_FUNCTION void operator()(int) const {
    seen[0] = check.t0(trajectory);
    seen[1] = check.t1(trajectory);
    seen[2] = check.saves.count(trajectory);
    seen[3] = count_alone ? S(0) : check.saves.time(trajectory, save);
  }
};

/// Throws for the save time with this code.
template <class Exec, class S>
[[noreturn]] void refuse_save_time(const Exec& exec, const CheckSaveTimes<S>& check,
                                   std::int64_t code) {
  const auto& saves = check.saves;
  const int fault = static_cast<int>(code % 4), row = saves.size + 1;
  const int save = static_cast<int>(code / 4 % row), trajectory = static_cast<int>(code / 4 / row);
  const Kokkos::View<double*, Kokkos::SharedHostPinnedSpace> seen("gradsolve::save_times::fault",
                                                                  4);
  Kokkos::parallel_for(
      "gradsolve::save_times::fault", Kokkos::RangePolicy<Exec>(exec, 0, 1),
      ReadSaveTime<S>{check, trajectory, save, fault == CheckSaveTimes<S>::bad_count, seen.data()});
  exec.fence("gradsolve::save_times::fault");
  const std::string of = " of trajectory " + std::to_string(trajectory);
  const auto text = [&](int k) { return to_text(static_cast<S>(seen(k))); };
  const std::string time = "save " + std::to_string(save) + of + " at " + text(3);
  switch (fault) {
    case CheckSaveTimes<S>::bad_count:
      refuse("save_times", "counts", text(2) + of, "0 to " + std::to_string(saves.size));
    case CheckSaveTimes<S>::not_finite:
      refuse("save_times", "times", time, "a finite time");
    case CheckSaveTimes<S>::not_sorted:
      refuse("save_times", "times", time,
             seen(1) < seen(0) ? "times that fall, as the integration does" : "times that rise");
    default:
      refuse("save_times", "times", time, "a time within its span, " + text(0) + " to " + text(1));
  }
}

}  // namespace detail

/// Save times of an ensemble, checked. A handle: the times are the caller's View (a std::vector is
/// copied), and must stay valid for sweeps to come. Make one with save_times().
template <class Scalar_, class MemorySpace_>
class SaveTimes {
 public:
  using Scalar = Scalar_;
  using MemorySpace = MemorySpace_;

  SaveTimes() = default;

  /// Saves of each trajectory; of the one with the most, where they differ.
  int size() const { return access_.size; }
  int num_trajectories() const { return num_trajectories_; }
  detail::SaveTimesAccess<Scalar> access() const { return access_; }

  /// Those of the trajectories [begin, end), on the same memory, for Ensemble::range().
  SaveTimes range(int begin, int end) const {
    detail::check_range("SaveTimes::range", begin, end, num_trajectories_);
    SaveTimes r = *this;
    r.num_trajectories_ = end - begin;
    r.access_.times += std::size_t(begin) * access_.stride_trajectory;
    if (r.access_.counts != nullptr) r.access_.counts += begin;
    return r;
  }

 private:
  template <class Exec, class States, class Parameters, class Times, class Counts>
  friend auto save_times(const Exec&, const Ensemble<States, Parameters>&, const Times&,
                         const Counts&);

  detail::SaveTimesAccess<Scalar> access_;
  int num_trajectories_ = 0;
  std::shared_ptr<const void> keep_alive_;  // the Views of times and counts
};

/// Save times for a whole ensemble, in the order of integration (falling where t1 < t0). Duplicates
/// are allowed, and t0 and t1 may be among them.
///
///     auto times = gradsolve::save_times(exec, ensemble, std::vector{0.5, 1.0, 2.0});
///
/// times   a std::vector or a View (k): the same for all trajectories; or a View (n, k): a row for
///         each of them
/// counts  a View of int (n): how many times of its row a trajectory has; without it, all k
///
/// Throws InvalidArgument for a time that is not finite, out of order or outside the span of its
/// trajectory. Synchronises exec.
template <class Exec, class States, class Parameters, class Times,
          class Counts = Kokkos::View<const int*, typename States::memory_space>>
auto save_times(const Exec& exec, const Ensemble<States, Parameters>& ensemble, const Times& times,
                const Counts& counts = {}) {
  using S = typename Ensemble<States, Parameters>::Scalar;
  using MemorySpace = typename Ensemble<States, Parameters>::MemorySpace;
  if constexpr (!Kokkos::is_view_v<Times>) {
    const Kokkos::View<const typename Times::value_type*, Kokkos::HostSpace> host(times.data(),
                                                                                  times.size());
    const Kokkos::View<S*, MemorySpace> device(
        Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "gradsolve::SaveTimes"),
        times.size());
    const auto staged = Kokkos::create_mirror_view(Kokkos::WithoutInitializing, device);
    for (std::size_t i = 0; i < times.size(); ++i) staged(i) = static_cast<S>(host(i));
    Kokkos::deep_copy(exec, device, staged);
    exec.fence("gradsolve::save_times: the times are on the stack");
    return save_times(exec, ensemble, device, counts);
  } else {
    using namespace detail;
    constexpr int rank = Times::rank();
    static_assert(rank == 1 || rank == 2, "save times are a View of rank 1, (k), or 2, (n, k)");
    static_assert(std::is_same_v<S, typename Times::non_const_value_type>,
                  "save times have the scalar type of the ensemble");
    static_assert(Kokkos::SpaceAccessibility<Exec, typename Times::memory_space>::accessible,
                  "a View of save times must be accessible from the execution space");
    const int n = ensemble.size();
    if (rank == 2 && static_cast<int>(times.extent(0)) != n)
      refuse("save_times", "times", shape_text(times.extent(0), times.extent(1)),
             std::to_string(n) + " rows, as many as the ensemble has trajectories");
    if (counts.data() != nullptr && static_cast<int>(counts.extent(0)) != n)
      refuse("save_times", "counts", "a View of " + std::to_string(counts.extent(0)),
             std::to_string(n) + ", as many as the ensemble has trajectories");
    static_assert(Kokkos::SpaceAccessibility<Exec, typename Counts::memory_space>::accessible,
                  "a View of counts must be accessible from the execution space");
    if (counts.extent(0) > 1 && counts.stride(0) != 1)
      refuse("save_times", "counts", "a View of stride " + std::to_string(counts.stride(0)), "1");
    SaveTimes<S, MemorySpace> result;
    result.num_trajectories_ = n;
    const std::size_t k = times.extent(rank - 1);
    const Stride stride0 = rank == 2 ? stride_of(times, 0) : 0,
                 stride1 = stride_of(times, rank - 1);
    result.keep_alive_ = std::make_shared<const std::pair<Times, Counts>>(times, counts);
    result.access_ = {times.data(), stride0, stride1, counts.data(), static_cast<int>(k)};

    const CheckSaveTimes<S> check{result.access_, ensemble.t0(), ensemble.t1()};
    std::int64_t first = CheckSaveTimes<S>::good;
    Kokkos::parallel_reduce("gradsolve::save_times", Kokkos::RangePolicy<Exec>(exec, 0, n), check,
                            Kokkos::Min<std::int64_t>(first));
    if (first < CheckSaveTimes<S>::good) refuse_save_time(exec, check, first);
    return result;
  }
}

}  // namespace gradsolve
