// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/ad/math.hpp>
#include <gradsolve/ad/vector.hpp>

namespace gradsolve {

/// A value and its derivatives in K directions (forward mode).
template <class T_, int K = 1>
struct Dual {
  using T = T_;
  T value;
  Vector<T, K> tangent;

  Dual() = default;
  /// A constant.
  template <class A>
    requires std::is_convertible_v<A, T>
  KOKKOS_FORCEINLINE_FUNCTION Dual(const A& constant)
      : value(constant), tangent(detail::filled<K>(T(0))) {}
  KOKKOS_FORCEINLINE_FUNCTION Dual(const T& v, const Vector<T, K>& d) : value(v), tangent(d) {}
};

/// A value and its derivatives with respect to K variables, of which it knows those that are zero
/// by structure. After inlining, `depends` is known to the compiler for straight-line code: what
/// remains is the arithmetic of the nonzero entries of a sparse Jacobian, with the constants 1 and
/// -1 folded away, in registers. Code that branches on values is right too, and decides at run
/// time.
template <class T_, int K>
struct SparseDual {
  using T = T_;
  T value;
  T partial[K];  // where depends
  bool depends[K];

  SparseDual() = default;
  /// A constant.
  template <class A>
    requires std::is_convertible_v<A, T>
  KOKKOS_FORCEINLINE_FUNCTION SparseDual(const A& constant) : value(constant) {
    static_for<K>([&](auto k) GRADSOLVE_INLINE_LAMBDA { depends[k] = false; });
  }
  /// Variable number k; a constant if k is not in [0, K).
  static KOKKOS_FORCEINLINE_FUNCTION SparseDual variable(const T& value, int k) {
    SparseDual x(value);
    static_for<K>([&](auto i) GRADSOLVE_INLINE_LAMBDA {
      x.depends[i] = i == k;
      x.partial[i] = T(1);
    });
    return x;
  }
};

namespace detail {

template <class D>
inline constexpr bool is_dual = false;
template <class T, int K>
inline constexpr bool is_dual<Dual<T, K>> = true;
template <class T, int K>
inline constexpr bool is_dual<SparseDual<T, K>> = true;

// The chain rule, for a function of one and of two arguments.
template <class T, int K>
KOKKOS_FORCEINLINE_FUNCTION Dual<T, K> chain(const T& value, const T& dx, const Dual<T, K>& x) {
  Dual<T, K> r;
  r.value = value;
  static_for<K>([&](auto k) GRADSOLVE_INLINE_LAMBDA { r.tangent[k] = dx * x.tangent[k]; });
  return r;
}
template <class T, int K>
KOKKOS_FORCEINLINE_FUNCTION Dual<T, K> chain(const T& value, const T& dx, const Dual<T, K>& x,
                                             const T& dy, const Dual<T, K>& y) {
  Dual<T, K> r;
  r.value = value;
  static_for<K>([&](auto k) GRADSOLVE_INLINE_LAMBDA {
    r.tangent[k] = dx * x.tangent[k] + dy * y.tangent[k];
  });
  return r;
}
template <class T, int K>
KOKKOS_FORCEINLINE_FUNCTION SparseDual<T, K> chain(const T& value, const T& dx,
                                                   const SparseDual<T, K>& x) {
  SparseDual<T, K> r;
  r.value = value;
  static_for<K>([&](auto k) GRADSOLVE_INLINE_LAMBDA {
    r.depends[k] = x.depends[k];
    if (x.depends[k]) r.partial[k] = dx * x.partial[k];
  });
  return r;
}
template <class T, int K>
KOKKOS_FORCEINLINE_FUNCTION SparseDual<T, K> chain(const T& value, const T& dx,
                                                   const SparseDual<T, K>& x, const T& dy,
                                                   const SparseDual<T, K>& y) {
  SparseDual<T, K> r;
  r.value = value;
  static_for<K>([&](auto k) GRADSOLVE_INLINE_LAMBDA {
    r.depends[k] = x.depends[k] || y.depends[k];
    if (x.depends[k] && y.depends[k])
      r.partial[k] = dx * x.partial[k] + dy * y.partial[k];
    else if (x.depends[k])
      r.partial[k] = dx * x.partial[k];
    else if (y.depends[k])
      r.partial[k] = dy * y.partial[k];
  });
  return r;
}

/// Whether a number and all its derivatives are 0.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION auto vanishes(const T& x) {
  return x == T(0);
}
template <class T, int K>
KOKKOS_FORCEINLINE_FUNCTION auto vanishes(const SparseDual<T, K>& x);
template <class T, int K>
KOKKOS_FORCEINLINE_FUNCTION auto vanishes(const Dual<T, K>& x) {
  auto zero = vanishes(x.value);
  static_for<K>([&](auto k) GRADSOLVE_INLINE_LAMBDA { zero = zero && vanishes(x.tangent[k]); });
  return zero;
}
template <class T, int K>
KOKKOS_FORCEINLINE_FUNCTION auto vanishes(const SparseDual<T, K>& x) {
  auto zero = vanishes(x.value);
  static_for<K>([&](auto k) GRADSOLVE_INLINE_LAMBDA {
    if (x.depends[k]) zero = zero && vanishes(x.partial[k]);
  });
  return zero;
}
/// The chain rule where dx may be infinite or NaN: where x does not move, neither does the result,
/// as sqrt(t) at t = 0 in the derivative with respect to a parameter.
template <class T, int K>
KOKKOS_FORCEINLINE_FUNCTION Dual<T, K> chain_where_moving(const T& value, const T& dx,
                                                          const Dual<T, K>& x) {
  Dual<T, K> r;
  r.value = value;
  static_for<K>([&](auto k) GRADSOLVE_INLINE_LAMBDA {
    r.tangent[k] = select(vanishes(x.tangent[k]), T(0), T(dx * x.tangent[k]));
  });
  return r;
}
template <class T, int K>
KOKKOS_FORCEINLINE_FUNCTION SparseDual<T, K> chain_where_moving(const T& value, const T& dx,
                                                                const SparseDual<T, K>& x) {
  SparseDual<T, K> r;
  r.value = value;
  static_for<K>([&](auto k) GRADSOLVE_INLINE_LAMBDA {
    r.depends[k] = x.depends[k];
    if (x.depends[k]) r.partial[k] = select(vanishes(x.partial[k]), T(0), T(dx * x.partial[k]));
  });
  return r;
}

template <class D>
concept AnyDual = is_dual<D>;
/// A constant beside a dual.
template <class A, class D>
concept ConstantFor = !is_dual<A> && std::is_convertible_v<A, typename D::T>;

}  // namespace detail

template <detail::AnyDual D>
KOKKOS_FORCEINLINE_FUNCTION D operator+(const D& x) {
  return x;
}
template <detail::AnyDual D>
KOKKOS_FORCEINLINE_FUNCTION D operator-(const D& x) {
  return detail::chain(-x.value, typename D::T(-1), x);
}

// z = x OP y of two duals, of a dual and a constant, of a constant and a dual.
#define GRADSOLVE_BINARY(OP, DX, DY)                                   \
  template <detail::AnyDual D>                                         \
  KOKKOS_FORCEINLINE_FUNCTION D operator OP(const D& a, const D& b) {  \
    using T = typename D::T;                                           \
    [[maybe_unused]] const T x = a.value, y = b.value;                 \
    const T z = x OP y;                                                \
    return detail::chain(z, T(DX), a, T(DY), b);                       \
  }                                                                    \
  template <detail::AnyDual D, detail::ConstantFor<D> A>               \
  KOKKOS_FORCEINLINE_FUNCTION D operator OP(const D& a, const A& b) {  \
    using T = typename D::T;                                           \
    [[maybe_unused]] const T x = a.value, y = T(b);                    \
    const T z = x OP y;                                                \
    return detail::chain(z, T(DX), a);                                 \
  }                                                                    \
  template <detail::AnyDual D, detail::ConstantFor<D> A>               \
  KOKKOS_FORCEINLINE_FUNCTION D operator OP(const A& a, const D& b) {  \
    using T = typename D::T;                                           \
    [[maybe_unused]] const T x = T(a), y = b.value;                    \
    const T z = x OP y;                                                \
    return detail::chain(z, T(DY), b);                                 \
  }                                                                    \
  template <detail::AnyDual D, class A>                                \
  KOKKOS_FORCEINLINE_FUNCTION D& operator OP## = (D & a, const A& b) { \
    return a = a OP b;                                                 \
  }
GRADSOLVE_BINARY(+, 1, 1)
GRADSOLVE_BINARY(-, 1, -1)
GRADSOLVE_BINARY(*, y, x)
GRADSOLVE_BINARY(/, T(1) / y, -z / y)
#undef GRADSOLVE_BINARY

#define GRADSOLVE_COMPARE(OP)                                            \
  template <detail::AnyDual D>                                           \
  KOKKOS_FORCEINLINE_FUNCTION auto operator OP(const D& x, const D& y) { \
    return x.value OP y.value;                                           \
  }                                                                      \
  template <detail::AnyDual D, detail::ConstantFor<D> A>                 \
  KOKKOS_FORCEINLINE_FUNCTION auto operator OP(const D& x, const A& a) { \
    return x.value OP typename D::T(a);                                  \
  }                                                                      \
  template <detail::AnyDual D, detail::ConstantFor<D> A>                 \
  KOKKOS_FORCEINLINE_FUNCTION auto operator OP(const A& a, const D& x) { \
    return typename D::T(a) OP x.value;                                  \
  }
GRADSOLVE_COMPARE(<)
GRADSOLVE_COMPARE(<=)
GRADSOLVE_COMPARE(>)
GRADSOLVE_COMPARE(>=)
GRADSOLVE_COMPARE(==)
GRADSOLVE_COMPARE(!=)
#undef GRADSOLVE_COMPARE

/// The value and the derivatives of the branch that was chosen. Those of the other do not matter,
/// infinite or not: `select(x > 0, log(x), 0)` is safe.
template <class C, class T, int K>
KOKKOS_FORCEINLINE_FUNCTION Dual<T, K> select(const C& condition, const Dual<T, K>& x,
                                              const std::type_identity_t<Dual<T, K>>& y) {
  Dual<T, K> r;
  r.value = select(condition, x.value, y.value);
  static_for<K>([&](auto k) GRADSOLVE_INLINE_LAMBDA {
    r.tangent[k] = select(condition, x.tangent[k], y.tangent[k]);
  });
  return r;
}
template <class C, class T, int K>
KOKKOS_FORCEINLINE_FUNCTION SparseDual<T, K> select(
    const C& condition, const SparseDual<T, K>& x,
    const std::type_identity_t<SparseDual<T, K>>& y) {
  SparseDual<T, K> r;
  r.value = select(condition, x.value, y.value);
  static_for<K>([&](auto k) GRADSOLVE_INLINE_LAMBDA {
    r.depends[k] = x.depends[k] || y.depends[k];
    if (x.depends[k] && y.depends[k])
      r.partial[k] = select(condition, x.partial[k], y.partial[k]);
    else if (x.depends[k])
      r.partial[k] = select(condition, x.partial[k], T(0));
    else if (y.depends[k])
      r.partial[k] = select(condition, T(0), y.partial[k]);
  });
  return r;
}
template <class C, detail::AnyDual D, detail::ConstantFor<D> A>
KOKKOS_FORCEINLINE_FUNCTION D select(const C& condition, const A& x, const D& y) {
  return select(condition, D(x), y);
}

#define GRADSOLVE_DUAL(NAME, SLOPE)                           \
  template <detail::AnyDual D>                                \
  KOKKOS_FORCEINLINE_FUNCTION D NAME(const D& argument) {     \
    using T = typename D::T;                                  \
    [[maybe_unused]] const T x = argument.value;              \
    const T y = NAME(x);                                      \
    return detail::chain_where_moving(y, T(SLOPE), argument); \
  }
GRADSOLVE_FOR_EACH_FUNCTION(GRADSOLVE_DUAL)
#undef GRADSOLVE_DUAL

template <detail::AnyDual D>
KOKKOS_FORCEINLINE_FUNCTION D abs(const D& x) {
  using T = typename D::T;
  return detail::chain(abs(x.value), select(x.value < T(0), T(-1), T(1)), x);
}

namespace detail {
// The derivatives of z = x^y to x and to y: 0 where x and y, or z, are 0, not zero times infinity.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T pow_slope_of_base(const T& x, const T& y) {
  const auto origin = x == T(0) && y == T(0);
  return select(origin, T(0), T(y * pow(select(origin, T(1), x), y - T(1))));
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T pow_slope_of_exponent(const T& x, const T& z) {
  const auto zero = z == T(0);
  return select(zero, T(0), T(z * log(select(zero, T(1), x))));
}
}  // namespace detail

/// x to a constant power, a constant to the power y, and x to the power y.
template <detail::AnyDual D, detail::ConstantFor<D> A>
KOKKOS_FORCEINLINE_FUNCTION D pow(const D& x, const A& a) {
  using T = typename D::T;
  if constexpr (std::is_arithmetic_v<A>) {
    // The exponent stays a plain number: as a dual it would ask for the logarithm of x.
    const T slope = a == A(0) ? T(0) : T(T(a) * pow(x.value, a - A(1)));
    return detail::chain_where_moving(T(pow(x.value, a)), slope, x);
  } else {
    return detail::chain_where_moving(T(pow(x.value, T(a))),
                                      detail::pow_slope_of_base(x.value, T(a)), x);
  }
}
template <detail::AnyDual D, detail::ConstantFor<D> A>
KOKKOS_FORCEINLINE_FUNCTION D pow(const A& a, const D& y) {
  using T = typename D::T;
  const T z = pow(T(a), y.value);
  return detail::chain_where_moving(z, detail::pow_slope_of_exponent(T(a), z), y);
}
/// An exponent that is a constant of type D asks for no logarithm of x, which may be negative.
template <detail::AnyDual D>
KOKKOS_FORCEINLINE_FUNCTION D pow(const D& x, const D& y) {
  using T = typename D::T;
  const T z = pow(x.value, y.value);
  return detail::chain_where_moving(z, detail::pow_slope_of_base(x.value, y.value), x) +
         detail::chain_where_moving(T(0), detail::pow_slope_of_exponent(x.value, z), y);
}

namespace detail {

template <class A, class B>
concept JoinableToDual = AnyDual<Joined<A, B>>;

/// x / r, and 0 where r is 0.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T ratio(const T& x, const T& r) {
  const auto zero = r == T(0);
  return select(zero, T(0), T(x / select(zero, T(1), r)));
}

}  // namespace detail

// The derivative of a length r is x / r, and that of the angle (x dy - y dx) / r^2: from r, which
// neither overflows nor vanishes where r^2 would. Both are taken as 0 at the origin.
template <class A, class B>
  requires detail::JoinableToDual<A, B>
KOKKOS_FORCEINLINE_FUNCTION detail::Joined<A, B> hypot(const A& a, const B& b) {
  using D = detail::Joined<A, B>;
  using T = typename D::T;
  const D x(a), y(b);
  const T r = hypot(x.value, y.value);
  return detail::chain(r, detail::ratio(x.value, r), x, detail::ratio(y.value, r), y);
}
template <class A, class B, class C>
  requires detail::JoinableToDual<detail::Joined<A, B>, C>
KOKKOS_FORCEINLINE_FUNCTION detail::Joined<detail::Joined<A, B>, C> hypot(const A& a, const B& b,
                                                                          const C& c) {
  using D = detail::Joined<detail::Joined<A, B>, C>;
  using T = typename D::T;
  const D x(a), y(b), z(c);
  const T r = hypot(x.value, y.value, z.value);
  return detail::chain(r, detail::ratio(x.value, r), x, detail::ratio(y.value, r), y) +
         detail::chain(T(0), detail::ratio(z.value, r), z);
}
template <class A, class B>
  requires detail::JoinableToDual<A, B>
KOKKOS_FORCEINLINE_FUNCTION detail::Joined<A, B> atan2(const A& a, const B& b) {
  using D = detail::Joined<A, B>;
  using T = typename D::T;
  const D y(a), x(b);
  const T r = hypot(x.value, y.value);
  const T along_y = detail::ratio(detail::ratio(x.value, r), r);
  const T along_x = -detail::ratio(detail::ratio(y.value, r), r);
  return detail::chain(T(atan2(y.value, x.value)), along_y, y, along_x, x);
}

}  // namespace gradsolve
