// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Bodies of what options and variables are called.

#include <keel/device/option_names.hpp>

#include <string>
#include <string_view>

namespace keel::device {

namespace detail {
[[nodiscard]] inline std::string in_capitals(std::string_view text) {
  std::string name;
  for (char c : text) name += c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c == '-' ? '_' : c;
  return name;
}
} // namespace detail

KEEL_INLINE std::string option_prefix(std::string_view prefix) { return "--" + std::string{prefix} + "-"; }
KEEL_INLINE std::string variable_prefix(std::string_view prefix) { return detail::in_capitals(prefix) + "_"; }
KEEL_INLINE std::string variable_name(std::string_view prefix, std::string_view option) {
  return variable_prefix(prefix) + detail::in_capitals(option);
}

} // namespace keel::device
