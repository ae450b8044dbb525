// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "grid.hpp"

#include "../backends.hpp"
#include "../methods.hpp"
#include "../systems/lorenz.hpp"
#include "../typed.hpp"
#include <gradsolve/detail/sweep.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace gradsolve::tool {

namespace {

enum AxisNumber {
  backend,
  precision,
  method,
  n,
  rtol,
  params,
  lanes,
  sort,
  differentiated,
  sweeps,
  states
};

/// What the tool knows of an axis; no names: numbers.
struct AxisKind {
  const char *name, *help;
  std::vector<std::string_view> known;
  std::string initial;
};

const std::vector<AxisKind>& kinds() {
  static const std::vector<AxisKind> list{
      {"backend",
       "Execution spaces",
       {"cuda", "hip", "sycl", "openmp", "threads", "serial"},
       name_of_backend<Kokkos::DefaultExecutionSpace>()},
      {"precision", "double, float", {"double", "float"}, "double"},
      {"method", "tsit5, vern7", names_of(Methods{}), "tsit5"},
      {"n", "Numbers of trajectories", {}, "32768"},
      {"rtol", "Relative tolerances; the absolute ones are 1e-3 of them", {}, "1e-6"},
      {"params",
       "rho of the ensemble: linspace (rising), shuffled",
       {"linspace", "shuffled"},
       "linspace"},
      {"lanes",
       "Trajectories that a thread advances at once: widest (what SIMD registers hold), 1",
       {"widest", "1"},
       "widest"},
      {"sort",
       "Whether trajectories of like step counts share a slice: on, off",
       {"on", "off"},
       "on"},
      {"gradient",
       "Of what: fixed-mesh (the steps are recorded once), re-record (before each gradient), "
       "adaptive-loop (forward sensitivities through the loop with its rejected steps), "
       "adaptive-loop-rho (of rho alone)",
       {"fixed-mesh", "re-record", "adaptive-loop", "adaptive-loop-rho"},
       "fixed-mesh"},
      {"sweeps",
       "fused (replay and adjoint in one launch; of re-record: the adjoint goes back over the "
       "record's states), separate (in two; of re-record: record, then gradient)",
       {"fused", "separate"},
       "fused"},
      {"states",
       "That a gradient keeps on its way: all, checkpoints (2 sqrt(steps), the rest is replayed)",
       {"all", "checkpoints"},
       "all"},
  };
  return list;
}

std::string shortest(double x) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, x).ptr};
}

/// A number in one spelling, so that cells can be told from each other.
std::string number_value(const AxisKind& kind, const std::string& typed) {
  const std::string option = std::string("--") + kind.name;
  if (std::string_view(kind.name) == "rtol") {
    const double x = number_in(typed, option.c_str(), "numbers > 0");
    require(std::isfinite(x) && x > 0, option.c_str(), typed, "numbers > 0");
    return shortest(x);
  }
  constexpr const char* expected = "numbers of trajectories, 1 to 1000000000";
  const double x = number_in(typed, option.c_str(), expected);
  require(x >= 1 && x <= 1e9 && x == std::floor(x), option.c_str(), typed, expected);
  return std::to_string(static_cast<int>(x));
}

Axis axis_in(const AxisKind& kind, const std::string& typed) {
  Axis axis{kind.name, {}};
  const std::string option = std::string("--") + kind.name;
  for (std::size_t begin = 0; begin <= typed.size();) {
    const std::size_t end = std::min(typed.find(',', begin), typed.size());
    std::string value = typed.substr(begin, end - begin);
    if (kind.known.empty())
      value = number_value(kind, value);
    else
      find_name(option, value, kind.known);
    require(std::find(axis.values.begin(), axis.values.end(), value) == axis.values.end(),
            option.c_str(), typed, "each value once");
    axis.values.push_back(value);
    begin = end + 1;
  }
  return axis;
}

struct Compiled {
  const char *method, *precision;
  Measure measure;
};
const std::vector<Compiled>& compiled() {
  static const std::vector<Compiled> all = {GRADSOLVE_ABLATION_KERNELS};  // src/CMakeLists.txt
  return all;
}
Measure find_measure(const Cell& cell) {
  for (const Compiled& c : compiled())
    if (cell[method] == c.method && cell[precision] == c.precision) return c.measure;
  return nullptr;
}
std::string methods_of_build() {
  std::string list, last;
  for (const Compiled& c : compiled())
    if (c.method != last) list += (list.empty() ? "" : ", ") + (last = c.method);
  return list.empty() ? "none" : list;
}

/// The lanes of a back end; 0 where the build has none of that name.
int widest_lanes(const Cell& cell) {
  int width = 0;
  for_each_backend([&]<class Exec>(std::type_identity<Exec>) {
    if (name_of_backend<Exec>() == cell[backend])
      width = cell[precision] == "float" ? detail::lane_width<Lorenz, Exec, float, 0>()
                                         : detail::lane_width<Lorenz, Exec, double, 0>();
  });
  return width;
}

std::string backends_of_build() {
  std::string list;
  for_each_backend([&]<class Exec>(std::type_identity<Exec>) {
    list += (list.empty() ? "" : ", ") + name_of_backend<Exec>();
  });
  return list;
}

}  // namespace

std::vector<AxisHelp> axes_help() {
  std::vector<AxisHelp> list;
  for (const AxisKind& kind : kinds()) list.push_back({kind.name, kind.help, kind.initial});
  return list;
}

Cell Grid::baseline() const {
  Cell cell;
  for (const Axis& axis : axes) cell.push_back(axis.values.front());
  return cell;
}

std::vector<Cell> Grid::cells() const {
  std::vector<Cell> cells{baseline()};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    // The last axis changes the fastest.
    std::vector<Cell> next;
    for (const Cell& cell : cells) {
      const bool varies = !one_at_a_time || cell == baseline();
      for (const std::string& value : axes[i].values) {
        if (!varies && value != cell[i]) continue;
        next.push_back(cell);
        next.back()[i] = value;
      }
    }
    cells = std::move(next);
  }
  return cells;
}

Grid make_grid(const std::map<std::string, std::string>& typed, bool one_at_a_time) {
  Grid grid{{}, one_at_a_time};
  for (const AxisKind& kind : kinds()) {
    const auto given = typed.find(kind.name);
    grid.axes.push_back(axis_in(kind, given == typed.end() ? kind.initial : given->second));
  }
  return grid;
}

Arm arm_of(const Cell& cell) {
  const auto& gradients = kinds()[differentiated].known;
  const auto gradient = std::find(gradients.begin(), gradients.end(), cell[differentiated]);
  return {.backend = cell[backend],
          .method = cell[method],
          .single_precision = cell[precision] == "float",
          .n = std::stoi(cell[n]),
          .rtol = std::stod(cell[rtol]),
          .shuffled = cell[params] == "shuffled",
          .widest_lanes = cell[lanes] == "widest",
          .sort = cell[sort] == "on",
          .differentiated = static_cast<Differentiated>(gradient - gradients.begin()),
          .fused = cell[sweeps] == "fused",
          .checkpoints = cell[states] == "checkpoints"};
}

std::string missing_for(const Cell& cell) {
  const Arm arm = arm_of(cell);
  const int widest = widest_lanes(cell);
  if (widest == 0) return "this build has " + backends_of_build();
  if (find_measure(cell) == nullptr) return "this build has the methods " + methods_of_build();
  if (!arm.widest_lanes && widest == 1) return "as widest, which is 1 here";
  const bool adaptive = arm.differentiated == Differentiated::adaptive_loop ||
                        arm.differentiated == Differentiated::adaptive_loop_rho;
  if (adaptive && !arm.fused) return "an adaptive loop is one sweep";
  const bool keeps_all = (arm.differentiated == Differentiated::re_record) == arm.fused;
  if (arm.checkpoints && (adaptive || keeps_all))
    return adaptive ? "forward, an adaptive loop keeps no states"
                    : "sweeps that are " + cell[sweeps] + " keep every state";
  return "";
}

Measurement measure(const Cell& cell, double min_seconds) {
  return find_measure(cell)(arm_of(cell), min_seconds);
}

}  // namespace gradsolve::tool
