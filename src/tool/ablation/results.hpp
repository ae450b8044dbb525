// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "context.hpp"
#include "grid.hpp"

/// What `gradsolve ablate` has measured so far, and its file.
namespace gradsolve::tool {

struct CellResult {
  Cell cell;
  std::string missing;  // why it was not measured; empty: it was
  int num_runs = 0;
  double min_ms = 0, median_ms = 0, max_ms = 0;
  int lanes = 1;
  double steps_mean = 0, rejected_mean = 0, padding = 1, replay_factor = 1, gradient_sum = 0;
  int num_failed = 0;
  std::string clock, date;  // just after it

  bool measured() const { return missing.empty(); }
};

CellResult summary_of(const Cell& cell, const Measurement& measurement);
CellResult missing_cell(const Cell& cell, const std::string& why);

struct Ablation {
  Grid grid;
  double min_seconds = 0;
  Context context;                   // of the first run
  std::vector<std::string> resumed;  // date and command line of each later one
  std::vector<CellResult> results;   // in the order of the grid's cells

  const CellResult* find(const Cell& cell) const;
};

/// Whole or not at all: the file of an interrupted run is good.
void write_ablation(const std::string& path, const Ablation& ablation);
/// Throws io::BadInput.
Ablation read_ablation(const std::string& path);

/// Throws io::BadInput where a run of this context must not add to those of the file: another
/// machine, build or setting.
void check_same_context(const std::string& path, const Context& file, const Context& now);

}  // namespace gradsolve::tool
