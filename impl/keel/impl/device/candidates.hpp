// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Choosing among the devices of a program, without their types.

#include <keel/policy/macros.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::device {

/// A device that may be chosen.
struct candidate {
  std::string_view name;
  bool (*is_available)();
  int preference;
  std::string_view visible_by = {}; ///< the variable that says which cards a process sees
};

/// The devices that this program may run on, the best first; routines `on_device` run on the first. Those that were
/// `asked` for and are available: names with commas between them, in any case, or `any`, which is the whole list. Else
/// the one with the highest preference, and after it the others in the order of the list. Refuses what is no device of
/// this program, in words that begin with how it was `said`, and throws if no device is available.
[[nodiscard]] std::vector<std::string_view> choose_devices(std::span<candidate const> all, std::string_view asked,
                                                           std::string const& said);

} // namespace keel::device

#if !KEEL_COMPILED
#include <keel/impl/device/candidates.ipp>
#endif
