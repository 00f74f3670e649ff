// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Reading one value from text, strictly: the whole text or an error that says what is wrong with it.

#include <keel/device/knobs.hpp>
#include <keel/device/values.hpp>
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

/// A knob as it was written: not yet parsed, with the words that name its origin.
struct assignment {
  knob id;
  std::string text;
  origin where;
  device::source from;
  std::string_view device = {}; ///< the one that is meant; empty for all that have the knob
};

/// A whole number in base ten from `least` to `most`. Refuses the empty text, blanks, signs, other bases and anything
/// after the digits; the error names `where`, text and reason, and what `else_taken`.
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

/// A time in seconds: a whole number from 1 on, perhaps with s, m or h after it for seconds, minutes or hours; or
/// `never`, which is empty.
[[nodiscard]] std::optional<int> parse_duration(origin const& where, std::string_view text);

/// A number of bytes: a whole number from 1 on, perhaps with one of K, M and G after it, which are powers of 1024.
[[nodiscard]] std::int64_t parse_size(origin const& where, std::string_view text);
/// A number of bytes as people write it: 65536 is 64K.
[[nodiscard]] std::string size_text(std::int64_t bytes);

/// The rule of `--keel-bind` that `text` says; throws `keel::error`, which names `where` it was read.
[[nodiscard]] bind_rule parse_bind(origin const& where, std::string_view text);
/// As it is written.
[[nodiscard]] std::string bind_text(bind_rule const& rule);

} // namespace keel::device

#if !KEEL_COMPILED
#include <keel/impl/device/parse.ipp>
#endif
