// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Layers that the threads of a group compute together, against one thread by itself.
#include <gradsolve/blocks/chain.hpp>
#include <gradsolve/blocks/dense.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <support/on_warp.hpp>

namespace gradsolve::test {
namespace {

/// Derivatives in weights as they come.
struct Kept {
  double* sums;

  KOKKOS_FUNCTION Kept from(int k) const { return {sums + k}; }
  template <class T>
  KOKKOS_FUNCTION void add(int k, const T& x) const {
    sums[k] = detail::plain(x);
  }
  template <class T, int M>
  KOKKOS_FUNCTION void add(int k, const Vector<T, M>& x) const {
    for (int i = 0; i < M; ++i) add(k + i, x[i]);
  }
  template <class T, int M, int N>
  KOKKOS_FUNCTION void add_outer(int k, const Vector<T, M>& a, const Vector<T, N>& b) const {
    for (int i = 0; i < M; ++i)
      for (int j = 0; j < N; ++j) add(k + i * N + j, a[i] * b[j]);
  }
  template <class T, int M, int N>
  KOKKOS_FUNCTION void add_affine(int k, const Vector<T, M>& a, const Vector<T, N>& b) const {
    add_outer(k, a, b);
    add(k + M * N, a);
  }
};

/// What a net gives at one point.
template <class Net>
struct Results {
  Vector<double, Net::num_out> y;
  Vector<double, Net::num_in> xbar, tangent, partial;
  double weights_bar[Net::num_weights];
};

template <class Net, class Group>
struct Evaluate {
  Kokkos::View<double*> weights;
  Kokkos::View<double**, Kokkos::LayoutRight> weights_bar;  // of each thread
  Kokkos::View<Results<Net>> results;

  /// A number, or one that the group holds.
  template <class T>
  using NumberOf = std::conditional_t<std::is_void_v<Group>, T, Replicated<T, Group>>;

  KOKKOS_FUNCTION void operator()(int thread) const {
    Results<Net> r;
    forward<double>(r.y, [](int i) { return start(i); }, [](double y) { return y; });
    Vector<double, Net::num_out> derivatives;
    using D = Dual<double, 1>;
    using Sparse = SparseDual<double, 2>;
    for (int k = 0; k < Net::num_in; ++k) {
      forward<D>(
          derivatives,
          [&](int i) {
            D x(start(i));
            x.tangent[0] = i == k;
            return x;
          },
          [](const D& y) { return y.tangent[0]; });
      r.tangent[k] = derivatives[0];
      forward<Sparse>(
          derivatives, [&](int i) { return Sparse::variable(start(i), i == k ? 1 : -1); },
          [](const Sparse& y) { return y.depends[1] && !y.depends[0] ? y.partial[1] : 0.0; });
      r.partial[k] = derivatives[Net::num_out - 1];
    }

    using T = NumberOf<double>;
    Vector<T, Net::num_in> x, xbar;
    Vector<T, Net::num_out> ybar;
    for (int i = 0; i < Net::num_in; ++i) x[i] = T(start(i));
    for (int i = 0; i < Net::num_out; ++i) ybar[i] = T(1.0 / (2 + i));
    Net::adjoint(weights.data(), x, ybar, xbar, Kept{&weights_bar(thread, 0)});
    for (int i = 0; i < Net::num_in; ++i) r.xbar[i] = detail::plain(xbar[i]);
    if (thread > 0) return;
    for (int k = 0; k < Net::num_weights; ++k) r.weights_bar[k] = weights_bar(0, k);
    results() = r;
  }

  KOKKOS_FUNCTION static double start(int i) { return 0.9 - 0.37 * i; }

  template <class T, class At, class Read>
  KOKKOS_FUNCTION void forward(Vector<double, Net::num_out>& r, const At& at,
                               const Read& read) const {
    Vector<NumberOf<T>, Net::num_in> x;
    for (int i = 0; i < Net::num_in; ++i) x[i] = NumberOf<T>(at(i));
    Vector<NumberOf<T>, Net::num_out> y;
    Net::forward(weights.data(), x, y);
    for (int i = 0; i < Net::num_out; ++i) r[i] = read(detail::plain(y[i]));
  }
};

template <class Net, class Group>
Results<Net> evaluate() {
  Kokkos::View<double*> weights("weights", Net::num_weights);
  const auto host = Kokkos::create_mirror_view(weights);
  for (int k = 0; k < Net::num_weights; ++k) host(k) = 0.4 * std::sin(1.0 + k * k);
  Kokkos::deep_copy(weights, host);
  const Evaluate<Net, Group> work{
      weights,
      Kokkos::View<double**, Kokkos::LayoutRight>("weights_bar", warp_threads, Net::num_weights),
      Kokkos::View<Results<Net>>("results")};
  on_warp(work);
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), work.results)();
}

template <class Net>
class Groups : public ::testing::Test {};
template <int In, int Hidden, int Out, class Activation = Tanh>
using NetOf =
    Chain<Dense<In, Hidden, Activation>, Dense<Hidden, Hidden, Activation>, Dense<Hidden, Out>>;
// Sizes that a group divides or not, in one tile of rows or several, with few terms or many.
using Nets = ::testing::Types<NetOf<2, 16, 2>, NetOf<3, 9, 5, Swish>, NetOf<1, 5, 1, Softplus>,
                              NetOf<2, 32, 2>, NetOf<4, 64, 4>, NetOf<7, 33, 3, Swish>>;
TYPED_TEST_SUITE(Groups, Nets);

TYPED_TEST(Groups, ComputeWhatAThreadDoes) {
  const auto alone = evaluate<TypeParam, void>(), together = evaluate<TypeParam, TestGroup>();
  auto expect_near = [](double x, double y, const char* what, int i) {
    EXPECT_NEAR(x, y, 1e-13 * (0.1 + std::abs(y))) << what << ' ' << i;
  };
  for (int i = 0; i < TypeParam::num_out; ++i) expect_near(together.y[i], alone.y[i], "y", i);
  for (int i = 0; i < TypeParam::num_in; ++i) {
    expect_near(together.tangent[i], alone.tangent[i], "tangent", i);
    expect_near(together.partial[i], alone.partial[i], "partial", i);
    expect_near(together.xbar[i], alone.xbar[i], "xbar", i);
  }
  for (int k = 0; k < TypeParam::num_weights; ++k)
    expect_near(together.weights_bar[k], alone.weights_bar[k], "weight", k);
}

}  // namespace
}  // namespace gradsolve::test
