// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What the options of `fields` say: components, grids, lengths.

#include <keel/impl/residency/fields_state.hpp>
#include <keel/policy/error.hpp>
#include <keel/residency/grid.hpp>

#include <span>
#include <string>
#include <type_traits>

namespace keel::residency::detail {

/// The components asked for among the options of the fields.
template <class... Options>
int components_in(Options const&... options) {
  int count = 1;
  [[maybe_unused]] auto const look = [&](auto const& option) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(option)>, components>) count = option.count;
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(option)>, further_grids>)
      count = 1 + int(option.grids.size());
  };
  (look(options), ...);
  if (count < 1)
    throw error("residency::fields", "components{" + std::to_string(count) + "} are refused",
                "a variable has at least one", "Give 1 or more");
  return count;
}

/// The grids of the components after the first, if they are not alike.
template <class... Options>
std::span<grid const> further_in(Options const&... options) {
  std::span<grid const> further;
  [[maybe_unused]] auto const look = [&](auto const& option) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(option)>, further_grids>) further = option.grids;
  };
  (look(options), ...);
  return further;
}

/// What an option says of the lengths of a variable.
template <class Option>
lengths_given lengths_in(Option const&, variable_info const&) {
  return {};
}
template <class... Vs>
lengths_given lengths_in(extra<Vs...> const& option, [[maybe_unused]] variable_info const& v) {
  return {option.lengths.data(), option.given, ((Vs::about == v) || ...)};
}

} // namespace keel::residency::detail
