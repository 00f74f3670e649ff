// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Which elements of an array are meant: a box of local indices, or a part of a list.

#include <keel/layout/grid.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace keel::residency::detail {

/// Local indices of elements, on the host and in each memory where they were needed once.
class element_list {
public:
  element_list() = default;
  explicit element_list(std::vector<std::int32_t> numbers) : numbers_(std::move(numbers)) {}

  [[nodiscard]] std::span<std::int32_t const> all() const { return numbers_; }
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

/// A box; or so many elements of a list as it counts, from number `first` of the list on.
struct box_or_list : bounds {
  element_list const* list = nullptr;
  std::int64_t first = 0;

  constexpr box_or_list() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a box is one
  constexpr box_or_list(bounds const& box) : bounds(box) {}
  box_or_list(element_list const& of, std::int64_t number, std::int64_t count)
      : bounds{{}, {{count}}}, list(&of), first(number) {}

  /// The numbers, on the host; null if it is a box.
  [[nodiscard]] std::int32_t const* numbers() const { return list != nullptr ? list->all().data() + first : nullptr; }
};

/// Disjoint boxes that make a region; of a mesh lists, too.
struct box_set {
  box_or_list boxes[2 * 2 * max_grid_rank];
  int count = 0;

  [[nodiscard]] box_or_list const* begin() const { return boxes; }
  [[nodiscard]] box_or_list const* end() const { return boxes + count; }
};

} // namespace keel::residency::detail
