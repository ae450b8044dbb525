// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/status.hpp>

#include <Kokkos_Core.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <ostream>
#include <vector>

namespace gradsolve {
inline void PrintTo(Status status, std::ostream* out) { *out << name(status); }
}  // namespace gradsolve

/// Views in the memory of the execution space under test, and their contents on the host.
namespace gradsolve::test {

using Exec = Kokkos::DefaultExecutionSpace;
using Memory = Exec::memory_space;
template <class S>
using MatrixOf = Kokkos::View<S**, Kokkos::LayoutLeft, Memory>;
template <class S>
using ColumnOf = Kokkos::View<S*, Memory>;

inline constexpr bool on_cpu = Kokkos::SpaceAccessibility<Exec, Kokkos::HostSpace>::accessible;

/// A copy on the host, never the View itself.
template <class V>
auto on_host(const V& view) {
  auto copy = Kokkos::create_mirror(Kokkos::HostSpace(), view);
  Kokkos::deep_copy(copy, view);
  return copy;
}

/// (rows, columns) with element (i, j) = value(i, j).
template <class S, class Value>
MatrixOf<S> matrix(int rows, int columns, Value&& value) {
  MatrixOf<S> view("test::matrix", rows, columns);
  auto host = Kokkos::create_mirror_view(view);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) host(i, j) = static_cast<S>(value(i, j));
  Kokkos::deep_copy(view, host);
  return view;
}

template <class S>
MatrixOf<S> matrix(const std::vector<std::vector<S>>& rows) {
  const int columns = rows.empty() ? 0 : static_cast<int>(rows[0].size());
  return matrix<S>(static_cast<int>(rows.size()), columns,
                   [&](int i, int j) { return rows[i][j]; });
}

template <class S>
ColumnOf<S> column(const std::vector<S>& values) {
  ColumnOf<S> view("test::column", values.size());
  auto host = Kokkos::create_mirror_view(view);
  for (std::size_t i = 0; i < values.size(); ++i) host(i) = values[i];
  Kokkos::deep_copy(view, host);
  return view;
}

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// Whether row i of a and row k of b (host Views of rank 1 to 3) agree to the bit.
template <class A, class B>
bool same_row(const A& a, int i, const B& b, int k) {
  bool same = a.extent(1) == b.extent(1) && a.extent(2) == b.extent(2);
  for (std::size_t j = 0; same && j < a.extent(1); ++j)
    for (std::size_t l = 0; same && l < a.extent(2); ++l)
      same = same_bits(a.access(i, j, l), b.access(k, j, l));
  return same;
}

/// Whether two Views in any memory agree to the bit.
template <class A, class B>
::testing::AssertionResult same_bits_everywhere(const A& a, const B& b) {
  if (a.extent(0) != b.extent(0))
    return ::testing::AssertionFailure() << a.extent(0) << " rows and " << b.extent(0);
  const auto x = on_host(a);
  const auto y = on_host(b);
  for (std::size_t i = 0; i < x.extent(0); ++i)
    if (!same_row(x, i, y, i)) return ::testing::AssertionFailure() << "row " << i << " differs";
  return ::testing::AssertionSuccess();
}

/// What record() or solve() tell of every trajectory agrees to the bit.
template <class A, class B>
void expect_same_outcomes(const A& a, const B& b) {
  EXPECT_TRUE(same_bits_everywhere(a.states, b.states));
  EXPECT_TRUE(same_bits_everywhere(a.status, b.status));
  EXPECT_TRUE(same_bits_everywhere(a.num_steps, b.num_steps));
  EXPECT_TRUE(same_bits_everywhere(a.num_rejected, b.num_rejected));
  EXPECT_TRUE(same_bits_everywhere(a.num_rhs, b.num_rhs));
}

/// Whether all numbers of a View of rank 1 to 3, in any memory, are finite.
template <class V>
::testing::AssertionResult finite_everywhere(const V& view) {
  const auto x = on_host(view);
  for (std::size_t i = 0; i < x.extent(0); ++i)
    for (std::size_t j = 0; j < x.extent(1); ++j)
      for (std::size_t k = 0; k < x.extent(2); ++k)
        if (!std::isfinite(x.access(i, j, k)))
          return ::testing::AssertionFailure() << "row " << i << " is not finite";
  return ::testing::AssertionSuccess();
}

/// |a - b| / max(|b|, floor); infinite where either is NaN.
inline double relative_difference(long double a, long double b, long double floor = 1e-300L) {
  const long double r = std::abs(a - b) / std::max(std::abs(b), floor);
  return std::isnan(r) ? HUGE_VAL : static_cast<double>(r);
}

/// Numbers in [low, high), the same on every machine.
class Uniform {
 public:
  explicit Uniform(std::uint64_t seed) : state_(seed) {}
  double operator()(double low, double high) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * static_cast<double>(state_ >> 11) / 9007199254740992.0;
  }

 private:
  std::uint64_t state_;
};

}  // namespace gradsolve::test
