// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How a rank finds the owners of its ghosts, step by step, without the messages between the steps.

#include <keel/impl/residency/element_lists.hpp>
#include <keel/impl/residency/id_table.hpp>
#include <keel/machine/sparse.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/macros.hpp>
#include <keel/residency/mesh.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace keel::residency::detail {

/// What a rank has of a mesh.
struct elements {
  int rank = -1, ranks = 0;       ///< of the environment; a rank that is no member of it has -1 of 0
  std::vector<std::int64_t> ids;  ///< owned ones first, then ghosts layer by layer
  std::int64_t owned = 0;         ///< their number
  std::vector<std::int64_t> ends; ///< of each layer of ghosts, in `ids`
  std::vector<int> owners;        ///< the rank of each ghost's owner
  id_table places;                ///< of `ids`
  element_lists lists;

  /// Sets `places`.
  void find_places();
  /// A layer of ghosts, counted from 1. Throws `keel::error` if this mesh has no such layer.
  [[nodiscard]] element_range layer(int n, std::string_view mesh) const;
};

/// The same with `places`.
[[nodiscard]] std::shared_ptr<elements const> with_places(std::shared_ptr<elements const> of);

enum class mistake : std::int32_t { too_many, owned_twice, named_twice, no_owner, none };

/// The worst mistake that was found, and the most layers that a rank has. Without padding, because it is sent.
struct verdict {
  mistake what = mistake::none;
  std::int32_t first = 0, second = 0; ///< ranks
  std::int32_t layers = 0;
  std::int64_t id = 0; ///< of too many, their number

  /// Throws `keel::error` if there is a mistake in the ids of this mesh.
  void check(std::string_view mesh) const;
};
/// Of two verdicts: the same, whatever their order.
struct worse {
  verdict operator()(verdict const& a, verdict const& b) const;
};

/// The steps of one rank, called in this order; each takes what the one before sent, in ascending order of senders.
/// Each id has a directory, a rank that is found from the id. Owners and those who have ghosts tell it so, it answers
/// who owns what, and those who have ghosts tell their owners. Time and memory are in proportion to the elements of the
/// rank, and to those that it is the directory of.
class owner_search {
public:
  owner_search(int rank, int ranks, std::span<std::int64_t const> owned,
               std::span<std::span<std::int64_t const> const> layers);

  using ids = std::vector<machine::parcel<std::int64_t>>;

  [[nodiscard]] ids to_directories();
  /// As a directory. What all ranks return has to be joined by `worse`, and checked before the next step.
  [[nodiscard]] verdict look_up(ids const& from_all);
  /// To those that have ghosts, the rank of the owner of each.
  [[nodiscard]] std::vector<machine::parcel<std::int32_t>> answers() { return std::move(answers_); }
  [[nodiscard]] ids to_owners(std::vector<machine::parcel<std::int32_t>> const& answers, int layers);
  [[nodiscard]] elements finish(ids const& from_ghosts);

private:
  int rank_, ranks_;
  elements made_;
  verdict mine_;
  std::vector<std::int32_t> order_; // of ids by directory, then of ghosts by owner
  std::vector<machine::parcel<std::int32_t>> answers_;
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/owner_search_steps.hpp>
#endif
