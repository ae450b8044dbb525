// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/gradsolve.hpp>

#include <Kokkos_Core.hpp>

#include <vector>

/// What the applications share: where their data lives, and which members of an ensemble they take.
namespace examples {

using Exec = Kokkos::DefaultExecutionSpace;
using Memory = Exec::memory_space;
using Policy = Kokkos::RangePolicy<Exec>;
using Column = Kokkos::View<double*, Memory>;
using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, Memory>;
using Cube = Kokkos::View<double***, Kokkos::LayoutLeft, Memory>;

/// The numbers of the members of an ensemble that are to be solved.
using Members = Kokkos::View<int*, Memory>;

/// 0, stride, 2 stride, ...
inline Members every(const Exec& exec, int stride, int count) {
  const Members members(Kokkos::view_alloc(exec, "members"), count);
  Kokkos::parallel_for(
      "members", Policy(exec, 0, count), KOKKOS_LAMBDA(int i) { members(i) = i * stride; });
  return members;
}

/// A copy on the device.
template <class T>
Kokkos::View<T*, Memory> on_device(const std::vector<T>& values) {
  const Kokkos::View<T*, Memory> device("examples::on_device", values.size());
  Kokkos::deep_copy(device,
                    Kokkos::View<const T*, Kokkos::HostSpace>(values.data(), values.size()));
  return device;
}

/// A copy on the host.
template <class V>
auto on_host(const V& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}

/// Accepted steps of a trajectory, on average.
template <class Record>
double mean_steps(const Exec& exec, const Record& record) {
  const auto steps = record.num_steps;
  double sum = 0;
  Kokkos::parallel_reduce(
      "mean steps", Policy(exec, 0, record.size()),
      KOKKOS_LAMBDA(int i, double& total) { total += steps(i); }, sum);
  return sum / record.size();
}

/// How long some work on the device takes, in milliseconds.
template <class Work>
double milliseconds(const Exec& exec, const Work& work) {
  exec.fence("examples::milliseconds");
  const Kokkos::Timer timer;
  work();
  exec.fence("examples::milliseconds");
  return 1e3 * timer.seconds();
}

}  // namespace examples
