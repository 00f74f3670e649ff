// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Updates of the ledger that a planned step puts off.
///
/// The routines of a planned step do not record what they write, because the schedule implies it. The updates are
/// pending until the ledger is looked at: by a read that is tested, an exchange, a copy that begins early, an output,
/// or the end of the step. There they are flushed, with constants. What is pending at each position is found by a walk
/// in the order written; what a condition or a repetition touches is flushed before it and at its end, so that nothing
/// pending depends on the way that the step took.

#include <keel/impl/residency/known_valid.hpp>
#include <keel/impl/residency/schedule_table.hpp>
#include <keel/residency/transitions.hpp>

#include <cstddef>
#include <cstdint>

namespace keel::residency::detail {

/// The update of one cell: `(from & keep) | stale`, where `from` is the cell itself or, if the levels rotated, that of
/// another level of the same variable.
struct pending_update {
  static constexpr cell everything = ~cell{0};
  std::uint16_t at = 0, from = 0;
  cell keep = everything, stale = 0;

  [[nodiscard]] constexpr bool changes_nothing() const { return at == from && keep == everything && stale == 0; }
};

/// Applies updates, each before those of the cells that it reads.
constexpr void flush(cell* row, pending_update const* first, pending_update const* last) {
  for (; first != last; ++first) row[first->at] = (row[first->from] & first->keep) | first->stale;
}

/// A position in a step: before a node, with the ledger as its entry needs it; inside, behind the update of what it
/// writes; or behind it. The end of the step is before the node that would follow the last one.
struct position {
  enum class phase : std::uint32_t { before, inside, behind };
  std::uint32_t packed = 0; // one word, so that a step stores it at once

  constexpr position() = default;
  constexpr position(std::size_t node, phase where) : packed(std::uint32_t(node) << 2 | std::uint32_t(where)) {}
  [[nodiscard]] constexpr std::size_t node() const { return packed >> 2; }
  [[nodiscard]] constexpr phase where() const { return phase(packed & 3U); }
  friend constexpr bool operator==(position const&, position const&) = default;
};
[[nodiscard]] constexpr position before(std::size_t node) { return {node, position::phase::before}; }
[[nodiscard]] constexpr position inside(std::size_t node) { return {node, position::phase::inside}; }
[[nodiscard]] constexpr position behind(std::size_t node) { return {node, position::phase::behind}; }

/// Calls `f(position, update)` for updates of a step.
template <class Table, std::size_t Cells, class F>
class pending_analysis {
public:
  constexpr pending_analysis(Table const& t, memory const* where, known_valid<Table::max_requests, Cells> const& known,
                             F f)
      : table_(t), where_(where), known_(known), f_(f) {
    for (std::size_t c = 0; c < Cells; ++c) pending_[c].at = pending_[c].from = std::uint16_t(c);
  }
  /// For all that a step flushes, in order.
  constexpr void find_flushed() {
    walk<steps::later>(table_.nodes, 0, table_.size, *this);
    flush_all(before(table_.size));
  }
  /// For what is pending at `when`, behind what is flushed there.
  constexpr void find_pending(position when) {
    stop_ = when, calls_ = false;
    walk<steps::later>(table_.nodes, 0, table_.size, *this);
    calls_ = true;
    flush_all(when);
  }

  constexpr void leaf(std::size_t i) {
    schedule_node const& n = table_.nodes[i];
    if (n.what() == entry_kind::output) flush_all(before(i));
    else if (looks(i)) flush_named(i, before(i));
    if (stops_at(before(i))) return;
    for (std::uint32_t r = n.first; r < n.last; ++r)
      if (rotates(n.what())) rotate(table_.requests[r], rotation_of(n.what()));
      else write(table_.requests[r], where_[i]);
    if (stops_at(inside(i))) return;
    for (std::uint32_t r = n.first; r < n.last; ++r)
      if (may_begin_copy(i, table_.requests[r])) flush_variable(std::size_t(table_.requests[r].variable), behind(i));
    (void)stops_at(behind(i));
  }
  constexpr void group(std::size_t i, auto const& body) {
    entry_kind const what = table_.nodes[i].what();
    bool const may_repeat = is_conditional(what) || what == entry_kind::repeat;
    if (may_repeat && has_output(i)) flush_all(before(i));
    else if (may_repeat) flush_named(i, before(i));
    if (stops_at(before(i))) return;
    body();
    if (what == entry_kind::sequence || stops_at(inside(i))) return;
    flush_named(i, behind(i));
    (void)stops_at(behind(i));
  }

private:
  // Once true, nothing more becomes pending.
  constexpr bool stops_at(position here) { return has_stopped_ = has_stopped_ || here == stop_; }
  // Copies in flight rotate with the levels, and so do the cells that they belong to.
  [[nodiscard]] constexpr bool may_begin_copy(std::size_t i, request const& r) const {
    if (rotates(table_.nodes[i].what())) return known_.leaves_host[r.variable] || known_.arrives_at_host[r.variable];
    return r.writes != region::none && (where_[i] == host ? known_.leaves_host : known_.arrives_at_host)[r.variable];
  }
  [[nodiscard]] constexpr bool has_output(std::size_t group) const {
    for (std::size_t i = group + 1; i < table_.nodes[group].end; ++i)
      if (table_.nodes[i].what() == entry_kind::output) return true;
    return false;
  }
  // Whether the ledger is asked before node `i`. An exchange always asks it.
  [[nodiscard]] constexpr bool looks(std::size_t i) const {
    schedule_node const& n = table_.nodes[i];
    if (n.what() == entry_kind::exchange) return true;
    for (std::uint32_t r = n.first; n.what() == entry_kind::routine && r < n.last; ++r) {
      request const& one = table_.requests[r];
      if (without(one.reads, known_.reads[r]) != region::none) return true;
      if (where_[i] == host && one.writes != region::none && known_.leaves_host[one.variable]) return true;
    }
    return false;
  }

  constexpr void write(request const& r, memory where) {
    if (has_stopped_ || r.writes == region::none) return;
    write_masks const w = masks_of_write(r.writes, where);
    pending_update& u = pending_[table_.cell_of(r)];
    u.keep &= ~w.settled;
    u.stale = after_write(u.stale, w);
    has_pending_[r.variable] = true;
  }
  constexpr void rotate(request const& r, rotation how) {
    int const levels = table_.levels(r);
    if (has_stopped_ || levels < 2) return;
    std::uint16_t const first = table_.cell_of(r);
    *rotate_levels(&pending_[first], levels, how) = {first, first, 0, valid_nowhere};
    for (int l = 0; l < levels; ++l) {
      pending_update& u = pending_[first + l];
      if (u.keep == 0) u.from = std::uint16_t(first + l); // reads nothing
      u.at = std::uint16_t(first + l);
    }
    has_pending_[r.variable] = true;
  }
  // All levels have moved equally far, so one of the two orders is right.
  constexpr void flush_variable(std::size_t variable, position when) {
    if (has_stopped_ && when != stop_) return;
    if (!has_pending_[variable]) return;
    has_pending_[variable] = false;
    std::uint16_t const begin = table_.first_cell[variable], end = table_.first_cell[variable + 1];
    bool is_back = false;
    for (std::uint16_t c = begin; c < end; ++c) is_back = is_back || pending_[c].from > c;
    for (std::uint16_t k = begin; k < end; ++k) {
      std::uint16_t const c = is_back ? k : std::uint16_t(begin + end - 1 - k);
      if (calls_ && !pending_[c].changes_nothing()) f_(when, pending_[c]);
      pending_[c] = {c, c};
    }
  }
  // The variables that node `i` names, or anything in its body.
  constexpr void flush_named(std::size_t i, position when) {
    for (std::uint32_t r = table_.nodes[i].first; r < table_.nodes[table_.nodes[i].end - 1].last; ++r)
      flush_variable(std::size_t(table_.requests[r].variable), when);
  }
  constexpr void flush_all(position when) {
    for (std::size_t v = 0; v < table_.variable_count; ++v) flush_variable(v, when);
  }

  Table const& table_;
  memory const* where_;
  known_valid<Table::max_requests, Cells> const& known_;
  pending_update pending_[Cells + 1]{};
  bool has_pending_[Cells + 1]{};                // by variable
  position stop_ = before(Table::max_nodes + 1); // none
  bool has_stopped_ = false, calls_ = true;
  F f_;
};

/// All that a step flushes, by position. `Most`: the changes that the table makes.
template <std::size_t Nodes, std::size_t Most>
struct flush_table {
  struct range {
    std::uint32_t first = 0, last = 0;
  };
  static constexpr std::size_t capacity = Most + 1;
  pending_update list[capacity]{};
  range ranges[Nodes + 1][3]{};

  [[nodiscard]] constexpr range const& at(position when) const {
    return ranges[when.node()][std::size_t(when.where())];
  }
  constexpr void add(position when, pending_update const& one) {
    range& r = ranges[when.node()][std::size_t(when.where())];
    if (r.first == r.last) r.first = r.last = size;
    list[size++] = one;
    r.last = size;
  }

  std::uint32_t size = 0;
};

} // namespace keel::residency::detail
