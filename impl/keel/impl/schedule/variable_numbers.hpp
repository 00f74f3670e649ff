// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Variables and their time levels, counted.

#include <keel/layout/variable.hpp>

#include <cstddef>
#include <cstdint>

namespace keel::residency::detail {

/// Variables by number, as they appear; the levels of each are neighbouring states. `Most` is an upper bound.
template <std::size_t Most>
struct variable_numbers {
  variable_info const* variables[Most + 1]{};
  std::uint16_t first_state[Most + 2]{};
  std::size_t variable_count = 0;

  /// The number of a variable; -1 if it has none.
  [[nodiscard]] constexpr int find(variable_info const& v) const { return places_[place_of(v)] - 1; }
  /// The number of a variable; it gets the next one if it has none.
  constexpr int add(variable_info const& v) {
    std::uint16_t& place = places_[place_of(v)];
    if (place == 0) {
      variables[variable_count] = &v;
      first_state[variable_count + 1] = std::uint16_t(first_state[variable_count] + v.levels);
      place = std::uint16_t(++variable_count);
    }
    return place - 1;
  }
  [[nodiscard]] constexpr std::size_t states() const { return first_state[variable_count]; }

private:
  static constexpr std::size_t buckets = 2 * (Most + 1);
  [[nodiscard]] constexpr std::size_t place_of(variable_info const& v) const {
    std::size_t at = v.key % buckets;
    while (places_[at] != 0 && *variables[places_[at] - 1] != v) at = (at + 1) % buckets;
    return at;
  }
  std::uint16_t places_[buckets]{}; // numbers by key, one more than they are
};

} // namespace keel::residency::detail
