// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../io/npy.hpp"
#include "../io/table.hpp"
#include "arguments.hpp"
#include "linspace.hpp"
#include "methods.hpp"
#include "typed.hpp"

#include <algorithm>
#include <cmath>

namespace gradsolve::tool {

using io::BadInput;

namespace {

constexpr const char* times_expected = "numbers, START:STOP:COUNT, or one .npy or .csv file";

bool ends_in(const std::string& text, const char* suffix) { return text.ends_with(suffix); }

/// "0:1:5" is 0, 0.25, 0.5, 0.75, 1.
std::vector<double> range_in(const std::string& typed) {
  auto number = [&](std::size_t begin, std::size_t end) {
    return number_in(typed.substr(begin, end - begin), "a part of --save-times", "a number");
  };
  const auto first = typed.find(':'), second = typed.find(':', first + 1);
  require(second != std::string::npos, "--save-times", typed, times_expected);
  const double start = number(0, first), stop = number(first + 1, second);
  const double count = number(second + 1, typed.size());
  require(count >= 1 && count <= 1e6 && count == std::floor(count), "COUNT of --save-times", count,
          "1 to 1000000");
  std::vector<double> times(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < times.size(); ++i)
    times[i] = linspace(start, stop, static_cast<int>(i), static_cast<int>(times.size()));
  return times;
}

std::vector<double> read_times(const std::string& path) {
  const io::Table table = io::read_table(path);
  if (table.rows > 1 && table.columns > 1)
    throw BadInput("--save-times " + path + " has the shape " +
                   shape_text({table.rows, table.columns}) + ", expected one row or one column");
  return table.values;
}

/// What the library checks is left to it: that they are finite, sorted and within the span.
std::vector<double> save_times_in(const std::vector<std::string>& typed) {
  if (typed.size() == 1 && (ends_in(typed[0], ".npy") || ends_in(typed[0], ".csv")))
    return read_times(typed[0]);
  std::vector<double> times;
  for (const std::string& each : typed) {
    if (each.find(':') == std::string::npos) {
      times.push_back(number_in(each, "--save-times", times_expected));
    } else {
      const std::vector<double> range = range_in(each);
      times.insert(times.end(), range.begin(), range.end());
    }
  }
  return times;
}

/// The file of least squares: one block (saves, N) for each trajectory, or one for all. NaN marks
/// what is missing.
std::vector<double> read_data(const std::string& path, std::size_t n, std::size_t num_saves,
                              std::size_t num_states) {
  using Shape = std::vector<std::size_t>;
  require(ends_in(path, ".npy"), "FILE of --loss", path, "a name that ends in .npy");
  io::Array array = io::read_npy(path, 3);
  const Shape each{n, num_saves, num_states}, all{num_saves, num_states};
  if (array.shape != each && array.shape != all)
    throw BadInput("--loss least-squares " + path + " has the shape " + shape_text(array.shape) +
                   ", expected " + shape_text(each) + " or " + shape_text(all) +
                   ": trajectories, save times, states");
  if (std::any_of(array.values.begin(), array.values.end(), [](double x) { return std::isinf(x); }))
    throw BadInput("--loss least-squares " + path +
                   ": expected finite numbers, and NaN for what is missing; one is infinite");
  return std::move(array.values);
}

std::vector<double> data_of_loss(const Arguments& a, std::size_t n, std::size_t num_saves,
                                 std::size_t num_states) {
  const bool least_squares =
      find_name("--loss", a.loss[0], {"sum-of-squares", "least-squares"}) == 1;
  if (!least_squares && a.loss.size() > 1)
    throw BadInput("--loss sum-of-squares takes no file, expected nothing after it");
  if (!least_squares) return {};
  if (a.loss.size() != 2) throw BadInput("--loss least-squares needs one FILE of data");
  if (num_saves == 0) throw BadInput("--loss least-squares needs --save-times");
  return read_data(a.loss[1], n, num_saves, num_states);
}

/// The cheaper mode. Sensitivities cost a replay with tangents for every two variables, the adjoint
/// a fixed number of replays: docs/forward-or-reverse.md has the measurements. No built-in system
/// has so few variables.
Mode cheaper_mode(int num_states, int num_params) {
  constexpr int most_variables = 2;
  return num_states + num_params <= most_variables ? Mode::forward : Mode::reverse;
}

/// Why these settings have no observed sweeps, or nothing.
std::string missing_for(const SystemEntry& system, const Settings& settings) {
  if (system.observed == nullptr) return "the system " + std::string(system.name) + " has none";
  if (settings.single_precision) return "--precision float has none";
  const auto methods = names_of(ObservedMethods{});
  if (std::find(methods.begin(), methods.end(), settings.method) == methods.end())
    return "--method " + settings.method + " has none; there is: " + joined(methods);
  return "";
}

Mode mode_of(const Arguments& a, const SystemEntry& system, bool has_forward) {
  const auto typed = find_name("--mode", a.mode, {"reverse", "forward", "auto"});
  if (typed == 2)
    return has_forward ? cheaper_mode(system.num_states(), system.num_params()) : Mode::reverse;
  return typed == 1 ? Mode::forward : Mode::reverse;
}

}  // namespace

Observation make_observation(const Arguments& a, const SystemEntry& system,
                             const Settings& settings, const EnsembleData& ensemble) {
  Observation observation;
  observation.save_times = save_times_in(a.save_times);
  observation.data =
      data_of_loss(a, ensemble.n, observation.save_times.size(), system.num_states());
  observation.hessian_product = a.hessian_product;
  const std::string missing = missing_for(system, settings);
  observation.mode = mode_of(a, system, missing.empty());
  if (!observation.is_plain() && !missing.empty())
    throw BadInput(
        "--save-times, --loss least-squares, --mode forward and --hvp are built for some "
        "systems and methods only: " +
        missing);
  return observation;
}

}  // namespace gradsolve::tool
