// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The one state machine of residency: where a time level of a variable is valid, and what
/// copying and writing do to that. Everything is constexpr: `fields` and `ledger` run it, `plan`
/// evaluates it while compiling. Rests on the standard library alone.

#include <bit>
#include <cstdint>
#include <string_view>

namespace keel::residency {

/// Parts of the local share of an array. `rim` are the owned cells that a neighbour keeps a
/// copy of, `core` the other owned ones, `ghosts` the copies of what neighbours own and the
/// cells beyond a wall.
enum class region : std::uint8_t { none = 0, core = 1, rim = 2, owned = 3, ghosts = 4, everywhere = 7 };

inline constexpr region core = region::core;
inline constexpr region single_regions[] = {region::core, region::rim, region::ghosts};

[[nodiscard]] constexpr region operator|(region a, region b) { return region(std::uint8_t(a) | std::uint8_t(b)); }
[[nodiscard]] constexpr region operator&(region a, region b) { return region(std::uint8_t(a) & std::uint8_t(b)); }
[[nodiscard]] constexpr bool overlap(region a, region b) { return (a & b) != region::none; }
/// 0, 1, 2 for core, rim, ghosts.
[[nodiscard]] constexpr int index_of(region single) { return std::countr_zero(std::uint8_t(single)); }
[[nodiscard]] constexpr std::string_view name_of(region r) {
  constexpr std::string_view names[] = {"nothing", "core",          "rim",          "owned",
                                        "ghosts",  "core and ghosts", "rim and ghosts", "everywhere"};
  return names[std::uint8_t(r)];
}

/// A memory: the host's is 0, those of an application's devices follow in the order of its list.
enum class memory : std::uint8_t { host = 0, none = 254, device = 255 };
inline constexpr memory host = memory::host;
/// In a plan: the memory of the device that the plan is made for.
inline constexpr memory device = memory::device;
inline constexpr int max_memories = 8;

/// Where one time level of one component of a variable is valid: a byte for each region, in it a
/// bit for each memory, set where that region is *stale* (so that a read is one test against a
/// constant). The fourth byte holds a bit for each memory that a copy from the host is under way to.
using cell = std::uint32_t;

inline constexpr cell valid_nowhere = 0x00ff'ffffU;

/// The bits of `r` in memory `m`.
[[nodiscard]] constexpr cell bits_of(region r, memory m) {
  cell bits = 0;
  for (region one : single_regions)
    if (overlap(one, r)) bits |= cell{1} << (8 * index_of(one) + int(m));
  return bits;
}
/// The bits of `r` in every memory.
[[nodiscard]] constexpr cell bits_of(region r) {
  cell bits = 0;
  for (region one : single_regions)
    if (overlap(one, r)) bits |= cell{0xff} << (8 * index_of(one));
  return bits;
}

[[nodiscard]] constexpr bool is_valid(cell c, region r, memory m) { return (c & bits_of(r, m)) == 0; }

/// Where `single` can be copied from: the host where it is valid there, else the first device; `none`.
[[nodiscard]] constexpr memory source_of(cell c, region single) {
  std::uint8_t const valid = std::uint8_t(~(c >> (8 * index_of(single))));
  return valid == 0 ? memory::none : memory(std::countr_zero(valid));
}

/// What a write of `r` makes stale: the region itself, and the ghosts, because the neighbours
/// have written too.
[[nodiscard]] constexpr region spoiled_by(region r) { return overlap(r, region::owned) ? r | region::ghosts : r; }

[[nodiscard]] constexpr cell after_copy(cell c, region r, memory to) { return c & ~bits_of(r, to); }
/// A write is two masks, constants wherever routine and memory are: `(c & ~clear) | raise`.
struct write_masks {
  cell clear, raise;
};
[[nodiscard]] constexpr write_masks masks_of_write(region r, memory m) {
  return {bits_of(r, m), bits_of(spoiled_by(r)) & ~bits_of(r, m)};
}
[[nodiscard]] constexpr cell after_write(cell c, region r, memory m) {
  write_masks const masks = masks_of_write(r, m);
  return (c & ~masks.clear) | masks.raise;
}
/// After a writer that failed halfway: valid nowhere.
[[nodiscard]] constexpr cell after_loss(cell c, region r) { return c | bits_of(spoiled_by(r)); }

/// A copy from the host to `m` is under way; a writer on the host has to wait for it.
[[nodiscard]] constexpr cell flight_bit(memory m) { return cell{1} << (24 + int(m)); }
inline constexpr cell any_flight = 0xff00'0000U;

/// Cycling: the levels `first[0..levels)` move one into the past. The new current one is valid
/// nowhere; a copy under way from its memory stays under way.
constexpr void cycle_cells(cell* first, int levels) {
  cell const last = first[levels - 1];
  for (int l = levels - 1; l > 0; --l) first[l] = first[l - 1];
  first[0] = valid_nowhere | (last & any_flight);
}

} // namespace keel::residency
