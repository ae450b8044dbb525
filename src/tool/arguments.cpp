// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arguments.hpp"

#include "../io/table.hpp"
#include "methods.hpp"
#include "typed.hpp"

#include <algorithm>
#include <cmath>

namespace gradsolve::tool {

using io::BadInput;

namespace {

bool is_size(double x) { return std::isfinite(x) && x > 0; }

void set_first_step(const std::string& typed, Options& options) {
  if (typed == "hairer") {
    options.first_step_rule = FirstStep::hairer;
  } else {
    options.first_step = number_in(typed, "--first-step", "a size > 0, or hairer");
    require(is_size(options.first_step), "--first-step", typed, "a size > 0, or hairer");
  }
}

void set_steps(const Arguments& a, Options& options) {
  auto set = [](const auto& typed, const char* option, auto& value, const char* expected) {
    if (!typed) return;
    require(is_size(*typed), option, *typed, expected);
    value = *typed;
  };
  if (a.first_step) set_first_step(*a.first_step, options);
  set(a.min_step, "--min-step", options.min_step, "a size > 0");
  set(a.max_step, "--max-step", options.max_step, "a size > 0");
  set(a.max_steps, "--max-steps", options.max_steps, "a number of steps > 0");
  set(a.fixed_steps, "--fixed-steps", options.fixed_steps, "a number of steps > 0");
  set(a.fixed_step, "--fixed-step", options.fixed_step, "a size > 0");
  set(a.memory_budget, "--memory-budget", options.memory_budget, "a number of bytes > 0");
  if (a.min_step && a.max_step)
    require(*a.min_step <= *a.max_step, "--min-step", *a.min_step, "at most --max-step");
  if (a.fixed_steps && a.fixed_step)
    throw BadInput("--fixed-steps and --fixed-step: expected one of them");
}

void set_method(const Arguments& a, const SystemEntry& system, Settings& settings) {
  const auto& offered = settings.single_precision ? system.float_methods : system.methods;
  if (offered.empty())
    throw BadInput("the system " + std::string(system.name) + " has no --precision float");
  settings.method = a.method.empty() ? offered.front() : a.method;
  find_name("--method", settings.method, names_of(Methods{}));
  find_name((settings.single_precision ? "--method with --precision float of " : "--method of ") +
                std::string(system.name),
            settings.method, offered);
  Methods::for_each([&](auto method) {
    if (settings.method == method.name && method.error_order == 0 && !settings.options.is_fixed())
      throw BadInput("--method " + settings.method +
                     " has no error estimate: give --fixed-steps or --fixed-step");
  });
}

std::string table_shape(const io::Table& table) {
  return table.is_vector ? shape_text({table.rows}) : shape_text({table.rows, table.columns});
}

/// "3 columns (x, y, z)"
std::string columns_text(const std::vector<std::string_view>& names) {
  return std::to_string(names.size()) + (names.size() == 1 ? " column (" : " columns (") +
         joined(names) + ")";
}

/// Reads a file of one row for each trajectory. The first that is read decides n, unless it is
/// given.
std::vector<double> read_rows(const std::string& path, const char* option,
                              const std::vector<std::string_view>& columns, std::optional<int>& n) {
  const io::Table table = io::read_table(path);
  if (table.columns != columns.size() || (n && table.rows != static_cast<std::size_t>(*n)))
    throw BadInput(std::string(option) + " " + path + " has the shape " + table_shape(table) +
                   ", expected " +
                   (n ? std::to_string(*n) + " rows" : "a row for each trajectory") + " of " +
                   columns_text(columns));
  require(table.rows <= 1'000'000'000, option, table.rows, "at most 1e9 rows");
  n = static_cast<int>(table.rows);
  return table.values;
}

std::vector<double> read_shared(const std::string& path,
                                const std::vector<std::string_view>& columns) {
  const io::Table table = io::read_table(path);
  const bool fits = table.is_vector ? table.rows == columns.size()
                                    : table.rows == 1 && table.columns == columns.size();
  if (!fits)
    throw BadInput("--params " + path + " has the shape " + table_shape(table) +
                   ", expected one row of " + columns_text(columns) + " with --shared-params");
  return table.values;
}

/// The default ensemble of the system.
void fill_defaults(const SystemEntry& system, EnsembleData& data) {
  const int num_states = system.num_states(), num_params = system.num_params();
  data.states.resize(std::size_t(data.n) * num_states);
  data.params.resize(std::size_t(data.n) * num_params);
  for (int i = 0; i < data.n; ++i) {
    double* const u = data.states.data() + std::size_t(i) * num_states;
    double* const p = data.params.data() + std::size_t(i) * num_params;
    std::copy(system.states.begin(), system.states.end(), u);
    std::copy(system.params.begin(), system.params.end(), p);
    system.vary(i, data.n, u, p);
  }
}

}  // namespace

const SystemEntry& find_system(const std::string& name) {
  std::vector<std::string_view> names;
  for (const SystemEntry* system : systems()) names.push_back(system->name);
  return *systems()[find_name("system", name, names)];
}

Settings make_settings(const Arguments& a, const SystemEntry& system) {
  Settings settings;
  Options& options = settings.options;
  require(std::isfinite(a.rtol) && a.rtol >= 0, "--rtol", a.rtol, "a number >= 0");
  options.rtol = a.rtol;
  options.atol = a.atol.value_or(system.atol_per_rtol * a.rtol);
  require(std::isfinite(options.atol) && options.atol >= 0, "--atol", options.atol,
          "a number >= 0");
  require(options.rtol > 0 || options.atol > 0, "--rtol", a.rtol, "a number > 0 where --atol is 0");
  const Controller controllers[] = {Controller::I(), Controller::PI(), Controller::PID()};
  options.controller = controllers[find_name("--controller", a.controller, {"i", "pi", "pid"})];
  settings.single_precision = find_name("--precision", a.precision, {"double", "float"}) == 1;
  set_steps(a, options);
  set_method(a, system, settings);
  require(a.repeat > 0, "--repeat", a.repeat, "a number of runs > 0");
  settings.repeat = a.repeat;
  return settings;
}

EnsembleData make_ensemble(const Arguments& a, const SystemEntry& system) {
  if (a.n) require(*a.n > 0, "--n", *a.n, "a number of trajectories > 0");
  std::optional<int> n = a.n;
  std::vector<double> states, params;
  if (!a.states_file.empty()) states = read_rows(a.states_file, "--states", system.state_names, n);
  if (a.shared_params)
    params = a.params_file.empty() ? system.params : read_shared(a.params_file, system.param_names);
  else if (!a.params_file.empty())
    params = read_rows(a.params_file, "--params", system.param_names, n);

  EnsembleData data;
  data.n = n.value_or(system.default_n);
  fill_defaults(system, data);
  if (!states.empty()) data.states = std::move(states);
  if (!params.empty()) data.params = std::move(params);
  data.shared_params = a.shared_params;
  data.t0 = a.t0.value_or(system.t0);
  data.t1 = a.t1.value_or(system.t1);
  require(std::isfinite(data.t0), "--t0", data.t0, "a finite number");
  require(std::isfinite(data.t1), "--t1", data.t1, "a finite number");
  return data;
}

}  // namespace gradsolve::tool
