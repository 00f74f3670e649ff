// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The steady state of a schedule: all states that each cell can be in, step after step, until
/// they repeat; and the copies made on the way round.

#include <keel/impl/residency/met.hpp>
#include <keel/impl/residency/program.hpp>
#include <keel/residency/transitions.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace keel::residency::detail {

inline constexpr int max_planned_memories = 4;

/// The memories in which a region of a cell is valid, one bit each; and a set of such masks.
using places = std::uint8_t;
using place_set = std::uint16_t;

/// A set of states for each region of each cell.
template <std::size_t Cells>
struct possible {
  place_set of[Cells + 1][region_count]{};
  /// Written out, because nvcc 13 runs off the end of the rows in the default one.
  friend constexpr bool operator==(possible const& a, possible const& b) {
    for (std::size_t c = 0; c <= Cells; ++c)
      for (int r = 0; r < region_count; ++r)
        if (a.of[c][r] != b.of[c][r]) return false;
    return true;
  }
};

/// Copies by source, destination and region.
struct tally {
  std::int64_t copies[max_planned_memories][max_planned_memories][region_count]{};
};

/// What is known of the steady state. `certain` is, for each cell, what is valid at the beginning
/// of each of its steps: bits as in `cell`, set where it may be stale.
template <std::size_t Cells>
struct steady {
  cell may_be_stale[Cells + 1]{};
  tally period_copies;
  std::int64_t transient = 0, period = 0; ///< steps; period 0 where none was found
  int lost_site = -1;                     ///< reads a region that is valid nowhere, for certain
  region lost_region = region::none;
};

/// Runs a program on sets of states, and tells `Teller` what the reads of each site met.
template <class Program, std::size_t Cells, class Teller = unheard>
class simulation {
public:
  constexpr explicit simulation(Program const& p, Teller teller = {}) : program_(p), teller_(teller) {
    // What the schedule does not write comes from outside, by way of the host.
    for (auto& c : now_.of)
      for (place_set& s : c) s = place_set(1U << 1);
    for (std::size_t i = 0; i < p.size; ++i)
      if (p.code[i].what == entry_kind::every && cycle_length_ <= max_cycle_length)
        cycle_length_ = std::lcm(cycle_length_, std::int64_t{p.code[i].count});
    // Too many phases to walk: then `every` is a condition like any other.
    std::int64_t walked = 0;
    for (std::size_t i = 0; i < p.size; ++i)
      if (p.code[i].what == entry_kind::every) walked += cycle_length_ / p.code[i].count;
    if (walked > max_walked_steps || cycle_length_ > max_cycle_length) cycle_length_ = 1, by_condition_ = true;
  }

  // Rounds until one begins as an earlier one did.
  constexpr steady<Cells> find() {
    steady<Cells> out;
    possible<Cells> before[max_rounds]{};
    int rounds = 0;
    for (; rounds < max_rounds; ++rounds) {
      before[rounds] = now_;
      for (int k = 0; k < rounds; ++k)
        if (before[k] == now_) return settle(out, k, rounds);
      round(nullptr);
    }
    return out;
  }

private:
  static constexpr int max_rounds = 6;
  static constexpr std::int64_t max_walked_steps = 64, max_cycle_length = 1'000'000'000;

  // Once more round the period, now counting.
  constexpr steady<Cells> settle(steady<Cells>& out, int from, int to) {
    out.transient = from * cycle_length_;
    out.period = (to - from) * cycle_length_;
    records_ = true;
    for (int r = from; r < to; ++r) round(&out);
    out.period_copies = made_;
    out.lost_site = lost_site_;
    out.lost_region = lost_region_;
    return out;
  }

  // One round of all `every`: from the step behind a common multiple to the next.
  constexpr void round(steady<Cells>* out) {
    for (std::int64_t step = 1; step <= cycle_length_;) {
      if (out) note(*out);
      bool fired = false;
      std::int64_t next_firing = cycle_length_;
      for (std::size_t i = 0; !by_condition_ && i < program_.size; ++i)
        if (program_.code[i].what == entry_kind::every) {
          std::int64_t const n = program_.code[i].count;
          fired = fired || step % n == 0;
          next_firing = std::min(next_firing, (step / n + 1) * n);
        }
      possible<Cells> const before = now_;
      tally const made_before = made_;
      step_ = step;
      run(0, program_.size);
      ++step;
      // The quiet steps up to the next firing are all like this one.
      if (!fired && before == now_ && next_firing > step) {
        multiply(made_before, next_firing - step);
        step = next_firing;
      }
    }
  }
  // Counts `more` times again what was counted since `before`.
  constexpr void multiply(tally const& before, std::int64_t more) {
    for (int a = 0; a < max_planned_memories; ++a)
      for (int b = 0; b < max_planned_memories; ++b)
        for (int r = 0; r < region_count; ++r) made_.copies[a][b][r] += more * (made_.copies[a][b][r] - before.copies[a][b][r]);
  }
  // What is not valid in every state that a step can begin in is not certain.
  constexpr void note(steady<Cells>& out) const {
    for (std::size_t c = 0; c < Cells; ++c)
      for (int r = 0; r < region_count; ++r) {
        bool const may_be_unwritten = r == index_of(region::walls) && (now_.of[c][r] & 1U) != 0;
        places certain = (1U << max_planned_memories) - 1;
        for (place_set rest = now_.of[c][r] & ~unsigned{may_be_unwritten}; rest != 0; rest &= place_set(rest - 1)) certain &= places(std::countr_zero(rest));
        out.may_be_stale[c] |= (~unsigned{certain} & 0x1fU) << first_bit[r];
        if (may_be_unwritten) out.may_be_stale[c] |= bits_of(region::written);
      }
  }

  constexpr void run(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end;) {
      instruction const& in = program_.code[i];
      switch (in.what) {
      case entry_kind::routine:
      case entry_kind::exchange:
        for (std::uint32_t s = in.first; s < in.last; ++s) visit(program_.sites[s], int(s));
        ++i;
        break;
      case entry_kind::cycle:
        for (std::uint32_t s = in.first; s < in.last; ++s) cycle(program_.sites[s]);
        ++i;
        break;
      case entry_kind::sequence:
      case entry_kind::analysis:
      case entry_kind::output: ++i; break; // what is copied back for output is the user's to say at run time
      case entry_kind::every:
        if (by_condition_) branch(i + 1, in.next);
        else if (step_ % in.count == 0) run(i + 1, in.next);
        i = in.next;
        break;
      case entry_kind::when:
        branch(i + 1, in.next);
        i = in.next;
        break;
      case entry_kind::repeat:
        for (int n = 0; n < in.count; ++n) {
          possible<Cells> const before = now_;
          tally const made_before = made_;
          run(i + 1, in.next);
          if (before == now_) {
            multiply(made_before, in.count - n - 1);
            break;
          }
        }
        i = in.next;
        break;
      }
    }
  }
  // Either way is possible, so both are.
  constexpr void branch(std::size_t begin, std::size_t end) {
    possible<Cells> const other = now_;
    run(begin, end);
    for (std::size_t c = 0; c < Cells; ++c)
      for (int r = 0; r < region_count; ++r) now_.of[c][r] |= other.of[c][r];
  }
  constexpr void cycle(site const& s) {
    int const levels = program_.levels(s);
    if (levels < 2) return;
    for (int l = levels - 1; l > 0; --l)
      for (int r = 0; r < region_count; ++r) now_.of[s.cell + l][r] = now_.of[s.cell + l - 1][r];
    for (int r = 0; r < region_count; ++r) now_.of[s.cell][r] = place_set(1U << 0);
  }
  constexpr void visit(site const& s, int number) {
    unsigned const here = 1U << int(s.where);
    for (region one : single_regions) {
      place_set& set = now_.of[s.cell][index_of(one)];
      if (overlap(one, s.reads)) set = read(set, s, one, number);
      if (overlap(one, s.writes)) set = place_set(1U << here);
      else if (overlap(one, spoiled_by(s.writes))) set = place_set(1U << 0);
    }
  }
  constexpr place_set read(place_set set, site const& s, region one, int number) {
    memory const where = s.where;
    unsigned const here = 1U << int(where);
    int const r = index_of(one);
    if (records_ && set == place_set(1U << 0) && lost_site_ < 0 && one != region::walls) /* there may be none */ lost_site_ = number, lost_region_ = one;
    place_set after = 0;
    met seen;
    bool through_host = false;
    for (place_set rest = set; rest != 0; rest &= place_set(rest - 1)) {
      unsigned const valid = unsigned(std::countr_zero(rest));
      bool const is_unwritten = one == region::walls && valid == 0 && !overlap(s.reads, region::written); // nothing to copy
      seen.found = seen.found || (valid & here) != 0 || is_unwritten;
      seen.lost = seen.lost || (valid == 0 && !is_unwritten);
      unsigned then = is_unwritten ? 0 : valid | here;
      if ((valid & here) == 0 && valid != 0) {
        seen.lacked = true;
        bool const hop = where != host && (valid & 1U) == 0;
        if (hop) then |= 1U;
        through_host = through_host || hop;
        seen.from |= 1U << std::countr_zero(valid);
      }
      after |= place_set(1U << then);
    }
    if (records_) teller_.read(number, one, seen);
    if (seen.lacked && records_ && (s.has_ghosts || one == core)) {
      if (where != host) made_.copies[0][int(where)][r] += 1;
      for (int m = 1; m < max_planned_memories; ++m)
        if ((seen.from >> m & 1U) != 0 && (where == host || through_host)) made_.copies[m][0][r] += 1;
    }
    return after;
  }

  Program const& program_;
  [[no_unique_address]] Teller teller_;
  possible<Cells> now_{};
  tally made_{};
  std::int64_t cycle_length_ = 1, step_ = 1;
  bool by_condition_ = false, records_ = false;
  int lost_site_ = -1;
  region lost_region_ = region::none;
};

} // namespace keel::residency::detail
