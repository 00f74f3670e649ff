// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What ministag may be told on the command line. Reading is strict.

#include "problems.hpp"

#include <charconv>
#include <span>
#include <string>
#include <string_view>

namespace ministag {

/// Thrown for input that the program cannot use, on every rank.
struct bad_input {
  std::string text;
  bad_input(std::string const& wrong, std::string const& why, std::string const& hint)
      : text("ministag: " + wrong + " (" + why + "). " + hint + ".") {}
};

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

/// The whole of `text` as a number from `least` to `most`.
template <class T>
T read_number(std::string_view option, std::string_view text, T least, T most) {
  T value{};
  auto const [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || !(value >= least && value <= most))
    throw bad_input(std::string(option) + " " + std::string(text) + " cannot be used",
                    "a number from " + std::to_string(least) + " to " + std::to_string(most) + " is wanted",
                    "Write another");
  return value;
}

/// Reads `arguments`, the program's name left out.
inline options read_options(std::span<char const* const> arguments) {
  options o;
  for (std::size_t n = 0; n < arguments.size(); ++n) {
    std::string_view const whole = arguments[n];
    std::size_t const equals = std::min(whole.find('='), whole.size());
    std::string_view const name = whole.substr(0, equals);
    auto const value = [&]() -> std::string_view {
      if (equals < whole.size()) return whole.substr(equals + 1);
      if (++n == arguments.size())
        throw bad_input(std::string(name) + " has no value", "it takes one", "Write it after the option");
      return arguments[n];
    };
    if (name == "--grid") {
      std::string_view const text = value();
      std::size_t const cross = std::min(text.find('x'), text.size());
      o.nx = read_number(name, text.substr(0, cross), 1L, 100000L);
      o.ny = read_number(name, text.substr(std::min(cross + 1, text.size())), 1L, 100000L);
    } else if (name == "--problem") {
      std::string_view const text = value();
      if (text != "sod" && text != "blast")
        throw bad_input("--problem " + std::string(text) + " is not known", "there are sod and blast", "Take one");
      o.which = text == "sod" ? problem::sod : problem::blast;
    } else if (name == "--time") o.time = read_number(name, value(), 1e-6, 1.5);
    else if (name == "--steps") o.steps = read_number(name, value(), 1L, 1000000000L);
    else if (name == "--blocks") o.blocks = int(read_number(name, value(), 1L, 10000L));
    else if (name == "--dump") o.dump = value();
    else if (whole == "--by-hand" || whole == "--by-hand=rows") o.by_hand = true, o.by_rows = whole != "--by-hand";
    else if (whole == "--help") o.help = true;
    else throw bad_input(std::string(whole) + " is not known", "ministag has no such option", "See --help");
  }
  if (o.which == problem::sod && o.time > 0.25)
    throw bad_input("--time is above 0.25", "then the shock of sod comes to the wall", "Take a smaller one");
  return o;
}

} // namespace ministag
