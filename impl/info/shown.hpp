// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Text from outside, as it may stand on a terminal or in a message.

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace keel::info {

/// Bytes of the UTF-8 character (RFC 3629) that begins at `at`; 0 where none does.
inline std::size_t utf8_length(std::string_view text, std::size_t at) {
  auto const byte = [&](std::size_t k) -> unsigned {
    return at + k < text.size() ? static_cast<unsigned char>(text[at + k]) : 0;
  };
  auto const goes_on = [&](std::size_t k) { return (byte(k) & 0xc0U) == 0x80U; };
  unsigned const first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return goes_on(1) ? 2 : 0;
  if (first >= 0xe0 && first < 0xf0) {
    // too long; a surrogate
    bool const is_other = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) >= 0xa0);
    return goes_on(1) && goes_on(2) && !is_other ? 3 : 0;
  }
  if (first < 0xf0 || first > 0xf4) return 0;
  // too long; beyond Unicode
  bool const is_other = (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) >= 0x90);
  return goes_on(1) && goes_on(2) && goes_on(3) && !is_other ? 4 : 0;
}

/// At most `most` characters of a text, and dots where it is longer. Control characters, which a terminal obeys, and
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
