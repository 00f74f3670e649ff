// SPDX-License-Identifier: MIT
#include <keel/policy/error.hpp>
#include <keel/policy/macros.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace keel::space::detail {

/// The options of Kokkos that take a whole number; those of devices may take two.
inline constexpr std::array<std::string_view, 7> numbered_options{
    "--kokkos-threads", "--kokkos-num-threads", "--kokkos-numa",    "--kokkos-device-id",
    "--kokkos-device",  "--kokkos-num-devices", "--kokkos-ndevices"};

inline void require_numbers(std::vector<std::string> const& given) {
  auto const is_number = [](std::string_view text) {
    int value = -1;
    auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    return failure == std::errc{} && end == text.data() + text.size() && value >= 0;
  };
  for (std::string_view const word : given) {
    std::string_view const name = word.substr(0, word.find('='));
    if (std::find(numbered_options.begin(), numbered_options.end(), name) == numbered_options.end()) continue;
    std::string_view const value = word.substr(std::min(name.size() + 1, word.size()));
    std::size_t const comma = name.ends_with("devices") ? std::min(value.find(','), value.size()) : value.size();
    if (!is_number(value.substr(0, comma)) || (comma < value.size() && !is_number(value.substr(comma + 1))))
      throw error("space", std::string(word) + " is refused", "Kokkos takes a whole number from 0 on here",
                  "Write " + std::string(name) + "=1");
  }
}

KEEL_INLINE void require_cards(std::string_view device, bool is_there, std::string_view visible_by) {
  if (is_there) return;
  std::string const name(visible_by);
  char const* const set = std::getenv(name.c_str());
  throw error("space", "Kokkos cannot start",
              "it was built for " + std::string(device) + ", and this process sees no card" +
                  (set != nullptr ? "; " + name + " is '" + set + "'" : ""),
              "Set " + name + " to the cards that it may use, or unset it, or take a build without " +
                  std::string(device));
}

KEEL_INLINE std::vector<std::string> command_line(std::vector<std::string> const& settings,
                                                  std::vector<std::string> const& given) {
  require_numbers(given);
  std::vector<std::string> all{"keel"};
  for (auto const* words : {&settings, &given}) all.insert(all.end(), words->begin(), words->end());
  return all;
}

} // namespace keel::space::detail
