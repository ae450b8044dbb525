// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../io/bad_input.hpp"
#include "ablation/ablate.hpp"
#include "ablation/grid.hpp"
#include "arguments.hpp"
#include "device.hpp"
#include "exit_code.hpp"
#include "output.hpp"
#include "report.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <iostream>
#include <string>
#include <string_view>

namespace gradsolve::tool {

namespace {

constexpr const char* exit_codes =
    "Exit status: 0 success; 1 some trajectory did not reach t1, or the check disagrees;\n"
    "2 bad input, and nothing is written; 3 the run itself broke off.";

void add_ensemble_options(CLI::App& command, Arguments& a) {
  command.add_option("--system", a.system, "Name of a built-in system (see `gradsolve systems`)")
      ->required();
  command.add_option("--n", a.n, "Number of trajectories; those of the files where one is given");
  command.add_option("--states", a.states_file, "Initial states, a row a trajectory: .npy or .csv");
  command.add_option("--params", a.params_file, "Parameters, a row a trajectory: .npy or .csv");
  command.add_flag("--shared-params", a.shared_params,
                   "One row of parameters for all; the gradient is the sum over the ensemble");
  command.add_option("--t0", a.t0, "Start, by default that of the system");
  command.add_option("--t1", a.t1, "End; before the start it integrates backward");
}

void add_solver_options(CLI::App& command, Arguments& a) {
  command.add_option("--method", a.method,
                     "Name of a method (see `gradsolve methods`); by default the system's first "
                     "one (see `gradsolve "
                     "systems`)");
  command.add_option("--precision", a.precision, "double or float")->capture_default_str();
  command.add_option("--rtol", a.rtol, "Relative tolerance")->capture_default_str();
  command.add_option("--atol", a.atol, "Absolute tolerance, by default 1e-3 of --rtol (e5: 1e-18)");
  command.add_option("--controller", a.controller, "i, pi or pid")->capture_default_str();
  command.add_option("--first-step", a.first_step,
                     "Its size, or hairer for his rule; by default a hundredth of the span");
  command.add_option("--min-step", a.min_step, "Smallest step");
  command.add_option("--max-step", a.max_step, "Largest step");
  command.add_option("--max-steps", a.max_steps, "Attempted steps of a trajectory, at most");
  command
      .add_option("--memory-budget", a.memory_budget,
                  "Bytes for the states that the gradient keeps on its way (512 kb, 2 gb); with "
                  "fewer than it needs it replays more")
      ->transform(CLI::AsSizeValue(false));
  command.add_option("--fixed-steps", a.fixed_steps, "That many equal steps, no error control");
  command.add_option("--fixed-step", a.fixed_step, "Steps of this size, no error control");
}

void add_observation_options(CLI::App& command, Arguments& a) {
  command.add_option("--save-times", a.save_times,
                     "Times where the loss looks at the states: numbers, START:STOP:COUNT, or a "
                     ".npy or .csv file; by default t1");
  command
      .add_option("--loss", a.loss,
                  "sum-of-squares, the default, or least-squares FILE: .npy of (n, saves, states) "
                  "or (saves, states), NaN for what is missing")
      ->expected(1, 2);
  command
      .add_option("--mode", a.mode,
                  "reverse (adjoint), forward (sensitivities), or auto: the cheaper one")
      ->capture_default_str();
  command.add_flag("--hvp", a.hessian_product,
                   "Also the Hessian of the loss times a vector of ones for the parameters");
}

void add_output_options(CLI::App& command, Arguments& a) {
  command.add_option("--repeat", a.repeat, "Runs of each sweep, for the times")
      ->capture_default_str();
  command.add_option("--out", a.out, "Folder for the results as .npy files");
  command.add_option("--csv", a.csv, "File of first parameter, loss and derivative, to plot");
}

void add_ablate_options(CLI::App& command, AblateArguments& a) {
  for (const AxisHelp& axis : axes_help())
    command
        .add_option_function<std::string>(
            "--" + axis.name,
            [&a, name = axis.name](const std::string& values) { a.axes[name] = values; }, axis.text)
        ->type_name("A,B,...")
        ->default_str(axis.initial);
  command.add_flag("--one-at-a-time", a.one_at_a_time,
                   "The first value of each axis, and what differs from them in one");
  command.add_option("--min-time", a.min_time,
                     "Seconds that a cell is repeated for, after a warm-up and three times at "
                     "least; by default 0.5");
  command.add_option("--json", a.json,
                     "File of all that was measured and where; written after each cell");
  command.add_option("--resume", a.resume, "Go on with such a file: measures the missing cells");
  command.add_option("--picture", a.picture, "Draw the effects with gnuplot: .png, .svg or .pdf");
  command
      .add_option("--join", a.join,
                  "Two such files, of two machines or back ends: prints the ratios of their cells")
      ->expected(2);
}

int run_gradient(const Arguments& a) {
  const SystemEntry& system = find_system(a.system);
  const Settings settings = make_settings(a, system);
  if (!a.csv.empty() && a.shared_params)
    throw io::BadInput("--csv needs parameters of each trajectory, not --shared-params");
  const EnsembleData ensemble = make_ensemble(a, system);
  const Observation observation = make_observation(a, system, settings, ensemble);
  if (!a.out.empty()) check_writable_folder(a.out);
  if (!a.csv.empty()) check_writable_file(a.csv);

  const KokkosScope kokkos;
  const GradientResult result = observation.is_plain()
                                    ? system.gradient(ensemble, settings)
                                    : system.observed(ensemble, settings, observation);
  if (!a.out.empty()) write_arrays(a.out, ensemble, settings, result);
  if (!a.csv.empty()) write_plot_data(a.csv, system, ensemble, result);
  const Task task{system, ensemble, settings, device_text(), observation};
  std::cout << (a.json ? gradient_json(task, result) : gradient_table(task, result));
  const bool all_reached = std::all_of(result.status.begin(), result.status.end(),
                                       [](Status s) { return s == Status::success; });
  return all_reached ? success : failed;
}

int run_check(const Arguments& a) {
  const SystemEntry& system = find_system(a.system);
  const Settings settings = make_settings(a, system);
  const EnsembleData ensemble = make_ensemble(a, system);

  const KokkosScope kokkos;
  const Observation plain;
  const GradientCheck check = system.check(ensemble, settings);
  const Task task{system, ensemble, settings, device_text(), plain};
  std::cout << (a.json ? check_json(task, check) : check_table(task, check));
  return check.passed() ? success : failed;
}

int run(int argc, char** argv) {
  CLI::App app("Ensembles of small ODE systems and their exact gradients", "gradsolve");
  app.footer(exit_codes);
  app.require_subcommand(0, 1);
  app.set_version_flag("--version",
                       [] { return "gradsolve " GRADSOLVE_VERSION " (" + kokkos_text() + ")"; });
  Arguments a;
  CLI::App& gradient = *app.add_subcommand(
      "gradient",
      "Solve an ensemble and differentiate a loss of its states, by default the sum of "
      "squares at t1");
  CLI::App& check = *app.add_subcommand(
      "check", "Compare gradients with finite differences and with tangents of the replay");
  for (CLI::App* command : {&gradient, &check}) {
    add_ensemble_options(*command, a);
    add_solver_options(*command, a);
    command->add_flag("--json", a.json, "Print JSON");
  }
  add_observation_options(gradient, a);
  add_output_options(gradient, a);
  AblateArguments ablation;
  CLI::App& ablate = *app.add_subcommand(
      "ablate", "Time the gradient of the Lorenz ensemble with each of its ideas left out");
  add_ablate_options(ablate, ablation);
  const CLI::App& list_systems = *app.add_subcommand("systems", "List the built-in systems");
  const CLI::App& list_methods = *app.add_subcommand("methods", "List the methods");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    throw io::BadInput(error.what());
  }
  if (gradient) return run_gradient(a);
  if (check) return run_check(a);
  if (ablate) return run_ablate(ablation, {argv, argv + argc});
  if (list_systems) std::cout << systems_table();
  if (list_methods) std::cout << methods_table();
  if (app.get_subcommands().empty())
    throw io::BadInput(
        "expected gradient, check, ablate, systems or methods (see gradsolve --help)");
  return success;
}

/// One line on stderr, whatever the text holds; the library's options by their names here.
int complain(std::string text, ExitCode code) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  constexpr std::string_view option = ": options.";
  if (const auto found = text.find(option); found != std::string::npos) {
    text.replace(found, option.size(), ": --");
    for (auto at = found + 4; std::islower(static_cast<unsigned char>(text[at])) || text[at] == '_';
         ++at)
      if (text[at] == '_') text[at] = '-';
  }
  std::cerr << "gradsolve: " << text << '\n';
  return code;
}

}  // namespace

int guarded_run(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const io::BadInput& error) {
    return complain(error.what(), bad_input);
  } catch (const std::invalid_argument& error) {  // the library's InvalidArgument
    return complain(error.what(), bad_input);
  } catch (const std::bad_alloc&) {
    return complain("out of memory", broken);
  } catch (const std::exception& error) {
    return complain(error.what(), broken);
  }
}

}  // namespace gradsolve::tool

int main(int argc, char** argv) { return gradsolve::tool::guarded_run(argc, argv); }
