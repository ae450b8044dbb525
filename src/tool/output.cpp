// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "output.hpp"

#include "../io/bad_input.hpp"
#include "../io/npy.hpp"
#include "../io/write.hpp"

#include <cstdio>
#include <filesystem>
#include <unistd.h>

namespace gradsolve::tool {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw io::BadInput(path + ": cannot be written: " + why);
}

/// The path itself, or the nearest folder above it that is there.
fs::path nearest_existing(fs::path path) {
  std::error_code ignored;
  while (!fs::exists(path, ignored) && path.has_parent_path() && path != path.parent_path())
    path = path.parent_path();
  return fs::exists(path, ignored) ? path : fs::path(".");
}

void check_folder(const std::string& path, const fs::path& folder) {
  const fs::path existing = nearest_existing(folder);
  std::error_code ignored;
  if (!fs::is_directory(existing, ignored)) refuse(path, existing.string() + " is not a folder");
  if (access(existing.c_str(), W_OK | X_OK) != 0)
    refuse(path, "no permission to write in " + existing.string());
}

/// Writes in the precision that was computed in.
void write_numbers(const std::string& path, const std::vector<std::size_t>& shape,
                   const std::vector<double>& values, bool single_precision) {
  if (single_precision)
    io::write_npy(path, shape, std::vector<float>(values.begin(), values.end()));
  else
    io::write_npy(path, shape, values);
}

}  // namespace

void check_writable_folder(const std::string& folder) { check_folder(folder, folder); }

void check_writable_file(const std::string& file) {
  std::error_code ignored;
  if (fs::is_directory(file, ignored)) refuse(file, "it is a folder");
  if (fs::exists(file, ignored) && access(file.c_str(), W_OK) != 0) refuse(file, "no permission");
  check_folder(file, fs::path(file).parent_path());
  if (fs::path(file).has_parent_path() && !fs::exists(fs::path(file).parent_path(), ignored))
    refuse(file, "its folder does not exist");
}

void write_arrays(const std::string& folder, const EnsembleData& ensemble, const Settings& settings,
                  const GradientResult& result) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) refuse(folder, error.message());
  const std::size_t n = ensemble.n;
  using Shape = std::vector<std::size_t>;
  const Shape states{n, result.states.size() / n};
  const Shape params =
      ensemble.shared_params ? Shape{ensemble.params.size()} : Shape{n, ensemble.params.size() / n};
  auto path = [&](const char* name) { return (fs::path(folder) / name).string(); };
  auto numbers = [&](const char* name, const Shape& shape, const std::vector<double>& values) {
    write_numbers(path(name), shape, values, settings.single_precision);
  };
  numbers("states.npy", states, result.states);
  numbers("loss.npy", {n}, result.loss);
  numbers("gradient_states.npy", states, result.gradient_states);
  numbers("gradient_params.npy", params, result.gradient_params);
  numbers("params.npy", params, ensemble.params);
  if (!result.saved.empty())
    numbers("saved.npy", {n, result.saved.size() / result.states.size(), states[1]}, result.saved);
  if (!result.product_states.empty()) {
    numbers("hvp_u0.npy", states, result.product_states);
    numbers("hvp_params.npy", params, result.product_params);
  }
  std::vector<std::int8_t> status;
  for (const Status s : result.status) status.push_back(static_cast<std::int8_t>(s));
  io::write_npy(path("status.npy"), {n}, status);
  io::write_npy(path("num_steps.npy"), {n}, result.num_steps);
}

void write_plot_data(const std::string& file, const SystemEntry& system,
                     const EnsembleData& ensemble, const GradientResult& result) {
  const std::size_t num_params = system.num_params();
  io::write_whole(file, [&](std::ostream& out) {
    out << system.param_names[0] << ",loss,dloss_d" << system.param_names[0] << '\n';
    char line[128];
    for (int i = 0; i < ensemble.n; ++i) {
      std::snprintf(line, sizeof line, "%.17g,%.17g,%.17g\n", ensemble.params[i * num_params],
                    result.loss[i], result.gradient_params[i * num_params]);
      out << line;
    }
  });
}

}  // namespace gradsolve::tool
