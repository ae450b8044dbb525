// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Orbits in two galaxies and a stellar stream, with all derivatives of their final states.
//
//     example_02_stellar_streams [n] [tests/data/applications.json]
#include "errors.hpp"
#include "stream.hpp"

namespace {

using namespace examples;

/// Errors of derivatives: member by member, the worst column.
Distribution derivative_errors(const Cube& derivatives, const nlohmann::json& members,
                               const char* to_state) {
  const auto s = on_host(derivatives);
  return errors_of(s.extent_int(0), [&](int i) {
    return derivative_error(s, i, members[i][to_state], members[i]["dy_dp"]);
  });
}

/// What derivatives are good to where positions are to 1e-4 (docs/applications.md).
constexpr double position_rule = 1e-4, derivative_rule = 5e-3;

template <class Potential>
bool orbits(const char* name, const Exec& exec, int n, const nlohmann::json& reference) {
  const auto options = orbit_options(Potential{});
  Orbits<Potential> orbits(draw_stars(exec, every(exec, 1, n)));
  const double first = milliseconds(exec, [&] { orbits.solve(exec, options); });
  const double again = milliseconds(exec, [&] { orbits.solve(exec, options); });
  const double forward = milliseconds(exec, [&] { orbits.differentiate(exec); });
  const double reverse = milliseconds(exec, [&] { orbits.differentiate(exec, SquaredDistance{}); });
  std::printf("%s, %d orbits: %d reached 4 Gyr, in %.0f steps\n", name, n,
              count_status(exec, orbits.record)[int(gradsolve::Status::success)],
              mean_steps(exec, orbits.record));
  std::printf(
      "  states %.1f ms (%.1f ms the first time), dw/d(w0, p) %.1f ms, gradient of "
      "sum |x|^2 in the shared p %.1f ms\n",
      again, first, forward, reverse);
  if (reference.is_null()) return true;

  const bool good = position_errors(orbits.record.states, reference["first256"], 0)
                        .meets(position_rule, "|x - x_ref| / |x_ref|");
  Orbits<Potential> members(draw_stars(exec, members_of(reference)));
  members.solve(exec, options);
  members.differentiate(exec);
  return derivative_errors(members.sensitivity.sensitivities, reference["members"], "dy_dy0")
             .meets(derivative_rule, "dw/d(w0, p) of 8 members, worst column") &&
         good;
}

/// The picture: where the stars are, and how they move with the flattening of the halo.
void write_csv(const char* path, const Stream& stream, const Cube& derivatives) {
  const auto w = on_host(stream.states());
  const auto t = on_host(stream.release_times());
  const auto dw = on_host(derivatives);
  const OutputFile file(path);
  std::fprintf(file, "t_release,x,y,z,dx_dq,dy_dq,dz_dq\n");
  for (int i = 0; i < w.extent_int(0); ++i)
    std::fprintf(file, "%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g\n", t(i), w(i, 0), w(i, 1), w(i, 2),
                 dw(i, 0, 8), dw(i, 1, 8), dw(i, 2, 8));
}

bool stream(const Exec& exec, int n, const nlohmann::json& reference) {
  const auto options = orbit_options(LogarithmicHalo{});
  Stream stream(exec, every(exec, stream_size / n, n), options);
  const double first = milliseconds(exec, [&] { stream.solve(exec); });
  const double again = milliseconds(exec, [&] { stream.solve(exec); });
  Cube derivatives;
  const double forward = milliseconds(exec, [&] { derivatives = stream.differentiate(exec); });
  std::printf("stream of %d stars, in %.0f steps\n", n, mean_steps(exec, stream.record()));
  std::printf("  states %.1f ms (%.1f ms the first time), dw/d(w0, p, M) %.1f ms\n", again, first,
              forward);
  if (n <= 10'000) write_csv("stream.csv", stream, derivatives);
  if (reference.is_null()) return true;

  const auto& table = reference["every4096"];
  Stream rows(exec, every(exec, 4096, static_cast<int>(table.size())), options);
  rows.solve(exec);
  const bool good =
      position_errors(rows.states(), table, 1).meets(position_rule, "|x - x_ref| / |x_ref|");
  Stream members(exec, members_of(reference), options);
  members.solve(exec);
  return derivative_errors(members.differentiate(exec), reference["members"], "dy_dw0")
             .meets(derivative_rule, "dw/d(w0, p, M) of 8 members, worst column") &&
         good;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argc, argv, [](const Exec& exec, const Arguments& arguments) {
    const int n = arguments.whole_number(1, "n", 512, 1, stream_size);
    const nlohmann::json reference = reference_values(arguments, 2);
    auto of = [&](const char* key) { return reference.value(key, nlohmann::json()); };
    bool good = orbits<LogarithmicHalo>("logarithmic halo", exec, n, of("orbits_log"));
    good &= orbits<MilkyWay>("Milky Way", exec, n, of("orbits_mw"));
    return stream(exec, n, of("stream_log")) && good;
  });
}
