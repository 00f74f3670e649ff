// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Text as JSON. Depends only on the standard library.

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace keel::policy {

/// Bytes of the UTF-8 character (RFC 3629) that begins at `at`; 0 if none does.
[[nodiscard]] inline std::size_t utf8_length(std::string_view text, std::size_t at) {
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

/// A string as JSON; bytes that are no UTF-8 become question marks, so that any file name can stand there.
[[nodiscard]] inline std::string json_text(std::string_view value) {
  std::string made = "\"";
  for (std::size_t i = 0; i < value.size(); ++i) {
    auto const c = static_cast<unsigned char>(value[i]);
    if (c == '"' || c == '\\') {
      (made += '\\') += char(c);
    } else if (c < 0x20 || c == 0x7f) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", unsigned(c));
      made += escaped;
    } else if (c < 0x80) {
      made += char(c);
    } else {
      std::size_t const length = utf8_length(value, i);
      made += length > 0 ? std::string{value.substr(i, length)} : "?";
      if (length > 0) i += length - 1;
    }
  }
  return made + '"';
}

} // namespace keel::policy
