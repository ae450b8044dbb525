// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

/// A pack advances W trajectories in one CPU thread with SIMD instructions. It behaves as a number:
/// a right-hand side that is a template on its scalar does not notice. Comparisons give a Mask,
/// which has no single truth value: `select(mask, a, b)` replaces `if`.
///
/// Built on the vector types of GCC and Clang, which the compiler lowers to whatever the target
/// has. A GPU never runs it: there a lane is a thread.
#define GRADSOLVE_HOST inline __attribute__((always_inline))

namespace gradsolve {

namespace detail {
template <class T>
using SameSizeInt = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
template <class T>
using SameSizeUnsigned = std::make_unsigned_t<SameSizeInt<T>>;
}  // namespace detail

/// W truth values.
template <class T, int W>
struct Mask {
  using Int = detail::SameSizeInt<T>;
  typedef Int Vector __attribute__((vector_size(W * sizeof(Int))));
  Vector v;  // a lane is 0 or -1

  Mask() = default;
  GRADSOLVE_HOST explicit Mask(Vector vector) : v(vector) {}
  GRADSOLVE_HOST Mask(bool b) : v(Vector{} - (b ? 1 : 0)) {}

  template <class Never = void>
  GRADSOLVE_HOST explicit operator bool() const {
    static_assert(!std::is_void_v<Never>,
                  "code that branches on its values cannot run on a pack of trajectories: use "
                  "gradsolve::select(condition, a, b), or declare "
                  "`static constexpr bool branches = true;` in the system");
    return false;
  }

  GRADSOLVE_HOST bool operator[](int lane) const { return v[lane] != 0; }
  GRADSOLVE_HOST void set(int lane, bool b) { v[lane] = b ? -1 : 0; }

  friend GRADSOLVE_HOST Mask operator&(Mask a, Mask b) { return Mask(a.v & b.v); }
  friend GRADSOLVE_HOST Mask operator|(Mask a, Mask b) { return Mask(a.v | b.v); }
  friend GRADSOLVE_HOST Mask operator!(Mask a) { return Mask(~a.v); }
  friend GRADSOLVE_HOST Mask operator&&(Mask a, Mask b) { return a & b; }
  friend GRADSOLVE_HOST Mask operator||(Mask a, Mask b) { return a | b; }
};

/// W numbers of type T (float, double, or an integer for counting).
template <class T, int W>
struct Pack {
  typedef T Vector __attribute__((vector_size(W * sizeof(T))));
  using M = Mask<T, W>;
  static constexpr int width = W;
  Vector v;

  Pack() = default;
  GRADSOLVE_HOST explicit Pack(Vector vector) : v(vector) {}
  template <class A>
    requires std::is_arithmetic_v<A>
  GRADSOLVE_HOST Pack(A a) : v(static_cast<T>(a) - Vector{}) {}  // "+" would turn -0 into 0

  GRADSOLVE_HOST T operator[](int lane) const { return v[lane]; }
  GRADSOLVE_HOST void set(int lane, T value) { v[lane] = value; }

  friend GRADSOLVE_HOST Pack operator-(Pack a) { return Pack(-a.v); }
  friend GRADSOLVE_HOST Pack operator+(Pack a) { return a; }
  friend GRADSOLVE_HOST Pack operator+(Pack a, Pack b) { return Pack(a.v + b.v); }
  friend GRADSOLVE_HOST Pack operator-(Pack a, Pack b) { return Pack(a.v - b.v); }
  friend GRADSOLVE_HOST Pack operator*(Pack a, Pack b) { return Pack(a.v * b.v); }
  friend GRADSOLVE_HOST Pack operator/(Pack a, Pack b) { return Pack(a.v / b.v); }
  GRADSOLVE_HOST Pack& operator+=(Pack b) { return *this = *this + b; }
  GRADSOLVE_HOST Pack& operator-=(Pack b) { return *this = *this - b; }
  GRADSOLVE_HOST Pack& operator*=(Pack b) { return *this = *this * b; }
  GRADSOLVE_HOST Pack& operator/=(Pack b) { return *this = *this / b; }

  friend GRADSOLVE_HOST M operator<(Pack a, Pack b) { return M(a.v < b.v); }
  friend GRADSOLVE_HOST M operator<=(Pack a, Pack b) { return M(a.v <= b.v); }
  friend GRADSOLVE_HOST M operator>(Pack a, Pack b) { return M(a.v > b.v); }
  friend GRADSOLVE_HOST M operator>=(Pack a, Pack b) { return M(a.v >= b.v); }
  friend GRADSOLVE_HOST M operator==(Pack a, Pack b) { return M(a.v == b.v); }
  friend GRADSOLVE_HOST M operator!=(Pack a, Pack b) { return M(a.v != b.v); }
};

namespace detail {

template <class T>
inline constexpr bool is_pack = false;
template <class T, int W>
inline constexpr bool is_pack<Pack<T, W>> = true;

/// The bit that holds the sign of a float or double.
template <class T>
inline constexpr SameSizeUnsigned<T> sign_bit = SameSizeUnsigned<T>(1) << (8 * sizeof(T) - 1);

/// The bits of a number as an unsigned integer, those of a pack as a vector of them, and back. The
/// operators of C++ are the same on both.
template <class T>
  requires std::is_floating_point_v<T>
GRADSOLVE_HOST SameSizeUnsigned<T> bits_of(T x) {
  return std::bit_cast<SameSizeUnsigned<T>>(x);
}
template <class T, int W>
GRADSOLVE_HOST auto bits_of(Pack<T, W> x) {
  return (typename Pack<SameSizeUnsigned<T>, W>::Vector)x.v;
}
template <class L, class Bits>
GRADSOLVE_HOST L from_bits(Bits bits) {
  if constexpr (is_pack<L>)
    return L((typename L::Vector)bits);
  else
    return std::bit_cast<L>(bits);
}

}  // namespace detail

}  // namespace gradsolve

#undef GRADSOLVE_HOST
