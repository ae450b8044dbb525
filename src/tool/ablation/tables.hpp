// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "results.hpp"

namespace gradsolve::tool {

/// What a value of an axis does to the time, against the first value of that axis.
struct Effect {
  std::string axis, value, first;
  double at_baseline = 0;      // ratio of medians; 0: one of the two is missing
  double least = 0, most = 0;  // of all pairs of cells that differ in nothing else
  int num_pairs = 0;
};
std::vector<Effect> effects_of(const Ablation& ablation);

std::string ablation_table(const Ablation& ablation);

/// Cells of two files that agree in every axis but the back end, and their ratio.
std::string joined_table(const std::string& path_a, const Ablation& a, const std::string& path_b,
                         const Ablation& b);

/// Draws the effects at the baseline with gnuplot: .png, .svg or .pdf. Throws io::BadInput.
void draw_effects(const std::string& path, const Ablation& ablation);
/// Throws where draw_effects() would, as far as that is known beforehand.
void check_picture(const std::string& path, const Grid& grid);

}  // namespace gradsolve::tool
