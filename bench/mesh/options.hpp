// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What trisk may be told on the command line.

#include "../command_line.hpp"

#include <span>
#include <string>
#include <string_view>

namespace trisk {

inline constexpr char help_text[] = R"(usage: trisk [options]
  --mesh NAME       hex:NXxNY:DC, hexagons of width DC m on a periodic plane (NY is even), or ico:LEVEL, the sphere in
                    10 * 4^LEVEL + 2 cells, of level 1 to 8 (ico:5)
  --operators       errors of the operators on a plane, for OMEGA's test functions; no step is made
  --case N          of Williamson et al. (1992), on the sphere: 2, a steady flow, or 5, a mountain (2)
  --days X          how long (5)
  --steps N         so many steps instead
  --dt X            of so many s (0.5 of the time that a wave needs for the smallest distance of cells)
  --every N         prints changes of mass, energy and potential enstrophy after each N steps, too (0: only at the end)
  --by-hand         the same kernels with arrays and messages by hand, in turns with keel: times and bits
  --output DIR      where the last state is written, as .vtkhdf, a point for each cell; made if it is not there
  --dump FILE       h and u of the last state as raw doubles, by number
  --help            this text
)";

struct options {
  int nx = 0, ny = 0, level = 5; ///< nx is 0 on the sphere
  double width = 0;
  bool operators = false, by_hand = false, help = false;
  int which = 2;
  double days = 5, dt = 0;
  long steps = 0, every = 0;
  std::string output, dump;
};

[[nodiscard]] inline bench::refusal refused(std::string_view option, std::string_view value, std::string_view wanted) {
  return bench::unusable("trisk", option, value, wanted);
}

inline void read_mesh(options& o, bench::arguments& a) {
  std::string_view const text = a.value();
  if (text.starts_with("ico:")) {
    o.nx = 0, o.level = a.number_in(text.substr(4), 1, 8);
    return;
  }
  auto const cross = text.find('x', 4), colon = text.find(':', 4);
  if (!text.starts_with("hex:") || cross > colon || colon == text.npos)
    throw a.unusable(text, "hex:NXxNY:DC or ico:LEVEL");
  o.nx = a.number_in(text.substr(4, cross - 4), 4, 10000);
  o.ny = a.number_in(text.substr(cross + 1, colon - cross - 1), 4, 10000);
  if (o.ny % 2 != 0) throw a.unusable(text, "an even number of rows");
  o.width = a.number_in(text.substr(colon + 1), 1e-6, 1e9);
}

/// Reads `all` arguments, the program's name left out.
inline options read_options(std::span<char const* const> all) {
  options o;
  bool has_case = false;
  for (bench::arguments a("trisk", all); a.next();) {
    if (a.whole == "--help") o.help = true;
    else if (a.whole == "--operators") o.operators = true;
    else if (a.whole == "--by-hand") o.by_hand = true;
    else if (a.name == "--mesh") read_mesh(o, a);
    else if (a.name == "--case") o.which = a.number(2, 5), has_case = true;
    else if (a.name == "--days") o.days = a.number(1e-9, 1e4);
    else if (a.name == "--steps") o.steps = a.number(1L, 1L << 40);
    else if (a.name == "--every") o.every = a.number(0L, 1L << 40);
    else if (a.name == "--dt") o.dt = a.number(1e-6, 1e6);
    else if (a.name == "--output") o.output = a.value();
    else if (a.name == "--dump") o.dump = a.value();
    else throw a.unknown();
  }
  if (o.which != 2 && o.which != 5) throw refused("--case", std::to_string(o.which), "2 or 5");
  if (o.operators != (o.nx > 0) || (o.operators && has_case))
    throw refused(o.operators ? "--operators" : "--mesh hex", "", "a plane for operators, the sphere for a case");
  return o;
}

} // namespace trisk
