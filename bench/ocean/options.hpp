// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What ocean may be told on the command line.

#include "../command_line.hpp"
#include "case.hpp"

#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace ocean {

inline constexpr char help_text[] = R"(usage: ocean [options]
  --grid NXxNY      cells in x and y (256x256)
  --layers N        layers, 1 to 128 (32)
  --steps N         leapfrog steps (200)
  --case NAME       wave, jet or shear (wave)
  --output DIR      where the elevation is written, as .vtkhdf (ocean-output); made where it is not there
  --output-every N  steps between two files (0: only the last state)
  --no-output       write none
  --dump FILE       eta, u, v of the last state as raw doubles in global order
  --by-hand         the same kernels with arrays and messages by hand, in turns with keel: times and bits; no file
  --help            this text
)";

struct options {
  long nx = 256, ny = 256;
  int layers = 32;
  long steps = 200;
  flow which = flow::wave;
  std::string output = "ocean-output"; ///< empty: no file
  long output_every = 0;               ///< 0: only the last state
  std::string dump;                    ///< empty: none
  bool by_hand = false, help = false;
};

/// Reads `all` arguments, the program's name left out.
inline options read_options(std::span<char const* const> all) {
  constexpr long most = std::numeric_limits<int>::max();
  options o;
  for (bench::arguments a("ocean", all); a.next();) {
    if (a.name == "--grid") a.cells(o.nx, o.ny, most);
    else if (a.name == "--layers") o.layers = a.number(1, max_layers);
    else if (a.name == "--steps") o.steps = a.number(1L, most);
    else if (a.name == "--case") {
      std::string_view const text = a.value();
      auto const found = std::ranges::find(flow_names, text);
      if (found == flow_names.end())
        throw bench::refusal("ocean", "--case " + std::string(text) + " is not known", "there are wave, jet and shear",
                             "Take one of these");
      o.which = flow(found - flow_names.begin());
    } else if (a.name == "--output-every") o.output_every = a.number(0L, most);
    else if (a.name == "--output") {
      o.output = a.value();
      if (o.output.empty())
        throw bench::refusal("ocean", "--output is empty", "a folder is wanted", "Name one, or write --no-output");
    } else if (a.whole == "--no-output") o.output.clear();
    else if (a.name == "--dump") o.dump = a.value();
    else if (a.whole == "--by-hand") o.by_hand = true;
    else if (a.whole == "--help") o.help = true;
    else throw a.unknown();
  }
  if (o.by_hand) o.output.clear();
  return o;
}

} // namespace ocean
