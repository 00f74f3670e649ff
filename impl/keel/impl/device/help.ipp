// SPDX-License-Identifier: MIT
#include <keel/device/help.hpp>

#include <algorithm>
#include <cstddef>

namespace keel::device {

KEEL_INLINE std::string help_text(option_names const& names) {
  std::string text;
  std::string const ours = option_prefix(names.prefix);
  for (auto const& row : all_knobs) {
    if (row.for_ledgers && !names.has_ledger) continue;
    std::string left = "  " + ours + std::string{row.option};
    left += (row.is_switch() ? "" : " ") + std::string{row.placeholder};
    left.resize(std::max(left.size() + 2, std::size_t{34}), ' ');
    text += left + std::string{row.help} + "  [" + variable_name(names.prefix, row.option) + "]\n";
  }
  for (auto const& old : old_spellings)
    text += "  " + ours + std::string{old.option} + ": the same as " + ours +
            "log-level=" + std::string{log_level_words[std::size_t(old.level)]} + "\n";
  return text + "  " + ours + "DEVICE-...                 of the first " + std::to_string(space::knobs.size()) +
         ": for this device alone, as in " + ours + "tbb-num-threads\n" +
         "  --kokkos-...                    handed to Kokkos when it starts; beats the options above\n";
}

} // namespace keel::device
