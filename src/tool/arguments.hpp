// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "problem.hpp"

#include <optional>
#include <string>
#include <vector>

/// From what a person typed to what the sweeps take. Throws io::BadInput.
namespace gradsolve::tool {

/// The options of `gradient` and `check`, as they were typed.
struct Arguments {
  std::string system, method, precision = "double", controller = "i";
  std::optional<int> n;
  std::string states_file, params_file;
  bool shared_params = false;
  std::optional<double> t0, t1;
  double rtol = 1e-6;
  std::optional<double> atol, min_step, max_step, fixed_step;
  std::optional<std::string> first_step;
  std::optional<int> max_steps, fixed_steps;
  std::optional<std::size_t> memory_budget;
  std::vector<std::string> save_times, loss = {"sum-of-squares"};
  std::string mode = "reverse";
  bool hessian_product = false;
  int repeat = 1;
  std::string out, csv;
  bool json = false;
};

const SystemEntry& find_system(const std::string& name);
Settings make_settings(const Arguments& arguments, const SystemEntry& system);
EnsembleData make_ensemble(const Arguments& arguments, const SystemEntry& system);
Observation make_observation(const Arguments& arguments, const SystemEntry& system,
                             const Settings& settings, const EnsembleData& ensemble);

}  // namespace gradsolve::tool
