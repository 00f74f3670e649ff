// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Which reads of a step are known to find their data, and what has to hold at the beginning of the step for that.
///
/// A forward data-flow analysis. It follows which bits of a cell may be stale. Of the others it follows which were
/// clear at the beginning of the step, and in which cell, so that a read that relies on them adds them to the entry
/// check.

#include <keel/impl/residency/schedule_table.hpp>
#include <keel/residency/transitions.hpp>

#include <cstddef>
#include <cstdint>

namespace keel::residency::detail {

/// What the analysis finds. The last four go by variable: copies that may be made in the step, but for those of an
/// output.
template <std::size_t Requests, std::size_t Cells>
struct known_valid {
  region reads[Requests + 1]{};      ///< by request: the regions whose test can be left out
  cell needed[Cells + 1]{};          ///< by cell: the bits that have to be clear at the beginning of the step
  bool leaves_host[Cells + 1]{};     ///< copies to a device may begin
  bool arrives_at_host[Cells + 1]{}; ///< copies from a device may begin
  bool is_written_on_host[Cells + 1]{};
  bool is_rotated[Cells + 1]{};
};

template <class Table, std::size_t Cells>
class known_valid_analysis {
public:
  /// `where`: the memory of each node. `may_be_stale`: by cell, what is not known at the beginning.
  constexpr known_valid_analysis(Table const& t, memory const* where, cell const* may_be_stale)
      : table_(t), where_(where) {
    for (std::size_t c = 0; c < Cells; ++c) now_[c] = {may_be_stale[c], all_bits & ~may_be_stale[c], std::uint16_t(c)};
  }
  constexpr known_valid<Table::max_requests, Cells> find() {
    walk<steps::later>(table_.nodes, 0, table_.size, *this);
    for (std::size_t i = 0; i < table_.size; ++i)
      for (std::uint32_t r = table_.nodes[i].first; r < table_.nodes[i].last; ++r) {
        request const& one = table_.requests[r];
        if (rotates(table_.nodes[i].what()))
          out_.is_rotated[one.variable] = out_.is_rotated[one.variable] || table_.levels(one) > 1;
        else if (without(one.reads, out_.reads[r]) != region::none)
          (where_[i] != host ? out_.leaves_host : out_.arrives_at_host)[one.variable] = true;
        if (where_[i] == host && one.writes != region::none) out_.is_written_on_host[one.variable] = true;
      }
    return out_;
  }

  constexpr void leaf(std::size_t i) {
    schedule_node const& n = table_.nodes[i];
    for (std::uint32_t r = n.first; r < n.last; ++r)
      if (request const& one = table_.requests[r]; rotates(n.what()))
        table_.rotate(now_.of, one, rotation_of(n.what()), knowledge{valid_nowhere, 0, table_.cell_of(one)});
      else visit(table_.requests[r], where_[i], out_.reads[r]);
  }
  template <class Body>
  constexpr void group(std::size_t i, Body const& body) {
    entry const& e = *table_.nodes[i].about;
    if (e.what == entry_kind::repeat && e.count == 0) return;
    for (;;) { // a repetition until the beginning of the body holds for every time round
      all_cells const start = now_;
      body();
      all_cells const end = now_;
      if (e.what != entry_kind::repeat && !is_conditional(e.what)) return;
      now_ = start;
      join(end);
      if (e.what != entry_kind::repeat) return;
      if (now_ != start) continue;
      now_ = end;
      return;
    }
  }

private:
  // What may be stale; of what is not, the bits that were so from the beginning, and in which cell then.
  struct knowledge {
    cell may_be_stale, inherited;
    std::uint16_t origin;
    friend constexpr bool operator==(knowledge const&, knowledge const&) = default;
  };
  struct all_cells {
    knowledge of[Cells + 1]{};
    constexpr knowledge& operator[](std::size_t c) { return of[c]; }
    friend constexpr bool operator==(all_cells const&, all_cells const&) = default;
  };

  constexpr void visit(request const& r, memory where, region& known) {
    knowledge& c = now_[table_.cell_of(r)];
    known = region::none;
    for (region one :
         {region::core, region::rim, region::halo, without(region::walls, region::written), region::written}) {
      if (!overlap(one, r.reads)) continue;
      cell const bits = one == region::written ? bits_of(one) : bits_of(one, where);
      if ((c.may_be_stale & bits) == 0) {
        known = known | one;
        out_.needed[c.origin] |= bits & c.inherited;
      } else {
        c.may_be_stale &= ~bits;
        c.inherited &= ~bits;
      }
    }
    if (r.writes == region::none) return;
    write_masks const w = masks_of_write(r.writes, where);
    c.may_be_stale = after_write(c.may_be_stale, w) & all_bits;
    c.inherited &= ~w.settled;
  }
  // Where two ways meet, only what both know is known, and what either needs is needed.
  constexpr void join(all_cells const& other) {
    for (std::size_t c = 0; c < Cells; ++c) {
      knowledge& mine = now_[c];
      knowledge const& theirs = other.of[c];
      bool const is_same = mine.origin == theirs.origin || mine.inherited == 0 || theirs.inherited == 0;
      std::uint16_t const origin = mine.inherited != 0 ? mine.origin : theirs.origin;
      cell const stale = is_same ? mine.may_be_stale | theirs.may_be_stale : all_bits;
      mine = {stale, (mine.inherited | theirs.inherited) & ~stale, origin};
    }
  }

  Table const& table_;
  memory const* where_;
  all_cells now_{};
  known_valid<Table::max_requests, Cells> out_{};
};

} // namespace keel::residency::detail
