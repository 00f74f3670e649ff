// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Reading one value from text, strictly: the whole text or an error that says what is wrong with it.

#include <keel/device/knobs.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::device {

/// What a text was read from, for messages: `--keel-num-threads` or `KEEL_NUM_THREADS`.
using origin = std::string;

/// A whole number in base ten from `least` to the largest `int`. Refuses the empty text, blanks,
/// signs, other bases and anything behind the digits; the error names `where`, text and reason.
[[nodiscard]] inline int parse_number(origin const& where, std::string_view text, int least) {
  auto const refuse = [&](std::string const& why) -> int {
    throw error("device", where + "='" + std::string{text} + "' is not a value for this knob", why,
                "Give a whole number from " + std::to_string(least) + " on");
  };
  if (text.empty()) return refuse("the text is empty");
  int value = 0;
  char const* const end = text.data() + text.size();
  auto const [stop, problem] = std::from_chars(text.data(), end, value);
  if (problem == std::errc::result_out_of_range && stop == end)
    return refuse(text.front() == '-' ? "the number is less than " + std::to_string(least)
                                      : "the number is larger than " + std::to_string(std::numeric_limits<int>::max()));
  if (problem == std::errc::invalid_argument) return refuse("'" + std::string{text.substr(0, 1)} + "' is not a digit");
  if (stop != end) return refuse("'" + std::string{stop, end} + "' follows the number");
  if (value < least) return refuse("the number is less than " + std::to_string(least));
  return value;
}

/// One of `words`, compared whole and by case; answers its position.
[[nodiscard]] inline int parse_word(origin const& where, std::string_view text, std::span<std::string_view const> words) {
  auto const found = std::find(words.begin(), words.end(), text);
  if (found != words.end()) return static_cast<int>(found - words.begin());
  std::string known;
  for (auto word : words) known.append(known.empty() ? "" : ", ").append(word);
  throw error("device", where + "='" + std::string{text} + "' is not a value for this knob",
              text.empty() ? "the text is empty" : "the known words are " + known, "Take one of them");
}

[[nodiscard]] inline int parse_word(origin const& where, std::string_view text,
                                    std::initializer_list<std::string_view> words) {
  return parse_word(where, text, std::span{words.begin(), words.size()});
}

/// A flag from the environment.
[[nodiscard]] inline bool parse_flag(origin const& where, std::string_view text) {
  return parse_word(where, text, {"0", "false", "off", "no", "1", "true", "on", "yes"}) >= 4;
}

/// The number of letters to insert, delete or replace to make `b` of `a` (V. I. Levenshtein, 1966).
[[nodiscard]] inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      std::size_t const replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

/// The option nearest to what somebody wrote, both without dashes and prefix.
[[nodiscard]] inline std::string_view nearest_option(std::string_view written) {
  return std::min_element(all_knobs.begin(), all_knobs.end(), [&](auto const& a, auto const& b) {
           return edit_distance(written, a.option) < edit_distance(written, b.option);
         })->option;
}

} // namespace keel::device
