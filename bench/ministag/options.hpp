// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What ministag may be told on the command line.

#include "../command_line.hpp"
#include "problems.hpp"

#include <span>
#include <string>
#include <string_view>

namespace ministag {

inline constexpr char help_text[] = R"(usage: ministag [options]
  --problem NAME  sod (a shock tube) or blast (a quarter of a cylindrical one) (sod)
  --grid NXxNY    cells in x and y (400x16)
  --time T        when to end, from above 0 to 0.25 for sod, to 1.5 for blast (0.2, 1)
  --steps N       steps at most (no limit)
  --blocks N      blocks that a rank's cells are cut into (1)
  --dump FILE     the last state as raw doubles in global order: density, energy, velocities
  --by-hand       on one rank: the same kernels by hand, too, step by step in turns; the bits have to be the same
  --by-hand=rows  the same, by plain loops over rows instead of an MDRangePolicy
  --help          this text
)";

struct options {
  problem which = problem::sod;
  long nx = 400, ny = 16, steps = 1L << 40;
  double time = 0; ///< 0: that of the problem
  int blocks = 1;
  std::string dump;
  bool by_hand = false, by_rows = false, help = false;
};

/// Reads `all` arguments, the program's name left out.
inline options read_options(std::span<char const* const> all) {
  options o;
  for (bench::arguments a("ministag", all); a.next();) {
    if (a.name == "--grid") a.cells(o.nx, o.ny, 100000);
    else if (a.name == "--problem") {
      std::string_view const text = a.value();
      if (text != "sod" && text != "blast")
        throw bench::refusal("ministag", "--problem " + std::string(text) + " is not known", "there are sod and blast",
                             "Take one");
      o.which = text == "sod" ? problem::sod : problem::blast;
    } else if (a.name == "--time") o.time = a.number(1e-6, 1.5);
    else if (a.name == "--steps") o.steps = a.number(1L, 1000000000L);
    else if (a.name == "--blocks") o.blocks = a.number(1, 10000);
    else if (a.name == "--dump") o.dump = a.value();
    else if (a.whole == "--by-hand" || a.whole == "--by-hand=rows")
      o.by_hand = true, o.by_rows = a.whole != "--by-hand";
    else if (a.whole == "--help") o.help = true;
    else throw a.unknown();
  }
  if (o.which == problem::sod && o.time > 0.25)
    throw bench::refusal("ministag", "--time is above 0.25", "then the shock of sod comes to the wall",
                         "Take a smaller one");
  return o;
}

} // namespace ministag
