// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Finds a number by an id.

#include <keel/policy/macros.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace keel::residency::detail {

/// The finalizer of SplitMix64 (S. Vigna): each bit of the result depends on each of the argument.
[[nodiscard]] KEEL_FUNCTION constexpr std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
  x = (x ^ x >> 27) * 0x94d049bb133111ebU;
  return x ^ x >> 31;
}

/// The digest of these numbers in this order, after those of another digest. A chain would wait for each number.
[[nodiscard]] constexpr std::uint64_t digest_of(std::span<std::int64_t const> numbers, std::uint64_t before) {
  std::uint64_t sum = before;
  for (std::int64_t const n : numbers) sum += mixed(std::uint64_t(n) + mixed(++before));
  return mixed(sum);
}

/// A number for each of some ids. If they are close, an array with a slot for each id between the least and the most;
/// else a table with open addressing, in which eight consecutive ids are neighbours, because they are often looked for
/// one after the other. 4 to 16 bytes for each id: they stay with the caller, who says whether a number `is` that of
/// the id, which an array never asks.
class id_table {
public:
  static constexpr std::int32_t none = -1;

  id_table() = default;
  /// For up to `count` ids.
  explicit id_table(std::size_t count) : slots_(std::bit_ceil(2 * count + 1), none) {}
  /// For ids in these bounds, which are close.
  id_table(std::int64_t least, std::int64_t most)
      : is_direct_(true), least_(std::uint64_t(least)), slots_(std::uint64_t(most) - least_ + 2, none) {}

  /// Whether there are few other numbers between these bounds of `count` ids.
  [[nodiscard]] static constexpr bool are_close(std::int64_t least, std::int64_t most, std::uint64_t count) {
    return count != 0 && (std::uint64_t(most) - std::uint64_t(least)) / 4 < count;
  }
  /// Where the number of an id is, or `none` is, so that it can be added.
  [[nodiscard]] std::size_t slot_of(std::int64_t id, auto const& is) const {
    auto const bits = std::uint64_t(id);
    // No id has the last slot.
    if (is_direct_) return std::size_t(std::min<std::uint64_t>(bits - least_, slots_.size() - 1));
    std::size_t const mask = slots_.size() - 1;
    std::size_t at = std::size_t(mixed(bits >> 3) << 3 | (bits & 7)) & mask;
    while (slots_[at] != none && !is(slots_[at])) at = (at + 1) & mask;
    return at;
  }
  [[nodiscard]] std::int32_t& operator[](std::size_t slot) { return slots_[slot]; }
  [[nodiscard]] std::size_t slots() const { return slots_.size(); }

private:
  bool is_direct_ = false;
  std::uint64_t least_ = 0;
  std::vector<std::int32_t> slots_ = {none};
};

} // namespace keel::residency::detail
