// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report.hpp"

#include "json.hpp"
#include "methods.hpp"
#include "statistics.hpp"
#include "text.hpp"
#include "typed.hpp"

#include <cstdio>

namespace gradsolve::tool {

namespace {

std::string steps_text(const Options& o) {
  char text[128];
  if (o.fixed_steps > 0)
    std::snprintf(text, sizeof text, "%d equal steps", o.fixed_steps);
  else if (o.fixed_step > 0)
    std::snprintf(text, sizeof text, "steps of %g", o.fixed_step);
  else
    std::snprintf(text, sizeof text, "rtol %g, atol %g", o.rtol, o.atol);
  return text;
}

const char* precision_text(const Settings& settings) {
  return settings.single_precision ? "float" : "double";
}

std::string heading(const Task& task) {
  std::string text;
  add(text, "system        %s, %d trajectories, t = %g .. %g", task.system.name.data(),
      task.ensemble.n, task.ensemble.t0, task.ensemble.t1);
  add(text, "method        %s, %s, %s precision", task.settings.method.c_str(),
      steps_text(task.settings.options).c_str(), precision_text(task.settings));
  add(text, "device        %s", task.device.c_str());
  return text;
}

void add_status(std::string& text, const Statistics& s) {
  const char* label = "status";
  for (int value = 0; value < num_status_values; ++value) {
    if (s.status[value] == 0) continue;
    const Status status{static_cast<std::int8_t>(value)};
    add(text, "%-12s  %d %s: %s", label, s.status[value], name(status).data(),
        describe(status).data());
    label = "";
  }
  if (s.failed.empty()) return;
  std::string list;
  for (const int i : s.failed) list += ' ' + std::to_string(i);
  add(text, "              failed trajectories:%s%s", list.c_str(),
      static_cast<int>(s.failed.size()) < s.num_failed() ? ", ..." : "");
}

void add_memory(std::string& text, const MemoryPlan& plan) {
  add(text, "memory        %.1f MB: mesh %.1f, results %.1f, states on the way %.1f",
      1e-6 * plan.total(), 1e-6 * plan.mesh, 1e-6 * plan.results, 1e-6 * plan.states);
  if (plan.replay_factor > 1)
    add(text, "              checkpoints every %d steps: %.2f steps replayed for each one",
        plan.segment_steps, plan.replay_factor);
}

struct Sweep {
  const char* name;
  Time time;
};
std::vector<Sweep> sweeps_of(const GradientResult& result) {
  std::vector<Sweep> sweeps{{"record", result.record}};
  if (result.replay) sweeps.push_back({"replay", *result.replay});
  sweeps.push_back({"gradient", result.gradient});
  if (result.hessian_product) sweeps.push_back({"hvp", *result.hessian_product});
  return sweeps;
}

void add_times(std::string& text, const GradientResult& result, double steps, int repeat) {
  add(text, "%-12s  %12s%15s%15s", "", "first run", repeat > 1 ? "best run" : "", "steps/s");
  for (const auto& [name, time] : sweeps_of(result)) {
    char best[32] = "";
    if (repeat > 1) std::snprintf(best, sizeof best, "%.3f ms", 1e3 * time.best);
    add(text, "%-12s  %9.3f ms%15s%15.3g", name, 1e3 * time.first, best, steps / time.best);
  }
}

const char* mode_text(const Observation& observation) {
  return observation.mode == Mode::forward ? "forward" : "reverse";
}

const char* loss_name(const Observation& observation) {
  return observation.data.empty() ? "sum-of-squares" : "least-squares";
}

/// "the sum of squares of the final states"
std::string loss_text(const Observation& observation) {
  if (observation.save_times.empty()) return "the sum of squares of the final states";
  const std::size_t k = observation.save_times.size();
  return (observation.data.empty() ? "the sum of squares of the states" : "least squares") +
         (" at " + std::to_string(k)) + (k == 1 ? " save time" : " save times");
}

/// Component i of (states, parameters).
std::string component_name(const SystemEntry& system, std::size_t i) {
  const std::size_t num_states = system.state_names.size();
  if (i < num_states) return std::string(system.state_names[i]) + "(t0)";
  return std::string(system.param_names[i - num_states]);
}

void add_differences(Json& json, const Task& task, const char* list, const char* other,
                     const std::vector<GradientCheck::Difference>& differences) {
  json.begin_list(list);
  for (std::size_t i = 0; i < differences.size(); ++i) {
    const GradientCheck::Difference& d = differences[i];
    json.begin_object();
    json.add("component", component_name(task.system, i));
    json.add("relative", d.relative);
    json.add("trajectory", d.trajectory);
    json.add("adjoint", d.adjoint);
    json.add(other, d.other);
    if (d.uncertainty > 0) json.add("uncertainty", d.uncertainty);
    json.end();
  }
  json.end();
}

void add_task(Json& json, const Task& task) {
  json.add("system", task.system.name);
  json.add("n", task.ensemble.n);
  json.add("t0", task.ensemble.t0);
  json.add("t1", task.ensemble.t1);
  json.add("method", task.settings.method);
  json.add("precision", precision_text(task.settings));
  json.add("rtol", task.settings.options.rtol);
  json.add("atol", task.settings.options.atol);
  json.add("device", task.device);
}

}  // namespace

std::string gradient_table(const Task& task, const GradientResult& result) {
  const Statistics s = statistics_of(task.ensemble, result);
  std::string text = heading(task);
  add(text, "lanes         %d: %s", result.lanes.width, result.lanes.why.data());
  add(text, "mode          %s", mode_text(task.observation));
  text += '\n';
  add(text, "steps         %d min, %.2f mean, %d max; %.2f rejected in the mean", s.steps_min,
      s.steps_mean, s.steps_max, s.rejected_mean);
  add(text, "evaluations   %.0f of the right-hand side", s.rhs);
  if (result.memory) add_memory(text, *result.memory);
  add_status(text, s);
  if (result.stability_limited.value_or(0) > 0.5)
    add(text,
        "hint          stability limits %.0f%% of the steps, not accuracy: the system is stiff, "
        "try --method rodas5p",
        100 * *result.stability_limited);
  text += '\n';
  add_times(text, result, s.steps, task.settings.repeat);
  text += '\n';
  add(text, "loss          %.13g, %s", s.loss, loss_text(task.observation).c_str());
  auto add_sums = [&](const char* label, const std::vector<double>& sums) {
    for (std::size_t j = 0; j < sums.size(); ++j)
      add(text, "%-12s  %.13g", (label + std::string(task.system.param_names[j])).c_str(), sums[j]);
  };
  add_sums("d/d ", s.gradient_params);
  add_sums("hvp ", s.product_params);
  return text;
}

std::string gradient_json(const Task& task, const GradientResult& result) {
  const Statistics s = statistics_of(task.ensemble, result);
  Json json;
  add_task(json, task);
  json.add("lanes", result.lanes.width);
  json.add("steps_min", s.steps_min);
  json.add("steps_mean", s.steps_mean);
  json.add("steps_max", s.steps_max);
  json.add("rejected_mean", s.rejected_mean);
  json.add("num_rhs", s.rhs);
  if (result.memory) {
    json.begin_object("memory");
    json.add("mesh_bytes", result.memory->mesh);
    json.add("results_bytes", result.memory->results);
    json.add("states_bytes", result.memory->states);
    json.add("slices_in_flight", result.memory->slices_in_flight);
    json.add("segment_steps", result.memory->segment_steps);
    json.add("replay_factor", result.memory->replay_factor);
    json.end();
  }
  if (result.stability_limited) json.add("stability_limited", *result.stability_limited);
  json.begin_object("status");
  for (int value = 0; value < num_status_values; ++value)
    json.add(name(Status{static_cast<std::int8_t>(value)}), s.status[value]);
  json.end();
  json.begin_list("failed");
  for (const int i : s.failed) json.add("", i);
  json.end();
  json.add("mode", mode_text(task.observation));
  for (const auto& [sweep, time] : sweeps_of(result)) {
    json.begin_object(sweep);
    json.add("first_ms", 1e3 * time.first);
    json.add("best_ms", 1e3 * time.best);
    json.end();
  }
  json.add("loss", loss_name(task.observation));
  json.add("num_saves", task.observation.save_times.size());
  json.add("loss_sum", s.loss);
  auto add_sums = [&](const char* name, const std::vector<double>& sums) {
    json.begin_object(name);
    for (std::size_t j = 0; j < sums.size(); ++j) json.add(task.system.param_names[j], sums[j]);
    json.end();
  };
  add_sums("gradient_sum", s.gradient_params);
  if (!s.product_params.empty()) add_sums("hvp_sum", s.product_params);
  return json.text();
}

std::string check_table(const Task& task, const GradientCheck& check) {
  const GradientCheck::Bounds bounds = check.default_bounds();
  std::string text = heading(task);
  add(text, "checked       %d trajectories", check.num_checked);
  text += '\n';
  auto block = [&](const char* other, const std::vector<GradientCheck::Difference>& differences) {
    add(text, "%-12s  %10s  %11s  %10s  %20s  %20s", "d loss / d", "difference", "uncertainty",
        "trajectory", "adjoint", other);
    for (std::size_t i = 0; i < differences.size(); ++i) {
      const auto& d = differences[i];
      const std::string where = d.trajectory < 0 ? "all" : std::to_string(d.trajectory);
      add(text, "%-12s  %10.2e  %11.1e  %10s  %20.12g  %20.12g",
          component_name(task.system, i).c_str(), d.relative, d.uncertainty, where.c_str(),
          d.adjoint, d.other);
    }
    text += '\n';
  };
  block("finite difference", check.finite_differences);
  block("tangent", check.tangents);
  for (std::size_t i = 0; i < check.finite_differences.size(); ++i)
    if (!check.has_verdict(i))
      add(text, "finite differences have no verdict on %s", component_name(task.system, i).c_str());
  add(text,
      "%s: differences of at most %g (finite differences, ten times their uncertainty apart) and "
      "%g (tangent) are accepted",
      check.passed() ? "agree" : "DISAGREE", bounds.finite_difference, bounds.tangent);
  return text;
}

std::string check_json(const Task& task, const GradientCheck& check) {
  const GradientCheck::Bounds bounds = check.default_bounds();
  Json json;
  add_task(json, task);
  json.add("num_checked", check.num_checked);
  add_differences(json, task, "finite_differences", "finite_difference", check.finite_differences);
  add_differences(json, task, "tangents", "tangent", check.tangents);
  json.add("finite_difference_bound", bounds.finite_difference);
  json.add("tangent_bound", bounds.tangent);
  json.add("agree", check.passed());
  return json.text();
}

std::string systems_table() {
  std::string text;
  for (const SystemEntry* s : systems()) {
    add(text, "%-15s %s", s->name.data(), s->summary.data());
    add(text, "%15s states: %s", "", joined(s->state_names).c_str());
    add(text, "%15s parameters: %s", "", joined(s->param_names).c_str());
    add(text, "%15s by default n = %d, t = %g .. %g, %s", "", s->default_n, s->t0, s->t1,
        s->default_ensemble.data());
    add(text, "%15s methods: %s", "", joined(s->methods).c_str());
    if (s->branches)
      add(text, "%15s branches on its values: on a CPU one trajectory a thread at a time", "");
    text += '\n';
  }
  text.pop_back();
  return text;
}

std::string methods_table() {
  std::string text;
  add(text, "%-12s  %5s  %14s  %6s", "method", "order", "error estimate", "stages");
  Methods::for_each([&]<class M>(M m) {
    char estimate[32] = "none";
    if (m.error_order > 0) std::snprintf(estimate, sizeof estimate, "order %d", m.error_order);
    add(
        text, "%-12s  %5d  %14s  %6d%s%s%s", m.name, m.order, estimate, m.num_stages,
        m.fsal ? ", first same as last" : "",
        m.error_order > 0 ? "" : ", with --fixed-steps or --fixed-step only",
        requires { M::gamma; } ? ", for stiff systems" : "");
  });
  return text + "\n`gradsolve systems` says which of them a system is built with.\n";
}

}  // namespace gradsolve::tool
