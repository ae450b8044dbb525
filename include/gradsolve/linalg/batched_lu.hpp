// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#if defined(GRADSOLVE_ENABLE_KOKKOS_KERNELS)

#include <gradsolve/ad/vector.hpp>
#include <gradsolve/system.hpp>

#include <KokkosBatched_Getrf.hpp>
#include <KokkosBatched_Getrs.hpp>
#include <KokkosBatched_Trsm_Decl.hpp>
#include <KokkosBatched_Trsm_Serial_Impl.hpp>
#include <Kokkos_BitManipulation.hpp>
#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace gradsolve::detail {

/// P R A = L U by Kokkos Kernels, of a matrix of plain numbers: partial pivoting, after the rows
/// were brought to one size by powers of two (R). The same interface as LaneLu.
template <class T, int N>
class BatchedLu {
  static_assert(std::is_floating_point_v<T>, "Kokkos Kernels factorises matrices of plain numbers");
  template <class Data>
  using Unmanaged = Kokkos::View<Data, Kokkos::LayoutRight, Kokkos::AnonymousSpace,
                                 Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

 public:
  /// Overwrites the matrix that was here.
  KOKKOS_INLINE_FUNCTION void factor(const Matrix<T, N>& matrix) {
    using namespace KokkosBatched;
    for (int i = 0; i < N; ++i) {
      scale_[i] = inverse_size(matrix[i]);
      for (int j = 0; j < N; ++j) a_[i][j] = scale_[i] * matrix[i][j];
    }
    const int singular = SerialGetrf<Algo::Getrf::Unblocked>::invoke(Unmanaged<T[N][N]>(&a_[0][0]),
                                                                     Unmanaged<int[N]>(pivot_));
    if (singular != 0) a_[N - 1][N - 1] = Kokkos::Experimental::quiet_NaN_v<T>;
  }

  /// 0, or not a number where the matrix had an infinite entry.
  KOKKOS_INLINE_FUNCTION T zero_if_finite() const {
    T sum(0);
    for (int k = 0; k < N; ++k) sum = sum + T(0) * a_[k][k];
    return sum;
  }

  /// x = A^-1 x
  KOKKOS_INLINE_FUNCTION void solve(Vector<T, N>& x) const {
    for (int i = 0; i < N; ++i) x[i] = scale_[i] * x[i];
    substitute<KokkosBatched::Trans::NoTranspose>(x);
  }

  /// x = A^-T x, on the same factors.
  KOKKOS_INLINE_FUNCTION void solve_transposed(Vector<T, N>& x) const {
    substitute<KokkosBatched::Trans::Transpose>(x);
    for (int i = 0; i < N; ++i) x[i] = scale_[i] * x[i];
  }

 private:
  template <class Trans>
  KOKKOS_INLINE_FUNCTION void substitute(Vector<T, N>& x) const {
    using namespace KokkosBatched;
    SerialGetrs<Trans, Algo::Getrs::Unblocked>::invoke(Unmanaged<const T[N][N]>(&a_[0][0]),
                                                       Unmanaged<const int[N]>(pivot_),
                                                       Unmanaged<T[N]>(x.values));
  }

  /// 2^-e of a row whose largest entry is 2^e to 2^(e+1).
  static KOKKOS_INLINE_FUNCTION T inverse_size(const Vector<T, N>& row) {
    T largest(0);
    for (int j = 0; j < N; ++j) largest = Kokkos::max(largest, Kokkos::abs(row[j]));
    using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    const Bits exponent = Kokkos::bit_cast<Bits>(Kokkos::Experimental::infinity_v<T>);
    return T(1) / Kokkos::bit_cast<T>(Kokkos::bit_cast<Bits>(largest) & exponent);
  }

  T a_[N][N];  // L below the diagonal, U on and above it
  T scale_[N];
  int pivot_[N];
};

}  // namespace gradsolve::detail

#endif
