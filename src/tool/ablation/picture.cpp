// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../../io/bad_input.hpp"
#include "../output.hpp"
#include "../text.hpp"
#include "tables.hpp"

#include <cstdio>
#include <filesystem>

namespace gradsolve::tool {

namespace {

/// gnuplot's name of what draws such a file; "" for none.
std::string terminal_of(const std::string& path) {
  const std::string suffix = std::filesystem::path(path).extension();
  if (suffix == ".png") return "pngcairo size 1200,900 font 'sans,16'";
  if (suffix == ".svg") return "svg size 1200,900 font 'sans,16'";
  if (suffix == ".pdf") return "pdfcairo size 24cm,18cm font 'sans,14'";
  return "";
}

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "''" : std::string(1, c);
  return result + "'";
}

/// The device of the baseline.
std::string title_of(const Ablation& ablation) {
  const std::string backend = ablation.grid.baseline().front();
  return "Time of a gradient over the baseline's: " +
         text_of(ablation.context, "device_" + backend);
}

}  // namespace

void check_picture(const std::string& path, const Grid& grid) {
  if (terminal_of(path).empty())
    throw io::BadInput("--picture is " + path +
                       ", expected a name that ends in .png, .svg or .pdf");
  if (grid.cells().size() < 2)
    throw io::BadInput("--picture needs an axis of two values or more, as --sort on,off");
  check_writable_file(path);
}

void draw_effects(const std::string& path, const Ablation& ablation) {
  std::string script = "set terminal " + terminal_of(path) + "\nset output " + quoted(path) + "\n";
  script += "$effects << END\n";
  for (const Effect& e : effects_of(ablation))
    if (e.at_baseline > 0)
      add(script, "\"%s %s\" %.6g", e.axis.c_str(), e.value.c_str(), e.at_baseline);
  script += "END\nset title " + quoted(title_of(ablation)) + " noenhanced\n";
  script +=
      "set logscale x 2\n"
      "set grid xtics linetype 1 linecolor rgb '#dddddd'\n"
      "set border 1\n"
      "set rmargin 8\n"
      "set tics nomirror out\n"
      "set ytics noenhanced\n"
      "set yrange [*:*] reverse\n"
      "set xlabel 'time over that of the first value (more is slower)'\n"
      "set style fill solid\n"
      "set arrow from 1, graph 0 to 1, graph 1 nohead linecolor '#888888'\n"
      "plot $effects using (1):0:(1):2:($0-0.35):($0+0.35):ytic(1) with boxxyerror "
      "linecolor '#4477aa' notitle, "
      "'' using ($2 > 1 ? $2 : 1):0:(sprintf(' %.2f', $2)) with labels left notitle\n";
  std::FILE* const gnuplot = popen("gnuplot", "w");
  const bool written = gnuplot != nullptr && std::fputs(script.c_str(), gnuplot) >= 0;
  if (gnuplot == nullptr || pclose(gnuplot) != 0 || !written)
    throw io::BadInput("--picture " + path + ": gnuplot is missing, or could not draw it");
}

}  // namespace gradsolve::tool
