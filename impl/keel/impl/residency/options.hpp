// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What the options of `fields` say: components, shares of grids, lengths.

#include <keel/impl/residency/fields_state.hpp>
#include <keel/policy/error.hpp>
#include <keel/residency/grid.hpp>

#include <string>
#include <type_traits>
#include <vector>

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

/// A rank's shares of the grids of all components; one if they are alike.
template <class Run, class... Options>
std::vector<share> shares_in(Run& run, grid const& whole, Options const&... options) {
  int const size = run.environment().size(), rank = run.environment().rank();
  std::vector<share> shares{share_of(whole, size, rank)};
  [[maybe_unused]] auto const look = [&](auto const& option) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(option)>, further_grids>) { // nvcc 13 needs the braces
      for (grid const& g : option.grids) {
        if (g.rank() != whole.rank())
          throw error("residency::fields",
                      "component " + std::to_string(shares.size()) + " lies on a grid of " + std::to_string(g.rank()) +
                          " dimensions, the first on one of " + std::to_string(whole.rank()),
                      "their arrays have one type", "Give all grids as many");
        shares.push_back(share_of(g, size, rank));
      }
    }
  };
  (look(options), ...);
  return shares;
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
