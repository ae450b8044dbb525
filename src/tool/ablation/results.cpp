// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "results.hpp"

#include "../../io/json.hpp"
#include "../../io/write.hpp"
#include "../json.hpp"
#include "../typed.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace gradsolve::tool {

using io::BadInput;
using io::JsonValue;
using Kind = JsonValue::Kind;

namespace {

constexpr const char* format_name = "gradsolve ablation 1";

/// The numbers of a measured cell, by their name in the file.
template <class Result, class Visit>
void for_each_number(Result& r, Visit&& visit) {
  visit("num_runs", r.num_runs);
  visit("min_ms", r.min_ms);
  visit("median_ms", r.median_ms);
  visit("max_ms", r.max_ms);
  visit("lanes_width", r.lanes);
  visit("steps_mean", r.steps_mean);
  visit("rejected_mean", r.rejected_mean);
  visit("padding", r.padding);
  visit("replay_factor", r.replay_factor);
  visit("num_failed", r.num_failed);
  visit("gradient_sum", r.gradient_sum);
}

void add_context(Json& json, const Context& context) {
  json.begin_object("context");
  for (const auto& [name, text] : context) json.add(name, text);
  json.end();
}

void add_axes(Json& json, const Grid& grid) {
  json.begin_object("axes");
  for (const Axis& axis : grid.axes) {
    json.begin_list(axis.name);
    for (const std::string& value : axis.values) json.add("", value);
    json.end();
  }
  json.end();
}

void add_result(Json& json, const Grid& grid, const CellResult& result) {
  json.begin_object();
  for (std::size_t i = 0; i < grid.axes.size(); ++i) json.add(grid.axes[i].name, result.cell[i]);
  if (result.measured()) {
    for_each_number(result, [&](const char* name, const auto& x) { json.add(name, x); });
    json.add("clock", result.clock);
    json.add("date", result.date);
  } else {
    json.add("missing", result.missing);
  }
  json.end();
}

/// Reads members of a file, and says what it lacks.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  [[noreturn]] void refuse(const std::string& what) const {
    throw BadInput(path_ + ": is not a file of gradsolve ablate: " + what);
  }
  const JsonValue& member(const JsonValue& of, const char* key, Kind kind) const {
    const JsonValue* const value = of.find(key);
    if (value == nullptr) refuse("no \"" + std::string(key) + "\"");
    if (value->kind != kind) refuse("\"" + std::string(key) + "\" is of another type");
    return *value;
  }
  std::string text(const JsonValue& of, const char* key) const {
    return member(of, key, Kind::string).text;
  }
  /// A number; null is NaN.
  double number(const JsonValue& of, const char* key) const {
    const JsonValue* const value = of.find(key);
    if (value != nullptr && value->kind == Kind::null)
      return std::numeric_limits<double>::quiet_NaN();
    const std::string& digits = member(of, key, Kind::number).text;
    double x = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), x);
    return x;
  }

 private:
  const std::string& path_;
};

Grid read_grid(const Reader& reader, const JsonValue& file) {
  std::map<std::string, std::string> lists;
  const JsonValue& axes = reader.member(file, "axes", Kind::object);
  for (std::size_t i = 0; i < axes.keys.size(); ++i)
    for (const JsonValue& value : axes.values[i].values)
      lists[axes.keys[i]] += (lists[axes.keys[i]].empty() ? "" : ",") + value.text;
  return make_grid(lists, reader.member(file, "one_at_a_time", Kind::boolean).text == "true");
}

CellResult read_result(const Reader& reader, const Grid& grid, const JsonValue& from) {
  CellResult result;
  for (const Axis& axis : grid.axes) {
    const std::string value = reader.text(from, axis.name.c_str());
    if (std::find(axis.values.begin(), axis.values.end(), value) == axis.values.end())
      reader.refuse("a cell with " + axis.name + " " + value + ", which no axis has");
    result.cell.push_back(value);
  }
  if (from.find("missing") != nullptr) {
    result.missing = reader.text(from, "missing");
    return result;
  }
  for_each_number(result, [&]<class T>(const char* name, T& x) {
    x = static_cast<T>(reader.number(from, name));
  });
  result.clock = reader.text(from, "clock");
  result.date = reader.text(from, "date");
  return result;
}

}  // namespace

CellResult summary_of(const Cell& cell, const Measurement& m) {
  std::vector<double> seconds = m.seconds;
  std::sort(seconds.begin(), seconds.end());
  const std::size_t count = seconds.size(), middle = count / 2;
  const double median =
      count % 2 == 1 ? seconds[middle] : (seconds[middle - 1] + seconds[middle]) / 2;
  return {.cell = cell,
          .missing = "",
          .num_runs = static_cast<int>(count),
          .min_ms = 1e3 * seconds.front(),
          .median_ms = 1e3 * median,
          .max_ms = 1e3 * seconds.back(),
          .lanes = m.lanes,
          .steps_mean = m.steps_mean,
          .rejected_mean = m.rejected_mean,
          .padding = m.padding,
          .replay_factor = m.replay_factor,
          .gradient_sum = m.gradient_sum,
          .num_failed = m.num_failed,
          .clock = clock_text(arm_of(cell).backend),
          .date = date_text()};
}

CellResult missing_cell(const Cell& cell, const std::string& why) {
  CellResult result;
  result.cell = cell;
  result.missing = why;
  return result;
}

const CellResult* Ablation::find(const Cell& cell) const {
  const auto found = std::find_if(results.begin(), results.end(),
                                  [&](const CellResult& r) { return r.cell == cell; });
  return found == results.end() ? nullptr : &*found;
}

void write_ablation(const std::string& path, const Ablation& ablation) {
  Json json;
  json.add("format", format_name);
  add_context(json, ablation.context);
  json.begin_list("resumed");
  for (const std::string& each : ablation.resumed) json.add("", each);
  json.end();
  json.add("min_seconds", ablation.min_seconds);
  json.add("one_at_a_time", ablation.grid.one_at_a_time);
  add_axes(json, ablation.grid);
  json.add("complete", ablation.results.size() == ablation.grid.cells().size());
  json.begin_list("cells");
  for (const CellResult& result : ablation.results) add_result(json, ablation.grid, result);
  json.end();
  const std::string text = json.text();
  io::write_whole(path, [&](std::ostream& out) { out << text; });
}

Ablation read_ablation(const std::string& path) {
  const JsonValue file = io::read_json(path);
  const Reader reader(path);
  if (file.kind != Kind::object) reader.refuse("no object");
  if (const std::string format = reader.text(file, "format"); format != format_name)
    reader.refuse("its format is '" + format + "', expected '" + format_name + "'");
  Ablation ablation;
  ablation.grid = read_grid(reader, file);
  ablation.min_seconds = reader.number(file, "min_seconds");
  const JsonValue& context = reader.member(file, "context", Kind::object);
  for (std::size_t i = 0; i < context.keys.size(); ++i)
    ablation.context.emplace_back(context.keys[i], context.values[i].text);
  for (const JsonValue& each : reader.member(file, "resumed", Kind::list).values)
    ablation.resumed.push_back(each.text);
  for (const JsonValue& each : reader.member(file, "cells", Kind::list).values)
    ablation.results.push_back(read_result(reader, ablation.grid, each));
  return ablation;
}

void check_same_context(const std::string& path, const Context& file, const Context& now) {
  for (const Context* context : {&file, &now})
    for (const auto& [name, text] : *context) {
      if (name == "date" || name == "command" || name.starts_with("clocks_")) continue;
      const std::string before = text_of(file, name), after = text_of(now, name);
      if (before != after)
        throw BadInput("--resume " + path + ": " + name + " was '" + before + "' and is '" + after +
                       "', expected the same machine, build and settings");
    }
}

}  // namespace gradsolve::tool
