// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a step and its routines test and record in the ledger, as constants: masks for rows of cells.

#include <keel/impl/residency/analysis.hpp>
#include <keel/policy/macros.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace keel::residency::detail {

/// Bits that have to be clear in elements that stand side by side in a row: as many as a register
/// holds, so that several variables are tested at once.
struct probe {
  std::uint32_t at = 0; ///< the first of them
  std::uint64_t mask = 0;
};

/// What probes `begin` to `end` find set in a row. Both are constants of the caller, so that nothing is left of the
/// loop. Reads 8 bytes, also where fewer are asked for: rows are padded by `row_padding`.
template <class T>
[[nodiscard]] KEEL_FORCE_INLINE std::uint64_t set_in(T const* row, probe const* all, std::size_t begin,
                                                     std::size_t end) {
  std::uint64_t found = 0;
  KEEL_UNROLL
  for (std::size_t i = begin; i < end; ++i) {
    std::uint64_t word;
    std::memcpy(&word, row + all[i].at, sizeof word);
    found |= word & all[i].mask;
  }
  return found;
}

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
      for (; n < size && order[n] - first < lanes; ++n)
        side_by_side[order[n] - first] = T(side_by_side[order[n] - first] | wanted[n]);
      list[merged] = {first, std::bit_cast<std::uint64_t>(side_by_side)};
    }
    size = merged;
  }

private:
  std::uint32_t order[Most + 1]{};
  T wanted[Most + 1]{};
};

/// The tests and marks of the routines of a schedule, where `Analysis` knows what it knows. `Copies`: whether there is
/// another memory, so that a copy may be in flight that a write on the host must not overtake. One table for all
/// routines, because the compiler fills it in one go.
template <class Bound, class Memories, class Analysis, bool Copies>
class routine_checks {
  static constexpr auto const& table = Bound::table;
  struct counts {
    std::uint32_t reads = 0, overtaken = 0, marks = 0; // of the nodes before
  };
  struct all {
    probe reads[table.max_requests + 1]{}, overtaken[table.max_requests + 1]{};
    mark marks[table.max_requests + 1]{};
    counts before[table.max_nodes + 1]{};
  };
  static constexpr std::size_t most = [] {
    std::size_t n = 0;
    for (std::size_t i = 0; i < table.size; ++i)
      n = std::max(n, std::size_t(table.nodes[i].last - table.nodes[i].first));
    return n;
  }();
  static constexpr all made = [] {
    all a;
    counts now;
    for (std::size_t n = 0; n < table.size; ++n) {
      auto const& node = table.nodes[n];
      probes<cell, most> reads;
      probes<copies_in_flight, most> overtaken;
      for (std::uint32_t i = node.first; i < node.last && node.what() == entry_kind::routine; ++i) {
        request const& r = table.requests[i];
        std::uint32_t const at = Bound::cells[table.cell_of(r)];
        memory const m = Memories::where[n];
        region tested = r.reads;
        bool may_leave = true;
        if constexpr (is_planned<Analysis>) {
          tested = without(tested, Analysis::known.reads[i]);
          may_leave = Analysis::known.leaves_host[r.variable];
        }
        // A test that is spared is spared whole; any other takes the slow path's bit along.
        cell const bits = bits_of(tested, m);
        reads.add(at, is_planned<Analysis> ? bits : bits | (bits != 0 || i == node.first ? slow_path : 0));
        if (r.writes == region::none) continue;
        if (Copies && m == host && may_leave) overtaken.add(at, copies_in_flight(~0U));
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

  /// Whether node `n` can begin: one branch, for what it reads in a row of cells and, on the host, for copies that
  /// leave from what it writes.
  [[nodiscard]] KEEL_FORCE_INLINE static bool is_ready(std::size_t n, cell const* row,
                                                       [[maybe_unused]] auto const& ledger) {
    counts const &begin = made.before[n], &end = made.before[n + 1];
    return (set_in(row, made.reads, begin.reads, end.reads) |
            set_in(ledger.in_flight(), made.overtaken, begin.overtaken, end.overtaken)) == 0;
  }
  /// Records what it writes: a store for each cell that it writes the owned part of.
  KEEL_FORCE_INLINE static void record_writes(std::size_t n, cell* row) {
    KEEL_UNROLL
    for (std::size_t i = made.before[n].marks; i < made.before[n + 1].marks; ++i)
      row[made.marks[i].at] = after_write(row[made.marks[i].at], made.marks[i].masks);
  }
};

/// What has to be clear for a step to go by its plan: a few cells, tested against constants.
template <class Analysis, class Bound>
struct step_checks {
  static constexpr auto needed = [] {
    probes<cell, Analysis::cells + 1> made;
    for (std::size_t c = 0; c < Analysis::cells; ++c)
      if (cell const bits = Analysis::known.needed[c]; bits != 0) made.add(Bound::cells[c], bits | slow_path);
    if (made.size == 0) made.add(0, slow_path);
    made.merge();
    return made;
  }();
  /// Copies that have to have ended.
  static constexpr auto arrived = [] {
    probes<copies_in_flight, Analysis::cells> made;
    for (std::size_t v = 0; v < Bound::table.variable_count; ++v)
      for (std::size_t c = Bound::table.first_cell[v];
           Analysis::must_have_arrived(v) && c < Bound::table.first_cell[v + 1]; ++c)
        made.add(Bound::cells[c], copies_in_flight(~0U));
    made.merge();
    return made;
  }();

  /// Whether the step can begin. What the host writes without a test must not overtake a copy, so it waits for those
  /// that began before the step.
  [[nodiscard]] static bool hold(cell const* row, auto& ledger) {
    if (set_in(row, needed.list, 0, needed.size) != 0) return false;
    if (set_in(ledger.in_flight(), arrived.list, 0, arrived.size) != 0) [[unlikely]]
      ledger.wait_for_copies();
    return true;
  }
};

} // namespace keel::residency::detail
