// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ad/lane_dual.hpp>
#include <gradsolve/lanes/warp.hpp>
#include <gradsolve/system.hpp>

/// A trajectory on a group of threads of a GPU, for right-hand sides of blocks (blocks/chain.hpp).
/// All threads of the group do all of the step, alike, but share the work of a layer: each computes
/// some of its units and learns the others from its neighbours. Small ensembles then fill the
/// machine, and a layer's numbers are so few to a thread that they stay in registers.
namespace gradsolve {

/// A number (a scalar, or a Dual of one) that all threads of a group hold: what a right-hand side
/// is called with, so that blocks know of the group.
template <class T_, class Group_>
struct Replicated {
  using T = T_;
  using Group = Group_;
  T value;

  Replicated() = default;
  KOKKOS_FORCEINLINE_FUNCTION Replicated(const T& x) : value(x) {}
  template <class A>
    requires(std::is_arithmetic_v<A> && !std::is_same_v<A, T>)
  KOKKOS_FORCEINLINE_FUNCTION Replicated(A a) : value(static_cast<detail::BaseScalar<T>>(a)) {}

#define GRADSOLVE_OPERATOR(OP, ASSIGN)                                             \
  friend KOKKOS_FORCEINLINE_FUNCTION Replicated operator OP(const Replicated& a,   \
                                                            const Replicated& b) { \
    return Replicated(T(a.value OP b.value));                                      \
  }                                                                                \
  KOKKOS_FORCEINLINE_FUNCTION Replicated& operator ASSIGN(const Replicated& b) {   \
    return *this = *this OP b;                                                     \
  }
  GRADSOLVE_OPERATOR(+, +=)
  GRADSOLVE_OPERATOR(-, -=)
  GRADSOLVE_OPERATOR(*, *=)
  GRADSOLVE_OPERATOR(/, /=)
#undef GRADSOLVE_OPERATOR
  friend KOKKOS_FORCEINLINE_FUNCTION Replicated operator-(const Replicated& a) {
    return Replicated(T(-a.value));
  }
  friend KOKKOS_FORCEINLINE_FUNCTION Replicated operator+(const Replicated& a) { return a; }

#define GRADSOLVE_COMPARE(OP)                                                                     \
  friend KOKKOS_FORCEINLINE_FUNCTION bool operator OP(const Replicated& a, const Replicated& b) { \
    return a.value OP b.value;                                                                    \
  }
  GRADSOLVE_COMPARE(<)
  GRADSOLVE_COMPARE(<=)
  GRADSOLVE_COMPARE(>)
  GRADSOLVE_COMPARE(>=)
  GRADSOLVE_COMPARE(==)
  GRADSOLVE_COMPARE(!=)
#undef GRADSOLVE_COMPARE
};

namespace detail {

template <class T>
inline constexpr bool is_replicated = false;
template <class T, class Group>
inline constexpr bool is_replicated<Replicated<T, Group>> = true;

template <class T, class Group>
struct LaneBeneath<Replicated<T, Group>> : LaneBeneath<T> {};

/// The number that T replicates, or T itself, and its value.
template <class T>
struct WithoutGroup {
  using Type = T;
};
template <class T, class Group>
struct WithoutGroup<Replicated<T, Group>> {
  using Type = T;
};
template <class T>
using PlainT = typename WithoutGroup<T>::Type;

template <class T>
KOKKOS_FORCEINLINE_FUNCTION const PlainT<T>& plain(const T& x) {
  if constexpr (is_replicated<T>)
    return x.value;
  else
    return x;
}
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION Vector<PlainT<T>, N> plain(const Vector<T, N>& x) {
  Vector<PlainT<T>, N> y;
  if constexpr (N > 0)
    for_each_index<N>([&](int i) GRADSOLVE_INLINE_LAMBDA { y[i] = plain(x[i]); });
  return y;
}

/// Calls f(pick), where pick(x) is one of the plain numbers that x consists of, for all of them.
template <class T, class F>
KOKKOS_FORCEINLINE_FUNCTION void for_each_part(const T&, F&& f) {
  static_for<num_parts<T>>([&](auto k) GRADSOLVE_INLINE_LAMBDA {
    f([&](auto& x) GRADSOLVE_INLINE_LAMBDA -> auto& { return part(x, k); });
  });
}
template <class T, int K, class F>
KOKKOS_FORCEINLINE_FUNCTION void for_each_part(const SparseDual<T, K>&, F&& f) {
  f([](auto& x) GRADSOLVE_INLINE_LAMBDA -> auto& { return x.value; });
  static_for<K>([&](auto k) GRADSOLVE_INLINE_LAMBDA {
    f([&](auto& x) GRADSOLVE_INLINE_LAMBDA -> auto& { return x.partial[k]; });
    f([&](auto& x) GRADSOLVE_INLINE_LAMBDA -> auto& { return x.depends[k]; });
  });
}
/// move(numbers of `from`, numbers of `to`), part by part.
template <class T, int N, int M, class Move>
KOKKOS_FORCEINLINE_FUNCTION void move_parts(const Vector<T, N>& from, Vector<T, M>& to,
                                            Move&& move) {
  for_each_part(from[0], [&](auto&& pick) GRADSOLVE_INLINE_LAMBDA {
    using S = std::decay_t<decltype(pick(from[0]))>;
    S sent[N], received[M];
    static_for<N>([&](auto i) GRADSOLVE_INLINE_LAMBDA { sent[i] = pick(from[i]); });
    move(sent, received);
    static_for<M>([&](auto i) GRADSOLVE_INLINE_LAMBDA { pick(to[i]) = received[i]; });
  });
}
/// all[rank Count + i] = own[i] of the group's thread of that rank.
template <class Group, class T, int Count>
KOKKOS_FORCEINLINE_FUNCTION void gather(const Vector<T, Count>& own,
                                        Vector<T, Group::size * Count>& all) {
  move_parts(own, all, [](const auto& x, auto& y) GRADSOLVE_INLINE_LAMBDA {
    Group::template gather<Count>(x, y);
  });
}
/// own[i] = the sum over the group's threads of all[own rank Count + i].
template <class Group, int Count, class T>
KOKKOS_FORCEINLINE_FUNCTION Vector<T, Count> sum_of_own(const Vector<T, Group::size * Count>& all) {
  Vector<T, Group::size * Count> parts;
  move_parts(all, parts, [](const auto& x, auto& y) GRADSOLVE_INLINE_LAMBDA {
    Group::template scatter<Count>(x, y);
  });
  Vector<T, Count> own;
  static_for<Count>([&](auto i) GRADSOLVE_INLINE_LAMBDA {
    own[i] = parts[i];
    static_for<Group::size - 1>([&](auto rank) GRADSOLVE_INLINE_LAMBDA {
      own[i] = own[i] + parts[(rank + 1) * Count + i];
    });
  });
  return own;
}
/// The sum over the group's threads.
template <class Group, class T, int Count>
KOKKOS_FORCEINLINE_FUNCTION Vector<T, Count> sum_of_all(const Vector<T, Count>& x) {
  Vector<T, Group::size * Count> parts;
  gather<Group>(x, parts);
  Vector<T, Count> sum;
  static_for<Count>([&](auto i) GRADSOLVE_INLINE_LAMBDA {
    sum[i] = parts[i];
    static_for<Group::size - 1>([&](auto rank) GRADSOLVE_INLINE_LAMBDA {
      sum[i] = sum[i] + parts[(rank + 1) * Count + i];
    });
  });
  return sum;
}
/// Vectors that a group's thread has in registers: those it makes in one go (nvcc 13.0 would find
/// wrong components of a longer one).
template <class Group, int N>
inline constexpr bool in_registers_v = N <= 4 * Group::size;

/// Where the components of a thread begin, of N that are shared in parts of Count: the last parts
/// overlap those before, where N is no multiple.
template <int N, int Count>
KOKKOS_FORCEINLINE_FUNCTION constexpr int begin_of_part(int rank) {
  return rank * Count < N - Count ? rank * Count : N - Count;
}
/// The Count components of x from there on; 0 for one that an earlier thread has, too.
template <class Group, int Count, class T, int N>
KOKKOS_FORCEINLINE_FUNCTION Vector<T, Count> own_part(const Vector<Replicated<T, Group>, N>& x) {
  Vector<T, Count> own;
  const int this_rank = Group::rank();
  if constexpr (in_registers_v<Group, N>) {  // which have no addresses
    static_for<Count>([&](auto i) GRADSOLVE_INLINE_LAMBDA {
      own[i] = x[i].value;
      static_for<Group::size - 1>([&](auto before) GRADSOLVE_INLINE_LAMBDA {
        constexpr int rank = before + 1, place = begin_of_part<N, Count>(rank) + i;
        if constexpr (place >= rank * Count)
          own[i] = select(this_rank == rank, x[place].value, own[i]);
        else
          own[i] = select(this_rank == rank, T(0), own[i]);
      });
    });
  } else {
    const int begin = begin_of_part<N, Count>(this_rank);
    for (int i = 0; i < Count; ++i)
      own[i] = begin + i < this_rank * Count ? T(0) : x[begin + i].value;
  }
  return own;
}

template <class A, class B>
concept JoinableToReplicated = is_replicated<Joined<A, B>>;

}  // namespace detail

template <class T, class Group>
KOKKOS_FORCEINLINE_FUNCTION Replicated<T, Group> select(
    bool condition, const Replicated<T, Group>& a,
    const std::type_identity_t<Replicated<T, Group>>& b) {
  return Replicated<T, Group>(T(select(condition, a.value, b.value)));
}
template <class A, class T, class Group>
  requires std::is_arithmetic_v<A>
KOKKOS_FORCEINLINE_FUNCTION Replicated<T, Group> select(bool condition, const A& a,
                                                        const Replicated<T, Group>& b) {
  return select(condition, Replicated<T, Group>(a), b);
}

#define GRADSOLVE_OF_ONE(NAME, SLOPE)                                                    \
  template <class T, class Group>                                                        \
  KOKKOS_FORCEINLINE_FUNCTION Replicated<T, Group> NAME(const Replicated<T, Group>& x) { \
    return Replicated<T, Group>(T(NAME(x.value)));                                       \
  }
GRADSOLVE_FOR_EACH_FUNCTION(GRADSOLVE_OF_ONE)
GRADSOLVE_OF_ONE(abs, )
#undef GRADSOLVE_OF_ONE

#define GRADSOLVE_OF_TWO(NAME)                                                    \
  template <class A, class B>                                                     \
    requires detail::JoinableToReplicated<A, B>                                   \
  KOKKOS_FORCEINLINE_FUNCTION detail::Joined<A, B> NAME(const A& a, const B& b) { \
    return detail::Joined<A, B>(NAME(detail::plain(a), detail::plain(b)));        \
  }
GRADSOLVE_OF_TWO(pow)
GRADSOLVE_OF_TWO(atan2)
GRADSOLVE_OF_TWO(hypot)
#undef GRADSOLVE_OF_TWO
template <class A, class B, class C>
  requires detail::JoinableToReplicated<detail::Joined<A, B>, C>
KOKKOS_FORCEINLINE_FUNCTION detail::Joined<detail::Joined<A, B>, C> hypot(const A& a, const B& b,
                                                                          const C& c) {
  return hypot(detail::plain(a), detail::plain(b), detail::plain(c));
}

namespace detail {

/// A system F as the kernels see it that give a group of threads to a trajectory. They know nothing
/// of it: their numbers are plain ones, and F's are Replicated.
template <class F, class Group_>
struct OnGroup : F {
  using Group = Group_;
  static constexpr int N = F::num_states, P = F::num_params;

  template <class T, int Size>
  static KOKKOS_FORCEINLINE_FUNCTION Vector<Replicated<T, Group>, Size> replicated(
      const Vector<T, Size>& x) {
    Vector<Replicated<T, Group>, Size> y;
    if constexpr (Size > 0)
      for_each_index<Size>([&](int i) GRADSOLVE_INLINE_LAMBDA { y[i].value = x[i]; });
    return y;
  }

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, N> operator()(const T& t, const State<T, N>& u,
                                                     const Params<T, P>& p) const {
    return plain(State<Replicated<T, Group>, N>(
        F::operator()(Replicated<T, Group>(t), replicated(u), replicated(p))));
  }

  template <class T>
    requires HasVjp<F, T>
  KOKKOS_FORCEINLINE_FUNCTION Cotangents<T, N, P> vjp(const T& t, const State<T, N>& u,
                                                      const Params<T, P>& p,
                                                      const State<T, N>& w) const {
    return F::vjp(t, u, p, w);
  }
  template <class T, class Sums>
  KOKKOS_FORCEINLINE_FUNCTION Cotangents<T, N, P> vjp(const T& t, const State<T, N>& u,
                                                      const Params<T, P>& p, const State<T, N>& w,
                                                      const Sums& weights_bar) const {
    const Cotangents<Replicated<T, Group>, N, P> bar =
        F::vjp(Replicated<T, Group>(t), replicated(u), replicated(p), replicated(w), weights_bar);
    return {plain(bar.u), plain(bar.p), bar.t.value};
  }
};

/// Threads of a group of a system's, and the number of this thread in it; else 1 and 0.
template <class F>
inline constexpr int group_threads_v = [] {
  if constexpr (requires { typename F::Group; })
    return F::Group::size;
  else
    return 1;
}();

}  // namespace detail
}  // namespace gradsolve
