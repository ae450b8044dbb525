// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "problem.hpp"

#include <string>

/// The files that the tool writes. Everything throws io::BadInput.
namespace gradsolve::tool {

/// Refuses, before anything is computed, a folder that could not be made or written to, or a file
/// in such a folder.
void check_writable_folder(const std::string& folder);
void check_writable_file(const std::string& file);

/// states.npy, loss.npy, gradient_states.npy, gradient_params.npy, params.npy, status.npy and
/// num_steps.npy; with save times saved.npy, with a Hessian product hvp_u0.npy and hvp_params.npy.
/// Makes the folder where it is missing.
void write_arrays(const std::string& folder, const EnsembleData& ensemble, const Settings& settings,
                  const GradientResult& result);

/// One line a trajectory: the first parameter, the loss, and its derivative by that parameter.
void write_plot_data(const std::string& file, const SystemEntry& system,
                     const EnsembleData& ensemble, const GradientResult& result);

}  // namespace gradsolve::tool
