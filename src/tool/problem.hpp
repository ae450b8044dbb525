// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gradsolve/check_gradient_data.hpp>
#include <gradsolve/memory_plan_data.hpp>
#include <gradsolve/options.hpp>
#include <gradsolve/status.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What the command line and the sweeps tell each other: plain data, without Kokkos or CLI11, so
/// that each of the two is compiled apart from the other.
namespace gradsolve::tool {

/// Initial states, parameters and time span of n trajectories. Row after row, in double precision
/// whatever the sweeps compute in.
struct EnsembleData {
  int n = 0;
  std::vector<double> states;  // (n, N)
  std::vector<double> params;  // (n, P), or (P) where they are shared
  bool shared_params = false;
  double t0 = 0, t1 = 1;
};

struct Settings {
  std::string method;
  bool single_precision = false;
  Options options;
  int repeat = 1;
};

/// How a gradient is computed: by the adjoint, or from sensitivities.
enum class Mode { reverse, forward };

/// What is asked of a gradient beyond the adjoint one of the sum of squares at t1.
struct Observation {
  std::vector<double> save_times;  // where the loss looks at the states; empty: at t1
  std::vector<double> data;  // (n, saves, N) or (saves, N) of least squares; empty: sum of squares
  Mode mode = Mode::reverse;
  bool hessian_product = false;

  bool is_plain() const {
    return save_times.empty() && data.empty() && mode == Mode::reverse && !hessian_product;
  }
};

/// Wall-clock seconds of one sweep.
struct Time {
  double first = 0;
  double best = 0;  // of all runs
};

/// What the lanes of a thread are, for people.
struct Lanes {
  int width = 1;
  std::string_view why;
};

struct GradientResult {
  Lanes lanes;
  std::vector<double> states;           // (n, N) at t1
  std::vector<double> loss;             // (n)
  std::vector<double> gradient_states;  // (n, N)
  std::vector<double> gradient_params;  // (n, P), or (P) where the parameters are shared
  std::vector<Status> status;           // (n)
  std::vector<int> num_steps, num_rejected, num_rhs;
  std::optional<double> stability_limited;  // share of the steps, where it was asked for
  std::optional<MemoryPlan> memory;
  Time record, gradient;
  std::optional<Time> replay;

  // Of an observation:
  std::vector<double> saved;  // (n, saves, N)
  // The Hessian of the loss times ones for the parameters, zeros for the states; as the gradients.
  std::vector<double> product_states, product_params;
  std::optional<Time> hessian_product;
};

/// A built-in system, its default ensemble, and its sweeps for every method and precision.
struct SystemEntry {
  std::string_view name, summary, default_ensemble;
  std::vector<std::string_view> state_names, param_names;
  std::vector<std::string_view> methods = {}, float_methods = {};  // the first one is the default
  double atol_per_rtol = 1e-3;                                     // by default
  bool branches = false;
  int default_n = 1;
  double t0 = 0, t1 = 1;
  std::vector<double> states, params;  // of one trajectory
  /// Makes them those of trajectory i of n.
  void (*vary)(int i, int n, double* states, double* params) = nullptr;

  GradientResult (*gradient)(const EnsembleData&, const Settings&) = nullptr;
  GradientCheck (*check)(const EnsembleData&, const Settings&) = nullptr;
  /// With ObservedMethods, in double; null where it would take too long to compile.
  GradientResult (*observed)(const EnsembleData&, const Settings&, const Observation&) = nullptr;

  int num_states() const { return static_cast<int>(state_names.size()); }
  int num_params() const { return static_cast<int>(param_names.size()); }
};

/// All built-in systems.
const std::vector<const SystemEntry*>& systems();

}  // namespace gradsolve::tool
