// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report.hpp"

#include "../io/json.hpp"
#include "methods.hpp"
#include "statistics.hpp"
#include "text.hpp"
#include "typed.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace gradsolve::tool {

using io::Json;

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
    add(text, "              states of %d steps at a time: %.2f steps replayed for each one",
        plan.segment_steps, plan.replay_factor);
  if (plan.num_chunks > 2)  // the first one is a small one, to see
    add(text, "              or %d chunks of up to %d (record_and_gradient_in_chunks)",
        plan.num_chunks, plan.chunk_size);
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

Json json_of(const Task& task, const char* other,
             const std::vector<GradientCheck::Difference>& differences) {
  Json list = Json::array();
  for (std::size_t i = 0; i < differences.size(); ++i) {
    const GradientCheck::Difference& d = differences[i];
    list.push_back({{"component", component_name(task.system, i)},
                    {"relative", d.relative},
                    {"trajectory", d.trajectory},
                    {"adjoint", d.adjoint},
                    {other, d.other}});
    if (d.uncertainty > 0) list.back()["uncertainty"] = d.uncertainty;
  }
  return list;
}

Json json_of(const Time& time) {
  return {{"first_ms", 1e3 * time.first}, {"best_ms", 1e3 * time.best}};
}

Json json_of(const MemoryPlan& plan) {
  return {{"mesh_bytes", plan.mesh},
          {"kept_bytes", plan.kept},
          {"results_bytes", plan.results},
          {"states_bytes", plan.states},
          {"weights_bytes", plan.weights},
          {"num_chunks", plan.num_chunks},
          {"slices_in_flight", plan.slices_in_flight},
          {"segment_steps", plan.segment_steps},
          {"replay_factor", plan.replay_factor}};
}

Json json_of(const Task& task) {
  return {{"system", task.system.name},
          {"n", task.ensemble.n},
          {"t0", task.ensemble.t0},
          {"t1", task.ensemble.t1},
          {"method", task.settings.method},
          {"precision", precision_text(task.settings)},
          {"rtol", task.settings.options.rtol},
          {"atol", task.settings.options.atol},
          {"device", task.device}};
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
  if (result.stability_limited.value_or(0) > 0.5) {
    const auto& methods = task.system.methods;
    const bool offered = std::find(methods.begin(), methods.end(), "rodas5p") != methods.end();
    add(text,
        "hint          stability limits %.0f%% of the steps, not accuracy: the system is stiff, %s",
        100 * *result.stability_limited,
        offered ? "try --method rodas5p" : "in a program of your own try Rodas5P");
  }
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
  auto sums_of = [&](const std::vector<double>& sums) {
    Json by_name = Json::object();
    for (std::size_t j = 0; j < sums.size(); ++j)
      by_name[std::string(task.system.param_names[j])] = sums[j];
    return by_name;
  };
  Json json = json_of(task);
  json["lanes"] = result.lanes.width;
  json["steps_min"] = s.steps_min;
  json["steps_mean"] = s.steps_mean;
  json["steps_max"] = s.steps_max;
  json["rejected_mean"] = s.rejected_mean;
  json["num_rhs"] = s.rhs;
  if (result.memory) json["memory"] = json_of(*result.memory);
  if (result.stability_limited) json["stability_limited"] = *result.stability_limited;
  for (int value = 0; value < num_status_values; ++value)
    json["status"][name(Status{static_cast<std::int8_t>(value)})] = s.status[value];
  json["failed"] = s.failed;
  json["mode"] = mode_text(task.observation);
  for (const auto& [sweep, time] : sweeps_of(result)) json[sweep] = json_of(time);
  json["loss"] = loss_name(task.observation);
  json["num_saves"] = task.observation.save_times.size();
  json["loss_sum"] = s.loss;
  json["gradient_sum"] = sums_of(s.gradient_params);
  if (!s.product_params.empty()) json["hvp_sum"] = sums_of(s.product_params);
  return io::text_of(json);
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
  Json json = json_of(task);
  json["num_checked"] = check.num_checked;
  json["finite_differences"] = json_of(task, "finite_difference", check.finite_differences);
  json["tangents"] = json_of(task, "tangent", check.tangents);
  json["finite_difference_bound"] = bounds.finite_difference;
  json["tangent_bound"] = bounds.tangent;
  json["agree"] = check.passed();
  return io::text_of(json);
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
