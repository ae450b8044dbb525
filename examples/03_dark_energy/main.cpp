// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Distances in universes with a quintessence field, and their derivatives by the cosmology.
//
//     example_03_dark_energy [n] [tests/data/applications.json]
#include "errors.hpp"

namespace {

using namespace examples;

/// The picture: by what share the distances of some universes answer to matter and to the field.
void write_csv(const std::string& path, const Observables& seen, int count) {
  const auto w = on_host(seen.w);
  const auto distance = on_host(seen.distance);
  const auto derivative = on_host(seen.d_distance);
  const OutputFile file(path);
  std::fprintf(file, "z,D_M,dlnD_dOm,dlnD_dshape,w_today\n");
  for (int i = 0; i < count; ++i, std::fprintf(file, "\n"))
    for (int z = 0; z < num_redshifts; ++z)
      std::fprintf(file, "%g,%.6g,%.6g,%.6g,%.6g\n", redshifts[z], distance(i, z),
                   derivative(i, z, 0) / distance(i, z), derivative(i, z, 2) / distance(i, z),
                   w(i));
}

template <class Potential>
bool universes(const char* name, const Exec& exec, int n, const nlohmann::json& reference) {
  DarkEnergy<Potential> universes(exec, every(exec, 1, n));
  const Observables seen(exec, n);
  int iterations = 0;
  universes.shoot(exec, cosmic_options);  // allocates
  universes.differentiate(exec, seen);
  const double shooting =
      milliseconds(exec, [&] { iterations = universes.shoot(exec, cosmic_options); });
  const double values = milliseconds(exec, [&] { universes.solve(exec, seen.distance); });
  const double derivatives = milliseconds(exec, [&] { universes.differentiate(exec, seen); });
  std::printf("%s, %d universes\n", name, n);
  std::printf(
      "  shooting %.2f ms (%d Newton iterations), distances %.2f ms, derivatives of D_M, E "
      "and w by theta %.2f ms\n",
      shooting, iterations, values, derivatives);
  write_csv(std::string("dark_energy_") + Potential::name + ".csv", seen, std::min(n, 50));
  const auto g = on_host(seen.g);
  double largest = 0;
  for (int i = 0; i < n; ++i) largest = std::max(largest, std::abs(g(i)));
  std::printf("  largest |E^2(today) - 1|                       %.1e\n", largest);
  bool good = largest <= 1e-14;
  if (reference.is_null()) return good;

  good &= distance_errors(seen.distance, reference["first256"]).meets(1e-6, "|D_M / D_M,ref - 1|");
  const auto& cases = reference["members"];
  DarkEnergy<Potential> members(exec, members_of(reference));
  const Observables members_seen(exec, static_cast<int>(cases.size()));
  members.shoot(exec, cosmic_options);
  members.differentiate(exec, members_seen);
  return column_errors(members_seen.d_distance, cases, "ddistance", 3)
             .meets(2e-5, "dD_M/d(Om, h, shape) of 8 members, worst column") &&
         good;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argc, argv, [](const Exec& exec, const Arguments& arguments) {
    const int n = arguments.whole_number(1, "n", 16384);
    const nlohmann::json reference = reference_values(arguments, 2);
    auto of = [&](const char* key) { return reference.value(key, nlohmann::json()); };
    const bool good = universes<Exponential>("exponential potential", exec, n, of("quint_exp"));
    return universes<Pngb>("pseudo-Nambu-Goldstone boson", exec, n, of("quint_pngb")) && good;
  });
}
