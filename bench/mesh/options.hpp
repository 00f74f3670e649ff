// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What trisk may be told on the command line. Reading is strict: an unknown option, a value that is not wholly a
/// number, or one out of range is refused.

#include <charconv>
#include <cstddef>
#include <span>
#include <stdexcept>
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
  --del4 X          coefficient of a biharmonic term, m4/s (0)
  --rounds N        how often cells move to their centroids after each division of the icosahedron (10)
  --cut NAME        what cuts the mesh over ranks: curve, which fills space, or metis, if this build has it (curve)
  --by-hand         the same kernels with arrays and messages by hand, in turns with keel: times and bits
  --output DIR      where the last state is written, as .pvtu with a .vtu for each rank; made if it is not there
  --dump FILE       h and u of the last state as raw doubles, by number
  --help            this text
)";

enum class cutter { curve, metis };

struct options {
  int nx = 0, ny = 0, level = 5; ///< nx is 0 on the sphere
  double width = 0;
  bool operators = false, by_hand = false, help = false;
  int which = 2, rounds = 10;
  double days = 5, dt = 0, del4 = 0;
  long steps = 0, every = 0;
  cutter cut = cutter::curve;
  std::string output, dump;
};

/// Thrown on every rank for input that cannot be used, or output that cannot be written; printed once a job, with exit
/// code 2.
struct refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};
[[nodiscard]] inline refusal refused(std::string_view option, std::string_view value, std::string const& wanted) {
  return refusal("trisk: " + std::string(option) + (value.empty() ? "" : " ") + std::string(value) +
                 " cannot be used (" + wanted + " is wanted). See --help.");
}

/// The whole of `text` as a number from `least` to `most`; a refusal names `option`.
template <class T>
T read_number(std::string_view option, std::string_view text, T least, T most) {
  T value{};
  auto const [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || !(value >= least && value <= most))
    throw refused(option, text, "a number from " + std::to_string(least) + " to " + std::to_string(most));
  return value;
}

inline void read_mesh(options& o, std::string_view text) {
  if (text.starts_with("ico:")) {
    o.nx = 0, o.level = read_number("--mesh", text.substr(4), 1, 8);
    return;
  }
  auto const cross = text.find('x', 4), colon = text.find(':', 4);
  if (!text.starts_with("hex:") || cross > colon || colon == text.npos)
    throw refused("--mesh", text, "hex:NXxNY:DC or ico:LEVEL");
  o.nx = read_number("--mesh", text.substr(4, cross - 4), 4, 10000);
  o.ny = read_number("--mesh", text.substr(cross + 1, colon - cross - 1), 4, 10000);
  if (o.ny % 2 != 0) throw refused("--mesh", text, "an even number of rows");
  o.width = read_number("--mesh", text.substr(colon + 1), 1e-6, 1e9);
}

inline cutter read_cutter(std::string_view text) {
  if (text != "curve" && text != "metis") throw refused("--cut", text, "curve or metis");
  return text == "curve" ? cutter::curve : cutter::metis;
}

/// Reads `arguments`, the program's name left out.
inline options read_options(std::span<char const* const> arguments) {
  options o;
  bool has_case = false;
  for (std::size_t n = 0; n < arguments.size(); ++n) {
    std::string_view const whole = arguments[n];
    std::size_t const equals = whole.starts_with("--") ? whole.find('=') : whole.npos;
    std::string_view const name = whole.substr(0, equals);
    auto const value = [&]() -> std::string_view {
      if (equals != whole.npos) return whole.substr(equals + 1);
      if (++n == arguments.size()) throw refused(name, "", "a value");
      return arguments[n];
    };
    if (whole == "--help") o.help = true;
    else if (whole == "--operators") o.operators = true;
    else if (whole == "--by-hand") o.by_hand = true;
    else if (name == "--mesh") read_mesh(o, value());
    else if (name == "--case") o.which = read_number(name, value(), 2, 5), has_case = true;
    else if (name == "--days") o.days = read_number(name, value(), 1e-9, 1e4);
    else if (name == "--steps") o.steps = read_number(name, value(), 1L, 1L << 40);
    else if (name == "--every") o.every = read_number(name, value(), 0L, 1L << 40);
    else if (name == "--dt") o.dt = read_number(name, value(), 1e-6, 1e6);
    else if (name == "--del4") o.del4 = read_number(name, value(), 0., 1e30);
    else if (name == "--rounds") o.rounds = read_number(name, value(), 0, 10000);
    else if (name == "--cut") o.cut = read_cutter(value());
    else if (name == "--output") o.output = value();
    else if (name == "--dump") o.dump = value();
    else throw refused(whole, "", "one of its options");
  }
  if (o.which != 2 && o.which != 5) throw refused("--case", std::to_string(o.which), "2 or 5");
  if (o.operators != (o.nx > 0) || (o.operators && has_case))
    throw refused(o.operators ? "--operators" : "--mesh hex", "", "a plane for operators, the sphere for a case");
  if (o.by_hand && o.del4 != 0) throw refused("--by-hand", "", "no biharmonic term");
  return o;
}

} // namespace trisk
