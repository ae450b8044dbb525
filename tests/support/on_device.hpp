// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

namespace on_device_detail {
template <class Work, class Result>
struct Run {
  Work work;
  Result result;
  KOKKOS_FUNCTION void operator()(int) const { result() = work(); }
};
}  // namespace on_device_detail

/// What the functor `work` returns where kernels run: on the GPU, in a build for one. For code that
/// is tested alone, outside of the library's kernels.
template <class Work>
auto on_device(const Work& work) {
  using Value = decltype(work());
  using Result = Kokkos::View<Value>;
  const Result result("on_device");
  Kokkos::parallel_for("on_device", Kokkos::RangePolicy<>(0, 1),
                       on_device_detail::Run<Work, Result>{work, result});
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), result)();
}
