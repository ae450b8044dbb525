// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/system.hpp>

#include <cmath>
#include <complex>
#include <utility>
#include <vector>

#if defined(__CUDACC__)
// The oracle calls right-hand sides on the host, with numbers that no GPU has.
#pragma nv_diag_suppress 20011, 20013, 20014, 20015, 20208
#endif

/// The oracle: Runge-Kutta and Rosenbrock on the host, one trajectory, in any number type, from the
/// numbers of the method alone. It shares no code with the library's sweeps.
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

/// x of A x = x, by elimination with row exchanges.
template <int N, class T>
State<T, N> linear_solution(Matrix<T, N> a, State<T, N> x) {
  for (int k = 0; k < N; ++k) {
    int pivot = k;
    for (int i = k + 1; i < N; ++i)
      if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
    std::swap(a[k], a[pivot]);
    std::swap(x[k], x[pivot]);
    for (int i = k + 1; i < N; ++i) {
      const T factor = a[i][k] / a[k][k];
      for (int j = k; j < N; ++j) a[i][j] -= factor * a[k][j];
      x[i] -= factor * x[k];
    }
  }
  for (int i = N; i-- > 0;) {
    for (int j = i + 1; j < N; ++j) x[i] -= a[i][j] * x[j];
    x[i] /= a[i][i];
  }
  return x;
}

/// The same of a Rosenbrock method, in increments: (mass / (h gamma) - J) k_i = ..., with J and
/// df/dt by duals.
template <class M, class F, class T>
  requires requires { M::C; }
struct Step<M, F, T> {
  static constexpr int N = F::num_states;
  StateFor<F, T> k[M::num_stages];
  StateFor<F, T> u_new;

  Step(const F& f, const T& t, const T& h, const StateFor<F, T>& u, const ParamsFor<F, T>& p) {
    using D = Dual<T, N + 1>;
    StateFor<F, D> ud = convert<D>(u);
    D td(t);
    for (int i = 0; i < N; ++i) ud[i].tangent[i] = T(1);
    td.tangent[N] = T(1);
    const StateFor<F, D> slopes = f(td, ud, convert<D>(p));
    Matrix<T, N> w;
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j)
        w[i][j] = T(mass_entry_of<F>(i, j)) / (h * T(M::gamma)) - slopes[i].tangent[j];
    u_new = u;
    for (int i = 0; i < M::num_stages; ++i) {
      StateFor<F, T> y = u, coupling;
      for (int n = 0; n < N; ++n) {
        coupling[n] = T(0);
        for (int j = 0; j < i; ++j) {
          y[n] += T(M::a[i][j]) * k[j][n];
          coupling[n] += T(M::C[i][j]) / h * k[j][n];
        }
      }
      StateFor<F, T> r = f(t + T(M::c[i]) * h, y, p);
      for (int n = 0; n < N; ++n) {
        for (int j = 0; j < N; ++j) r[n] += T(mass_entry_of<F>(n, j)) * coupling[j];
        r[n] += T(M::d[i]) * h * slopes[n].tangent[N];
      }
      k[i] = linear_solution<N>(w, r);
      for (int n = 0; n < N; ++n) u_new[n] += T(M::b[i]) * k[i][n];
    }
  }
};

/// The same of an ESDIRK method: mass k_i = h sum_j a_ij f(t_j, u + k_j), each by Newton's method
/// with the Jacobian of the latest iterate.
template <class M, class F, class T>
  requires requires { M::gamma; } && (!requires { M::C; })
struct Step<M, F, T> {
  static constexpr int N = F::num_states;
  StateFor<F, T> k[M::num_stages];
  StateFor<F, T> u_new;

  Step(const F& f, const T& t, const T& h, const StateFor<F, T>& u, const ParamsFor<F, T>& p) {
    using D = Dual<T, N>;
    StateFor<F, T> slopes[M::num_stages];
    k[0] = StateFor<F, T>{};
    slopes[0] = f(t, u, p);
    for (int i = 1; i < M::num_stages; ++i) {
      k[i] = k[i - 1];
      const T t_i = t + T(M::c[i]) * h;
      for (int iteration = 0; iteration < 12; ++iteration) {
        StateFor<F, D> stage;
        for (int n = 0; n < N; ++n) {
          stage[n] = D(u[n] + k[i][n]);
          stage[n].tangent[n] = T(1);
        }
        const StateFor<F, D> r = f(D(t_i), stage, convert<D>(p));
        Matrix<T, N> w;
        StateFor<F, T> residual;
        for (int n = 0; n < N; ++n) {
          residual[n] = h * T(M::gamma) * r[n].value;
          for (int j = 0; j < i; ++j) residual[n] += h * T(M::a[i][j]) * slopes[j][n];
          for (int j = 0; j < N; ++j) {
            w[n][j] = T(mass_entry_of<F>(n, j)) - h * T(M::gamma) * r[n].tangent[j];
            residual[n] -= T(mass_entry_of<F>(n, j)) * k[i][j];
          }
        }
        const StateFor<F, T> dk = linear_solution<N>(w, residual);
        for (int n = 0; n < N; ++n) k[i][n] += dk[n];
      }
      StateFor<F, T> stage = u;
      for (int n = 0; n < N; ++n) stage[n] += k[i][n];
      slopes[i] = f(t_i, stage, p);
    }
    u_new = u;
    for (int n = 0; n < N; ++n) u_new[n] += k[M::num_stages - 1][n];
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

/// One interpolated state: all dense stages of the step from t to t + h, and the polynomial.
template <class M, class F, class T>
StateFor<F, T> interpolate(const F& f, const T& t, const T& h, const StateFor<F, T>& u,
                           const ParamsFor<F, T>& p, const T& theta) {
  StateFor<F, T> k[M::num_dense_stages];
  for (int i = 0; i < M::num_dense_stages; ++i) {
    StateFor<F, T> y = u;
    for (int j = 0; j < i; ++j)
      if (M::a[i][j] != 0)
        for (int n = 0; n < F::num_states; ++n) y[n] += h * T(M::a[i][j]) * k[j][n];
    k[i] = f(t + T(M::c[i]) * h, y, p);
  }
  StateFor<F, T> v = u;
  for (int i = 0; i < M::num_dense_stages; ++i) {
    T weight(0);
    for (int m = M::dense_degree; m-- > 0;) weight = (weight + T(M::dense[i][m])) * theta;
    for (int n = 0; n < F::num_states; ++n) v[n] += h * weight * k[i][n];
  }
  return v;
}

template <class M, class F, class T>
  requires requires { M::gamma; }
StateFor<F, T> interpolate(const F& f, const T& t, const T& h, const StateFor<F, T>& u,
                           const ParamsFor<F, T>& p, const T& theta) {
  const Step<M, F, T> step(f, t, h, u, p);
  StateFor<F, T> v = u;
  for (int i = 0; i < M::num_stages; ++i) {
    T weight(0);
    if constexpr (requires { M::H; }) {
      for (int r = M::dense_degree - 1; r-- > 0;) weight = weight * theta + T(M::H[r][i]);
      weight = theta * (T(M::b[i]) + (T(1) - theta) * weight);
    } else {
      for (int m = M::dense_degree; m-- > 0;) weight = (weight + T(M::dense[i][m])) * theta;
    }
    for (int n = 0; n < F::num_states; ++n) v[n] += weight * step.k[i][n];
  }
  return v;
}

/// A trajectory in time: recorded steps that move with the span [t0, t1], and save times.
template <class F, class T>
struct Variables {
  StateFor<F, T> u0;
  ParamsFor<F, T> params;
  T t0, t1;
  std::vector<T> saves;
};
template <class To, class F, class From>
Variables<F, To> convert_variables(const Variables<F, From>& v) {
  Variables<F, To> r{convert<To>(v.u0), convert<To>(v.params), To(v.t0), To(v.t1), {}};
  for (const From& s : v.saves) r.saves.push_back(To(s));
  return r;
}

inline Real real_part(const Real& x) { return x; }
inline Real real_part(const Complex& x) { return x.real(); }

/// The states at the save times, of steps that were recorded on [old_t0, old_t1] with ends `ends`.
template <class M, class F, class T, class S>
std::vector<StateFor<F, T>> saved_states(const F& f, const std::vector<S>& ends, Real old_t0,
                                         Real old_t1, const Variables<F, T>& v) {
  std::vector<StateFor<F, T>> saved;
  StateFor<F, T> u = v.u0;
  T t = v.t0;
  const Real direction = old_t1 < old_t0 ? -1 : 1;
  auto ahead = [&](const T& bound) {
    return saved.size() < v.saves.size() &&
           direction * (real_part(v.saves[saved.size()]) - real_part(bound)) <= 0;
  };
  // At t0 the state moves with the save time as within the first step.
  auto at_begin = [&] {
    const T moved = v.saves[saved.size()] - v.t0;
    StateFor<F, T> w = v.u0;
    const StateFor<F, T> slope = f(v.t0, v.u0, v.params);
    for (int n = 0; n < F::num_states; ++n) w[n] += moved * slope[n];
    return w;
  };
  while (ahead(v.t0)) saved.push_back(at_begin());
  for (const S end : ends) {
    const T x((Real(end) - old_t0) / (old_t1 - old_t0));
    const T t_end = Real(end) == old_t1 ? v.t1 : v.t0 + x * (v.t1 - v.t0);
    const T h = t_end - t;
    while (ahead(t_end))
      saved.push_back(interpolate<M, F, T>(f, t, h, u, v.params, (v.saves[saved.size()] - t) / h));
    u = Step<M, F, T>(f, t, h, u, v.params).u_new;
    t = t_end;
  }
  return saved;
}

/// The state at t1, likewise.
template <class M, class F, class T, class S>
StateFor<F, T> final_state(const F& f, const std::vector<S>& ends, Real old_t0, Real old_t1,
                           const Variables<F, T>& v) {
  StateFor<F, T> u = v.u0;
  T t = v.t0;
  for (const S end : ends) {
    const T x((Real(end) - old_t0) / (old_t1 - old_t0));
    const T t_end = Real(end) == old_t1 ? v.t1 : v.t0 + x * (v.t1 - v.t0);
    u = Step<M, F, T>(f, t, t_end - t, u, v.params).u_new;
    t = t_end;
  }
  return u;
}

/// Calls visit(component) for every variable, in one order: u0, params, t0, t1, saves.
template <class F, class T, class Visit>
void for_each_variable(Variables<F, T>& v, Visit&& visit) {
  for (int i = 0; i < F::num_states; ++i) visit(v.u0[i]);
  if constexpr (F::num_params > 0)
    for (int i = 0; i < F::num_params; ++i) visit(v.params[i]);
  visit(v.t0);
  visit(v.t1);
  for (T& s : v.saves) visit(s);
}

/// The derivatives of loss_of(Variables<F, Complex>) with respect to all variables, by complex
/// steps.
template <class F, class S, class LossOf>
Variables<F, Real> differentiate(const Variables<F, S>& at, LossOf&& loss_of) {
  constexpr Real tiny = 1e-200L;
  Variables<F, Complex> moved = convert_variables<Complex>(at);
  Variables<F, Real> result = convert_variables<Real>(at);
  std::vector<Real> slopes;
  for_each_variable(moved, [&](Complex& x) {
    const Complex keep = x;
    x += Complex(0, tiny);
    slopes.push_back(loss_of(moved).imag() / tiny);
    x = keep;
  });
  std::size_t next = 0;
  for_each_variable(result, [&](Real& x) { x = slopes[next++]; });
  return result;
}

/// The Hessian of loss_of in direction `direction`, both over (u0, params): central differences of
/// fourth order of complex steps.
template <class F, class S, class LossOf>
Variables<F, Real> hessian_product(const Variables<F, S>& at, const Variables<F, S>& direction,
                                   LossOf&& loss_of) {
  const Real h = 1e-4L;
  auto gradient_at = [&](Real size) {
    Variables<F, Real> moved = convert_variables<Real>(at);
    const Variables<F, Real> d = convert_variables<Real>(direction);
    for (int i = 0; i < F::num_states; ++i) moved.u0[i] += size * d.u0[i];
    if constexpr (F::num_params > 0)
      for (int i = 0; i < F::num_params; ++i) moved.params[i] += size * d.params[i];
    return differentiate(moved, loss_of);
  };
  const auto a = gradient_at(h), b = gradient_at(-h), c = gradient_at(2 * h),
             d = gradient_at(-2 * h);
  Variables<F, Real> result = a;
  auto slope = [&](Real pa, Real pb, Real pc, Real pd) {
    return (8 * (pa - pb) - (pc - pd)) / (12 * h);
  };
  for (int i = 0; i < F::num_states; ++i) result.u0[i] = slope(a.u0[i], b.u0[i], c.u0[i], d.u0[i]);
  if constexpr (F::num_params > 0)
    for (int i = 0; i < F::num_params; ++i)
      result.params[i] = slope(a.params[i], b.params[i], c.params[i], d.params[i]);
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
