// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How much of the processors' time this process's cgroups leave it.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

namespace keel::info {

/// In processors, `1.5` say: the least that any group on the way up allows; empty if none limits it. Both forms
/// of cgroups, below `groups`; `self` lists those of this process.
inline std::optional<double> processors_allowed(std::filesystem::path const& self = "/proc/self/cgroup",
                                                std::filesystem::path const& groups = "/sys/fs/cgroup") {
  std::optional<double> least;
  std::ifstream memberships{self};
  for (std::string line; std::getline(memberships, line);) { // number:controllers:path
    auto const first = line.find(':'), second = first == line.npos ? first : line.find(':', first + 1);
    if (second == line.npos) continue;
    auto const controllers = ',' + line.substr(first + 1, second - first - 1) + ',';
    bool const is_second_form = controllers == ",,";
    if (!is_second_form && controllers.find(",cpu,") == controllers.npos) continue;
    auto const top = is_second_form ? groups : groups / "cpu";
    auto const below = std::filesystem::path{line.substr(second + 1)}.relative_path().lexically_normal();
    for (auto at = below;; at = at.parent_path()) {
      double quota = 0, period = 0; // microseconds; "max" and -1 are no limit
      if (is_second_form) {
        std::ifstream{top / at / "cpu.max"} >> quota >> period;
      } else {
        std::ifstream{top / at / "cpu.cfs_quota_us"} >> quota;
        std::ifstream{top / at / "cpu.cfs_period_us"} >> period;
      }
      if (quota > 0 && period > 0) least = std::min(least.value_or(quota / period), quota / period);
      if (at.empty()) break;
    }
  }
  return least;
}

} // namespace keel::info
