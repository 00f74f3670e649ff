// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The one state machine of residency: where a time level of a variable is valid, and what
/// copying and writing do to that. Everything is constexpr: `fields` and `ledger` run it, `plan`
/// evaluates it while compiling. Depends only on the standard library.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace keel::residency {

/// Parts of the local share of an array, as bits.
///
/// `core`, `rim`, `halo` and `walls` are disjoint. `rim` are the owned cells that a neighbour keeps a copy of, `core`
/// the other owned cells. `halo` are the copies of what neighbours own; an exchange fills them. `walls` are the ghosts
/// beyond the end of a grid that is not periodic. No neighbour fills them, so an exchange does not touch them, and a
/// write of owned cells does not make them stale; a boundary condition writes them. A region that has no cells on any
/// rank is valid everywhere.
enum class region : std::uint8_t {
  none = 0,
  core = 1,
  rim = 2,
  owned = 3,
  halo = 4,
  inside = 7,
  walls = 8,
  ghosts = 12,
  everywhere = 15
};

inline constexpr region core = region::core;
inline constexpr int region_count = 4;
inline constexpr region single_regions[region_count] = {region::core, region::rim, region::halo, region::walls};

[[nodiscard]] constexpr region operator|(region a, region b) { return region(std::uint8_t(a) | std::uint8_t(b)); }
[[nodiscard]] constexpr region operator&(region a, region b) { return region(std::uint8_t(a) & std::uint8_t(b)); }
/// The regions of `a` that are not in `b`.
[[nodiscard]] constexpr region without(region a, region b) { return region(std::uint8_t(a) & ~std::uint8_t(b)); }
[[nodiscard]] constexpr bool overlap(region a, region b) { return (a & b) != region::none; }
/// 0, 1, 2, 3 for core, rim, halo, walls.
[[nodiscard]] constexpr int index_of(region single) { return std::countr_zero(std::uint8_t(single)); }
/// What messages call it.
[[nodiscard]] constexpr std::string_view name_of(region r) {
  constexpr std::string_view names[] = {"nothing",
                                        "core",
                                        "rim",
                                        "owned",
                                        "halo",
                                        "core and halo",
                                        "rim and halo",
                                        "inside",
                                        "walls",
                                        "core and walls",
                                        "rim and walls",
                                        "owned and walls",
                                        "ghosts",
                                        "core and ghosts",
                                        "rim and ghosts",
                                        "everywhere"};
  return names[unsigned(r) & unsigned(region::everywhere)];
}

/// A memory: the host's is 0, those of an application's devices follow in the order of its list.
enum class memory : std::uint8_t { host = 0, none = 254, device = 255 };
inline constexpr memory host = memory::host;
/// In a plan: the memory of the device that the plan is made for.
inline constexpr memory device = memory::device;
inline constexpr int max_memories = 5;

/// Where one time level of one component of a variable is valid: five bits for each region, one
/// for each memory, set if that region is *stale* there (so that a read is one test against a
/// constant, and states side by side are read with one).
using validity = std::uint32_t;

namespace detail {
/// Where the five bits of each region begin. A write of owned cells settles the lower half of a state, bit 15 included,
/// so that it is one store of a constant.
inline constexpr unsigned first_bit[region_count] = {0, 5, 10, 16};
/// The bits of each `region` in the host's memory; those of the next memory stand one further up.
inline constexpr auto host_bits = [] {
  std::array<validity, 16> bits{};
  for (unsigned r = 0; r < bits.size(); ++r)
    for (unsigned b = 0; b < unsigned(region_count); ++b) bits[r] |= (r >> b & 1U) << first_bit[b];
  return bits;
}();
} // namespace detail

/// The bits of `r` in memory `m`.
[[nodiscard]] constexpr validity bits_of(region r, memory m) {
  return detail::host_bits[std::uint8_t(r)] << unsigned(m);
}
/// The bits of `r` in every memory.
[[nodiscard]] constexpr validity bits_of(region r) { return detail::host_bits[std::uint8_t(r)] * 0x1fU; }
/// The regions whose bits in the host's memory these are; others may be set.
[[nodiscard]] constexpr region region_of(validity bits) {
  unsigned r = 0;
  for (unsigned b = 0; b < unsigned(region_count); ++b) r |= (bits >> detail::first_bit[b] & 1U) << b;
  return region(std::uint8_t(r));
}

/// Layers of ghosts are counted from the owned cells outwards. A state has a bit for each of the first six, the last of
/// which goes for those beyond it as well: set if the layer was left out when the halo was filled last, in whatever
/// memory. While the halo is stale everywhere they mean nothing.
inline constexpr int all_layers = 255, max_layers_apart = 5;
namespace detail {
inline constexpr unsigned first_layer_bit = 26;
/// The bits of layers `begin` to `end`, counted from 0.
[[nodiscard]] constexpr validity layer_bits(int begin, int end) {
  unsigned const last = unsigned(std::min(end, max_layers_apart + 1)), first = std::min(unsigned(begin), last);
  return ((validity{1} << last) - (validity{1} << first)) << first_layer_bit;
}
} // namespace detail
/// What has to be clear if so many layers are read with a region.
[[nodiscard]] constexpr validity layers_read(region r, int layers) {
  return overlap(r, region::halo) ? detail::layer_bits(0, layers) : 0;
}
/// What is set when only so many of `width` layers are written with a region.
[[nodiscard]] constexpr validity layers_left_out(region r, int layers, int width) {
  return overlap(r, region::halo) && layers < width ? detail::layer_bits(layers, width) : 0;
}

inline constexpr validity valid_nowhere = bits_of(region::everywhere);
/// Set in a state while regions of it arrive at the host that their device has not written again: a write of the state
/// clears it, and so what arrives is old. Tests of rows include it: if it is set, every access takes the slow path.
inline constexpr validity slow_path = validity{1} << 15;

/// Which devices a copy from the host or to it may be under way with, a bit for each, and in the four above
/// the regions that arrive at the host. A writer there waits for them.
using copies_in_flight = std::uint8_t;

inline constexpr copies_in_flight all_copies = (1U << (max_memories - 1)) - 1;
[[nodiscard]] constexpr copies_in_flight copy_bit(memory m) { return copies_in_flight(1U << (unsigned(m) - 1)); }
[[nodiscard]] constexpr copies_in_flight arrival_bits(region r, memory from) {
  return copies_in_flight(copy_bit(from) | unsigned(r & region::everywhere) << (max_memories - 1));
}
[[nodiscard]] constexpr region arriving_regions(copies_in_flight f) {
  return region(std::uint8_t(f >> (max_memories - 1)));
}

[[nodiscard]] constexpr bool is_valid(validity c, region r, memory m, int layers = all_layers) {
  return (c & (bits_of(r, m) | layers_read(r, layers))) == 0;
}

/// Where `single` can be copied from: the host if it is valid there, else the first device; `none`.
[[nodiscard]] constexpr memory source_of(validity c, region single) {
  unsigned const valid = ~(c >> detail::first_bit[index_of(single)]) & 0x1fU;
  return valid == 0 ? memory::none : memory(std::countr_zero(valid));
}

/// What a write of `r` makes stale: the region itself, and the halo, because the neighbours
/// have written too.
[[nodiscard]] constexpr region invalidated_by(region r) { return overlap(r, region::owned) ? r | region::halo : r; }

[[nodiscard]] constexpr validity after_copy(validity c, region r, memory to) { return c & ~bits_of(r, to); }

/// A write settles all bits of the regions it touches: `(c & ~settled) | stale`. If that is all
/// of a state, as for a write of owned or everywhere, it is one store of a constant.
struct write_masks {
  validity settled, stale;
};
/// What a write does to the state that stands at `at` in a row.
struct mark {
  std::uint32_t at = 0;
  write_masks masks{};
};
namespace detail {
/// By region: what a write settles, and what it makes stale in the memories in which it does not happen.
inline constexpr auto writes_of = [] {
  std::array<write_masks, 16> all{};
  for (unsigned n = 0; n < all.size(); ++n) {
    region const r{std::uint8_t(n)};
    validity const touched = bits_of(invalidated_by(r));
    all[n] = {touched | layers_read(r, all_layers) | (touched != 0 ? slow_path : 0), touched};
  }
  return all;
}();
} // namespace detail
[[nodiscard]] constexpr write_masks masks_of_write(region r, memory m, validity left_out = 0) {
  write_masks const& all = detail::writes_of[std::uint8_t(r)];
  return {all.settled, (all.stale & ~bits_of(r, m)) | left_out};
}
[[nodiscard]] constexpr validity after_write(validity c, write_masks const& w) { return (c & ~w.settled) | w.stale; }
[[nodiscard]] constexpr validity after_write(validity c, region r, memory m) {
  return after_write(c, masks_of_write(r, m));
}
/// After a writer that failed halfway: valid nowhere, because nothing says how far it came.
[[nodiscard]] constexpr validity after_loss(validity c, region r) {
  validity const settled = masks_of_write(r, host).settled;
  return (c & ~settled) | (settled & bits_of(region::everywhere));
}
/// After something went wrong with all that memory `m` has.
[[nodiscard]] constexpr validity after_failure(validity c, memory m) {
  return (c | bits_of(region::everywhere, m)) & ~slow_path;
}
/// When what was under way has arrived.
[[nodiscard]] constexpr validity after_arrival(validity c, region r) {
  return (c & slow_path) == 0 ? c : after_copy(c, r, host) & ~slow_path;
}

/// Which way the time levels of a variable move: each one into the past, or back. `in_place`: into the past, and the
/// oldest becomes the current one with its data.
enum class rotation : std::uint8_t { cycle, rewind, in_place };

/// What entries and messages call a rotation.
struct rotation_words {
  std::string_view name, done, not_done;
};
[[nodiscard]] constexpr rotation_words words_of(rotation how) {
  constexpr rotation_words all[] = {{"cycle", "cycled", "did not cycle"},
                                    {"rewind", "went back", "did not go back"},
                                    {"cycle_in_place", "cycled in place", "did not cycle"}};
  return all[std::size_t(how)];
}

/// Rotates the levels at `first`, newest first, each of `stride` elements. Returns the level whose data are void
/// afterwards: the current one after a cycle, the oldest one after a rewind; null if none is.
template <class T>
constexpr T* rotate_levels(T* first, int levels, rotation how, int stride = 1) {
  bool const is_back = how == rotation::rewind;
  std::rotate(first, first + (is_back ? 1 : levels - 1) * stride, first + levels * stride);
  return how == rotation::in_place ? nullptr : is_back ? first + (levels - 1) * stride : first;
}
/// Rotates states; a void level is valid nowhere, but for regions that have no cells on any rank, and those `kept`.
constexpr void rotate_states(validity* first, int levels, rotation how, int components = 1, validity empty = 0,
                             validity kept = 0) {
  validity* const freed = rotate_levels(first, levels, how, components);
  for (int c = 0; freed != nullptr && c < components; ++c)
    freed[c] = (freed[c] & kept) | (valid_nowhere & ~empty & ~kept);
}

} // namespace keel::residency
