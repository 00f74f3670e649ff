// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Reading one value from text, strictly: the whole text or an error that says what is wrong with it.

#include <keel/policy/macros.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace keel::device {

/// What a text was read from, for messages: `--keel-num-threads` or `KEEL_NUM_THREADS`.
using origin = std::string;

/// A whole number in base ten from `least` to `most`. Refuses the empty text, blanks, signs, other bases and anything
/// behind the digits; the error names `where`, text and reason, and what `else_taken`.
[[nodiscard]] std::int64_t parse_whole(origin const& where, std::string_view text, std::int64_t least,
                                       std::int64_t most, std::string_view else_taken = {});

/// A whole number from `least` to the largest of its type.
template <std::integral Number = int>
[[nodiscard]] Number parse_number(origin const& where, std::string_view text, Number least,
                                  std::string_view else_taken = {}) {
  return static_cast<Number>(parse_whole(where, text, least, std::numeric_limits<Number>::max(), else_taken));
}

/// One of `words`, compared whole and by case; answers its position.
[[nodiscard]] int parse_word(origin const& where, std::string_view text, std::string_view const* words,
                             std::size_t count);
[[nodiscard]] inline int parse_word(origin const& where, std::string_view text,
                                    std::initializer_list<std::string_view> words) {
  return parse_word(where, text, words.begin(), words.size());
}

/// A flag from the environment.
[[nodiscard]] bool parse_flag(origin const& where, std::string_view text);

/// How often something happens: a whole number from 1 on, or `never`, which is empty.
[[nodiscard]] std::optional<int> parse_period(origin const& where, std::string_view text);

/// A number of bytes: a whole number from 1 on, perhaps with one of K, M and G behind it, which are powers of 1024.
[[nodiscard]] std::int64_t parse_size(origin const& where, std::string_view text);
/// A number of bytes as people write it: 65536 is 64K.
[[nodiscard]] std::string size_text(std::int64_t bytes);

} // namespace keel::device

#if KEEL_BODIES

#include <keel/policy/error.hpp>

#include <algorithm>
#include <charconv>
#include <system_error>

namespace keel::device {

KEEL_INLINE std::int64_t parse_whole(origin const& where, std::string_view text, std::int64_t least, std::int64_t most,
                                     std::string_view else_taken) {
  auto const refuse = [&](std::string const& why) -> std::int64_t {
    throw error("device", where + "='" + std::string{text} + "' is not a value for this knob", why,
                "Give a whole number from " + std::to_string(least) + " on" + std::string{else_taken});
  };
  if (text.empty()) return refuse("the text is empty");
  std::int64_t value = 0;
  char const* const end = text.data() + text.size();
  auto const [stop, problem] = std::from_chars(text.data(), end, value);
  bool const is_out = problem == std::errc::result_out_of_range;
  if (problem == std::errc::invalid_argument) return refuse("'" + std::string{text.substr(0, 1)} + "' is not a digit");
  if (stop != end) return refuse("'" + std::string{stop, end} + "' follows the number");
  if (is_out ? text.front() == '-' : value < least) return refuse("the number is less than " + std::to_string(least));
  if (is_out || value > most) return refuse("the number is larger than " + std::to_string(most));
  return value;
}

KEEL_INLINE int parse_word(origin const& where, std::string_view text, std::string_view const* words,
                           std::size_t count) {
  auto const* const end = words + count;
  if (auto const* const found = std::find(words, end, text); found != end) return int(found - words);
  std::string known;
  for (auto const* word = words; word != end; ++word) known.append(known.empty() ? "" : ", ").append(*word);
  throw error("device", where + "='" + std::string{text} + "' is not a value for this knob",
              text.empty() ? "the text is empty" : "the known words are " + known, "Take one of them");
}

KEEL_INLINE bool parse_flag(origin const& where, std::string_view text) {
  return parse_word(where, text, {"0", "false", "off", "no", "1", "true", "on", "yes"}) >= 4;
}

KEEL_INLINE std::optional<int> parse_period(origin const& where, std::string_view text) {
  if (text == "never") return std::nullopt;
  return parse_number(where, text, 1, ", or never");
}

KEEL_INLINE std::int64_t parse_size(origin const& where, std::string_view text) {
  constexpr std::string_view units = "KMG", small = "kmg", taken = ", with K, M or G for powers of 1024";
  std::size_t unit = text.size() > 1 ? units.find(text.back()) : units.npos;
  if (unit == units.npos && text.size() > 1) unit = small.find(text.back());
  int const shift = unit == units.npos ? 0 : 10 * (int(unit) + 1);
  auto const number = parse_number<std::int64_t>(where, shift == 0 ? text : text.substr(0, text.size() - 1), 1, taken);
  if (number > std::numeric_limits<std::int64_t>::max() >> shift)
    throw error("device", where + "='" + std::string{text} + "' is not a value for this knob",
                "there are not so many bytes", "Give less");
  return number << shift;
}

KEEL_INLINE std::string size_text(std::int64_t bytes) {
  int unit = 0;
  for (; unit < 3 && bytes != 0 && bytes % 1024 == 0; ++unit) bytes /= 1024;
  return std::to_string(bytes) +
         std::string(std::string_view{"KMG"}.substr(std::size_t(std::max(unit - 1, 0)), unit > 0));
}

} // namespace keel::device

#endif
