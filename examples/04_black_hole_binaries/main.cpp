// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The spins of merging black holes, and their derivatives.
//
//     example_04_black_hole_binaries [n] [tests/data/applications.json] [separation at the start]
#include "errors.hpp"

namespace {

using namespace examples;

/// The picture: the angles of a few binaries along their way, from the solution as a function of v.
void write_csv(const char* path, const Exec& exec, double separation, gradsolve::Options options) {
  options.keep_states = true;
  const int count = 3, points = 1000;
  Binaries binaries(exec, every(exec, 1, count), separation);
  binaries.solve(exec, options);
  const auto solution =
      gradsolve::make_solution(exec, Binaries::System{}, binaries.record(), binaries.ensemble());
  const double first = binaries.first_v(), last = 1 / std::sqrt(last_separation);
  const Cube angles("angles along the way", count, points, num_angles);
  Kokkos::parallel_for(
      "angles along the way", Policy(exec, 0, count * points), KOKKOS_LAMBDA(int k) {
        const int i = k / points, point = k % points;
        const auto a = angles_of(solution(i, first + (last - first) * point / points));
        for (int j = 0; j < num_angles; ++j) angles(i, point, j) = a[j];
      });
  const auto host = on_host(angles);
  const OutputFile file(path);
  std::fprintf(file, "v,theta1,theta2,dphi\n");
  for (int i = 0; i < count; ++i, std::fprintf(file, "\n\n"))
    for (int point = 0; point < points; ++point)
      std::fprintf(file, "%.6g,%.6g,%.6g,%.6g\n", first + (last - first) * point / points,
                   host(i, point, 0), host(i, point, 1), host(i, point, 2));
}

/// Solves, differentiates and, where the reference has that separation, compares.
bool binaries(const Exec& exec, int n, double separation, const nlohmann::json& all) {
  const auto options = binary_options(separation);
  Binaries binaries(exec, every(exec, 1, n), separation);
  const double first = milliseconds(exec, [&] { binaries.solve(exec, options); });
  const double again = milliseconds(exec, [&] { binaries.solve(exec, options); });
  const double forward = milliseconds(exec, [&] { binaries.differentiate(exec); });
  std::printf("%d binaries from r = %g to %g: %d arrived, in %.0f steps\n", n, separation,
              last_separation,
              count_status(exec, binaries.record())[int(gradsolve::Status::success)],
              mean_steps(exec, binaries.record()));
  std::printf(
      "  states %.1f ms (%.1f ms the first time), derivatives of angles and time by (q, "
      "chi1, chi2) and the angles at the start %.1f ms\n",
      again, first, forward);
  write_csv("binaries.csv", exec, separation, options);
  if (all.empty()) return true;
  if (separation != 100 && separation != 1000)
    throw std::invalid_argument("there are reference values from r = 100 and from r = 1000 alone");

  const auto& reference = all.at(separation == 100 ? "precession_short" : "precession_long");
  const bool good = angle_errors(binaries.outcome().angles, reference["first256"])
                        .meets(1e-7, "largest angle error, rad");
  Binaries members(exec, members_of(reference), separation);
  members.solve(exec, options);
  members.differentiate(exec);
  return column_errors(members.outcome().d_angles, reference["members"], "dangles",
                       num_binary_variables)
             .meets(1e-6, "d angles / d(q, chi, angles0) of 8 members") &&
         good;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argc, argv, [](const Exec& exec, const Arguments& arguments) {
    return binaries(exec, arguments.whole_number(1, "n", 512),
                    arguments.number(3, "the separation at the start", 100, 11, 1e5),
                    reference_values(arguments, 2));
  });
}
