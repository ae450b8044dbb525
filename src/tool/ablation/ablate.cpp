// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ablate.hpp"

#include "../../io/bad_input.hpp"
#include "../device.hpp"
#include "../output.hpp"
#include "../typed.hpp"
#include "tables.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <iostream>
#include <unistd.h>

namespace gradsolve::tool {

namespace {

using io::BadInput;

volatile std::sig_atomic_t interrupted = 0;

/// The first Ctrl-C asks for an end after the current cell, the second one is the system's.
void handle_interrupt(int signal) {
  interrupted = 1;
  std::signal(signal, SIG_DFL);
}

void check_alone(const AblateArguments& a, const char* option, const char* why) {
  if (a.axes.empty() && !a.one_at_a_time && !a.min_time && a.json.empty()) return;
  const std::string given = !a.axes.empty()   ? a.axes.begin()->first
                            : a.one_at_a_time ? "one-at-a-time"
                            : a.min_time      ? "min-time"
                                              : "json";
  throw BadInput(std::string(option) + " " + why + ", expected no --" + given + " beside it");
}

ExitCode run_join(const AblateArguments& a) {
  check_alone(a, "--join", "measures nothing");
  if (!a.resume.empty() || !a.picture.empty())
    throw BadInput("--join measures nothing, expected no --resume and no --picture beside it");
  std::cout << joined_table(a.join[0], read_ablation(a.join[0]), a.join[1],
                            read_ablation(a.join[1]));
  return success;
}

Ablation start_or_resume(const AblateArguments& a) {
  if (!a.resume.empty()) {
    check_alone(a, "--resume", "takes the grid from its file");
    return read_ablation(a.resume);
  }
  Ablation ablation;
  ablation.grid = make_grid(a.axes, a.one_at_a_time);
  ablation.min_seconds = a.min_time.value_or(0.5);
  require(std::isfinite(ablation.min_seconds) && ablation.min_seconds >= 0, "--min-time",
          ablation.min_seconds, "a number of seconds >= 0");
  return ablation;
}

/// "[ 3/20] openmp double tsit5 ...", over the line before; nothing where nobody looks.
void show_progress(std::size_t done, std::size_t count, const Cell& cell) {
  if (!isatty(STDERR_FILENO)) return;
  std::cerr << "\r\033[K[" << done + 1 << '/' << count << ']';
  for (const std::string& value : cell) std::cerr << ' ' << value;
}
void end_progress() {
  if (isatty(STDERR_FILENO)) std::cerr << "\r\033[K";
}

CellResult run_cell(const Cell& cell, double min_seconds) {
  if (const std::string why = missing_for(cell); !why.empty()) return missing_cell(cell, why);
  try {
    return summary_of(cell, measure(cell, min_seconds));
  } catch (const std::bad_alloc&) {
    return missing_cell(cell, "out of memory");
  } catch (const std::exception& error) {  // of Kokkos' allocations, or the library's own
    return missing_cell(cell, error.what());
  }
}

/// Measures what is missing; each cell is in the file once it is done.
void run_cells(Ablation& ablation, const std::string& file) {
  const std::vector<Cell> cells = ablation.grid.cells();
  for (const Cell& cell : cells) {
    if (ablation.find(cell) != nullptr || interrupted) continue;
    show_progress(ablation.results.size(), cells.size(), cell);
    ablation.results.push_back(run_cell(cell, ablation.min_seconds));
    if (!file.empty()) write_ablation(file, ablation);
  }
  end_progress();
}

}  // namespace

ExitCode run_ablate(const AblateArguments& a, const std::vector<std::string>& command_line) {
  if (!a.join.empty()) return run_join(a);
  Ablation ablation = start_or_resume(a);
  const std::string file = a.resume.empty() ? a.json : a.resume;
  if (!file.empty()) check_writable_file(file);
  if (!a.picture.empty()) check_picture(a.picture, ablation.grid);

  const KokkosScope kokkos;
  const Context context = context_of(command_line);
  if (a.resume.empty()) {
    ablation.context = context;
  } else {
    check_same_context(a.resume, ablation.context, context);
    ablation.resumed.push_back(text_of(context, "date") + " " + text_of(context, "command"));
  }
  std::signal(SIGINT, handle_interrupt);
  std::signal(SIGTERM, handle_interrupt);
  run_cells(ablation, file);
  std::cout << ablation_table(ablation);
  const std::size_t count = ablation.grid.cells().size(), done = ablation.results.size();
  if (done < count)
    throw std::runtime_error(
        "interrupted after " + std::to_string(done) + " of " + std::to_string(count) + " cells" +
        (file.empty() ? "" : "; to go on: " + command_line[0] + " ablate --resume " + file));
  if (!a.picture.empty()) draw_effects(a.picture, ablation);
  const bool all_reached = std::all_of(ablation.results.begin(), ablation.results.end(),
                                       [](const CellResult& r) { return r.num_failed == 0; });
  return all_reached ? success : failed;
}

}  // namespace gradsolve::tool
