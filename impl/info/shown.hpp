// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Text from outside, as it may stand on a terminal or in a message.

#include <keel/policy/json.hpp>

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace keel::info {

using policy::utf8_length;

/// At most `most` characters of a text, and dots if it is longer. Control characters, which a terminal obeys, and
/// bytes that are no UTF-8 become `\x1b`.
inline std::string shown(std::string_view text, std::size_t most = 80) {
  std::string out;
  std::size_t characters = 0;
  for (std::size_t at = 0; at < text.size(); ++characters) {
    if (characters == most) return out + "...";
    std::size_t const length = utf8_length(text, at);
    auto const first = static_cast<unsigned char>(text[at]);
    bool const is_long_control = length == 2 && first == 0xc2 && static_cast<unsigned char>(text[at + 1]) < 0xa0;
    bool const is_control = first < 0x20 || first == 0x7f || is_long_control;
    for (std::size_t k = 0; k < (length == 0 ? 1 : length); ++k) {
      char code[8];
      std::snprintf(code, sizeof code, "\\x%02x", unsigned(static_cast<unsigned char>(text[at + k])));
      out += length == 0 || is_control ? std::string{code} : std::string{text[at + k]};
    }
    at += length == 0 ? 1 : length;
  }
  return out;
}

} // namespace keel::info
