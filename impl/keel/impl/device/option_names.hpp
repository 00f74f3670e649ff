// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What the options of a program and their variables are called.

#include <keel/policy/list.hpp>
#include <keel/policy/macros.hpp>
#include <keel/policy/tags.hpp>

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace keel::device {

/// The names of the devices that keel knows, whether this program has them or not.
inline constexpr auto known_devices = []<class... Tags>(list<Tags...>) {
  return std::array<std::string_view, sizeof...(Tags)>{Tags::name...};
}(all_devices{});

/// What the options of a program are called.
struct option_names {
  std::string_view prefix;
  std::span<std::string_view const> devices = known_devices; ///< the program's own
  bool has_ledger = true;                                    ///< whether the knobs of ledgers are shown

  option_names(std::string_view p) : prefix(p) {}
  option_names(char const* p) : prefix(p) {}
  option_names(std::string_view p, std::span<std::string_view const> d, bool ledger)
      : prefix(p), devices(d), has_ledger(ledger) {}
};

namespace detail {
[[nodiscard]] inline std::string in_capitals(std::string_view text) {
  std::string name;
  for (char c : text) name += c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c == '-' ? '_' : c;
  return name;
}
} // namespace detail

/// `--app-` and `APP_` for the prefix `app`.
[[nodiscard]] std::string option_prefix(std::string_view prefix);
[[nodiscard]] std::string variable_prefix(std::string_view prefix);
/// `APP_NUM_THREADS` for `num-threads`.
[[nodiscard]] std::string variable_name(std::string_view prefix, std::string_view option);

} // namespace keel::device

#if !KEEL_COMPILED
#include <keel/impl/device/option_names.ipp>
#endif
