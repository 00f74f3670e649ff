// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Texts without the control characters that a terminal would obey. Depends only on the standard library.

#include <array>
#include <cstddef>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace keel::policy {

namespace detail {

/// How many bytes at the beginning of a text are a control character of ASCII or of UTF-8 (U+0080 to U+009F); 0 for
/// line breaks, tabs and all else.
[[nodiscard]] constexpr std::size_t control_bytes(std::string_view text) noexcept {
  auto const byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0x20U; };
  if (byte(0) == 0xC2) return byte(1) >= 0x80 && byte(1) < 0xA0 ? 2 : 0;
  return byte(0) == 0x7F || (byte(0) < 0x20 && byte(0) != '\n' && byte(0) != '\t') ? 1 : 0;
}

} // namespace detail

/// The text with '?' for each byte of a control character; line breaks, tabs and other UTF-8 stay.
[[nodiscard]] inline std::string printable(std::string text) {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (auto const n = detail::control_bytes(std::string_view{text}.substr(i)); n > 0) text.replace(i, n, n, '?');
  return text;
}

/// Writes the parts of one line on standard error, printable, and a line break; at once below 4096 bytes. Allocates
/// nothing.
inline void print_line(std::initializer_list<std::string_view> parts) noexcept {
  std::array<char, 4096> line;
  std::size_t used = 0;
  auto const write = [&] { std::fwrite(line.data(), 1, std::exchange(used, 0), stderr); };
  auto const put = [&](char c) {
    if (used == line.size()) write();
    line[used++] = c;
  };
  for (auto part : parts)
    while (!part.empty()) {
      auto const control = detail::control_bytes(part);
      put(control > 0 ? '?' : part.front());
      part.remove_prefix(control > 0 ? control : 1);
    }
  put('\n');
  write();
}
inline void print_line(std::string_view text) noexcept { print_line({text}); }

} // namespace keel::policy
