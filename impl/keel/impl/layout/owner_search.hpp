// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How a rank finds the owners of its ghosts, step by step, without the messages between the steps.

#include <keel/impl/layout/elements.hpp>
#include <keel/machine/sparse.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/macros.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace keel::residency::detail {

/// Ids that follow on each other, at local indices that do so. If ids are not close, each is a run.
struct id_run {
  static constexpr std::int32_t longest = 256; ///< because a thread of a device goes through it

  std::int64_t id; ///< the first
  std::int32_t place, length;
};
/// Who owns an element, and its local index there.
struct owned_at {
  std::int32_t rank, place;
};

/// The bounds of the ids that ranks own, and their number; the most layers that a rank has; and a digest of what all
/// have, and whether ghosts lie before owned elements on one.
struct id_bounds {
  std::int64_t least = INT64_MAX, most = INT64_MIN;
  std::uint64_t count = 0;
  std::int64_t layers = 0;
  std::uint64_t digest = 0;
  std::uint64_t scattered = 0;
};
struct join_bounds {
  id_bounds operator()(id_bounds const& a, id_bounds const& b) const {
    return {std::min(a.least, b.least),   std::max(a.most, b.most), a.count + b.count,
            std::max(a.layers, b.layers), a.digest + b.digest,      a.scattered + b.scattered};
  }
};

/// Which rank is the directory of an id: if ids lie close together, each rank of as many that follow on each other;
/// else by chance, but sixteen consecutive ids have one, so that meshes numbered along a curve need few messages.
class directories {
public:
  directories() = default;
  directories(id_bounds const& all, int ranks)
      : ranks_(std::uint64_t(ranks)), least_(std::uint64_t(all.least)), range_(std::uint64_t(all.most) - least_),
        scale_(id_table::are_close(all.least, all.most, all.count) ? (ranks_ << 32) / (range_ + 1) : 0) {}
  [[nodiscard]] bool are_close() const { return scale_ != 0; }
  [[nodiscard]] int of(std::int64_t id) const {
    if (!are_close()) return int((mixed(std::uint64_t(id) >> 4) >> 32) * ranks_ >> 32);
    return int(std::min(std::uint64_t(id) - least_, range_) * scale_ >> 32); // no rank owns an id beyond the range
  }
  /// The first and the last of the close ids of a directory.
  [[nodiscard]] std::int64_t first_of(int directory) const { return std::int64_t(least_ + begin_of(directory)); }
  [[nodiscard]] std::int64_t last_of(int directory) const { return std::int64_t(least_ + begin_of(directory + 1) - 1); }

private:
  [[nodiscard]] std::uint64_t begin_of(int directory) const {
    return std::min(((std::uint64_t(directory) << 32) + scale_ - 1) / scale_, range_ + 1);
  }

  std::uint64_t ranks_ = 0, least_ = 0, range_ = 0, scale_ = 0; // of 2^32
};

/// The steps of one rank, called in this order; each takes what the one before sent, in ascending order of senders.
/// Each id has a directory, a rank that is found from the id. Owners and those who have ghosts tell it so, it answers
/// who owns what and where, and those who have ghosts tell their owners. Time and memory are in proportion to the
/// elements of the rank, and to those that it is the directory of. A rank that has found a mistake goes on, because
/// others wait for its messages; what `found` all ranks return has to be joined by `worse`, and checked in the end.
class owner_search {
public:
  using runs = std::vector<machine::parcel<id_run>>;
  using owners = std::vector<machine::parcel<owned_at>>;
  using places = std::vector<machine::parcel<std::int32_t>>;
  /// What `answers` does, by kernels of a device. None if memory is lacking there, or if there is a mistake.
  using device_answers = std::optional<owners>(runs const& from_all, bool may_repeat);

  owner_search(int rank, int ranks, std::span<std::int64_t const> owned,
               std::span<std::span<std::int64_t const> const> layers, device_answers* by_device = nullptr);
  /// With ghosts anywhere in one layer, as the mask says, of which there are so many entries.
  owner_search(int rank, int ranks, std::span<std::int64_t const> ids, std::vector<bool> const& is_ghost);

  /// For `images` ghosts may be in several layers, but once in each. The same on all ranks, before the other steps.
  void look_for(search_for what);
  /// The bounds of the ids that this rank owns.
  [[nodiscard]] id_bounds bounds() const;
  /// With the bounds of all ranks, joined.
  [[nodiscard]] runs to_directories(id_bounds const& all);
  /// As a directory. An id that has no owner gets no answer.
  [[nodiscard]] owners answers(runs const& from_all);
  [[nodiscard]] places to_owners(owners const& from_directories);
  [[nodiscard]] elements finish(places const& from_ghosts);
  [[nodiscard]] verdict const& found() const { return found_; }

private:
  int rank_, ranks_;
  device_answers* by_device_ = nullptr;
  elements made_;
  verdict found_;
  int layers_ = 0; // of all ranks
  bool may_repeat_ = false;
  directories directories_;
  std::vector<id_run> asked_; // runs of ghosts, in the order in which the directories answer
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/layout/owner_search.ipp>
#endif
