// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The table at the end.

#include "../command_line.hpp"
#include "state.hpp"
#include "stretch.hpp"

#include <string>

namespace ocean {

/// Bytes copied between memories over the whole run, on all ranks: what the program moved, and
/// the least that any could have.
struct copied {
  double moved = 0, necessary = 0;
};

struct report {
  std::string device;
  experiment const& what;
  long steps = 0;
  int ranks = 1;
  double seconds = 0;         ///< for the timed steps, without output; see stretch.hpp
  double output_seconds = 0;  ///< for output after these
  double triad_bandwidth = 0; ///< bytes a second, all ranks together
  copied copies;
  verdict error;
  std::string output; ///< path of the last file; empty where there is none
  long first = 0;     ///< steps that the run made whose checkpoint this one goes on from

  void print() const {
    using bench::row;
    double const step = seconds / double(timed_steps(steps, first)), mega = 1e-6, giga = 1e-9;
    double const cells = double(what.nx()) * double(what.ny());
    double const bandwidth = streamed_bytes(cells, what.equations().layers) / step;
    row("program", "ocean on %d rank%s, device %s", ranks, ranks == 1 ? "" : "s", device.c_str());
    row("case", "%.*s, %ldx%ld cells, %d layers, %ld steps of %.4g s", int(what.name().size()), what.name().data(),
        what.nx(), what.ny(), what.equations().layers, steps, what.equations().dt);
    row("time per step", "%.6f ms", step * 1e3);
    if (!output.empty()) row("with output", "%.6f ms", step * 1e3 + output_seconds * 1e3 / double(timed_steps(steps)));
    row("bytes moved", "%.6f MB between memories", copies.moved * mega);
    row("bytes necessary", "%.6f MB (moved / necessary %.3f)", copies.necessary * mega,
        copies.moved == copies.necessary ? 1 : copies.moved / copies.necessary);
    row("bandwidth", "%.2f GB/s, %.2f of this run's triad", bandwidth * giga, bandwidth / triad_bandwidth);
    row("triad", "%.2f GB/s", triad_bandwidth * giga);
    row("error", "%.3e of the analytic solution, in energy norm", error.energy);
    if (what.height() > 0) row("elevation", "%.3e of its height at most from the analytic solution", error.height);
    row("volume", "%.1e changed, relative", error.volume);
    row("not counted", "the first step and output, in times; what ranks send each other, in bytes and bandwidth");
    if (!output.empty()) row("output", "%s", output.c_str());
  }
};

} // namespace ocean
