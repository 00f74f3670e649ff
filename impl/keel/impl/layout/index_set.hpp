// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Which elements of an array are meant.

#include <keel/layout/grid.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace keel::residency::detail {

/// Local indices of elements, on the host and in each memory where they were needed once. Index sets refer to it.
class element_list {
public:
  element_list() = default;
  explicit element_list(std::vector<std::int32_t> numbers) : numbers_(std::move(numbers)) {}

  [[nodiscard]] std::span<std::int32_t const> all() const { return numbers_; }
  /// Adds numbers, before it is needed in another memory, and returns that of the first one.
  std::int64_t add(std::span<std::int32_t const> more) {
    numbers_.insert(numbers_.end(), more.begin(), more.end());
    return std::int64_t(numbers_.size() - more.size());
  }
  /// In the memory of a queue, to which `send(numbers, bytes)` brings them the first time.
  [[nodiscard]] std::int32_t const* in(void const* queue, auto const& send) const {
    for (auto const& [known, bytes] : there_)
      if (known == queue) return reinterpret_cast<std::int32_t const*>(bytes.get());
    there_.emplace_back(queue, send(numbers_.data(), numbers_.size() * sizeof(std::int32_t)));
    return reinterpret_cast<std::int32_t const*>(there_.back().second.get());
  }

private:
  std::vector<std::int32_t> numbers_;
  mutable std::vector<std::pair<void const*, std::shared_ptr<std::byte>>> there_;
};

/// A box of local indices, or so many elements of a list as the box counts. Who counts, packs or copies elements need
/// not ask which.
class index_set : public bounds {
public:
  constexpr index_set() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a box is one
  constexpr index_set(bounds const& box) : bounds(box) {}
  /// `count` elements of a list, from number `first` of it on.
  index_set(element_list const& of, std::int64_t first, std::int64_t count)
      : bounds{{}, {{count}}}, list_(&of), first_(first) {}
  /// All of a list, as a box if they follow on each other.
  [[nodiscard]] static index_set of(element_list const& list) {
    auto const all = list.all();
    for (std::size_t n = 1; n < all.size(); ++n)
      if (all[n] != all[n - 1] + 1) return {list, 0, std::int64_t(all.size())};
    return all.empty() ? bounds{} : bounds{{{all.front()}}, {{all.back() + 1}}};
  }

  [[nodiscard]] bool is_listed() const { return list_ != nullptr; }
  /// The elements of the list, on the host; null if it is a box.
  [[nodiscard]] std::int32_t const* numbers() const { return is_listed() ? list_->all().data() + first_ : nullptr; }
  [[nodiscard]] std::span<std::int32_t const> listed() const {
    return {numbers(), is_listed() ? std::size_t(end[0]) : 0};
  }
  /// What `numbers` says, in the memory of a queue; see `element_list`.
  [[nodiscard]] std::int32_t const* numbers_in(void const* queue, auto const& send) const {
    return is_listed() ? list_->in(queue, send) + first_ : nullptr;
  }
  /// As many elements of the list, those after these.
  [[nodiscard]] index_set next_listed() const { return {*list_, first_ + end[0], end[0]}; }

private:
  element_list const* list_ = nullptr;
  std::int64_t first_ = 0;
};

/// How the element that a value comes from moves with the one that it goes to, in each dimension and beyond the grid's:
/// the same way, 1, the other way, -1, or not at all; and along which dimension, if this one goes along another.
struct origin_steps {
  std::int8_t of[max_grid_rank] = {1, 1, 1, 1};
  std::int8_t inner = 1;
  std::int8_t along[max_grid_rank] = {0, 1, 2, 3};
  std::int8_t part = -1; ///< which of two components of vectors, if not both

  friend bool operator==(origin_steps const&, origin_steps const&) = default;
};
/// Where a box begins that is gone through so.
[[nodiscard]] constexpr std::int64_t first_of(bounds const& box, origin_steps const& steps, int d) {
  return steps.of[d] < 0 ? box.end[d] - 1 : box.begin[d];
}

/// Disjoint sets that make a region.
class index_sets {
public:
  /// Leaves out a set without elements in so many dimensions.
  void add(index_set const& one, int rank) {
    if (one.size(rank) > 0) all_[count_++] = one;
  }
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] index_set const* begin() const { return all_; }
  [[nodiscard]] index_set const* end() const { return all_ + count_; }

private:
  index_set all_[2 * 2 * max_grid_rank];
  int count_ = 0;
};

} // namespace keel::residency::detail
