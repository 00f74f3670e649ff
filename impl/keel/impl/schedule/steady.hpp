// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The steady state of a schedule: all states that each variable can be in, step after step, until they repeat; and the
/// copies made on the way round, or the first read of what is lost for certain.

#include <keel/impl/schedule/schedule_table.hpp>
#include <keel/impl/schedule/steady_state.hpp>
#include <keel/validity/transitions.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

namespace keel::residency::detail {

/// Finds the steady state by abstract interpretation: it runs the schedule on the set of states that are possible for
/// each region, until a round of all `every` begins as an earlier one did. `where`: the memory of each node. `seen`:
/// what reads met, by region. `is_strict`, with the host's memory: what one entry of a `choose` leaves nowhere is lost.
template <class Table, std::size_t States>
class steady_search {
public:
  constexpr steady_search(Table const& t, memory const* where, read_sources (*seen)[region_count] = nullptr,
                          bool is_strict = false)
      : table_(t), where_(where), seen_(seen), is_strict_(is_strict) {
    // What the schedule does not write comes from outside, by way of the host.
    for (place_sets& c : now_.states)
      for (place_set& one : c.of) one = place_set(1U << 1);
    for_each_count([&](std::int64_t n) {
      if (cycle_length_ <= max_cycle_length) cycle_length_ = std::lcm(cycle_length_, n);
    });
    std::int64_t walked = 0;
    for_each_count([&](std::int64_t n) { walked += cycle_length_ / n; });
    // With too many phases to walk, `every` is a condition like any other.
    if (walked > max_walked_steps || cycle_length_ > max_cycle_length) cycle_length_ = 1, by_condition_ = true;
  }

  constexpr steady_state find() {
    possible<States> before[max_rounds]{};
    int rounds = 0;
    for (; rounds < max_rounds; ++rounds) {
      before[rounds] = now_;
      for (int k = table_.differs_in_first_step() ? 1 : 0; k < rounds; ++k)
        if (before[k] == now_) return settle(k, rounds);
      round();
    }
    return with_losses({});
  }

  constexpr void leaf(std::size_t i) {
    schedule_node const& n = table_.nodes[i];
    bool const moves = rotates(n.what());
    for (std::uint32_t r = n.first; r < n.last; ++r)
      if (moves) table_.rotate(now_.states, table_.requests[r], rotation_of(n.what()), valid_in_none);
      else visit(r, where_[i]);
  }
  constexpr void group(std::size_t i, auto const& body) {
    schedule_node const& n = table_.nodes[i];
    switch (n.what()) {
    case entry_kind::every:
      if (by_condition_) { // it may never run
        bool const before = std::exchange(is_certain_, false);
        branch(body);
        is_certain_ = before;
        return;
      }
      if (step_ % n.about->count == 0) body();
      return;
    case entry_kind::when: return branch(body);
    case entry_kind::choose: return choose(i);
    case entry_kind::once: return is_first_step_ ? body() : void();
    case entry_kind::repeat:
      for (int k = 0; k < n.about->count; ++k) {
        possible<States> const before = now_;
        tally const copies_before = copies_;
        body();
        if (before == now_) return multiply(copies_before, n.about->count - k - 1);
      }
      return;
    case entry_kind::sequence:
    case entry_kind::graph:
    case entry_kind::analysis: return body();
    default: return; // have no body
    }
  }

private:
  static constexpr place_sets valid_in_none{{1, 1, 1, 1}}; // the set of one state
  static constexpr place_set lost_by_choice = 1U << 15;    // valid in all four memories: no state of a strict search
  static constexpr int max_rounds = 13; // levels of two and of three that cycle in place are back after six
  static constexpr std::int64_t max_walked_steps = 64, max_cycle_length = 1'000'000'000;

  constexpr void for_each_count(auto const& f) const {
    for (std::size_t i = 0; i < table_.size; ++i)
      if (table_.nodes[i].what() == entry_kind::every) f(std::int64_t{table_.nodes[i].about->count});
  }
  constexpr steady_state with_losses(steady_state out) const {
    out.lost_request = lost_request_, out.why = why_;
    return out;
  }
  // Once more round the period, now counting.
  constexpr steady_state settle(int from, int to) {
    steady_state out;
    out.transient = from * cycle_length_, out.period = (to - from) * cycle_length_;
    records_ = true;
    for (int r = from; r < to; ++r) round();
    out.period_copies = copies_;
    return with_losses(out);
  }

  // From the step after a common multiple of all `every` to the next.
  constexpr void round() {
    for (std::int64_t step = 1; step <= cycle_length_;) {
      bool fired = is_first_step_ && table_.differs_in_first_step();
      std::int64_t next_firing = cycle_length_;
      if (!by_condition_)
        for_each_count([&](std::int64_t n) {
          fired = fired || step % n == 0;
          next_firing = std::min(next_firing, (step / n + 1) * n);
        });
      possible<States> const before = now_;
      tally const copies_before = copies_;
      step_ = step;
      walk(table_.nodes, 0, table_.size, *this);
      is_first_step_ = false;
      ++step;
      // The quiet steps up to the next firing are all like this one.
      if (!fired && before == now_ && next_firing > step) {
        multiply(copies_before, next_firing - step);
        step = next_firing;
      }
    }
  }
  // Counts again, `more` times, what was counted since `before`.
  constexpr void multiply(tally const& before, std::int64_t more) {
    for (int a = 0; a < max_planned_memories; ++a)
      for (int b = 0; b < max_planned_memories; ++b)
        for (int r = 0; r < region_count; ++r)
          copies_.copies[a][b][r] += more * (copies_.copies[a][b][r] - before.copies[a][b][r]);
  }
  // Either way is possible, so both are.
  constexpr void branch(auto const& body) {
    possible<States> const other = now_;
    body();
    for (std::size_t c = 0; c != States; ++c) {
      now_.states[c].layers = std::max(now_.states[c].layers, other.states[c].layers);
      now_.states[c].layers_of_each = std::max(now_.states[c].layers_of_each, other.states[c].layers_of_each);
      for (int r = 0; r < region_count; ++r) now_.states[c].of[r] |= other.states[c].of[r];
    }
  }
  // One of the entries runs, so all that they leave is possible.
  constexpr void choose(std::size_t group) {
    possible<States> const before = now_;
    for (std::size_t k = 0; k < table_.nodes[group].about->child_count; ++k) {
      possible<States> const others = now_;
      now_ = before;
      walk_one(table_.nodes, group, k, *this);
      if (k == 0) continue;
      for (std::size_t c = 0; c != States; ++c) {
        now_.states[c].layers = std::max(now_.states[c].layers, others.states[c].layers);
        now_.states[c].layers_of_each = std::min(now_.states[c].layers_of_each, others.states[c].layers_of_each);
        for (int r = 0; r < region_count; ++r) {
          place_set &set = now_.states[c].of[r], other = others.states[c].of[r];
          bool const is_lost = (set == place_set(1U << 0)) != (other == place_set(1U << 0));
          set = place_set(set | other | (is_strict_ && is_lost ? lost_by_choice : 0));
        }
      }
    }
  }
  constexpr void visit(std::uint32_t number, memory where) {
    request const& r = table_.requests[number];
    place_sets& state = now_.states[table_.state_of(r)];
    place_set* set = state.of;
    bool const has_halo = may_have_ghosts(*table_.variables[r.variable]);
    bool const reads_halo = overlap(r.reads, region::halo);
    int const needed = reads_halo ? layers_needed(*table_.variables[r.variable], r.read_layers) : 0,
              filled = state.layers, certain = is_strict_ ? state.layers_of_each : filled;
    if (overlap(r.writes, region::halo)) state.layers = state.layers_of_each = r.written_layers;
    unsigned const reads = unsigned(r.reads), writes = unsigned(r.writes), spoiled = unsigned(invalidated_by(r.writes));
    for (unsigned n = 0; n < unsigned(region_count); ++n, ++set) { // bits, not calls, for the same reason
      if ((reads >> n & 1U) != 0) *set = read(*set, number, where, single_regions[n]);
      if ((writes >> n & 1U) != 0) *set = place_set(1U << (1U << int(where)));
      else if ((spoiled >> n & 1U) != 0 && has_halo) *set = place_set(1U << 0);
    }
    if (certain < needed) lose(number, filled < needed ? loss::of_layers : loss::by_choice);
  }
  /// Records the first read that is lost. What a rotation freed may be written between two steps.
  constexpr void lose(std::uint32_t number, loss why) {
    if (why == loss::of_level && !is_first_step_) return;
    if (lost_request_ == no_request && is_certain_) lost_request_ = number, why_ = why;
  }
  constexpr place_set read(place_set set, std::uint32_t number, memory where, region one) {
    request const& asked = table_.requests[number];
    unsigned const here = 1U << int(where);
    int const r = index_of(one);
    if (one != region::walls) { // there may be no walls
      if (is_strict_ && (set & lost_by_choice) != 0) lose(number, loss::by_choice);
      else if (set == place_set(1U << 0)) lose(number, one == region::halo ? loss::of_ghosts : loss::of_level);
    }
    place_set after = 0;
    read_sources seen;
    bool through_host = false;
    for (place_set rest = set; rest != 0; rest &= place_set(rest - 1)) {
      unsigned const valid = unsigned(std::countr_zero(rest));
      seen.found = seen.found || (valid & here) != 0;
      seen.lost = seen.lost || valid == 0;
      unsigned then = valid != 0 ? valid | here : 0; // what is lost stays so
      if ((valid & here) == 0 && valid != 0) {
        seen.lacked = true;
        bool const hop = where != host && (valid & 1U) == 0;
        if (hop) then |= 1U;
        through_host = through_host || hop;
        seen.from |= 1U << std::countr_zero(valid);
      }
      after |= place_set(1U << then);
    }
    if (records_ && seen_ != nullptr) seen_[number][r].add(seen);
    if (seen.lacked && records_ && (table_.variables[asked.variable]->has_ghosts || one == core)) {
      if (where != host) copies_.copies[0][int(where)][r] += 1;
      for (int m = 1; m < max_planned_memories; ++m)
        if ((seen.from >> m & 1U) != 0 && (where == host || through_host)) copies_.copies[m][0][r] += 1;
    }
    return after;
  }

  Table const& table_;
  memory const* where_;
  read_sources (*seen_)[region_count];
  possible<States> now_{};
  tally copies_{};
  std::int64_t cycle_length_ = 1, step_ = 1;
  bool by_condition_ = false, records_ = false, is_first_step_ = true, is_certain_ = true, is_strict_;
  std::uint32_t lost_request_ = no_request;
  loss why_ = loss::of_ghosts;
};
} // namespace keel::residency::detail
