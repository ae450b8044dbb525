// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/system.hpp>

#include <cmath>
#include <complex>
#include <vector>

#if defined(__CUDACC__)
// The oracle calls right-hand sides on the host, with numbers that no GPU has.
#pragma nv_diag_suppress 20011, 20013, 20014, 20015, 20208
#endif

/// The oracle: Runge-Kutta on the host, one trajectory, in any number type, from the numbers of the
/// tableau alone. It shares no code with the library's sweeps.
namespace gradsolve::test::reference {

using Real = long double;
using Complex = std::complex<long double>;

template <class F, class T>
using StateFor = State<T, F::num_states>;
template <class F, class T>
using ParamsFor = Params<T, F::num_params>;

/// Converts element by element.
template <class To, class From, int N>
Vector<To, N> convert(const Vector<From, N>& x) {
  Vector<To, N> y;
  if constexpr (N > 0)
    for (int i = 0; i < N; ++i) y[i] = To(x[i]);
  return y;
}

/// All stages of method M and the state at the end of the step.
template <class M, class F, class T>
struct Step {
  StateFor<F, T> k[M::num_stages];
  StateFor<F, T> u_new;

  Step(const F& f, const T& t, const T& h, const StateFor<F, T>& u, const ParamsFor<F, T>& p) {
    for (int i = 0; i < M::num_stages; ++i) {
      StateFor<F, T> y = u;
      for (int j = 0; j < i; ++j)
        if (M::a[i][j] != 0)
          for (int n = 0; n < F::num_states; ++n) y[n] += h * T(M::a[i][j]) * k[j][n];
      k[i] = f(t + T(M::c[i]) * h, y, p);
    }
    u_new = u;
    for (int i = 0; i < M::num_solution_stages; ++i)
      for (int n = 0; n < F::num_states; ++n) u_new[n] += h * T(M::b[i]) * k[i][n];
  }
};

/// The state after the steps that end at `ends`, the first of which starts at t0.
template <class M, class T, class F, class S>
StateFor<F, T> replay(const F& f, const std::vector<S>& ends, S t0, StateFor<F, T> u,
                      const ParamsFor<F, T>& p) {
  T t(t0);
  for (const S end : ends) {
    const T t_end(end);
    u = Step<M, F, T>(f, t, t_end - t, u, p).u_new;
    t = t_end;
  }
  return u;
}

/// `count` equal steps from t0 to t1.
inline std::vector<Real> equal_steps(Real t0, Real t1, int count) {
  std::vector<Real> ends(count);
  for (int i = 0; i < count; ++i) ends[i] = i + 1 == count ? t1 : t0 + (t1 - t0) * (i + 1) / count;
  return ends;
}

/// loss(u) or loss(u, p)
template <class Loss, class T, int N, int P>
T call(const Loss& loss, const State<T, N>& u, const Params<T, P>& p) {
  if constexpr (requires { loss(u, p); })
    return loss(u, p);
  else
    return loss(u);
}

/// The derivatives of a loss of the replayed state, by complex steps: exact to rounding. For
/// right-hand sides and losses that are analytic.
template <class F>
struct Derivatives {
  Real loss;
  Vector<Real, F::num_states> u0;
  Vector<Real, F::num_params> params;
};
template <class M, class F, class Loss, class S>
Derivatives<F> gradient(const F& f, const Loss& loss, const std::vector<S>& ends, S t0,
                        const StateFor<F, S>& u0, const ParamsFor<F, S>& params) {
  constexpr Real tiny = 1e-200L;
  const auto u = convert<Complex>(u0);
  const auto p = convert<Complex>(params);
  auto loss_of = [&](const auto& u_start, const auto& p_used) {
    return call(loss, replay<M, Complex>(f, ends, t0, u_start, p_used), p_used);
  };
  Derivatives<F> result;
  result.loss = loss_of(u, p).real();
  for (int i = 0; i < F::num_states; ++i) {
    auto moved = u;
    moved[i] += Complex(0, tiny);
    result.u0[i] = loss_of(moved, p).imag() / tiny;
  }
  if constexpr (F::num_params > 0) {
    for (int i = 0; i < F::num_params; ++i) {
      auto moved = p;
      moved[i] += Complex(0, tiny);
      result.params[i] = loss_of(u, moved).imag() / tiny;
    }
  }
  return result;
}

/// The same by central differences of fourth order in long double: for what is not analytic.
template <class M, class F, class Loss, class S>
Derivatives<F> gradient_by_differences(const F& f, const Loss& loss, const std::vector<S>& ends,
                                       S t0, const StateFor<F, S>& u0,
                                       const ParamsFor<F, S>& params) {
  const auto u = convert<Real>(u0);
  const auto p = convert<Real>(params);
  auto loss_of = [&](const auto& u_start, const auto& p_used) {
    return call(loss, replay<M, Real>(f, ends, t0, u_start, p_used), p_used);
  };
  auto slope = [&](auto&& moved_by) {
    const Real h = 1e-6L;
    return (8 * (moved_by(h) - moved_by(-h)) - (moved_by(2 * h) - moved_by(-2 * h))) / (12 * h);
  };
  Derivatives<F> result;
  result.loss = loss_of(u, p);
  for (int i = 0; i < F::num_states; ++i)
    result.u0[i] = slope([&](Real h) {
      auto moved = u;
      moved[i] += h;
      return loss_of(moved, p);
    });
  if constexpr (F::num_params > 0) {
    for (int i = 0; i < F::num_params; ++i)
      result.params[i] = slope([&](Real h) {
        auto moved = p;
        moved[i] += h;
        return loss_of(u, moved);
      });
  }
  return result;
}

/// The adaptive loop that GradSolve documents, for one trajectory.
template <class F>
struct Recorded {
  std::vector<double> ends;
  int num_rejected = 0;
  StateFor<F, double> u;
};
template <class M, class F>
Recorded<F> record(const F& f, double t0, double t1, const StateFor<F, double>& u0,
                   const ParamsFor<F, double>& p, double rtol, double atol) {
  Recorded<F> result;
  result.u = u0;
  double t = t0, dt = (t1 - t0) / 100;
  while (t < t1) {
    const double h = std::fmin(dt, t1 - t);
    const bool last = h == t1 - t;
    const Step<M, F, double> trial(f, t, h, result.u, p);
    double sum = 0;
    for (int n = 0; n < F::num_states; ++n) {
      double e = 0;
      for (int i = 0; i < M::num_stages; ++i) e += M::e[i] * trial.k[i][n];
      const double size = std::fmax(std::abs(result.u[n]), std::abs(trial.u_new[n]));
      sum += std::pow(h * e / (atol + rtol * size), 2);
    }
    const double error = std::sqrt(sum / F::num_states);
    if (error <= 1) {
      t = last ? t1 : t + h;
      result.u = trial.u_new;
      result.ends.push_back(t);
    } else {
      ++result.num_rejected;
    }
    const double factor = 0.9 * std::pow(std::fmax(error, 1e-10), -1.0 / M::error_order);
    dt = h * std::fmin(std::fmax(factor, 0.2), 5.0);
  }
  return result;
}

}  // namespace gradsolve::test::reference
