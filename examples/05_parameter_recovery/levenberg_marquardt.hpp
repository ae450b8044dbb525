// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cholesky.hpp"
#include "fits.hpp"
#include <gradsolve/observe/loss.hpp>
#include <gradsolve/sensitivity.hpp>

#include <Kokkos_Core.hpp>

/// Levenberg-Marquardt for n least-squares fits at once. With the residuals r(p) of one fit and
/// their Jacobian J = dr/dp, its loss is r^T r, and a step d solves
///
///     (J^T J + damping D) d = -J^T r,   D = diag(J^T J)   (Marquardt's scaling).
///
/// J comes from forward sensitivities at the save times: P columns give all residuals' derivatives.
namespace examples {

struct LevenbergMarquardt : FitOptions {
  double first_damping = 1e-3;
};

/// The residuals whose squares gradsolve::least_squares() sums. Another loss takes part where it
/// has a member residuals(t, u, p, at), a Vector of any length.
template <class S, class MemorySpace, class T, int N, int P>
KOKKOS_FUNCTION gradsolve::Vector<T, N> residuals(
    const gradsolve::LeastSquares<S, MemorySpace>& loss, const T&, const gradsolve::State<T, N>& u,
    const gradsolve::Params<T, P>&, gradsolve::SaveIndex at) {
  gradsolve::Vector<T, N> r;
  for (int i = 0; i < N; ++i) {
    const auto o = loss.observation(at, i);
    r[i] = Kokkos::sqrt(o.weight) * (u[i] - o.datum);
  }
  return r;
}
template <class Loss, class T, int N, int P>
  requires requires(const Loss& l, const T t, const gradsolve::State<T, N> u,
                    const gradsolve::Params<T, P> p) {
    l.residuals(t, u, p, gradsolve::SaveIndex{});
  }
KOKKOS_FUNCTION auto residuals(const Loss& loss, const T& t, const gradsolve::State<T, N>& u,
                               const gradsolve::Params<T, P>& p, gradsolve::SaveIndex at) {
  return loss.residuals(t, u, p, at);
}

/// r^T r, J^T r and J^T J of one fit.
template <class S, int P>
struct NormalEquations {
  S loss{};
  gradsolve::Vector<S, P> gradient{};
  gradsolve::Matrix<S, P> matrix{};
};

/// One fit's part of an iteration.
template <class S, int N, int P, class Loss, class Times, class MemorySpace>
struct LevenbergMarquardtUpdate {
  using D = gradsolve::Dual<S, P>;
  using Vector = gradsolve::Vector<S, P>;

  Loss loss;
  Times times;
  decltype(gradsolve::Sensitivity<S, MemorySpace>::saved) states;                       // at trial
  decltype(gradsolve::Sensitivity<S, MemorySpace>::saved_sensitivities) sensitivities;  // there
  typename Fits<S, MemorySpace>::Matrix trial;
  Fits<S, MemorySpace> fits;
  LevenbergMarquardt options;
  S loss_noise;                                                       // relative
  typename Fits<S, MemorySpace>::Numbers damping, growth, predicted;  // (n)
  Kokkos::View<S***, Kokkos::LayoutLeft, MemorySpace> matrix;         // (n, P, P) J^T J there

  KOKKOS_FUNCTION void operator()(int i, int& running) const {
    if (fits.status(i) != FitStatus::running) return;
    const bool first = fits.num_trials(i)++ == 0;
    const NormalEquations<S, P> tried = evaluate(i);
    const S highest = fits.loss(i) * (1 + loss_noise);
    // False as well where the trial could not be solved, and its loss is NaN.
    if (first ? tried.loss - tried.loss == S(0) : tried.loss <= highest)
      accept(i, tried, first);
    else if (first)
      return stop(i, FitStatus::bad_start);
    else
      reject(i);
    propose(i);
    running += fits.status(i) == FitStatus::running;
  }

 private:
  /// Residuals in dual numbers that carry their P derivatives: the chain rule through the states,
  /// and the observation's own dependence on the parameters.
  KOKKOS_FUNCTION NormalEquations<S, P> evaluate(int i) const {
    NormalEquations<S, P> sum;
    gradsolve::Params<D, P> p;
    for (int q = 0; q < P; ++q) {
      p[q] = D(trial(i, q));
      p[q].tangent[q] = 1;
    }
    for (int save = 0; save < times.count(i); ++save) {
      gradsolve::State<D, N> u;
      for (int c = 0; c < N; ++c) {
        u[c] = D(states(i, save, c));
        for (int q = 0; q < P; ++q) u[c].tangent[q] = sensitivities(i, save, c, q);
      }
      const auto r = residuals(loss, D(times.time(i, save)), u, p, {i, save});
      for (int m = 0; m < r.size(); ++m) {
        sum.loss += r[m].value * r[m].value;
        for (int a = 0; a < P; ++a) {
          sum.gradient[a] += r[m].tangent[a] * r[m].value;
          for (int b = 0; b < P; ++b) sum.matrix[a][b] += r[m].tangent[a] * r[m].tangent[b];
        }
      }
    }
    return sum;
  }

  /// Moves to the trial point; the damping falls the more, the better the linear model predicted
  /// the decrease (Nielsen 1999).
  KOKKOS_FUNCTION void accept(int i, const NormalEquations<S, P>& at, bool first) const {
    if (!first) {
      const S gain = (fits.loss(i) - at.loss) / predicted(i);
      const S x = 2 * Kokkos::clamp(gain, S(0), S(1)) - 1;
      damping(i) *= Kokkos::max(S(1) / 3, 1 - x * x * x);
    } else {
      damping(i) = options.first_damping;
    }
    growth(i) = 2;
    fits.loss(i) = at.loss;
    for (int a = 0; a < P; ++a) {
      fits.params(i, a) = trial(i, a);
      fits.gradient(i, a) = 2 * at.gradient[a];
      for (int b = 0; b < P; ++b) matrix(i, a, b) = at.matrix[a][b];
    }
  }
  KOKKOS_FUNCTION void reject(int i) const {
    damping(i) *= growth(i);
    growth(i) *= 2;
  }

  /// The next trial point, or the end.
  KOKKOS_FUNCTION void propose(int i) const {
    Vector step;
    while (!solve(i, step)) {  // J^T J is singular to working precision
      if (!(damping(i) < 1e16)) return stop(i, FitStatus::no_descent);
      damping(i) *= 10;
    }
    // r^T r - |r + J d|^2 = d^T (damping D d - J^T r)
    S decrease = 0, largest = 0;
    for (int q = 0; q < P; ++q) {
      decrease += step[q] * (damping(i) * scale(i, q) * step[q] - fits.gradient(i, q) / 2);
      largest = Kokkos::max(largest, Kokkos::abs(step[q] / fits.params(i, q)));
    }
    predicted(i) = decrease;
    if (decrease <= options.loss_tolerance * fits.loss(i) || largest <= options.step_tolerance)
      return stop(i, FitStatus::converged);
    for (int q = 0; q < P; ++q) trial(i, q) = fits.params(i, q) + step[q];
  }
  KOKKOS_FUNCTION bool solve(int i, Vector& step) const {
    gradsolve::Matrix<S, P> a;
    for (int q = 0; q < P; ++q) {
      for (int b = 0; b < P; ++b) a[q][b] = matrix(i, q, b);
      a[q][q] += damping(i) * scale(i, q);
      step[q] = -fits.gradient(i, q) / 2;
    }
    return solve_cholesky(a, step);
  }
  /// D; of a parameter that the data do not see, which then stays where it is, 1.
  KOKKOS_FUNCTION S scale(int i, int q) const {
    return matrix(i, q, q) > 0 ? matrix(i, q, q) : S(1);
  }

  KOKKOS_FUNCTION void stop(int i, FitStatus status) const {
    fits.status(i) = status;
    for (int q = 0; q < P; ++q)
      if (status != FitStatus::bad_start) trial(i, q) = fits.params(i, q);
  }
};

/// Fits each trajectory's parameters to its own data from where the ensemble's parameters are.
/// `record` was made of that ensemble; `loss` is at_saves(times, least_squares(data, weights)).
template <class Exec, class F, class M, class S, class MemorySpace, class States, class Loss>
Fits<S, MemorySpace> fit(
    const Exec& exec, const LevenbergMarquardt& options, const F& system,
    gradsolve::Record<M, S, MemorySpace>& record,
    const gradsolve::Ensemble<States, typename Fits<S, MemorySpace>::Matrix>& ensemble,
    const gradsolve::LossAtSaves<Loss, S, MemorySpace>& loss) {
  constexpr int N = F::num_states, P = F::num_params;
  const int n = ensemble.size();
  Fits<S, MemorySpace> fits(exec, n, P);
  const auto parameters = gradsolve::Variables::all_params<F>();
  const auto save_times = loss.times.access();
  using Update =
      LevenbergMarquardtUpdate<S, N, P, Loss, std::decay_t<decltype(save_times)>, MemorySpace>;
  using Numbers = typename Fits<S, MemorySpace>::Numbers;
  Update update{.loss = loss.loss,
                .times = save_times,
                .states = {},
                .sensitivities = {},
                .trial = ensemble.params(),
                .fits = fits,
                .options = options,
                .loss_noise = loss_noise<S>(record.options),
                .damping = zeros<Numbers>(exec, "examples::fit::damping", n),
                .growth = zeros<Numbers>(exec, "examples::fit::growth", n),
                .predicted = zeros<Numbers>(exec, "examples::fit::predicted", n),
                .matrix = zeros<decltype(Update::matrix)>(exec, "examples::fit::matrix", n, P, P)};
  gradsolve::Sensitivity<S, MemorySpace> at_trial;
  const auto sweep = [&] {
    gradsolve::sensitivity(exec, system, record, ensemble, loss.times, parameters, at_trial);
    update.states = at_trial.saved;
    update.sensitivities = at_trial.saved_sensitivities;
    return update;
  };
  iterate(exec, system, record, ensemble, options, sweep, fits);
  return fits;
}

}  // namespace examples
