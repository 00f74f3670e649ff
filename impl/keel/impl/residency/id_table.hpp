// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Where an id stands in a list of ids. Depends only on the standard library.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace keel::residency::detail {

/// The finalizer of SplitMix64 (S. Vigna): each bit of the result depends on each of the argument.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
  x = (x ^ x >> 27) * 0x94d049bb133111ebU;
  return x ^ x >> 31;
}

/// A table with open addressing for up to so many ids, which stay in the caller's list: 8 to 16 bytes for each. Eight
/// consecutive ids are neighbours in it, because they are often looked for one after the other.
class id_table {
public:
  id_table() = default;
  explicit id_table(std::size_t ids) : slots_(std::bit_ceil(2 * ids + 1), none) {}

  /// Adds `ids[at]`. Returns its place, which is an earlier one than `at` if the id is there already.
  std::int32_t add(std::span<std::int64_t const> ids, std::int32_t at) {
    std::int32_t& slot = slot_of(ids, ids[std::size_t(at)]);
    if (slot == none) slot = at;
    return slot;
  }
  /// The place of an id in the list; `none` if it was not added.
  [[nodiscard]] std::int32_t find(std::span<std::int64_t const> ids, std::int64_t id) const {
    return slots_.empty() ? none : const_cast<id_table*>(this)->slot_of(ids, id);
  }

  static constexpr std::int32_t none = -1;

private:
  [[nodiscard]] std::int32_t& slot_of(std::span<std::int64_t const> ids, std::int64_t id) {
    auto const bits = std::uint64_t(id);
    std::size_t const mask = slots_.size() - 1;
    std::size_t at = std::size_t(mixed(bits >> 3) << 3 | (bits & 7)) & mask;
    while (slots_[at] != none && ids[std::size_t(slots_[at])] != id) at = (at + 1) & mask;
    return slots_[at];
  }

  std::vector<std::int32_t> slots_;
};

} // namespace keel::residency::detail
