// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/observe/loss.hpp>
#include <gradsolve/system.hpp>

/// Right-hand sides and losses. They run on every number type of the library and on those of the
/// oracle (reference.hpp), long double and std::complex: constants are T(...).
namespace gradsolve::test {

/// The published benchmark: sigma = 10, beta = 8/3, the parameter is rho.
struct LorenzRho {
  static constexpr int num_states = 3, num_params = 1;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 3> operator()(const T&, const State<T, 3>& u,
                                                     const Params<T, 1>& p) const {
    return {T(10.0) * (u[1] - u[0]), p[0] * u[0] - u[1] - u[0] * u[2],
            u[0] * u[1] - T(8.0 / 3.0) * u[2]};
  }
};

/// p = (sigma, rho, beta)
struct Lorenz {
  static constexpr int num_states = 3, num_params = 3;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 3> operator()(const T&, const State<T, 3>& u,
                                                     const Params<T, 3>& p) const {
    return {p[0] * (u[1] - u[0]), u[0] * (p[1] - u[2]) - u[1], u[0] * u[1] - p[2] * u[2]};
  }
};

/// p = (a, b, c, d): x' = a x - b x y, y' = d x y - c y
struct LotkaVolterra {
  static constexpr int num_states = 2, num_params = 4;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 2> operator()(const T&, const State<T, 2>& u,
                                                     const Params<T, 4>& p) const {
    const T xy = u[0] * u[1];
    return {p[0] * u[0] - p[1] * xy, p[3] * xy - p[2] * u[1]};
  }
};

/// The same with its vector-Jacobian product written by hand.
struct LotkaVolterraByHand : LotkaVolterra {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION Cotangents<T, 2, 4> vjp(const T&, const State<T, 2>& u,
                                                      const Params<T, 4>& p,
                                                      const State<T, 2>& w) const {
    const T xy = u[0] * u[1];
    return {{w[0] * (p[0] - p[1] * u[1]) + w[1] * p[3] * u[1],
             w[1] * (p[3] * u[0] - p[2]) - w[0] * p[1] * u[0]},
            {w[0] * u[0], -w[0] * xy, -w[1] * u[1], w[1] * xy},
            T(0)};
  }
};

/// The same with its Jacobian written by hand.
struct LotkaVolterraJacobian : LotkaVolterra {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION Matrix<T, 2> jacobian(const T&, const State<T, 2>& u,
                                                    const Params<T, 4>& p) const {
    Matrix<T, 2> m;
    m[0] = {p[0] - p[1] * u[1], -p[1] * u[0]};
    m[1] = {p[3] * u[1], p[3] * u[0] - p[2]};
    return m;
  }
};

/// p = (mu)
struct VanDerPol {
  static constexpr int num_states = 2, num_params = 1;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 2> operator()(const T&, const State<T, 2>& u,
                                                     const Params<T, 1>& p) const {
    return {u[1], p[0] * (T(1) - u[0] * u[0]) * u[1] - u[0]};
  }
};

/// y' = -p y
struct Decay {
  static constexpr int num_states = 1, num_params = 1;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 1> operator()(const T&, const State<T, 1>& u,
                                                     const Params<T, 1>& p) const {
    return {-p[0] * u[0]};
  }
};

/// u' = A u, p = (a00, a01, a10, a11)
struct Linear {
  static constexpr int num_states = 2, num_params = 4;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 2> operator()(const T&, const State<T, 2>& u,
                                                     const Params<T, 4>& p) const {
    return {p[0] * u[0] + p[1] * u[1], p[2] * u[0] + p[3] * u[1]};
  }
};

/// A pendulum that is pushed: x' = v, v' = -p0 sin x + p1 cos 2t. Depends on time.
struct DrivenPendulum {
  static constexpr int num_states = 2, num_params = 2;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 2> operator()(const T& t, const State<T, 2>& u,
                                                     const Params<T, 2>& p) const {
    using gradsolve::cos, gradsolve::sin;
    return {u[1], p[1] * cos(T(2) * t) - p[0] * sin(u[0])};
  }
};

/// y' = -p (y - cos t): stiff for large p.
struct Relaxation {
  static constexpr int num_states = 1, num_params = 1;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 1> operator()(const T& t, const State<T, 1>& u,
                                                     const Params<T, 1>& p) const {
    using gradsolve::cos;
    return {-p[0] * (u[0] - cos(t))};
  }
};

/// y' = p sqrt(t), not a number before t = 0.
struct SquareRootOfTime {
  static constexpr int num_states = 1, num_params = 1;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 1> operator()(const T& t, const State<T, 1>&,
                                                     const Params<T, 1>& p) const {
    using gradsolve::sqrt;
    return {p[0] * sqrt(t)};
  }
};

/// x' = v, v' = -x. No parameters.
struct Oscillator {
  static constexpr int num_states = 2, num_params = 0;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 2> operator()(const T&, const State<T, 2>& u,
                                                     const Params<T, 0>&) const {
    return {u[1], -u[0]};
  }
};

/// y0' = p, y1' = -y1
struct ConstantAndDecay {
  static constexpr int num_states = 2, num_params = 1;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 2> operator()(const T&, const State<T, 2>& u,
                                                     const Params<T, 1>& p) const {
    return {p[0], -u[1]};
  }
};

/// y' = y^2: blows up at t = 1 / y0.
struct BlowUp {
  static constexpr int num_states = 1, num_params = 0;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 1> operator()(const T&, const State<T, 1>& u,
                                                     const Params<T, 0>&) const {
    return {u[0] * u[0]};
  }
};

/// y' = -p (y + max(y - 1, 0)^2), by an `if`. Its derivative is continuous.
struct Branching {
  static constexpr int num_states = 1, num_params = 1;
  static constexpr bool branches = true;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, 1> operator()(const T&, const State<T, 1>& u,
                                                     const Params<T, 1>& p) const {
    if (u[0] > T(1)) return {-p[0] * (u[0] + (u[0] - T(1)) * (u[0] - T(1)))};
    return {-p[0] * u[0]};
  }
};

/// A ring of N cells, y_i' = a (y_{i-1} - 2 y_i + y_{i+1}) - y_i^3 + b, p = (a, b).
template <int N>
struct Ring {
  static constexpr int num_states = N, num_params = 2;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION State<T, N> operator()(const T&, const State<T, N>& u,
                                                     const Params<T, 2>& p) const {
    State<T, N> r;
    static_for<N>([&](auto i) GRADSOLVE_INLINE_LAMBDA {
      constexpr int here = i, left = (here + N - 1) % N, right = (here + 1) % N;
      r[here] = p[0] * (u[left] - T(2) * u[here] + u[right]) - u[here] * u[here] * u[here] + p[1];
    });
    return r;
  }
};

/// The sum of squares of the state.
struct SquaredNorm {
  template <class T, int N>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const State<T, N>& u) const {
    T sum(0);
    static_for<N>([&](auto i) GRADSOLVE_INLINE_LAMBDA { sum = sum + u[i] * u[i]; });
    return sum;
  }
};

/// A loss at save times that depends on all it can: t, u, p and which save it is.
struct WeightedSaves {
  template <class T, int N, int P>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const T& t, const State<T, N>& u, const Params<T, P>& p,
                                           SaveIndex at) const {
    T sum = T(0.5) * t * u[0];
    static_for<N>([&](auto i) GRADSOLVE_INLINE_LAMBDA { sum = sum + u[i] * u[i]; });
    if constexpr (P > 0) sum = sum + p[0] * u[N - 1] * t;
    return T(1.0 + at.save) * sum;
  }
};

/// The sum of the states at all saves.
struct SumOfStates {
  template <class T, int N, int P>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const T&, const State<T, N>& u, const Params<T, P>&,
                                           SaveIndex) const {
    T sum(0);
    static_for<N>([&](auto i) GRADSOLVE_INLINE_LAMBDA { sum = sum + u[i]; });
    return sum;
  }
};

/// u[0]
struct FirstState {
  template <class T, int N>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const State<T, N>& u) const {
    return u[0];
  }
};

}  // namespace gradsolve::test
