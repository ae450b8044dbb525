// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "fits.hpp"

#include <Kokkos_Core.hpp>

/// L-BFGS for n fits at once, each with its own history and line search. A sweep is one reverse
/// gradient at all trial points p + length d; a fit whose trial passes Armijo's test
///
///     loss(p + length d) <= loss(p) + c length g^T d
///
/// moves and turns to a new direction, any other shortens its step and tries again in the next
/// sweep.
namespace examples {

struct Lbfgs : FitOptions {
  double armijo = 1e-4;
  double shortest = 1e-12;  ///< Length, a share of the step, where a line search gives up.
};

/// One fit's part of an iteration.
template <class S, int P, class MemorySpace>
struct LbfgsUpdate {
  static constexpr int memory = 8;
  using Vector = gradsolve::Vector<S, P>;
  using Matrix = typename Fits<S, MemorySpace>::Matrix;
  using History = Kokkos::View<S***, Kokkos::LayoutLeft, MemorySpace>;

  Matrix trial;
  typename Fits<S, MemorySpace>::Numbers trial_loss;
  Matrix trial_gradient;
  Fits<S, MemorySpace> fits;
  Lbfgs options;
  S loss_noise;                                          // relative
  Matrix direction;                                      // (n, P)
  typename Fits<S, MemorySpace>::Numbers length, slope;  // (n) of the step; g^T direction
  History moves, changes;                     // (n, memory, P): s = p+ - p and y = g+ - g
  Kokkos::View<int*, MemorySpace> num_pairs;  // (n) ever kept

  KOKKOS_FUNCTION void operator()(int i, int& running) const {
    if (fits.status(i) != FitStatus::running) return;
    const bool first = fits.num_trials(i)++ == 0;
    if (first && !is_finite(i)) return stop(i, FitStatus::bad_start);
    const S allowed = fits.loss(i) * (1 + loss_noise) + options.armijo * length(i) * slope(i);
    if (first || (is_finite(i) && trial_loss(i) <= allowed)) {
      if (!first) keep_pair(i);
      move(i);
      turn(i);
    } else {
      shorten(i);
    }
    running += fits.status(i) == FitStatus::running;
  }

 private:
  KOKKOS_FUNCTION bool is_finite(int i) const {
    S sum = trial_loss(i);
    for (int q = 0; q < P; ++q) sum += trial_gradient(i, q);
    return sum - sum == S(0);
  }

  /// s and y of the step that was accepted, unless the curvature along it is not positive.
  KOKKOS_FUNCTION void keep_pair(int i) const {
    Vector s, y;
    S sy = 0, yy = 0;
    for (int q = 0; q < P; ++q) {
      s[q] = trial(i, q) - fits.params(i, q);
      y[q] = trial_gradient(i, q) - fits.gradient(i, q);
      sy += s[q] * y[q];
      yy += y[q] * y[q];
    }
    if (!(sy > 1e-14 * yy)) return;
    const int slot = num_pairs(i)++ % memory;
    for (int q = 0; q < P; ++q) {
      moves(i, slot, q) = s[q];
      changes(i, slot, q) = y[q];
    }
  }
  KOKKOS_FUNCTION void move(int i) const {
    fits.loss(i) = trial_loss(i);
    for (int q = 0; q < P; ++q) {
      fits.params(i, q) = trial(i, q);
      fits.gradient(i, q) = trial_gradient(i, q);
    }
  }

  KOKKOS_FUNCTION Vector pair(const History& history, int i, int k) const {
    Vector x;
    for (int q = 0; q < P; ++q) x[q] = history(i, k % memory, q);
    return x;
  }
  /// d = -H g by the two-loop recursion (Nocedal 1980), H from the pairs that are kept.
  KOKKOS_FUNCTION Vector quasi_newton(int i) const {
    const int end = num_pairs(i), begin = Kokkos::max(0, end - memory);
    Vector d;
    for (int q = 0; q < P; ++q) d[q] = -fits.gradient(i, q);
    S share[memory];
    for (int k = end - 1; k >= begin; --k) {
      const Vector s = pair(moves, i, k), y = pair(changes, i, k);
      share[k % memory] = dot(s, d) / dot(s, y);
      for (int q = 0; q < P; ++q) d[q] -= share[k % memory] * y[q];
    }
    if (end > 0) {
      const Vector s = pair(moves, i, end - 1), y = pair(changes, i, end - 1);
      const S scale = dot(s, y) / dot(y, y);
      for (int q = 0; q < P; ++q) d[q] *= scale;
    }
    for (int k = begin; k < end; ++k) {
      const Vector s = pair(moves, i, k), y = pair(changes, i, k);
      const S missing = share[k % memory] - dot(y, d) / dot(s, y);
      for (int q = 0; q < P; ++q) d[q] += missing * s[q];
    }
    return d;
  }

  /// A new direction, its first trial, or the end.
  KOKKOS_FUNCTION void turn(int i) const {
    Vector d = quasi_newton(i), g, p;
    for (int q = 0; q < P; ++q) {
      g[q] = fits.gradient(i, q);
      p[q] = fits.params(i, q);
    }
    if (!(dot(g, d) < 0)) {  // rounding has spoilt the history
      num_pairs(i) = 0;
      d = quasi_newton(i);
    }
    slope(i) = dot(g, d);
    S largest = 0;
    for (int q = 0; q < P; ++q) {
      direction(i, q) = d[q];
      largest = Kokkos::max(largest, Kokkos::abs(d[q] / p[q]));
    }
    const bool model = num_pairs(i) > 0;  // whether d has the length of a Newton step
    // The quadratic model promises -g^T d / 2.
    if (model && (-slope(i) / 2 <= options.loss_tolerance * fits.loss(i) ||
                  largest <= options.step_tolerance))
      return stop(i, FitStatus::converged);
    // Without a model, a hundredth of the parameters.
    length(i) = model ? S(1) : S(0.01) * Kokkos::sqrt(dot(p, p) / dot(d, d));
    propose(i);
  }
  KOKKOS_FUNCTION void shorten(int i) const {
    // Where the parabola through loss, slope and the trial's loss is lowest, within bounds.
    const S rise = trial_loss(i) - fits.loss(i) - length(i) * slope(i);
    const S lowest = -slope(i) * length(i) / (2 * rise);
    const bool usable = rise - rise == S(0);
    length(i) *= usable ? Kokkos::clamp(lowest, S(0.1), S(0.5)) : S(0.1);
    if (length(i) < options.shortest) return stop(i, FitStatus::no_descent);
    propose(i);
  }
  KOKKOS_FUNCTION void propose(int i) const {
    for (int q = 0; q < P; ++q) trial(i, q) = fits.params(i, q) + length(i) * direction(i, q);
  }
  KOKKOS_FUNCTION void stop(int i, FitStatus status) const {
    fits.status(i) = status;
    if (status != FitStatus::bad_start)
      for (int q = 0; q < P; ++q) trial(i, q) = fits.params(i, q);
  }

  static KOKKOS_FUNCTION S dot(const Vector& x, const Vector& y) {
    S sum = 0;
    for (int q = 0; q < P; ++q) sum += x[q] * y[q];
    return sum;
  }
};

/// Minimises each trajectory's loss over its own parameters, from where the ensemble's parameters
/// are. `record` was made of that ensemble; `loss` is any that gradsolve::gradient() takes.
template <class Exec, class F, class M, class S, class MemorySpace, class States, class Loss>
Fits<S, MemorySpace> fit(
    const Exec& exec, const Lbfgs& options, const F& system,
    gradsolve::Record<M, S, MemorySpace>& record,
    const gradsolve::Ensemble<States, typename Fits<S, MemorySpace>::Matrix>& ensemble,
    const Loss& loss) {
  constexpr int P = F::num_params;
  using Update = LbfgsUpdate<S, P, MemorySpace>;
  using Numbers = typename Fits<S, MemorySpace>::Numbers;
  using History = typename Update::History;
  const int n = ensemble.size();
  Fits<S, MemorySpace> fits(exec, n, P);
  Update update{
      .trial = ensemble.params(),
      .trial_loss = {},
      .trial_gradient = {},
      .fits = fits,
      .options = options,
      .loss_noise = loss_noise<S>(record.options),
      .direction = zeros<typename Update::Matrix>(exec, "examples::fit::direction", n, P),
      .length = zeros<Numbers>(exec, "examples::fit::length", n),
      .slope = zeros<Numbers>(exec, "examples::fit::slope", n),
      .moves = zeros<History>(exec, "examples::fit::moves", n, Update::memory, P),
      .changes = zeros<History>(exec, "examples::fit::changes", n, Update::memory, P),
      .num_pairs = zeros<decltype(Update::num_pairs)>(exec, "examples::fit::num_pairs", n)};
  gradsolve::Gradient<S, MemorySpace> at_trial;
  const auto sweep = [&] {
    gradsolve::gradient(exec, system, record, ensemble, loss, at_trial);
    update.trial_loss = at_trial.loss;
    update.trial_gradient = at_trial.params;
    return update;
  };
  iterate(exec, system, record, ensemble, options, sweep, fits);
  return fits;
}

}  // namespace examples
