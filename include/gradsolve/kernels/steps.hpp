// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/kernels/slice.hpp>

namespace gradsolve::detail {

/// The recorded steps of one thread's trajectories.
template <class L>
class Steps {
  using S = ScalarOf<L>;

 public:
  KOKKOS_FORCEINLINE_FUNCTION Steps(const MeshAccess<S>& mesh, const L& t0, int slice,
                                    int first_lane)
      : begin_(t0),
        ends_(mesh.ends_of(slice, first_lane)),
        width_(mesh.width),
        rows_(mesh.num_rows[slice]) {}

  /// Rows of the slice; its shorter trajectories have none of the last ones (h = 0).
  KOKKOS_FORCEINLINE_FUNCTION int rows() const { return rows_; }
  KOKKOS_FORCEINLINE_FUNCTION L begin() const { return begin_; }
  KOKKOS_FORCEINLINE_FUNCTION L end_of(int row) const {
    return load<L>(ends_ + std::int64_t(row) * width_);
  }
  KOKKOS_FORCEINLINE_FUNCTION L begin_of(int row) const {
    return row > 0 ? end_of(row - 1) : begin_;
  }

  /// Calls visit(row, t, t_end) for each row, in order. The next end is loaded before the step that
  /// hides the wait.
  template <class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void for_each(Visit&& visit) const {
    for_each(0, rows_, visit);
  }
  /// The same for the rows [begin, end).
  template <class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void for_each(int begin, int end, Visit&& visit) const {
    if (begin == end) return;
    L t = begin_of(begin), t_end = end_of(begin);
    for (int row = begin; row < end; ++row) {
      const L next = end_of(row + 1 < end ? row + 1 : row);
      visit(row, t, t_end);
      t = t_end;
      t_end = next;
    }
  }

 private:
  L begin_;
  const S* ends_;
  int width_, rows_;
};

}  // namespace gradsolve::detail
