// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What the programs of the benchmarks have in common on the command line: options, what is refused, and rows of a
/// table. Reading is strict: an unknown option, a value that is not wholly a number, or one out of range is refused.

#include <keel/policy/error.hpp>

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdio>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace bench {

/// Input that a program cannot use, or output that it cannot write; thrown on every rank. The program prints it once a
/// job and ends with `code`.
struct refusal : std::runtime_error {
  static constexpr int code = 2;
  using std::runtime_error::runtime_error;
  /// *program: what is wrong (why). What to do.*
  refusal(std::string_view program, std::string_view wrong, std::string_view why, std::string_view hint)
      : std::runtime_error(std::string(program).append(": ").append(wrong).append(" (").append(why).append("). ") +
                           keel::policy::as_sentence(hint)) {}
};
[[nodiscard]] inline refusal unusable(std::string_view program, std::string_view option, std::string_view value,
                                      std::string_view wanted) {
  std::string const given = std::string(option).append(value.empty() ? "" : " ").append(value);
  return {program, given + " cannot be used", std::string(wanted) + " is wanted", "See --help"};
}

/// The arguments of a program, one after the other: `--name value`, `--name=value` or a word alone.
class arguments {
public:
  /// `all` without the program's name.
  arguments(std::string_view program, std::span<char const* const> all) : program_(program), all_(all) {}

  /// Goes on to the next one, if there is one.
  bool next() {
    if (at_ == all_.size()) return false;
    whole = all_[at_++];
    name = whole.starts_with("--") ? whole.substr(0, whole.find('=')) : whole;
    return true;
  }
  std::string_view value() {
    if (name.size() < whole.size()) return whole.substr(name.size() + 1);
    if (at_ == all_.size())
      throw refusal(program_, std::string(name) + " stands alone", "it takes a value", "Write it after the option");
    return all_[at_++];
  }
  /// The whole of `text` as a number from `least` to `most`.
  template <class T>
  [[nodiscard]] T number_in(std::string_view text, T least, T most) const {
    T x{};
    auto const [end, code] = std::from_chars(text.data(), text.data() + text.size(), x);
    if (code != std::errc{} || end != text.data() + text.size() || !(x >= least && x <= most))
      throw unusable(text, std::string(std::integral<T> ? "a whole number" : "a number") + " from " +
                               std::to_string(least) + " to " + std::to_string(most));
    return x;
  }
  template <class T>
  T number(T least, T most) {
    return number_in(value(), least, most);
  }
  /// Reads `NXxNY`.
  void cells(long& nx, long& ny, long most) {
    std::string_view const text = value();
    std::size_t const cross = text.find('x');
    if (cross == text.npos) throw unusable(text, "cells in x and in y, like 256x256");
    nx = number_in(text.substr(0, cross), 1L, most), ny = number_in(text.substr(cross + 1), 1L, most);
  }
  [[nodiscard]] refusal unusable(std::string_view text, std::string_view wanted) const {
    return bench::unusable(program_, name, text, wanted);
  }
  [[nodiscard]] refusal unknown() const {
    return {program_, std::string(whole) + " is not known", std::string(program_) + " has no such option",
            "See --help"};
  }

  std::string_view whole, name;

private:
  std::string_view program_;
  std::span<char const* const> all_;
  std::size_t at_ = 0;
};

/// Prints a name and, `Column` characters after its begin, what `std::printf` makes of the rest.
template <int Column = 18, class... Ts>
void row(char const* name, char const* format, Ts... values) {
  std::printf("%-*s", Column, name);
  std::printf(format, values...);
  std::putchar('\n');
}

} // namespace bench
