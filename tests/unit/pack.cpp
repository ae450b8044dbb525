// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pack must be W numbers and nothing else: every operation equals that of the scalars, to the
// bit.
#include <gradsolve/ad/math.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

// A pack is SIMD vectors, which nvcc refuses in any function that a GPU could call.
#ifndef __CUDACC__
namespace {

using gradsolve::LaneTraits;
using gradsolve::Mask;
using gradsolve::Pack;

/// Equal bits; NaN equals NaN, for the bits of a NaN that an operation makes are nobody's promise.
template <class T>
::testing::AssertionResult same(T a, T b) {
  using Bits = gradsolve::detail::SameSizeInt<T>;
  if ((a != a && b != b) || std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b))
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << a << " is not " << b << " (signs " << std::signbit(a) << ", " << std::signbit(b) << ")";
}

template <class P>
struct Packs : ::testing::Test {
  using T = gradsolve::ScalarOf<P>;
  static constexpr int W = P::width;

  /// Random numbers of all sizes, and those that are special.
  static std::vector<T> samples() {
    using Limits = std::numeric_limits<T>;
    std::vector<T> x{T(0),
                     -T(0),
                     T(1),
                     T(-1),
                     Limits::infinity(),
                     -Limits::infinity(),
                     Limits::quiet_NaN(),
                     Limits::max(),
                     Limits::min(),
                     Limits::denorm_min()};
    std::mt19937 random(7);
    std::uniform_real_distribution<T> mantissa(-2, 2);
    std::uniform_int_distribution<int> exponent(-30, 30);
    while (x.size() < 64) x.push_back(std::ldexp(mantissa(random), exponent(random)));
    return x;
  }

  /// A pack that starts at sample i, in steps so that neighbours differ.
  static P pack(const std::vector<T>& x, std::size_t i, std::size_t step) {
    P p;
    for (int lane = 0; lane < W; ++lane) p.set(lane, x[(i + lane * step) % x.size()]);
    return p;
  }

  /// Calls f(a, b) for packs whose lanes meet every pair of samples.
  template <class F>
  static void for_each_pair(const F& f) {
    const auto x = samples();
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t j = 0; j < x.size(); ++j) f(pack(x, i, 1), pack(x, j, 3));
  }
};
using AllPacks = ::testing::Types<Pack<double, 2>, Pack<double, 4>, Pack<double, 8>, Pack<float, 4>,
                                  Pack<float, 8>>;
TYPED_TEST_SUITE(Packs, AllPacks);

TYPED_TEST(Packs, EqualScalarsToTheBit_InArithmetic) {
  using T = typename TestFixture::T;
  this->for_each_pair([](TypeParam a, TypeParam b) {
    const TypeParam sum = a + b, difference = a - b, product = a * b, quotient = a / b;
    const TypeParam negated = -a, unchanged = +a;
    TypeParam c = a, d = a, e = a, f = a;
    c += b;
    d -= b;
    e *= b;
    f /= b;
    for (int i = 0; i < TypeParam::width; ++i) {
      const T x = a[i], y = b[i];
      ASSERT_TRUE(same<T>(sum[i], x + y));
      ASSERT_TRUE(same<T>(difference[i], x - y));
      ASSERT_TRUE(same<T>(product[i], x * y));
      ASSERT_TRUE(same<T>(quotient[i], x / y));
      ASSERT_TRUE(same<T>(negated[i], -x));
      ASSERT_TRUE(same<T>(unchanged[i], x));
      ASSERT_TRUE(same<T>(c[i], x + y));
      ASSERT_TRUE(same<T>(d[i], x - y));
      ASSERT_TRUE(same<T>(e[i], x * y));
      ASSERT_TRUE(same<T>(f[i], x / y));
    }
  });
}

TYPED_TEST(Packs, EqualScalarsToTheBit_WithAConstantOnEitherSide) {
  using T = typename TestFixture::T;
  const auto x = this->samples();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const TypeParam a = this->pack(x, i, 1);
    const TypeParam left = 3 - a, right = a / 0.75;
    for (int lane = 0; lane < TypeParam::width; ++lane) {
      ASSERT_TRUE(same<T>(left[lane], T(3) - a[lane]));
      ASSERT_TRUE(same<T>(right[lane], a[lane] / T(0.75)));
    }
  }
}

TYPED_TEST(Packs, HoldTheNumberInEachLane_MadeFromANumber) {
  using T = typename TestFixture::T;
  for (const T x : this->samples()) {
    const TypeParam p(x);
    for (int i = 0; i < TypeParam::width; ++i) ASSERT_TRUE(same<T>(p[i], x));
  }
}

TYPED_TEST(Packs, EqualScalars_InComparisons) {
  using T = typename TestFixture::T;
  this->for_each_pair([](TypeParam a, TypeParam b) {
    for (int i = 0; i < TypeParam::width; ++i) {
      const T x = a[i], y = b[i];
      ASSERT_EQ((a < b)[i], x < y) << x << ", " << y;
      ASSERT_EQ((a <= b)[i], x <= y) << x << ", " << y;
      ASSERT_EQ((a > b)[i], x > y) << x << ", " << y;
      ASSERT_EQ((a >= b)[i], x >= y) << x << ", " << y;
      ASSERT_EQ((a == b)[i], x == y) << x << ", " << y;
      ASSERT_EQ((a != b)[i], x != y) << x << ", " << y;
    }
  });
}

TYPED_TEST(Packs, EqualScalarsToTheBit_InMinMaxAbsSquareAndIsFinite) {
  using T = typename TestFixture::T;
  this->for_each_pair([](TypeParam a, TypeParam b) {
    const TypeParam smaller = gradsolve::min(a, b), larger = gradsolve::max(a, b);
    const TypeParam size = gradsolve::abs(a), squared = gradsolve::square(a);
    for (int i = 0; i < TypeParam::width; ++i) {
      const T x = a[i], y = b[i];
      ASSERT_TRUE(same<T>(smaller[i], gradsolve::min(x, y)));
      ASSERT_TRUE(same<T>(larger[i], gradsolve::max(x, y)));
      ASSERT_TRUE(same<T>(size[i], gradsolve::abs(x)));
      ASSERT_TRUE(same<T>(squared[i], x * x));
      ASSERT_EQ(gradsolve::is_finite(a)[i], std::isfinite(x));
    }
  });
}

TYPED_TEST(Packs, EqualScalarsToTheBit_InEveryFunction) {
  using T = typename TestFixture::T;
  const auto x = this->samples();
  for (std::size_t k = 0; k < x.size(); ++k) {
    const TypeParam a = this->pack(x, k, 1), b = this->pack(x, k + 5, 7);
    for (int i = 0; i < TypeParam::width; ++i) {
#define EXPECT_LANE(NAME, SLOPE) \
  EXPECT_TRUE(same<T>(gradsolve::NAME(a)[i], gradsolve::NAME(T(a[i])))) << #NAME << " of " << a[i];
      GRADSOLVE_FOR_EACH_FUNCTION(EXPECT_LANE)
#undef EXPECT_LANE
      EXPECT_TRUE(same<T>(gradsolve::pow(a, b)[i], gradsolve::pow(T(a[i]), T(b[i]))));
      EXPECT_TRUE(same<T>(gradsolve::pow(a, 2.5)[i], gradsolve::pow(T(a[i]), T(2.5))));
      EXPECT_TRUE(same<T>(gradsolve::pow(2.5, a)[i], gradsolve::pow(T(2.5), T(a[i]))));
      EXPECT_TRUE(same<T>(gradsolve::hypot(a, b)[i], gradsolve::hypot(T(a[i]), T(b[i]))));
      EXPECT_TRUE(same<T>(gradsolve::atan2(a, b)[i], gradsolve::atan2(T(a[i]), T(b[i]))));
    }
  }
}

TYPED_TEST(Packs, TakeAPlainNumberForAPackOfIt_InFunctionsOfTwo) {
  using T = typename TestFixture::T;
  const auto x = this->samples();
  for (std::size_t k = 0; k < x.size(); ++k) {
    const TypeParam a = this->pack(x, k, 1), two(2), half(0.5);
#define EXPECT_MIXED(NAME)                                                       \
  EXPECT_TRUE(same<T>(gradsolve::NAME(a, 2)[i], gradsolve::NAME(a, two)[i]));    \
  EXPECT_TRUE(same<T>(gradsolve::NAME(2, a)[i], gradsolve::NAME(two, a)[i]));    \
  EXPECT_TRUE(same<T>(gradsolve::NAME(a, 0.5)[i], gradsolve::NAME(a, half)[i])); \
  EXPECT_TRUE(same<T>(gradsolve::NAME(0.5f, a)[i], gradsolve::NAME(half, a)[i]));
    for (int i = 0; i < TypeParam::width; ++i) {
      EXPECT_MIXED(min)
      EXPECT_MIXED(max)
      EXPECT_MIXED(pow)
      EXPECT_MIXED(hypot)
      EXPECT_MIXED(atan2)
    }
#undef EXPECT_MIXED
  }
}

TYPED_TEST(Packs, HaveLengthsOfAllSizes_InHypot) {
  // The squares of the first and the last would overflow or vanish; one pack holds all sizes.
  using T = typename TestFixture::T;
  using Limits = std::numeric_limits<T>;
  const T sizes[] = {std::ldexp(T(1), Limits::max_exponent - 5), 1, Limits::min(), 0};
  TypeParam x, y, z;
  for (int i = 0; i < TypeParam::width; ++i) {
    x.set(i, 3 * sizes[i % 4]);
    y.set(i, -4 * sizes[i % 4]);
    z.set(i, 12 * sizes[i % 4]);
  }
  for (int i = 0; i < TypeParam::width; ++i) {
    EXPECT_EQ(gradsolve::hypot(x, y)[i], 5 * sizes[i % 4]);
    EXPECT_EQ(gradsolve::hypot(y, x)[i], 5 * sizes[i % 4]);
    EXPECT_EQ(gradsolve::hypot(x, y, z)[i], 13 * sizes[i % 4]);
    EXPECT_EQ(gradsolve::hypot(z, x, y)[i], 13 * sizes[i % 4]);
  }
}

/// Calls f with each of the 2^W masks.
template <class M, int W, class F>
void for_each_mask(const F& f) {
  for (unsigned bits = 0; bits < (1u << W); ++bits) {
    M mask(false);
    for (int i = 0; i < W; ++i) mask.set(i, (bits >> i) & 1);
    f(mask, bits);
  }
}

TYPED_TEST(Packs, TakeEachLaneFromItsSide_InSelect) {
  using T = typename TestFixture::T;
  constexpr int W = TypeParam::width;
  const auto x = this->samples();
  const TypeParam a = this->pack(x, 0, 1), b = this->pack(x, 20, 1);
  for_each_mask<Mask<T, W>, W>([&](Mask<T, W> mask, unsigned bits) {
    const TypeParam both = gradsolve::select(mask, a, b);
    const TypeParam first = gradsolve::select(mask, 5, b), second = gradsolve::select(mask, a, 5);
    for (int i = 0; i < W; ++i) {
      const bool yes = (bits >> i) & 1;
      ASSERT_TRUE(same<T>(both[i], yes ? a[i] : b[i]));
      ASSERT_TRUE(same<T>(first[i], yes ? T(5) : b[i]));
      ASSERT_TRUE(same<T>(second[i], yes ? a[i] : T(5)));
    }
  });
}

TYPED_TEST(Packs, CountInTheLanesOfAMask_WithIntegers) {
  // Counters are as wide as the numbers whose comparisons steer them.
  using T = typename TestFixture::T;
  using Counter = gradsolve::IntOf<TypeParam>;
  constexpr int W = TypeParam::width;
  for_each_mask<Mask<T, W>, W>([&](Mask<T, W> mask, unsigned bits) {
    Counter n(7);
    n = n + gradsolve::select(mask, Counter(1), Counter(0));
    for (int i = 0; i < W; ++i) ASSERT_EQ(n[i], 7 + int((bits >> i) & 1));
  });
}

TYPED_TEST(Packs, EqualBooleansLaneByLane_InMasks) {
  using T = typename TestFixture::T;
  constexpr int W = TypeParam::width;
  using M = Mask<T, W>;
  M other(false);
  for (int i = 0; i < W; i += 2) other.set(i, true);
  for_each_mask<M, W>([&](M mask, unsigned bits) {
    EXPECT_EQ(gradsolve::any(mask), bits != 0);
    for (int i = 0; i < W; ++i) {
      const bool a = (bits >> i) & 1, b = i % 2 == 0;
      ASSERT_EQ(mask[i], a);
      ASSERT_EQ((mask & other)[i], a && b);
      ASSERT_EQ((mask && other)[i], a && b);
      ASSERT_EQ((mask | other)[i], a || b);
      ASSERT_EQ((mask || other)[i], a || b);
      ASSERT_EQ((!mask)[i], !a);
      ASSERT_EQ(gradsolve::select(mask, other, !other)[i], a ? b : !b);
      ASSERT_EQ(M(true)[i], true);
      ASSERT_EQ(M(false)[i], false);
    }
  });
}

TYPED_TEST(Packs, ChangeOneLaneAlone_InSetLane) {
  using T = typename TestFixture::T;
  constexpr int W = TypeParam::width;
  for (int lane = 0; lane < W; ++lane) {
    TypeParam p(1);
    gradsolve::set_lane(p, lane, 2);
    Mask<T, W> m(true);
    gradsolve::set_lane(m, lane, false);
    for (int i = 0; i < W; ++i) {
      EXPECT_EQ(gradsolve::lane_of(p, i), i == lane ? 2 : 1);
      EXPECT_EQ(gradsolve::lane_of(m, i), i != lane);
    }
  }
}

TYPED_TEST(Packs, AreTheNumbersInMemory_InLoadAndStore) {
  using T = typename TestFixture::T;
  constexpr int W = TypeParam::width;
  alignas(TypeParam) T memory[3 * W];
  for (int i = 0; i < 3 * W; ++i) memory[i] = T(i);

  const TypeParam p = gradsolve::load<TypeParam>(memory + W);
  gradsolve::store<TypeParam>(memory + 2 * W, -p);

  for (int i = 0; i < W; ++i) {
    EXPECT_EQ(p[i], T(W + i));
    EXPECT_EQ(memory[i], T(i));  // neighbours are left alone
    EXPECT_EQ(memory[W + i], T(W + i));
    EXPECT_EQ(memory[2 * W + i], T(-W - i));
  }
}

TEST(Scalars, AreLanesOfWidthOne_InEveryLaneOperation) {
  double x = 1, memory[2] = {3, 4};
  gradsolve::set_lane(x, 0, 2);
  EXPECT_EQ(gradsolve::lane_of(x, 0), 2);
  EXPECT_EQ(gradsolve::load<double>(memory + 1), 4);
  gradsolve::store<double>(memory, 5);
  EXPECT_EQ(memory[0], 5);
  EXPECT_TRUE(gradsolve::any(true));
  EXPECT_FALSE(gradsolve::any(false));
  EXPECT_EQ(gradsolve::select(true, 1.5, 2), 1.5);
  EXPECT_EQ(gradsolve::select(false, 1.5, 2), 2);
  EXPECT_EQ(gradsolve::select(false, true, false), false);
  EXPECT_EQ(LaneTraits<double>::width, 1);
  EXPECT_EQ((LaneTraits<Pack<float, 8>>::width), 8);
}

}  // namespace

#endif
