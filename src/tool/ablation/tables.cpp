// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tables.hpp"

#include "../text.hpp"

#include <algorithm>
#include <cmath>

namespace gradsolve::tool {

namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string ms_text(double ms) { return formatted("%.4f", ms); }
std::string ratio_text(double ratio) { return ratio > 0 ? formatted("%.3f", ratio) : "-"; }

/// Whether cells differ in this axis.
bool varies(const Axis& axis) { return axis.values.size() > 1; }

/// "backend openmp, precision double, ...": what all cells share.
std::string shared_text(const Grid& grid) {
  std::string text;
  for (const Axis& axis : grid.axes)
    if (!varies(axis)) text += (text.empty() ? "" : ", ") + axis.name + " " + axis.values.front();
  return text;
}

void add_context(std::string& text, const Context& context) {
  for (const auto& [name, value] : context)
    if (name.starts_with("device_")) add(text, "device     %s", value.c_str());
  add(text, "build      gradsolve %s (%s), %s, %s", text_of(context, "gradsolve").c_str(),
      text_of(context, "commit").c_str(), text_of(context, "kokkos").c_str(),
      text_of(context, "compiler").c_str());
}

double ratio_of(const CellResult* result, const CellResult* reference) {
  const bool both = result && reference && result->measured() && reference->measured();
  return both ? result->median_ms / reference->median_ms : 0;
}

Rows cell_rows(const Ablation& ablation) {
  std::vector<std::string> header;
  for (const Axis& axis : ablation.grid.axes)
    if (varies(axis)) header.push_back(axis.name);
  for (const char* name :
       {"min ms", "median ms", "max ms", "runs", "/ baseline", "steps", "padding", "sum d/drho"})
    header.push_back(name);
  Rows rows{header};
  const CellResult* const baseline = ablation.find(ablation.grid.baseline());
  for (const CellResult& r : ablation.results) {
    std::vector<std::string> row;
    for (std::size_t i = 0; i < r.cell.size(); ++i)
      if (varies(ablation.grid.axes[i])) row.push_back(r.cell[i]);
    if (r.measured())
      for (const std::string& text :
           {ms_text(r.min_ms), ms_text(r.median_ms), ms_text(r.max_ms), std::to_string(r.num_runs),
            ratio_text(ratio_of(&r, baseline)), formatted("%.2f", r.steps_mean),
            formatted("%.3f", r.padding), formatted("%.10g", r.gradient_sum)})
        row.push_back(text);
    else
      row.insert(row.end(), header.size() - row.size(), "-");
    rows.push_back(row);
  }
  return rows;
}

/// "sort off, states checkpoints": what makes a cell another one than the baseline.
std::string name_of(const Grid& grid, const Cell& cell) {
  const Cell baseline = grid.baseline();
  std::string name;
  for (std::size_t i = 0; i < cell.size(); ++i)
    if (cell[i] != baseline[i])
      name += (name.empty() ? "" : ", ") + grid.axes[i].name + ' ' + cell[i];
  return name.empty() ? "baseline" : name;
}

/// Cells that were not measured, and trajectories that failed.
void add_notes(std::string& text, const Ablation& ablation) {
  for (const CellResult& r : ablation.results) {
    const std::string name = name_of(ablation.grid, r.cell);
    if (!r.measured()) add(text, "missing    %s: %s", name.c_str(), r.missing.c_str());
    if (r.num_failed > 0)
      add(text, "failed     %s: %d trajectories did not reach t1", name.c_str(), r.num_failed);
  }
}

Rows effect_rows(const std::vector<Effect>& effects) {
  Rows rows{{"factor", "value", "against", "at baseline", "least", "most", "pairs"}};
  for (const Effect& e : effects)
    rows.push_back({e.axis, e.value, e.first, ratio_text(e.at_baseline), ratio_text(e.least),
                    ratio_text(e.most), std::to_string(e.num_pairs)});
  return rows;
}

/// The cell without its back end.
Cell without_backend(const Cell& cell) { return {cell.begin() + 1, cell.end()}; }

}  // namespace

std::vector<Effect> effects_of(const Ablation& ablation) {
  std::vector<Effect> effects;
  const std::vector<Axis>& axes = ablation.grid.axes;
  const Cell baseline = ablation.grid.baseline();
  for (std::size_t i = 0; i < axes.size(); ++i)
    for (std::size_t v = 1; v < axes[i].values.size(); ++v) {
      Effect effect{axes[i].name, axes[i].values[v], axes[i].values[0]};
      for (const CellResult& result : ablation.results) {
        if (result.cell[i] != effect.value) continue;
        Cell first = result.cell;
        first[i] = effect.first;
        const double ratio = ratio_of(&result, ablation.find(first));
        if (!(ratio > 0)) continue;
        effect.least = effect.num_pairs == 0 ? ratio : std::min(effect.least, ratio);
        effect.most = std::max(effect.most, ratio);
        ++effect.num_pairs;
        if (first == baseline) effect.at_baseline = ratio;
      }
      effects.push_back(effect);
    }
  return effects;
}

std::string ablation_table(const Ablation& ablation) {
  std::string text;
  add(text, "problem    lorenz, rho in [0, 21], t = 0 .. 1, loss |u(1)|^2, its gradient");
  add_context(text, ablation.context);
  add(text, "repeated   for %g s after one warm-up", ablation.min_seconds);
  add(text, "all cells  %s", shared_text(ablation.grid).c_str());
  const Rows rows = cell_rows(ablation);
  const std::size_t num_axes =
      std::count_if(ablation.grid.axes.begin(), ablation.grid.axes.end(), varies);
  text += '\n' + aligned(rows, num_axes);
  add_notes(text, ablation);
  const std::vector<Effect> effects = effects_of(ablation);
  if (effects.empty()) return text;
  text += "\nTime over that of the first value of each factor\n\n";
  return text + aligned(effect_rows(effects), 3);
}

std::string joined_table(const std::string& path_a, const Ablation& a, const std::string& path_b,
                         const Ablation& b) {
  std::string text;
  add(text, "A  %s", path_a.c_str());
  add_context(text, a.context);
  add(text, "B  %s", path_b.c_str());
  add_context(text, b.context);

  const std::vector<Axis>& axes = a.grid.axes;
  // The columns of axes that vary in either file.
  auto shown = [&](std::size_t i) {
    return i == 0 || varies(axes[i]) || axes[i].values != b.grid.axes[i].values;
  };
  std::vector<std::string> header{"A", "B"};
  for (std::size_t i = 1; i < axes.size(); ++i)
    if (shown(i)) header.push_back(axes[i].name);
  const std::size_t left = header.size();
  header.insert(header.end(), {"A ms", "B ms", "A / B"});
  Rows rows{header};
  double difference = 0;
  int pairs = 0;
  for (const CellResult& x : a.results)
    for (const CellResult& y : b.results) {
      if (without_backend(x.cell) != without_backend(y.cell)) continue;
      if (!x.measured() || !y.measured()) continue;
      std::vector<std::string> row{x.cell[0], y.cell[0]};
      for (std::size_t i = 1; i < axes.size(); ++i)
        if (shown(i)) row.push_back(x.cell[i]);
      row.insert(row.end(),
                 {ms_text(x.median_ms), ms_text(y.median_ms), ratio_text(ratio_of(&x, &y))});
      rows.push_back(row);
      difference = std::max(difference, std::abs(x.gradient_sum / y.gradient_sum - 1));
      ++pairs;
    }
  text += '\n' + aligned(rows, left) + '\n';
  add(text, "%d pairs of %zu and %zu cells; their gradient sums differ by %.1e at most", pairs,
      a.results.size(), b.results.size(), difference);
  return text;
}

}  // namespace gradsolve::tool
