// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "results.hpp"

#include "../../io/json.hpp"
#include "../../io/write.hpp"
#include "../typed.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>

namespace gradsolve::tool {

using io::BadInput;
using io::Json;

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

Json json_of(const Context& context) {
  Json json = Json::object();
  for (const auto& [name, text] : context) json[name] = text;
  return json;
}

Json json_of(const Grid& grid) {
  Json json = Json::object();
  for (const Axis& axis : grid.axes) json[axis.name] = axis.values;
  return json;
}

Json json_of(const Grid& grid, const CellResult& result) {
  Json json = Json::object();
  for (std::size_t i = 0; i < grid.axes.size(); ++i) json[grid.axes[i].name] = result.cell[i];
  if (result.measured()) {
    for_each_number(result, [&](const char* name, const auto& x) { json[name] = x; });
    json["clock"] = result.clock;
    json["date"] = result.date;
  } else {
    json["missing"] = result.missing;
  }
  return json;
}

/// Reads members of a file, and says what it lacks.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  [[noreturn]] void refuse(const std::string& what) const {
    throw BadInput(path_ + ": is not a file of gradsolve ablate: " + what);
  }
  /// A member of type T: bool, std::string, or Json for an object or a list.
  template <class T = Json>
  T member(const Json& of, const char* key) const {
    const auto found = of.find(key);
    if (found == of.end()) refuse("no \"" + std::string(key) + "\"");
    if constexpr (std::is_same_v<T, Json>) {
      if (found->is_structured()) return *found;
    } else {
      if (const auto* const value = found->template get_ptr<const T*>()) return *value;
    }
    refuse("\"" + std::string(key) + "\" is of another type");
  }
  std::string text(const Json& of, const char* key) const { return member<std::string>(of, key); }
  /// A number; null is NaN.
  double number(const Json& of, const char* key) const {
    const auto found = of.find(key);
    if (found == of.end()) refuse("no \"" + std::string(key) + "\"");
    if (found->is_null()) return std::numeric_limits<double>::quiet_NaN();
    if (!found->is_number()) refuse("\"" + std::string(key) + "\" is of another type");
    return found->get<double>();
  }
  /// The strings of a list.
  std::vector<std::string> texts(const Json& list) const {
    std::vector<std::string> texts;
    for (const Json& each : list) {
      if (!each.is_string()) refuse(each.dump() + " where a text was expected");
      texts.push_back(each.get<std::string>());
    }
    return texts;
  }

 private:
  const std::string& path_;
};

Grid read_grid(const Reader& reader, const Json& file) {
  std::map<std::string, std::string> lists;
  const Json axes = reader.member(file, "axes");
  for (const auto& [axis, values] : axes.items())
    for (const std::string& value : reader.texts(values))
      lists[axis] += (lists[axis].empty() ? "" : ",") + value;
  return make_grid(lists, reader.member<bool>(file, "one_at_a_time"));
}

CellResult read_result(const Reader& reader, const Grid& grid, const Json& from) {
  CellResult result;
  for (const Axis& axis : grid.axes) {
    const std::string value = reader.text(from, axis.name.c_str());
    if (std::find(axis.values.begin(), axis.values.end(), value) == axis.values.end())
      reader.refuse("a cell with " + axis.name + " " + value + ", which no axis has");
    result.cell.push_back(value);
  }
  if (from.contains("missing")) {
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
  Json cells = Json::array();
  for (const CellResult& result : ablation.results) cells.push_back(json_of(ablation.grid, result));
  const std::string text = io::text_of(Json{
      {"format", format_name},
      {"context", json_of(ablation.context)},
      {"resumed", ablation.resumed},
      {"min_seconds", ablation.min_seconds},
      {"one_at_a_time", ablation.grid.one_at_a_time},
      {"axes", json_of(ablation.grid)},
      {"complete", ablation.results.size() == ablation.grid.cells().size()},
      {"cells", cells},
  });
  io::write_whole(path, [&](std::ostream& out) { out << text; });
}

Ablation read_ablation(const std::string& path) {
  const Json file = io::read_json(path);
  const Reader reader(path);
  if (!file.is_object()) reader.refuse("no object");
  if (const std::string format = reader.text(file, "format"); format != format_name)
    reader.refuse("its format is '" + format + "', expected '" + format_name + "'");
  Ablation ablation;
  ablation.grid = read_grid(reader, file);
  ablation.min_seconds = reader.number(file, "min_seconds");
  const Json context = reader.member(file, "context");
  for (const auto& [name, value] : context.items())
    ablation.context.emplace_back(name, reader.text(context, name.c_str()));
  ablation.resumed = reader.texts(reader.member(file, "resumed"));
  for (const Json& cell : reader.member(file, "cells"))
    ablation.results.push_back(read_result(reader, ablation.grid, cell));
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
