// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "arguments.hpp"

#include <string>

/// What the tool prints.
namespace gradsolve::tool {

/// What was asked for.
struct Task {
  const SystemEntry& system;
  const EnsembleData& ensemble;
  const Settings& settings;
  std::string device;
  const Observation& observation;
};

std::string gradient_table(const Task& task, const GradientResult& result);
std::string gradient_json(const Task& task, const GradientResult& result);
std::string check_table(const Task& task, const GradientCheck& check);
std::string check_json(const Task& task, const GradientCheck& check);
std::string systems_table();
std::string methods_table();

}  // namespace gradsolve::tool
