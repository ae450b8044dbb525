// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

/// One cell of the grid of `gradsolve ablate`, and what it measured: plain data, without Kokkos.
namespace gradsolve::tool {

/// What is differentiated again and again.
enum class Differentiated {
  fixed_mesh,         // the replay on steps recorded once, as by one who moves parameters a little
  re_record,          // the same, after recording anew each time
  adaptive_loop,      // the adaptive loop by forward sensitivities, with its rejected steps
  adaptive_loop_rho,  // the same for rho alone, without the initial state
};

struct Arm {
  std::string backend, method;
  bool single_precision = false;
  int n = 1;
  double rtol = 1e-6;
  bool shuffled = false;  // the order of the parameters
  bool widest_lanes = true;
  bool sort = true;
  Differentiated differentiated = Differentiated::fixed_mesh;
  bool fused = true;
  bool checkpoints = false;
};

struct Measurement {
  std::vector<double> seconds;  // of each repetition
  int lanes = 1;
  double steps_mean = 0, rejected_mean = 0;
  double padding = 1;  // rows of the mesh times its width, over the steps in it
  int num_failed = 0;
  double gradient_sum = 0;  // of d loss / d rho
  double replay_factor = 1;
};

/// One warm-up, then repetitions until they took min_seconds, three at least. One function for each
/// method and precision that is compiled, in a file of its own.
using Measure = Measurement (*)(const Arm&, double min_seconds);
Measurement measure_tsit5_double(const Arm&, double min_seconds);
Measurement measure_tsit5_float(const Arm&, double min_seconds);
Measurement measure_vern7_double(const Arm&, double min_seconds);
Measurement measure_vern7_float(const Arm&, double min_seconds);

}  // namespace gradsolve::tool
