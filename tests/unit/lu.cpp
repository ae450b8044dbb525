// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Small dense linear systems, in registers and in loops.
#include <gradsolve/linalg/lu.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <support/on_device.hpp>
#include <support/on_warp.hpp>

namespace {

using gradsolve::Matrix;
using gradsolve::Vector;
using gradsolve::detail::LaneLu;
using gradsolve::detail::Lu;

template <int N>
struct Solved {
  Vector<double, N> x, y;  // A x = b, A^T y = b
  double zero;             // where the factors are finite
};
template <int N, class Factors = Lu<double, N>>
struct Solve {
  Matrix<double, N> a;
  Vector<double, N> b;
  KOKKOS_FUNCTION Solved<N> operator()() const {
    Factors lu;
    lu.factor(a);
    Solved<N> r{b, b, lu.zero_if_finite()};
    lu.solve(r.x);
    lu.solve_transposed(r.y);
    return r;
  }
};

/// The same by the threads of a warp together.
template <int N>
struct SomeSystem {
  static constexpr int num_states = N, num_params = 0;
};
template <int N>
struct SolveSpread {
  using System = gradsolve::detail::Spread<SomeSystem<N>, warp_threads, TestWarp>;
  Matrix<double, N> a;
  Vector<double, N> b;
  Kokkos::View<double*> scratch;
  Kokkos::View<Solved<N>> result;

  KOKKOS_FUNCTION void operator()(int thread) const { solve(System{{}, thread, scratch.data()}); }
  KOKKOS_FUNCTION void solve(const System& f) const {
    for (int slot = 0; slot < System::num_states; ++slot)
      if (f.has(slot))
        for (int i = 0; i < N; ++i)
          f.template matrix<double>()[i * System::stride + f.component(slot)] =
              a[i][f.component(slot)];
    System::Threads::sync();
    gradsolve::detail::SpreadLu<double, System> lu;
    lu.factor(f);
    auto x = f.own(b), y = f.own(b);
    lu.solve(x);
    lu.solve_transposed(y);
    const double zero = lu.zero_if_finite();
    for (int slot = 0; slot < System::num_states; ++slot)
      if (f.has(slot)) {
        result().x[f.component(slot)] = x[slot];
        result().y[f.component(slot)] = y[slot];
      }
    if (f.thread == 0) result().zero = zero;
  }
};
template <int N>
Solved<N> solved_spread(const Matrix<double, N>& a, const Vector<double, N>& b) {
  using Work = SolveSpread<N>;
  const std::size_t bytes = Work::System::template scratch_bytes<double>(true);
  const Work work{a, b, Kokkos::View<double*>("scratch", bytes / sizeof(double) + 1),
                  Kokkos::View<Solved<N>>("result")};
  on_warp(work);
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), work.result)();
}

/// The residuals are rounding beside the sizes of what they are made of.
template <int N>
void expect_solution(const Solved<N>& r, const Matrix<double, N>& a, const Vector<double, N>& b,
                     const std::string& name) {
  for (int i = 0; i < N; ++i) {
    double residual = -b[i], size = std::abs(b[i]);
    double transposed = -b[i], transposed_size = std::abs(b[i]);
    for (int j = 0; j < N; ++j) {
      residual += a[i][j] * r.x[j];
      size += std::abs(a[i][j] * r.x[j]);
      transposed += a[j][i] * r.y[j];
      transposed_size += std::abs(a[j][i] * r.y[j]);
    }
    EXPECT_LE(std::abs(residual), 1e-14 * size) << name << ", row " << i;
    EXPECT_LE(std::abs(transposed), 1e-14 * transposed_size) << name << ", column " << i;
  }
}
template <int N>
void expect_solved(const Matrix<double, N>& a, const std::string& name) {
  Vector<double, N> b;
  for (int i = 0; i < N; ++i) b[i] = 1 + i * 0.5;
  expect_solution(on_device(Solve<N>{a, b}), a, b, name);
}
template <int N>
void expect_solved_spread(const Matrix<double, N>& a, const std::string& name) {
  Vector<double, N> b;
  for (int i = 0; i < N; ++i) b[i] = 1 + i * 0.5;
  expect_solution(solved_spread(a, b), a, b, name + ", spread");
}

template <int N>
Matrix<double, N> random_matrix(unsigned seed) {
  Matrix<double, N> a;
  std::uint64_t state = seed;
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      a[i][j] = double(state >> 11) / 4503599627370496.0 - 1;
    }
  return a;
}

/// The matrix in the corner of a larger one that is one elsewhere, below `shift` rows: loops in
/// place of registers.
template <int N, int M>
Matrix<double, N> embedded(const Matrix<double, M>& a, int shift) {
  Matrix<double, N> b;
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) {
      const int k = i - shift, l = j - shift;
      const bool inside = k >= 0 && k < M && l >= 0 && l < M;
      b[i][j] = inside ? a[k][l] : i == j;
    }
  return b;
}

template <int M>
void expect_solved_everywhere(const Matrix<double, M>& a, const std::string& name) {
  expect_solved<M>(a, name);
  expect_solved<12>(embedded<12>(a, 0), name);
  expect_solved<12>(embedded<12>(a, 5), name);
  expect_solved_spread<M>(a, name);
  expect_solved_spread<12>(embedded<12>(a, 3), name);
}

TEST(Lu, SolvesWhatNeedsPivots) {
  expect_solved_everywhere<1>({{{{-4}}}}, "one");
  expect_solved_everywhere<2>({{{{0, 1}}, {{1, 0}}}}, "exchange");
  expect_solved_everywhere<2>({{{{2, 1}}, {{1, 0}}}}, "zero below");
  expect_solved_everywhere<3>({{{{0, 0, 3}}, {{0, 2, 1}}, {{1, 5, 7}}}}, "zero leading pivots");
  expect_solved_everywhere<3>({{{{1e-20, 1, 0}}, {{1, 1, 1}}, {{0, 1, 2}}}}, "tiny pivot");
  expect_solved_everywhere<3>({{{{1e10, 2e10, 1e10}}, {{1, -1, 3}}, {{1e-8, 3e-8, -2e-8}}}},
                              "badly scaled");
}

TEST(Lu, SolvesRandomMatrices) {
  for (unsigned seed = 1; seed < 40; ++seed) {
    expect_solved(random_matrix<2>(seed), "2");
    expect_solved(random_matrix<3>(seed), "3");
    expect_solved(random_matrix<10>(seed), "10");
    expect_solved(random_matrix<11>(seed), "11");
    expect_solved(random_matrix<32>(seed), "32");
  }
}

TEST(SpreadLu, SolvesRandomMatrices) {
  expect_solved_spread(random_matrix<3>(1), "3");
  expect_solved_spread(random_matrix<11>(2), "11");
  expect_solved_spread(random_matrix<40>(3), "40");
}

TEST(Lu, GivesTheSame_InRegistersAndInLoops) {
  for (unsigned seed = 1; seed < 20; ++seed) {
    const auto a = random_matrix<6>(seed);
    Vector<double, 6> b;
    Vector<double, 12> large = gradsolve::detail::filled<12>(1.0);
    for (int i = 0; i < 6; ++i) large[i] = b[i] = 1 + i;
    const auto small = on_device(Solve<6>{a, b});
    const auto looped = on_device(Solve<12>{embedded<12>(a, 0), large});
    for (int i = 0; i < 6; ++i) {
      EXPECT_NEAR(small.x[i], looped.x[i], 1e-13 * std::abs(small.x[i])) << seed;
      EXPECT_NEAR(small.y[i], looped.y[i], 1e-13 * std::abs(small.y[i])) << seed;
    }
  }
}

// W of a jump of Van der Pol's oscillator, eps = 1e-6. An exchange of its rows, whose sizes are
// those of their units, would leave ten digits of x[0].
TEST(Lu, KeepsTheDiagonal_WhereOnlyUnitsMakeItSmall) {
  const auto r = on_device(Solve<2>{{{{{1e9, -1}}, {{1e12, 1e9}}}}, {{1, 1e18}}});
  EXPECT_NEAR(r.x[0] / double((1e18L + 1e9L) / (1e18L + 1e12L)), 1, 1e-15);
  EXPECT_NEAR(r.x[1] / double((1e27L - 1e12L) / (1e18L + 1e12L)), 1, 1e-15);
  const auto spread = solved_spread<2>({{{{1e9, -1}}, {{1e12, 1e9}}}}, {{1, 1e18}});
  EXPECT_NEAR(spread.x[0] / r.x[0], 1, 1e-15);
}

template <int N>
void expect_nothing_finite(const Matrix<double, N>& a, int first) {
  const auto r = on_device(Solve<N>{a, gradsolve::detail::filled<N>(1.0)});
  EXPECT_FALSE(std::isfinite(r.x[first]) && std::isfinite(r.x[first + 1])) << N;
  EXPECT_FALSE(std::isfinite(r.y[first]) && std::isfinite(r.y[first + 1])) << N;
  const auto s = solved_spread(a, gradsolve::detail::filled<N>(1.0));
  EXPECT_FALSE(std::isfinite(s.x[first]) && std::isfinite(s.x[first + 1])) << N;
}
TEST(Lu, OfASingularMatrix_GivesNothingFinite) {
  const Matrix<double, 2> singular{{{{1, 2}}, {{2, 4}}}};
  expect_nothing_finite(singular, 0);
  expect_nothing_finite(embedded<12>(singular, 0), 0);
  expect_nothing_finite(embedded<12>(singular, 5), 5);
}

// A step with it would be one of length 0 that is accepted.
TEST(Lu, OfAMatrixWithAnInfiniteEntry_IsNotFinite) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      auto a = random_matrix<3>(7);
      EXPECT_EQ(on_device(Solve<3>{a, {}}).zero, 0);
      EXPECT_EQ((on_device(Solve<12>{embedded<12>(a, 4), {}}).zero), 0);
      a[i][j] = std::numeric_limits<double>::infinity();
      if (i == j) {
        EXPECT_TRUE(std::isnan(solved_spread<3>(a, {}).zero)) << i;
      }
      EXPECT_TRUE(std::isnan(on_device(Solve<3>{a, {}}).zero)) << i << ", " << j;
      EXPECT_TRUE(std::isnan(on_device(Solve<12>{embedded<12>(a, 4), {}}).zero)) << i << ", " << j;
    }
}

#if defined(GRADSOLVE_ENABLE_KOKKOS_KERNELS)
using gradsolve::detail::BatchedLu;
static_assert(std::is_same_v<Lu<double, 11>, BatchedLu<double, 11>>);
static_assert(std::is_same_v<Lu<double, 10>, LaneLu<double, 10>>);
static_assert(std::is_same_v<Lu<gradsolve::Dual<float>, 11>, LaneLu<gradsolve::Dual<float>, 11>>);

template <int N>
void expect_the_same_of_both(const Matrix<double, N>& a) {
  Vector<double, N> b;
  for (int i = 0; i < N; ++i) b[i] = 1 + i;
  const auto theirs = on_device(Solve<N, BatchedLu<double, N>>{a, b});
  const auto ours = on_device(Solve<N, LaneLu<double, N>>{a, b});
  for (int i = 0; i < N; ++i) {
    EXPECT_NEAR(theirs.x[i], ours.x[i], 1e-10 * std::abs(ours.x[i])) << N;
    EXPECT_NEAR(theirs.y[i], ours.y[i], 1e-10 * std::abs(ours.y[i])) << N;
  }
}
TEST(BatchedLu, SolvesAsOurs) {
  for (unsigned seed = 1; seed < 20; ++seed) {
    expect_the_same_of_both(random_matrix<3>(seed));
    expect_the_same_of_both(random_matrix<11>(seed));
    expect_the_same_of_both(random_matrix<20>(seed));
    auto badly_scaled = random_matrix<11>(seed);
    for (int i = 0; i < 11; ++i)
      for (int j = 0; j < 11; ++j) badly_scaled[i][j] *= std::pow(10.0, 3 * i - 2 * j);
    expect_the_same_of_both(badly_scaled);
  }
}

struct SolveInFloat {
  Matrix<float, 11> a;
  Vector<float, 11> b;
  KOKKOS_FUNCTION Vector<float, 11> operator()() const {
    BatchedLu<float, 11> lu;
    lu.factor(a);
    Vector<float, 11> x = b;
    lu.solve(x);
    lu.solve_transposed(x);
    return x;
  }
};
TEST(BatchedLu, SolvesInFloat) {
  const auto a = random_matrix<11>(3);
  SolveInFloat in_float;
  Vector<double, 11> b;
  for (int i = 0; i < 11; ++i) {
    in_float.b[i] = b[i] = 1 + i;
    for (int j = 0; j < 11; ++j) in_float.a[i][j] = static_cast<float>(a[i][j]);
  }
  const auto x = on_device(in_float);
  const auto first = on_device(Solve<11, LaneLu<double, 11>>{a, b});
  const auto second = on_device(Solve<11, LaneLu<double, 11>>{a, first.x});
  for (int i = 0; i < 11; ++i) EXPECT_NEAR(x[i], second.y[i], 1e-4 * std::abs(second.y[i])) << i;
}
#endif

#if !defined(__CUDACC__)
/// What lane 0, which exchanges no rows, gets beside a lane that does (or does not).
template <class T, int N>
void expect_same_bits_beside_a_neighbour() {
  using L = gradsolve::detail::LaneBeneathT<T>;
  Vector<T, N> x[2];
  for (bool neighbour_exchanges : {false, true}) {
    Matrix<T, N> a;
    for (int i = 0; i < N; ++i) {
      x[neighbour_exchanges][i] = T(L(i + 1.0));
      for (int j = 0; j < N; ++j) {
        a[i][j] = T(L(std::sin(i * N + j + 1.0) + (i == j ? 2.0 * N : 0.0)));
        if (neighbour_exchanges && i == j && i == N / 2)
          gradsolve::set_lane(gradsolve::detail::part(a[i][j], 0), 1, 1e-3);
        if constexpr (gradsolve::detail::num_parts<T> > 1)
          gradsolve::detail::part(a[i][j], 1) = L(std::cos(i + 3.0 * j));
      }
    }
    LaneLu<T, N> lu;
    lu.factor(a);
    lu.solve(x[neighbour_exchanges]);
    lu.solve_transposed(x[neighbour_exchanges]);
  }
  for (int i = 0; i < N; ++i)
    gradsolve::static_for<gradsolve::detail::num_parts<T>>([&](auto k) {
      EXPECT_EQ(gradsolve::lane_of(gradsolve::detail::part(x[0][i], k), 0),
                gradsolve::lane_of(gradsolve::detail::part(x[1][i], k), 0))
          << "component " << i << ", part " << k << " of " << N;
    });
  EXPECT_NE(gradsolve::lane_of(gradsolve::detail::part(x[0][0], 0), 1),
            gradsolve::lane_of(gradsolve::detail::part(x[1][0], 0), 1));
}
TEST(Lu, OfALaneDoesNotDependOnItsNeighbour) {
  using L = gradsolve::Pack<double, 4>;
  expect_same_bits_beside_a_neighbour<L, 3>();
  expect_same_bits_beside_a_neighbour<L, 8>();
  expect_same_bits_beside_a_neighbour<L, 12>();
  expect_same_bits_beside_a_neighbour<gradsolve::Dual<L, 1>, 3>();
  expect_same_bits_beside_a_neighbour<gradsolve::Dual<L, 1>, 8>();
}

TEST(Lu, PivotsEachLaneOfAPackApart) {
  using L = gradsolve::Pack<double, 4>;
  Matrix<L, 3> a;
  Vector<L, 3> x;
  Matrix<double, 3> lane_a[4];
  for (int lane = 0; lane < 4; ++lane) {
    lane_a[lane] = lane == 0 ? Matrix<double, 3>{{{{4, 1, 0}}, {{1, 4, 1}}, {{0, 1, 4}}}}
                             : random_matrix<3>(lane);
    for (int i = 0; i < 3; ++i) {
      gradsolve::set_lane(x[i], lane, i + 1.0);
      for (int j = 0; j < 3; ++j) gradsolve::set_lane(a[i][j], lane, lane_a[lane][i][j]);
    }
  }
  Lu<L, 3> lu;
  lu.factor(a);
  auto y = x;
  lu.solve(x);
  lu.solve_transposed(y);
  for (int lane = 0; lane < 4; ++lane) {
    const auto alone = Solve<3>{lane_a[lane], {{1, 2, 3}}}();
    for (int i = 0; i < 3; ++i) {
      EXPECT_NEAR(gradsolve::lane_of(x[i], lane), alone.x[i], 1e-14 * (1 + std::abs(alone.x[i])));
      EXPECT_NEAR(gradsolve::lane_of(y[i], lane), alone.y[i], 1e-14 * (1 + std::abs(alone.y[i])));
    }
  }
}
#endif

}  // namespace
