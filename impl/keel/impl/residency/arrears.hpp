// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How far the book may lag behind a step that goes by a plan: routines mark nothing, and the book is brought up to
/// date where somebody looks at it, with constants.

#include <keel/impl/residency/certain.hpp>
#include <keel/impl/residency/program.hpp>
#include <keel/residency/transitions.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace keel::residency::detail {

/// What the book owes one cell: `(from & keep) | stale`, where `from` is the cell itself or, if the levels cycled, a
/// more recent level of the same variable.
struct arrear {
  static constexpr cell everything = ~cell{0};
  std::uint16_t at = 0, from = 0;
  cell keep = everything, stale = 0;

  [[nodiscard]] constexpr bool is_paid() const { return at == from && keep == everything && stale == 0; }
};

/// Brings a row of cells up to date. Older levels of a variable stand first, because they need what the others were.
constexpr void pay(cell* row, arrear const* first, arrear const* last) {
  for (; first != last; ++first) row[first->at] = (row[first->from] & first->keep) | first->stale;
}

/// A moment of a step: before entry number `n`, with the book as that entry needs it; while it runs, what it writes being
/// marked; or just behind it. The end of the step is before the entry that would follow the last one.
using moment = std::uint32_t;
[[nodiscard]] constexpr moment before(std::size_t n) { return moment(3 * n); }
[[nodiscard]] constexpr moment during(std::size_t n) { return moment(3 * n + 1); }
[[nodiscard]] constexpr moment behind(std::size_t n) { return moment(3 * n + 2); }

/// Follows a program in the order it is written, and says what has to be paid when. Who looks at the book: what is
/// tested, with all else of its entry; copies that begin behind the entry that wrote their source; output, which
/// may copy anything. What is touched under a condition, or again and again, is paid before it and at its end, so
/// that what is owed anywhere does not depend on the way there.
template <class Program, std::size_t Cells>
class arrears_walk {
public:
  constexpr arrears_walk(Program const& p, certainty<Program::accesses, Cells> const& known) : program_(p), known_(known) {
    for (std::size_t c = 0; c < Cells; ++c) owed_[c].at = owed_[c].from = std::uint16_t(c);
  }
  /// Calls `f(moment, arrear)` for all that is paid in a step, in order.
  template <class F>
  constexpr void run(F&& f) {
    walk(0, program_.size, f);
    settle_all(before(program_.size), f);
  }
  /// Calls `f(arrear)` for what is owed at `when`, behind what is paid then.
  template <class F>
  constexpr void interrupt(moment when, F&& f) {
    auto const nobody = [](moment, arrear const&) {};
    auto const tell = [&](moment, arrear const& a) { f(a); };
    last_ = when;
    walk(0, program_.size, nobody);
    settle_all(when, tell);
  }

private:
  template <class F>
  constexpr void walk(std::size_t begin, std::size_t end, F const& f) {
    for (std::size_t i = begin; i < end && !is_over_;) {
      instruction const& in = program_.code[i];
      bool const is_choice = in.what == entry_kind::every || in.what == entry_kind::when || in.what == entry_kind::repeat;
      bool const has_body = is_choice || in.what == entry_kind::analysis;
      std::uint32_t const end_of_body = in.next < program_.size ? program_.code[in.next].first : program_.site_count;
      if (in.what == entry_kind::output || (is_choice && has_output(i + 1, in.next))) settle_all(before(i), f);
      else if (is_choice) settle(in.first, end_of_body, before(i), f);
      else if (looks(in)) settle(in.first, in.last, before(i), f);
      is_over_ = last_ == before(i);
      if (is_over_) return;
      if (has_body) walk(i + 1, in.next, f);
      if (is_over_) return;
      for (std::uint32_t s = in.first; s < in.last; ++s)
        if (in.what == entry_kind::cycle) cycle(program_.sites[s]);
        else write(program_.sites[s]);
      is_over_ = last_ == during(i);
      if (is_over_) return;
      if (has_body) settle(in.first, end_of_body, behind(i), f);
      else
        for (std::uint32_t s = in.first; s < in.last; ++s)
          if (site const& one = program_.sites[s]; may_leave(one) || may_arrive(one) || (in.what == entry_kind::cycle && may_fly(one)))
            settle(one.variable, behind(i), f);
      is_over_ = last_ == behind(i);
      i = has_body ? in.next : i + 1;
    }
  }
  [[nodiscard]] constexpr bool may_leave(site const& s) const {
    return s.where == host && s.writes != region::none && known_.leaves[s.variable];
  }
  // Copies under way turn with the levels, and so do the cells that they belong to.
  [[nodiscard]] constexpr bool may_fly(site const& s) const { return known_.leaves[s.variable] || known_.arrives[s.variable]; }
  [[nodiscard]] constexpr bool may_arrive(site const& s) const {
    return s.where != host && s.writes != region::none && known_.arrives[s.variable];
  }
  [[nodiscard]] constexpr bool has_output(std::size_t begin, std::size_t end) const {
    while (begin < end && program_.code[begin].what != entry_kind::output) ++begin;
    return begin < end;
  }
  // An exchange brings its rims by looks at the book, also those that are there.
  [[nodiscard]] constexpr bool looks(instruction const& in) const {
    bool does = in.what == entry_kind::exchange;
    for (std::uint32_t s = in.first; in.what == entry_kind::routine && s < in.last && !does; ++s)
      does = (program_.sites[s].reads & known_.known[s]) != program_.sites[s].reads || may_leave(program_.sites[s]);
    return does;
  }

  constexpr void write(site const& s) {
    if (s.writes == region::none) return;
    write_masks const w = masks_of_write(s.writes, s.where);
    arrear& a = owed_[s.cell];
    a.keep &= ~w.settled;
    a.stale = after_write(a.stale, w);
    is_owing_[s.variable] = true;
  }
  constexpr void cycle(site const& s) {
    int const levels = program_.levels(s);
    if (levels < 2) return;
    for (int l = levels - 1; l >= 0; --l) {
      std::uint16_t const at = std::uint16_t(s.cell + l);
      owed_[at] = l == 0 ? arrear{at, at, 0, valid_nowhere} : owed_[at - 1];
      owed_[at].at = at;
    }
    is_owing_[s.variable] = true;
  }
  template <class F>
  constexpr void settle(std::size_t variable, moment when, F const& f) {
    if (!is_owing_[variable]) return;
    is_owing_[variable] = false;
    for (std::uint16_t c = program_.first_cell[variable + 1]; c-- > program_.first_cell[variable];) {
      if (!owed_[c].is_paid()) f(when, owed_[c]);
      owed_[c] = {c, c};
    }
  }
  template <class F>
  constexpr void settle(std::uint32_t first, std::uint32_t last, moment when, F const& f) {
    for (; first < last; ++first) settle(program_.sites[first].variable, when, f);
  }
  template <class F>
  constexpr void settle_all(moment when, F const& f) {
    for (std::size_t v = 0; v < program_.variable_count; ++v) settle(v, when, f);
  }

  Program const& program_;
  certainty<Program::accesses, Cells> const& known_;
  arrear owed_[Cells + 1]{};
  bool is_owing_[Cells + 1]{}; // by variable
  moment last_ = ~moment{0};
  bool is_over_ = false;
};

/// All that is paid in a step, by moment. `Most`: cells that the program dirties, counted as often as it does.
template <std::size_t Entries, std::size_t Most>
struct payments {
  struct range {
    std::uint32_t first = 0, last = 0;
  };
  arrear list[Most + 1]{};
  range at[3 * Entries + 4]{};

  constexpr void add(moment when, arrear const& one) {
    range& r = at[when];
    if (r.first == r.last) r.first = r.last = size_;
    list[size_++] = one;
    r.last = size_;
  }

private:
  std::uint32_t size_ = 0;
};

/// What plan `P` pays, and owes, by the cells of a directory instead of its own.
template <class P, class Directory>
struct paid_in {
  static constexpr auto row_of = [] {
    std::array<std::uint16_t, P::cell_count + 1> made{};
    P::for_each_variable([&](variable_info const* v, std::size_t first) {
      int const number = Directory::find(v);
      for (int l = 0; number >= 0 && l < v->levels; ++l) made[first + std::size_t(l)] = std::uint16_t(Directory::first_cell[std::size_t(number)] + std::uint32_t(l));
    });
    return made;
  }();
  static constexpr arrear moved(arrear const& a) { return {row_of[a.at], row_of[a.from], a.keep, a.stale}; }
  static constexpr auto list = [] {
    std::array<arrear, std::size(P::paid.list)> made{};
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = moved(P::paid.list[i]);
    return made;
  }();
  /// Brings a row to the truth of a moment, behind what is paid then.
  static void catch_up(cell* row, moment when) {
    P::for_each_owed(when, [&](arrear const& a) {
      arrear const one = moved(a);
      pay(row, &one, &one + 1);
    });
  }
};

/// Where a step by a plan is, and who brings a book that lags to it; nobody where the book is right.
struct lag {
  moment now = 0;
  void (*catch_up)(cell* row, moment when) = nullptr;
  bool is_in_step = false;
};

} // namespace keel::residency::detail
