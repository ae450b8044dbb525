// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/gradient.hpp>
#include <gradsolve/refresh.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>

/// Batched optimisers: one fit a trajectory, thousands at once, each with its own history and its
/// own end. All of them are evaluated in one sweep at their trial points; then one kernel decides
/// for each fit on its own whether to accept its trial, and where to try next.
namespace examples {

enum class FitStatus : std::int8_t {
  running,     ///< Out of sweeps before it converged.
  converged,   ///< No step promises to lower the loss by more than the tolerance.
  no_descent,  ///< No trial lowered the loss, however short the step.
  bad_start,   ///< The loss, or its derivative, is not finite at the start.
};

struct FitOptions {
  int max_sweeps = 200;
  /// Converged where the promised decrease of the loss is below this share of the loss,
  double loss_tolerance = 1e-13;
  /// or where the step is below this share of the parameters.
  double step_tolerance = 1e-10;
};

/// A point's loss differs, relatively, by that much between steps that were recorded there and
/// steps that have just not gone stale. A trial that is worse by less counts as no worse.
template <class S>
S loss_noise(const gradsolve::Options& options) {
  return static_cast<S>(options.rtol * options.stale_ratio);
}

template <class V, class Exec, class... Sizes>
V zeros(const Exec& exec, const std::string& label, Sizes... sizes) {
  return V(Kokkos::view_alloc(exec, label), sizes...);
}

/// What an optimiser leaves. After it, the ensemble's parameters are the fitted ones.
template <class S, class MemorySpace>
struct Fits {
  using Numbers = Kokkos::View<S*, MemorySpace>;
  using Matrix = Kokkos::View<S**, Kokkos::LayoutLeft, MemorySpace>;

  Matrix params;                                 ///< (n, P) the best so far
  Numbers loss;                                  ///< (n) there
  Matrix gradient;                               ///< (n, P) there
  Kokkos::View<FitStatus*, MemorySpace> status;  ///< (n)
  Kokkos::View<int*, MemorySpace> num_trials;    ///< (n) points tried
  int num_sweeps = 0;                            ///< evaluations of the whole ensemble
  int num_records = 0;                           ///< adaptive solves of the whole ensemble

  template <class Exec>
  Fits(const Exec& exec, int n, int num_params)
      : params(zeros<Matrix>(exec, "examples::Fits::params", n, num_params)),
        loss(zeros<Numbers>(exec, "examples::Fits::loss", n)),
        gradient(zeros<Matrix>(exec, "examples::Fits::gradient", n, num_params)),
        status(zeros<decltype(status)>(exec, "examples::Fits::status", n)),
        num_trials(zeros<decltype(num_trials)>(exec, "examples::Fits::num_trials", n)) {}
};

/// Sweep after sweep until no fit is running. sweep() differentiates the ensemble at its trial
/// points and returns the kernel (i, running) that moves fit i. The record is looked after as its
/// Options::rerecord says: a trial far from where the steps were recorded asks for new ones.
template <class Exec, class F, class M, class S, class MemorySpace, class States, class Parameters,
          class Sweep>
void iterate(const Exec& exec, const F& system, gradsolve::Record<M, S, MemorySpace>& record,
             const gradsolve::Ensemble<States, Parameters>& ensemble, const FitOptions& options,
             const Sweep& sweep, Fits<S, MemorySpace>& fits) {
  gradsolve::Replay<S, MemorySpace> replay;
  for (int running = 1; running > 0 && fits.num_sweeps < options.max_sweeps; ++fits.num_sweeps) {
    if (fits.num_sweeps > 0 && gradsolve::refresh(exec, system, record, ensemble, replay))
      ++fits.num_records;
    Kokkos::parallel_reduce("examples::iterate", Kokkos::RangePolicy<Exec>(exec, 0, record.size()),
                            sweep(), running);
  }
}

}  // namespace examples
