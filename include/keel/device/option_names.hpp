// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What the options of a program and their variables are called.

#include <keel/policy/macros.hpp>

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace keel::device {

/// The devices that keel knows, whether this program has them or not.
inline constexpr std::array<std::string_view, 8> known_devices{"serial", "openmp", "threads", "tbb",
                                                               "cuda",   "hip",    "sycl",    "simulated"};

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

/// `--app-` and `APP_` for the prefix `app`.
[[nodiscard]] std::string option_prefix(std::string_view prefix);
[[nodiscard]] std::string variable_prefix(std::string_view prefix);
/// `APP_NUM_THREADS` for `num-threads`.
[[nodiscard]] std::string variable_name(std::string_view prefix, std::string_view option);

} // namespace keel::device

#if !KEEL_COMPILED
#include <keel/impl/device/option_names.hpp>
#endif
