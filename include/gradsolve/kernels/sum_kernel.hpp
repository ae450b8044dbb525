// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/detail/strided.hpp>

#include <Kokkos_Core.hpp>

/// Sums over the ensemble in an order that depends on its size alone, so that two runs agree to the
/// bit: not a parallel_reduce, whose order is the scheduler's.
namespace gradsolve::detail {

inline constexpr int num_partial_sums = 1024;

/// Partial sum k of column j takes rows k, k + 1024, ... A row that is not finite is left out, and
/// counted.
template <class S, class MemorySpace>
struct PartialSums {
  StridedMatrix<const S> values;
  int num_rows, num_columns;
  Kokkos::View<S**, Kokkos::LayoutLeft, MemorySpace> partial;  // (1024, columns)
  Kokkos::View<int*, MemorySpace> left_out;                    // (1024)

  KOKKOS_FUNCTION void operator()(int k, int j) const {
    S sum(0);
    int skipped = 0;
    for (int row = k; row < num_rows; row += num_partial_sums) {
      bool finite = true;
      for (int c = 0; c < num_columns; ++c) finite = finite && is_number(values(row, c));
      if (finite)
        sum += values(row, j);
      else
        ++skipped;
    }
    partial(k, j) = sum;
    if (j == 0) left_out(k) = skipped;
  }
  static KOKKOS_FUNCTION bool is_number(S x) { return x - x == S(0); }
};

template <class S, class MemorySpace>
struct TotalSums {
  Kokkos::View<S**, Kokkos::LayoutLeft, MemorySpace> partial;
  Kokkos::View<int*, MemorySpace> partial_left_out;
  StridedMatrix<S> total;  // one row
  int* left_out;

  /// Pairwise, in place: 1024 -> 512 -> ... -> 1.
  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const int j = team.league_rank();
    for (int half = num_partial_sums / 2; half > 0; half /= 2) {
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, half), [&](int k) {
        partial(k, j) += partial(k + half, j);
        if (j == 0) partial_left_out(k) += partial_left_out(k + half);
      });
      team.team_barrier();
    }
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      total(0, j) = partial(0, j);
      if (j == 0) *left_out = partial_left_out(0);
    });
  }
};

/// total(j) = sum_i values(i, j) over the rows that are finite; left_out: the number of the others.
template <class Exec, class S, class MemorySpace>
void sum_rows(const Exec& exec, const StridedMatrix<const S>& values, int num_rows, int num_columns,
              const Kokkos::View<S**, Kokkos::LayoutLeft, MemorySpace>& partial,
              const Kokkos::View<int*, MemorySpace>& partial_left_out,
              const StridedMatrix<S>& total, int* left_out) {
  if (num_columns == 0) {
    Kokkos::parallel_for(
        "gradsolve::sum::none", Kokkos::RangePolicy<Exec>(exec, 0, 1),
        KOKKOS_LAMBDA(int) { *left_out = 0; });
    return;
  }
  const Kokkos::MDRangePolicy<Exec, Kokkos::Rank<2>> cells(exec, {0, 0},
                                                           {num_partial_sums, num_columns});
  Kokkos::parallel_for(
      "gradsolve::sum::partial", cells,
      PartialSums<S, MemorySpace>{values, num_rows, num_columns, partial, partial_left_out});
  Kokkos::parallel_for("gradsolve::sum::total",
                       Kokkos::TeamPolicy<Exec>(exec, num_columns, Kokkos::AUTO),
                       TotalSums<S, MemorySpace>{partial, partial_left_out, total, left_out});
}

}  // namespace gradsolve::detail
