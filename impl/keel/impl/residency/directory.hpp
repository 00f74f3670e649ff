// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The cells of a list of variables, and what an entry does to them, as constants.

#include <keel/impl/residency/merge.hpp>
#include <keel/policy/macros.hpp>
#include <keel/residency/routine.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

namespace keel::residency::detail {

/// A list of variables: each has a number, and its levels stand one behind the other.
template <class... Vars>
struct directory {
  static constexpr std::size_t size = sizeof...(Vars);
  static constexpr variable_info const* list[sizeof...(Vars) + 1] = {&Vars::about..., nullptr};

  /// The variable's number; -1 where the list lacks it.
  static constexpr int find(variable_info const* v) {
    std::size_t first = 0;
    for (std::size_t left = sizeof...(Vars); left > 0;) {
      std::size_t const half = left / 2;
      if (by_key[first + half].first < v->key) first += half + 1, left -= half + 1;
      else left = half;
    }
    for (; first < sizeof...(Vars) && by_key[first].first == v->key; ++first)
      if (*list[std::size_t(by_key[first].second)] == *v) return by_key[first].second;
    return -1;
  }
  /// Keys and numbers, in the order of keys: a compiler searches often.
  static constexpr auto by_key = [] {
    std::array<std::pair<std::uint64_t, int>, sizeof...(Vars) + 1> made{};
    for (std::size_t i = 0; i < sizeof...(Vars); ++i) made[i] = {list[i]->key, int(i)};
    std::sort(made.begin(), made.end() - 1);
    return made;
  }();
  static constexpr std::array<std::uint32_t, sizeof...(Vars) + 1> first_cell = [] {
    std::array<std::uint32_t, sizeof...(Vars) + 1> first{};
    for (std::size_t i = 0; i < sizeof...(Vars); ++i) first[i + 1] = first[i] + std::uint32_t(list[i]->levels);
    return first;
  }();
  static constexpr std::size_t cell_count = first_cell[sizeof...(Vars)];
  static constexpr bool is_unique = [] {
    for (std::size_t i = 0; i < sizeof...(Vars); ++i)
      for (std::size_t j = i; j > 0 && by_key[j - 1].first == by_key[i].first; --j)
        if (*list[std::size_t(by_key[j - 1].second)] == *list[std::size_t(by_key[i].second)]) return false;
    return true;
  }();
};

/// Requests of an entry, one for each level of a variable that it names.
template <std::size_t Most>
struct requests {
  request list[Most + 1]{};
  std::size_t size = 0;

  [[nodiscard]] constexpr std::span<request const> all() const { return {list, size}; }
};

/// What stands in for a plan where there is none: nothing is known.
struct no_plan {
  static constexpr region known(std::size_t, std::size_t) { return region::none; }
  static constexpr bool may_leave(std::size_t, std::size_t) { return true; }
  static constexpr bool lacks_exchange(std::size_t) { return false; }
  static constexpr bool pays(std::uint32_t) { return false; }
};
template <class P>
inline constexpr bool is_plan = !std::is_same_v<P, no_plan>;

/// Bits that have to be clear in elements that stand side by side in a row: as many as a register
/// holds, so that several variables are tested at once.
struct probe {
  std::uint32_t at = 0; ///< the first of them
  std::uint64_t mask = 0;
};

/// Reads 8 bytes, also where fewer are asked for: rows are padded by `row_padding`.
template <class T>
[[nodiscard]] inline std::uint64_t bits_at(T const* row, probe const& p) {
  std::uint64_t word;
  std::memcpy(&word, row + p.at, sizeof word);
  return word & p.mask;
}
inline constexpr std::size_t row_padding = sizeof(std::uint64_t);

/// At most `Most` probes of a row of `T`, made of bits by element.
template <class T, std::size_t Most>
struct probes {
  probe list[Most + 1]{};
  std::size_t size = 0;

  constexpr void add(std::uint32_t at, T bits) {
    if (bits == 0) return;
    std::size_t n = size++;
    for (; n > 0 && order[n - 1] > at; --n) order[n] = order[n - 1], wanted[n] = wanted[n - 1];
    order[n] = at, wanted[n] = bits;
  }
  /// To be called once, after the last `add`.
  constexpr void merge() {
    constexpr std::size_t lanes = sizeof(std::uint64_t) / sizeof(T);
    std::size_t merged = 0;
    for (std::size_t n = 0; n < size; ++merged) {
      std::uint32_t const first = order[n];
      std::array<T, lanes> side_by_side{};
      for (; n < size && order[n] - first < lanes; ++n) side_by_side[order[n] - first] = T(side_by_side[order[n] - first] | wanted[n]);
      list[merged] = {first, std::bit_cast<std::uint64_t>(side_by_side)};
    }
    size = merged;
  }
  /// What of it is set; `I` counts up to `size`, a constant of the caller.
  template <std::size_t... I>
  [[nodiscard, gnu::always_inline]] std::uint64_t set_in([[maybe_unused]] T const* row, std::index_sequence<I...>) const {
    return (bits_at(row, list[I]) | ... | std::uint64_t{0});
  }

private:
  std::uint32_t order[Most + 1]{};
  T wanted[Most + 1]{};
};

/// What a write does to one cell.
struct mark {
  std::uint32_t at = 0;
  write_masks masks{};
};

/// What has to be done around the routines of a script, as constants, where plan `P` knows what it knows and `MemoryOf(place)`
/// says where they run. `Copies`: whether there is another memory, so that a copy may be under way that a write on the host must
/// not overtake. One table for all routines: so the compiler fills it in one go.
template <class Script, class P, auto MemoryOf, bool Copies>
class duties {
  struct counts {
    std::uint32_t reads = 0, overtaken = 0, marks = 0; // of the entries before
  };
  struct all {
    probe reads[Script::declarations + 1]{}, overtaken[Script::declarations + 1]{};
    mark marks[Script::declarations + 1]{};
    counts before[Script::entries + 1]{};
  };
  static constexpr all made = [] {
    all a;
    counts now;
    for (std::size_t n = 0; n < Script::entries; ++n) {
      probes<cell, Script::most_asked> reads;
      probes<flights, Script::most_asked> overtaken;
      auto const asked = Script::asked(n);
      memory const m = MemoryOf(Script::about(n).where);
      for (std::size_t i = 0; i < asked.size() && Script::about(n).what == entry_kind::routine; ++i) {
        request const& r = asked[i];
        std::uint32_t const at = Script::cell_of(r);
        // A test that a plan spares is spared whole; any other takes the closer look along.
        cell const tested = bits_of(without(r.reads, P::known(n, i)), m);
        reads.add(at, is_plan<P> ? tested : tested | (tested != 0 || i == 0 ? closer_look : 0));
        if (r.writes == region::none) continue;
        if (Copies && m == host && P::may_leave(n, i)) overtaken.add(at, flights(~0U));
        a.marks[now.marks++] = {at, masks_of_write(r.writes, m)};
      }
      reads.merge();
      overtaken.merge();
      for (std::size_t i = 0; i < reads.size; ++i) a.reads[now.reads++] = reads.list[i];
      for (std::size_t i = 0; i < overtaken.size; ++i) a.overtaken[now.overtaken++] = overtaken.list[i];
      a.before[n + 1] = now;
    }
    return a;
  }();

public:
  // `n` is a constant of the caller, so that nothing is left of the loops.

  /// Whether entry number `n` can begin: one branch, for what it reads in a row of cells and, on the host, for copies that
  /// leave from what it writes.
  [[nodiscard]] KEEL_VANISHING static bool is_ready(std::size_t n, cell const* row, [[maybe_unused]] auto const& book) {
    std::uint64_t lacks = 0;
    KEEL_UNROLL for (std::size_t i = made.before[n].reads; i < made.before[n + 1].reads; ++i) lacks |= bits_at(row, made.reads[i]);
    KEEL_UNROLL for (std::size_t i = made.before[n].overtaken; i < made.before[n + 1].overtaken; ++i)
      lacks |= bits_at(book.leaving(), made.overtaken[i]);
    return lacks == 0;
  }
  /// Marks what it writes: a store for each cell that it writes the owned part of.
  KEEL_VANISHING static void mark_in(std::size_t n, cell* row) {
    KEEL_UNROLL for (std::size_t i = made.before[n].marks; i < made.before[n + 1].marks; ++i)
      row[made.marks[i].at] = after_write(row[made.marks[i].at], made.marks[i].masks);
  }
};

/// What has to be clear for a step to go by plan `P`.
template <class P, class Directory>
struct needs {
  static constexpr std::size_t most = [] {
    std::size_t n = 1;
    P::for_each_need([&](variable_info const*, int, cell) { ++n; });
    return n;
  }();
  static constexpr auto list = [] {
    probes<cell, most> made;
    P::for_each_need([&](variable_info const* v, int level, cell bits) {
      if (int const number = Directory::find(v); number >= 0)
        made.add(Directory::first_cell[std::size_t(number)] + std::uint32_t(level), bits | closer_look);
    });
    if (made.size == 0) made.add(0, closer_look);
    made.merge();
    return made;
  }();
  /// What has to have left for good.
  static constexpr auto leaving = [] {
    bool is_meant[Directory::size + 1]{};
    P::for_each_settled([&](variable_info const* v) { is_meant[Directory::find(v) + 1] = true; });
    probes<flights, Directory::cell_count> made;
    for (std::size_t n = 0; n < Directory::size; ++n)
      for (std::uint32_t c = Directory::first_cell[n]; is_meant[n + 1] && c < Directory::first_cell[n + 1]; ++c) made.add(c, flights(~0U));
    made.merge();
    return made;
  }();
};

} // namespace keel::residency::detail
