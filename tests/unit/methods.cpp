// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The coefficients of each method: as published, and consistent among themselves.
#include "support/all_methods.hpp"
#include "support/methods_data.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace {

/// A method's numbers in plain vectors, A square; A and c with the stages of the continuous
/// extension.
template <class M>
struct Tableau {
  static constexpr int S = M::num_stages, D = M::num_dense_stages;
  std::vector<std::vector<double>> a;
  std::vector<double> b, c;

  Tableau() : a(D, std::vector<double>(D, 0.0)), b(S), c(D) {
    for (int i = 0; i < S; ++i) b[i] = M::b[i];
    for (int i = 0; i < D; ++i) {
      c[i] = M::c[i];
      for (int j = 0; j < i; ++j) a[i][j] = M::a[i][j];
    }
  }
};

/// A sum that remembers how large its terms were, and with that how far rounding may carry it.
struct Sum {
  long double value = 0, magnitude = 0;
  void add(long double term) {
    value += term;
    magnitude += std::abs(term);
  }
  double tolerance() const {
    return static_cast<double>(8 * magnitude) * std::numeric_limits<double>::epsilon();
  }
};

/// sum_i w_i phi_i(A, c) of one rooted tree.
struct OrderCondition {
  int order;
  double density;  // the sum is 1 / density
  const char* tree;
  std::function<Sum(const std::vector<std::vector<double>>& a, const std::vector<double>& c,
                    const std::vector<double>& w)>
      sum;
};

/// sum_i w_i c_i^outer sum_j a_ij x_j, with x = c^inner, or x = A c^inner where twice.
Sum nested(const std::vector<std::vector<double>>& a, const std::vector<double>& c,
           const std::vector<double>& w, int outer, int inner, bool twice = false) {
  using Real = long double;
  const std::size_t n = w.size();
  Sum s;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const Real wa = Real(w[i]) * std::pow(Real(c[i]), outer) * a[i][j];
      if (!twice) s.add(wa * std::pow(Real(c[j]), inner));
      for (std::size_t k = 0; twice && k < n; ++k)
        s.add(wa * a[j][k] * std::pow(Real(c[k]), inner));
    }
  return s;
}

Sum quadrature(const std::vector<double>& c, const std::vector<double>& w, int power) {
  Sum s;
  for (std::size_t i = 0; i < w.size(); ++i)
    s.add(w[i] * std::pow(static_cast<long double>(c[i]), power));
  return s;
}

/// All eight trees up to order four.
const std::vector<OrderCondition>& order_conditions() {
  static const std::vector<OrderCondition> conditions{
      {1, 1, "b", [](auto&, auto& c, auto& w) { return quadrature(c, w, 0); }},
      {2, 2, "b c", [](auto&, auto& c, auto& w) { return quadrature(c, w, 1); }},
      {3, 3, "b c^2", [](auto&, auto& c, auto& w) { return quadrature(c, w, 2); }},
      {3, 6, "b A c", [](auto& a, auto& c, auto& w) { return nested(a, c, w, 0, 1); }},
      {4, 4, "b c^3", [](auto&, auto& c, auto& w) { return quadrature(c, w, 3); }},
      {4, 8, "b c A c", [](auto& a, auto& c, auto& w) { return nested(a, c, w, 1, 1); }},
      {4, 12, "b A c^2", [](auto& a, auto& c, auto& w) { return nested(a, c, w, 0, 2); }},
      {4, 24, "b A A c", [](auto& a, auto& c, auto& w) { return nested(a, c, w, 0, 1, true); }},
  };
  return conditions;
}

template <class M>
struct Methods : ::testing::Test {
  const nlohmann::json& published = methods_data().at("methods").at(M::name);
};
TYPED_TEST_SUITE(Methods, AllMethods, NameOfMethod);

template <class M, int S>
void expect_numbers(const double (&ours)[S], const std::vector<double>& published,
                    const char* what) {
  ASSERT_EQ(published.size(), static_cast<std::size_t>(S)) << what;
  for (int i = 0; i < S; ++i) EXPECT_EQ(ours[i], published[i]) << what << "[" << i << "]";
}

TYPED_TEST(Methods, EqualThePublishedNumbers_InEveryCoefficient) {
  using M = TypeParam;
  expect_numbers<M>(M::b, numbers(this->published.at("b")), "b");
  expect_numbers<M>(M::c, numbers(this->published.at("c")), "c");
  ASSERT_EQ(this->published.at("A").size(), static_cast<std::size_t>(M::num_dense_stages));
  for (int i = 0; i < M::num_dense_stages; ++i) {
    const auto row = numbers(this->published["A"][i]);
    ASSERT_EQ(row.size(), static_cast<std::size_t>(i));
    for (int j = 0; j < i; ++j) EXPECT_EQ(M::a[i][j], row[j]) << "a[" << i << "][" << j << "]";
  }
  ASSERT_EQ(this->published.contains("e"), M::error_order > 0);
  if constexpr (M::error_order > 0) expect_numbers<M>(M::e, numbers(this->published.at("e")), "e");
  ASSERT_EQ(this->published.contains("e3"), (requires { M::e3; }));
  if constexpr (requires { M::e3; })
    expect_numbers<M>(M::e3, numbers(this->published.at("e3")), "e3");
  const auto& dense = this->published.at("dense").at("P");
  ASSERT_EQ(dense.size(), static_cast<std::size_t>(M::num_dense_stages));
  for (int i = 0; i < M::num_dense_stages; ++i)
    expect_numbers<M>(M::dense[i], numbers(dense[i]), ("dense[" + std::to_string(i) + "]").c_str());
}

TYPED_TEST(Methods, HaveThePublishedOrdersAndStages_Always) {
  using M = TypeParam;
  const auto& structure = this->published.at("structure");
  const auto& embedded = this->published.at("embedded_order");
  EXPECT_EQ(M::order, this->published.at("order").template get<int>());
  // The step size is controlled with the order of the estimate, one above that of the embedded
  // solution. DOP853 combines two estimates into one that behaves as h^8.
  const int controlled = embedded.is_null()                 ? 0
                         : std::string(M::name) == "dop853" ? 8
                                                            : embedded.template get<int>() + 1;
  EXPECT_EQ(M::error_order, controlled);
  const int num_solution = structure.at("solution_stages").back().template get<int>() + 1;
  const int num_all =
      structure.contains("error_stages")
          ? std::max(num_solution, structure["error_stages"].back().template get<int>() + 1)
          : num_solution;
  EXPECT_EQ(M::num_solution_stages, num_solution);
  EXPECT_EQ(M::num_stages, num_all);
  EXPECT_EQ(M::fsal, structure.at("fsal").template get<bool>());
  EXPECT_EQ(M::dense_order, this->published.at("dense").at("order").template get<int>());
}

TYPED_TEST(Methods, RowsSumToTheNodes_ToRounding) {
  const Tableau<TypeParam> m;
  for (int i = 0; i < m.D; ++i) {
    Sum row;
    for (int j = 0; j < m.D; ++j) row.add(m.a[i][j]);
    EXPECT_NEAR(row.value, m.c[i], row.tolerance()) << "row " << i;
  }
}

TYPED_TEST(Methods, SatisfyTheOrderConditions_UpToOrderFour) {
  const Tableau<TypeParam> m;
  for (const auto& condition : order_conditions()) {
    if (condition.order > TypeParam::order) continue;
    const Sum s = condition.sum(m.a, m.c, m.b);
    EXPECT_NEAR(s.value, 1 / condition.density, s.tolerance()) << condition.tree;
  }
}

TYPED_TEST(Methods, IntegratePolynomialsExactly_UpToTheirOrder) {
  const Tableau<TypeParam> m;
  for (int q = 1; q <= TypeParam::order; ++q) {
    const Sum s = quadrature(m.c, m.b, q - 1);
    EXPECT_NEAR(s.value, 1.0 / q, s.tolerance()) << "b c^" << q - 1;
  }
}

// The others would need the trees of order five and more; their golden steps are in steps.cpp.
using LowOrderMethods =
    ::testing::Types<gradsolve::Euler, gradsolve::Heun, gradsolve::BogackiShampine3>;
template <class M>
struct LowOrderMethod : ::testing::Test {};
TYPED_TEST_SUITE(LowOrderMethod, LowOrderMethods, NameOfMethod);

TYPED_TEST(LowOrderMethod, MissesAnOrderCondition_OneOrderHigher) {
  // A method that claims too little passes everything else.
  const Tableau<TypeParam> m;
  double largest = 0;
  for (const auto& condition : order_conditions())
    if (condition.order == TypeParam::order + 1)
      largest = std::max(largest, std::abs(static_cast<double>(condition.sum(m.a, m.c, m.b).value) -
                                           1 / condition.density));
  EXPECT_GT(largest, 1e-3);
}

TYPED_TEST(Methods, EmbeddedSolutionSatisfiesTheOrderConditions_UpToOrderFour) {
  using M = TypeParam;
  if constexpr (M::error_order > 0) {
    const Tableau<M> m;
    auto check = [&](const double (&e)[M::num_stages], int order) {
      std::vector<double> embedded(m.b);
      for (int i = 0; i < m.S; ++i) embedded[i] -= e[i];
      for (const auto& condition : order_conditions()) {
        if (condition.order > order) continue;
        const Sum s = condition.sum(m.a, m.c, embedded);
        EXPECT_NEAR(s.value, 1 / condition.density, s.tolerance()) << condition.tree;
      }
    };
    check(M::e, this->published.at("embedded_order").template get<int>());
    if constexpr (requires { M::e3; }) check(M::e3, 3);
  }
}

TYPED_TEST(Methods, TouchNoStageBeyondThoseOfTheSolution_InTheWeightsOfTheSolution) {
  using M = TypeParam;
  for (int i = M::num_solution_stages; i < M::num_stages; ++i) EXPECT_EQ(M::b[i], 0) << i;
}

TYPED_TEST(Methods, LastRowEqualsTheWeights_WhereFirstSameAsLast) {
  using M = TypeParam;
  if constexpr (M::fsal) {
    for (int j = 0; j < M::num_stages - 1; ++j)
      EXPECT_EQ(M::a[M::num_stages - 1][j], M::b[j]) << "stage " << j;
    EXPECT_EQ(M::c[M::num_stages - 1], 1);
    EXPECT_EQ(M::num_solution_stages, M::num_stages - 1);
  }
}

/// sum_m dense[i][m] f(m), which is b_i(1) for f = 1, and b_i'(1) for f = m + 1.
template <class M>
Sum at_the_end(int i, int (*f)(int m)) {
  Sum s;
  for (int m = 0; m < M::dense_degree; ++m) s.add(static_cast<long double>(M::dense[i][m]) * f(m));
  return s;
}

TYPED_TEST(Methods, ContinuousExtensionSatisfiesTheOrderConditions_InEveryPowerOfTheta) {
  // sum_i b_i(theta) phi_i = theta^order / density is one condition for each power.
  using M = TypeParam;
  const Tableau<M> m;
  for (int power = 1; power <= M::dense_degree; ++power) {
    std::vector<double> w(m.D);
    for (int i = 0; i < m.D; ++i) w[i] = M::dense[i][power - 1];
    for (const auto& condition : order_conditions()) {
      if (condition.order > M::dense_order) continue;
      const Sum s = condition.sum(m.a, m.c, w);
      EXPECT_NEAR(s.value, power == condition.order ? 1 / condition.density : 0, s.tolerance())
          << condition.tree << ", theta^" << power;
    }
    for (int q = 5; q <= M::dense_order; ++q) {
      const Sum s = quadrature(m.c, w, q - 1);
      EXPECT_NEAR(s.value, power == q ? 1.0 / q : 0, s.tolerance())
          << "b c^" << q - 1 << ", theta^" << power;
    }
  }
}

TYPED_TEST(Methods, ContinuousExtensionEndsInTheSolution_ToRounding) {
  using M = TypeParam;
  for (int i = 0; i < M::num_dense_stages; ++i) {
    const Sum weight = at_the_end<M>(i, [](int) { return 1; });
    EXPECT_NEAR(weight.value, i < M::num_stages ? M::b[i] : 0, weight.tolerance()) << "stage " << i;
  }
}

TYPED_TEST(Methods, ContinuousExtensionHasTheSlopesOfTheSolution_WhereC1) {
  using M = TypeParam;
  if (this->published.at("dense").at("continuity") != "C1") return;
  const int end = this->published.at("structure").at("end_stage").template get<int>();
  // The stage at the end of the step.
  EXPECT_EQ(M::c[end], 1);
  for (int j = 0; j < end; ++j) EXPECT_EQ(M::a[end][j], j < M::num_stages ? M::b[j] : 0) << j;
  // The slope at either end is that of one stage.
  for (int i = 0; i < M::num_dense_stages; ++i) {
    EXPECT_EQ(M::dense[i][0], i == 0 ? 1 : 0) << "stage " << i;
    const Sum slope = at_the_end<M>(i, [](int m) { return m + 1; });
    EXPECT_NEAR(slope.value, i == end ? 1 : 0, slope.tolerance()) << "stage " << i;
  }
}

TYPED_TEST(Methods, ContinuousExtensionUsesThePublishedStages_DirectlyOrThroughOthers) {
  using M = TypeParam;
  std::vector<int> used;  // from the last stage to the first
  for (int i = M::num_dense_stages - 1; i >= 0; --i) {
    const bool direct = std::any_of(M::dense[i], M::dense[i] + M::dense_degree,
                                    [](double weight) { return weight != 0; });
    const bool through =
        std::any_of(used.begin(), used.end(), [&](int j) { return j > i && M::a[j][i] != 0; });
    if (direct || through) used.push_back(i);
  }
  std::reverse(used.begin(), used.end());
  EXPECT_EQ(used,
            this->published.at("structure").at("dense_stages").template get<std::vector<int>>());
}

}  // namespace
