// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a rank exchanges of elements that have no order in space, as data: lists of local indices.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace keel::residency::detail {

/// Local indices, layer after layer of ghosts, so that an exchange of the first layers takes the first of them.
struct layered_list {
  std::vector<std::int32_t> elements;
  std::vector<std::int32_t> ends; ///< of each layer, in `elements`

  /// Those of the first `layers` layers.
  [[nodiscard]] std::span<std::int32_t const> first(int layers) const {
    return std::span(elements).first(layers == 0 ? 0 : std::size_t(ends[std::size_t(layers) - 1]));
  }
  friend bool operator==(layered_list const&, layered_list const&) = default;
};

/// A rank that has ghosts of this one's elements, or owns ghosts of this one. Both list them in the same order, that of
/// the ghosts; each list may be empty.
struct element_partner {
  int rank;
  layered_list rims;   ///< owned elements that the partner has copies of
  layered_list ghosts; ///< copies of elements that the partner owns

  friend bool operator==(element_partner const&, element_partner const&) = default;
};

/// What a rank exchanges: partners are other ranks, each once, in ascending order. All lists have as many layers.
/// `own_ghosts` are copies of this rank's own elements `own_elements`, in the same order.
struct element_lists {
  std::vector<element_partner> partners;
  layered_list own_ghosts, own_elements;
};

} // namespace keel::residency::detail
