// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report.hpp"

#include "json.hpp"
#include "methods.hpp"
#include "statistics.hpp"

#include <cstdarg>
#include <cstdio>

namespace gradsolve::tool {

namespace {

/// Appends a line, printf's way: tables want columns.
__attribute__((format(printf, 2, 3))) void add(std::string& text, const char* format, ...) {
  char line[512];
  va_list values;
  va_start(values, format);
  std::vsnprintf(line, sizeof line, format, values);
  va_end(values);
  text += line;
  text += '\n';
}

std::string joined(const std::vector<std::string_view>& names) {
  std::string list;
  for (const auto name : names) list += (list.empty() ? "" : ", ") + std::string(name);
  return list;
}

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

void add_times(std::string& text, const GradientResult& result, double steps, int repeat) {
  const struct {
    const char* name;
    Time time;
  } sweeps[] = {
      {"record", result.record}, {"replay", result.replay}, {"gradient", result.gradient}};
  add(text, "%-12s  %12s%15s%15s", "", "first run", repeat > 1 ? "best run" : "", "steps/s");
  for (const auto& [name, time] : sweeps) {
    char best[32] = "";
    if (repeat > 1) std::snprintf(best, sizeof best, "%.3f ms", 1e3 * time.best);
    add(text, "%-12s  %9.3f ms%15s%15.3g", name, 1e3 * time.first, best, steps / time.best);
  }
}

/// Component i of (states, parameters).
std::string component_name(const SystemEntry& system, std::size_t i) {
  const std::size_t num_states = system.state_names.size();
  if (i < num_states) return std::string(system.state_names[i]) + "(t0)";
  return std::string(system.param_names[i - num_states]);
}

void add_differences(Json& json, const Task& task, const CheckResult& result) {
  json.begin_list("finite_differences");
  for (std::size_t i = 0; i < result.finite_differences.size(); ++i) {
    const Difference& d = result.finite_differences[i];
    json.begin_object();
    json.add("component", component_name(task.system, i));
    json.add("relative", d.relative);
    json.add("trajectory", d.trajectory);
    json.add("adjoint", d.adjoint);
    json.add("finite_difference", d.other);
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
  text += '\n';
  add(text, "steps         %d min, %.2f mean, %d max; %.2f rejected in the mean", s.steps_min,
      s.steps_mean, s.steps_max, s.rejected_mean);
  add(text, "evaluations   %.0f of the right-hand side", s.rhs);
  add_status(text, s);
  text += '\n';
  add_times(text, result, s.steps, task.settings.repeat);
  text += '\n';
  add(text, "loss          %.13g, the sum of squares of the final states", s.loss);
  for (std::size_t j = 0; j < s.gradient_params.size(); ++j)
    add(text, "%-12s  %.13g", ("d/d " + std::string(task.system.param_names[j])).c_str(),
        s.gradient_params[j]);
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
  json.begin_object("status");
  for (int value = 0; value < num_status_values; ++value)
    json.add(name(Status{static_cast<std::int8_t>(value)}), s.status[value]);
  json.end();
  json.begin_list("failed");
  for (const int i : s.failed) json.add("", i);
  json.end();
  auto add_time = [&](const char* sweep, const Time& time) {
    json.begin_object(sweep);
    json.add("first_ms", 1e3 * time.first);
    json.add("best_ms", 1e3 * time.best);
    json.end();
  };
  add_time("record", result.record);
  add_time("replay", result.replay);
  add_time("gradient", result.gradient);
  json.add("loss_sum", s.loss);
  json.begin_object("gradient_sum");
  for (std::size_t j = 0; j < s.gradient_params.size(); ++j)
    json.add(task.system.param_names[j], s.gradient_params[j]);
  json.end();
  return json.text();
}

std::string check_table(const Task& task, const CheckResult& result, const CheckBounds& bounds) {
  std::string text = heading(task);
  add(text, "checked       %d trajectories", result.num_checked);
  text += '\n';
  auto line = [&](const char* label, const Difference& d) {
    const std::string where = d.trajectory < 0 ? "all" : std::to_string(d.trajectory);
    add(text, "%-12s  %10.2e  %10s  %20.12g  %20.12g", label, d.relative, where.c_str(), d.adjoint,
        d.other);
  };
  add(text, "%-12s  %10s  %10s  %20s  %20s", "d loss / d", "difference", "trajectory", "adjoint",
      "finite difference");
  for (std::size_t i = 0; i < result.finite_differences.size(); ++i)
    line(component_name(task.system, i).c_str(), result.finite_differences[i]);
  text += '\n';
  add(text, "%-12s  %10s  %10s  %20s  %20s", "", "difference", "trajectory", "adjoint", "tangent");
  line("a direction", result.tangent);
  text += '\n';
  add(text, "%s: differences of at most %g (finite differences) and %g (tangent) are accepted",
      passes(result, bounds) ? "agree" : "DISAGREE", bounds.finite_difference, bounds.tangent);
  return text;
}

std::string check_json(const Task& task, const CheckResult& result, const CheckBounds& bounds) {
  Json json;
  add_task(json, task);
  json.add("num_checked", result.num_checked);
  add_differences(json, task, result);
  json.begin_object("tangent");
  json.add("relative", result.tangent.relative);
  json.add("trajectory", result.tangent.trajectory);
  json.add("adjoint", result.tangent.adjoint);
  json.add("tangent", result.tangent.other);
  json.end();
  json.add("finite_difference_bound", bounds.finite_difference);
  json.add("tangent_bound", bounds.tangent);
  json.add("agree", passes(result, bounds));
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
    if (s->branches)
      add(text, "%15s branches on its values: on a CPU one trajectory a thread at a time", "");
    text += '\n';
  }
  text.pop_back();
  return text;
}

std::string methods_table() {
  std::string text;
  add(text, "%-8s  %5s  %14s  %6s", "method", "order", "error estimate", "stages");
  Methods::for_each([&](auto m) {
    char estimate[32] = "none";
    if (m.error_order > 0) std::snprintf(estimate, sizeof estimate, "order %d", m.error_order);
    add(text, "%-8s  %5d  %14s  %6d%s%s", m.name, m.order, estimate, m.num_stages,
        m.fsal ? ", first same as last" : "",
        m.error_order > 0 ? "" : ", with --fixed-steps or --fixed-step only");
  });
  text += "\nwith --precision float:";
  FloatMethods::for_each([&](auto m) { text += std::string(" ") + m.name; });
  return text + '\n';
}

}  // namespace gradsolve::tool
