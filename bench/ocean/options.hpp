// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What ocean and plain may be told on the command line. Reading is strict: an unknown option, a
/// value that is not wholly a number, or one out of range is refused.

#include "case.hpp"

#include <charconv>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace ocean {

/// Thrown for input that a program cannot use; the text reads *ocean: what is wrong (why). What
/// to do?* The programs print it once a job and end with `bad_input_code`.
struct bad_input {
  std::string text;
  explicit bad_input(std::string whole) : text(std::move(whole)) {}
  bad_input(std::string_view wrong, std::string_view why, std::string_view hint)
      : text(std::string("ocean: ").append(wrong).append(" (").append(why).append("). ").append(
            keel::policy::as_sentence(hint))) {}
};
inline constexpr int bad_input_code = 2;

inline constexpr char help_text[] = R"(usage: ocean [options]
  --grid NXxNY      cells in x and y (256x256)
  --layers N        layers, 1 to 128 (32)
  --steps N         leapfrog steps (200)
  --case NAME       wave, jet or shear (wave)
  --output DIR      where the elevation is written, as .vti (ocean-output); made where it is not there
  --output-every N  steps between two files (0: only the last state)
  --no-output       write no .vti
  --dump FILE       eta, u, v of the last state as raw doubles in global order
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
  bool help = false;
};

/// The whole of `text` as a number from `least` to `most`; `option` is named in the refusal.
inline long read_number(std::string_view option, std::string_view text, long least, long most) {
  long value = 0;
  auto const [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || value < least || value > most)
    throw bad_input(std::string(option) + " " + std::string(text) + " cannot be used",
                    "a whole number from " + std::to_string(least) + " to " + std::to_string(most) + " is wanted",
                    "Write digits only");
  return value;
}

/// Reads `arguments`, the program's name left out.
inline options read_options(std::span<char const* const> arguments) {
  constexpr long most = std::numeric_limits<int>::max();
  options o;
  for (std::size_t n = 0; n < arguments.size(); ++n) {
    std::string_view const whole = arguments[n];
    std::size_t const equals = whole.starts_with("--") ? whole.find('=') : whole.npos;
    std::string_view const name = whole.substr(0, equals);
    auto const value = [&]() -> std::string_view {
      if (equals != whole.npos) return whole.substr(equals + 1);
      if (++n == arguments.size())
        throw bad_input(std::string(name) + " stands alone", "it takes a value", "Write it behind the option");
      return arguments[n];
    };
    if (name == "--grid") {
      std::string_view const text = value();
      std::size_t const cross = text.find('x');
      if (cross == text.npos)
        throw bad_input("--grid " + std::string(text) + " cannot be used", "cells in x and in y are wanted",
                        "Write it like 256x256");
      o.nx = read_number(name, text.substr(0, cross), 1, most);
      o.ny = read_number(name, text.substr(cross + 1), 1, most);
    } else if (name == "--layers") {
      o.layers = int(read_number(name, value(), 1, max_layers));
    } else if (name == "--steps") {
      o.steps = read_number(name, value(), 1, most);
    } else if (name == "--case") {
      std::string_view const text = value();
      auto const found = std::ranges::find(flow_names, text);
      if (found == flow_names.end())
        throw bad_input("--case " + std::string(text) + " is not known", "there are wave, jet and shear",
                        "Take one of these");
      o.which = flow(found - flow_names.begin());
    } else if (name == "--output-every") {
      o.output_every = read_number(name, value(), 0, most);
    } else if (name == "--output") {
      o.output = value();
      if (o.output.empty())
        throw bad_input("--output is empty", "a folder is wanted", "Name one, or write --no-output");
    } else if (whole == "--no-output") {
      o.output.clear();
    } else if (name == "--dump") {
      o.dump = value();
    } else if (whole == "--help") {
      o.help = true;
    } else {
      throw bad_input(std::string(whole) + " is not known", "ocean has no such option", "See --help");
    }
  }
  return o;
}

} // namespace ocean
