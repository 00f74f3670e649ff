// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Which reads of a step find their data for certain, and what must hold at its beginning for
/// that: a walk forward with what may be stale, that remembers what comes from the beginning.

#include <keel/impl/residency/program.hpp>
#include <keel/residency/transitions.hpp>

#include <cstddef>
#include <cstdint>

namespace keel::residency::detail {

/// By site, the regions whose test can be left out; by cell, the bits that have to be clear at the
/// beginning of the step for that to be right; by variable, what the host does.
template <std::size_t Sites, std::size_t Cells>
struct certainty {
  region known[Sites + 1]{};
  cell needed[Cells + 1]{};
  bool leaves[Cells + 1]{};             ///< copies to a device may leave from it: no others are made but for reads not known
  bool arrives[Cells + 1]{};            ///< copies from a device may arrive at the host's
  bool is_written_at_home[Cells + 1]{}; ///< on the host
  bool cycles[Cells + 1]{};             ///< its levels do
};

template <class Program, std::size_t Cells>
class certain_walk {
public:
  /// `may_be_stale`: by cell, what is not certain at the beginning.
  constexpr certain_walk(Program const& p, cell const* may_be_stale) : program_(p) {
    for (std::size_t c = 0; c < Cells; ++c) now_[c] = {may_be_stale[c], all_bits & ~may_be_stale[c], std::uint16_t(c)};
  }
  constexpr certainty<Program::accesses, Cells> find() {
    run(0, program_.size);
    for (std::uint32_t i = 0; i < program_.site_count; ++i) {
      site const& s = program_.sites[i];
      bool const is_known = (s.reads & out_.known[i]) == s.reads;
      if (!is_known) (s.where != host ? out_.leaves : out_.arrives)[s.variable] = true;
      if (s.where == host && s.writes != region::none) out_.is_written_at_home[s.variable] = true;
    }
    return out_;
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

  constexpr void run(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end;) {
      instruction const& in = program_.code[i];
      bool const has_body = in.what == entry_kind::every || in.what == entry_kind::when || in.what == entry_kind::repeat;
      if (in.what == entry_kind::routine || in.what == entry_kind::exchange)
        for (std::uint32_t s = in.first; s < in.last; ++s) visit(program_.sites[s], out_.known[s]);
      if (in.what == entry_kind::cycle)
        for (std::uint32_t s = in.first; s < in.last; ++s) cycle(program_.sites[s]);
      if (in.what == entry_kind::every || in.what == entry_kind::when) {
        all_cells const other = now_;
        run(i + 1, in.next);
        join(other);
      }
      if (in.what == entry_kind::repeat && in.count > 0)
        for (;;) { // until the beginning of the body holds for every time round
          all_cells const before = now_;
          run(i + 1, in.next);
          all_cells const after = now_;
          now_ = before;
          join(after);
          if (now_ == before) {
            now_ = after;
            break;
          }
        }
      i = has_body ? in.next : i + 1;
    }
  }
  constexpr void visit(site const& s, region& known) {
    knowledge& c = now_[s.cell];
    known = region::none;
    for (region one : {region::core, region::rim, region::halo, without(region::walls, region::written), region::written}) {
      if (!overlap(one, s.reads)) continue;
      cell const bits = one == region::written ? bits_of(one) : bits_of(one, s.where);
      if ((c.may_be_stale & bits) == 0) {
        known = known | one;
        out_.needed[c.origin] |= bits & c.inherited;
      } else {
        c.may_be_stale &= ~bits;
        c.inherited &= ~bits;
      }
    }
    if (s.writes == region::none) return;
    write_masks const w = masks_of_write(s.writes, s.where);
    c.may_be_stale = after_write(c.may_be_stale, w) & all_bits;
    c.inherited &= ~w.settled;
  }
  constexpr void cycle(site const& s) {
    int const levels = program_.levels(s);
    if (levels < 2) return;
    out_.cycles[s.variable] = true;
    for (int l = levels - 1; l > 0; --l) now_[s.cell + std::size_t(l)] = now_[s.cell + std::size_t(l) - 1];
    now_[s.cell] = {valid_nowhere, 0, s.cell};
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

  Program const& program_;
  all_cells now_{};
  certainty<Program::accesses, Cells> out_{};
};

} // namespace keel::residency::detail
