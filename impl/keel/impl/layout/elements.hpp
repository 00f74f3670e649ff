// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a rank has of a mesh, as a partition holds it.

#include <keel/impl/layout/agreement.hpp>
#include <keel/impl/layout/id_table.hpp>
#include <keel/layout/mesh.hpp>
#include <keel/policy/macros.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

namespace keel::residency::detail {

/// Local indices, layer after layer of ghosts, so that an exchange of the first layers takes the first of them.
struct layered_list {
  std::vector<std::int32_t> elements;
  std::vector<std::int32_t> ends; ///< of each layer, in `elements`

  /// Those of some layers, half open, counted from 0.
  [[nodiscard]] std::span<std::int32_t const> of_layers(int begin, int end) const {
    auto const to = [&](int layer) { return layer == 0 ? std::size_t(0) : std::size_t(ends[std::size_t(layer) - 1]); };
    return std::span(elements).subspan(to(begin), to(end) - to(begin));
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

/// The first place of each id in a list, found out when it is first asked for.
class id_places {
public:
  /// `id_table::none` if the id is not in the list. The list is the same in each call, as is the order in which it is
  /// read, if that is not its own. Threads may call at the same time.
  [[nodiscard]] std::int32_t find(std::span<std::int64_t const> ids, std::span<std::int32_t const> order,
                                  std::int64_t id) const;

private:
  struct table {
    std::once_flag is_made;
    id_table numbers;
  };
  std::unique_ptr<table> table_ = std::make_unique<table>();
};

/// The numbers of owned elements in a file: those of ranks follow on each other.
struct numbering {
  std::int64_t first = 0, total = 0;
  std::vector<std::int64_t> owned = {}; ///< by rank
};

/// What a rank has of a mesh.
struct elements {
  int rank = -1, ranks = 0;           ///< of the environment; a rank that is no member of it has -1 of 0
  std::vector<std::int64_t> ids;      ///< owned ones first, then ghosts layer by layer, unless there is an `order`
  std::int64_t owned = 0;             ///< their number
  std::vector<std::int64_t> ends;     ///< of each layer of ghosts, in `ids`
  std::uint64_t digest = 0;           ///< of the whole cut: the same on all ranks, and another one of another cut
  std::vector<int> owners;            ///< the rank of each ghost's owner
  std::vector<std::int32_t> at_owner; ///< the local index of each ghost there
  element_lists lists;
  bool has_images = false;   ///< an element may be in several layers of ghosts
  bool lacks_owners = false; ///< some id of some rank has none: then it is in `lists` as a copy of its own element -1
  id_places places;          ///< of `ids`
  agreement among;           ///< the ranks that it was made on
  bool is_scattered = false; ///< on some rank ghosts lie before owned elements
  /// If it is scattered, the local indices of the owned elements, then of the ghosts, both ascending.
  std::vector<std::int32_t> order;
  mutable numbering numbers = {}; ///< once files asked all ranks
  mutable bool is_shown = true;   ///< to a program, which may keep it: its ids stay as they are

  /// The local index of an element, counted with the owned ones first.
  [[nodiscard]] std::int32_t place(std::size_t n) const { return order.empty() ? std::int32_t(n) : order[n]; }
  [[nodiscard]] std::vector<std::int64_t> owned_ids() const;
  /// Calls f(first, how many) for runs of local indices of the owned ones.
  void for_each_owned_run(auto const& f) const {
    for (std::int64_t n = 0; n < owned;) {
      std::int64_t const first = n++;
      while (n < owned && place(std::size_t(n)) == place(std::size_t(n) - 1) + 1) ++n;
      f(std::int64_t(place(std::size_t(first))), n - first);
    }
  }
  // These throw `keel::error` if ghosts are scattered over this mesh.
  [[nodiscard]] element_range owned_range(std::string_view mesh) const;
  [[nodiscard]] element_range ghost_range(std::string_view mesh) const;
  /// A layer of ghosts, counted from 1. Throws `keel::error` if this mesh has no such layer.
  [[nodiscard]] element_range layer(int n, std::string_view mesh) const;

private:
  void require_ranges(std::string_view mesh) const;
};

class index_space;
/// What fields and exchangers get of a partition.
[[nodiscard]] std::shared_ptr<index_space const> mesh_space(std::string_view mesh,
                                                            std::shared_ptr<elements const> part);

/// What is wrong with the ids that ranks give, as they tell each other.
enum class mistake : std::int64_t { lacks_memory, too_many, other_length, owned_twice, named_twice, no_owner, none };

/// The worst mistake that was found. Without padding, because it is sent.
struct verdict {
  mistake what = mistake::none;
  std::int32_t first = 0, second = 0; ///< ranks
  std::int64_t id = 0;                ///< of too many, their number

  /// Throws `keel::error` if there is a mistake in the ids of this mesh.
  void check(std::string_view mesh, search_for what_for) const;
};
/// Chooses one of two verdicts, the same whatever their order.
struct worse {
  verdict operator()(verdict const& a, verdict const& b) const;
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/layout/elements.ipp>
#include <keel/impl/layout/mesh/mesh_share.hpp>
#endif
