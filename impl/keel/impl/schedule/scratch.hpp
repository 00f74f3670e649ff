// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// When the scratches of a schedule are in use, which of them can share memory, and what a schedule does with one that
/// it cannot.

#include <keel/impl/schedule/schedule_table.hpp>
#include <keel/policy/macros.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace keel::residency::detail {

/// The first node that reads a scratch before it is written for certain, or in another memory; or that cycles it.
struct scratch_mistake {
  std::uint32_t node = no_node;
  int variable = -1;
  bool moves = false;
};

/// Follows one scratch through a step: which node wrote each region, and in which memory. `in_use`, if there is one, is
/// set for each node during which its memory is needed: from a write to the last read of what was written, with all
/// nodes in between, whichever branches are taken, and the whole of a `repeat` that a value goes round.
///
/// A template, because clang 14 finds no body of a member template of another class in a constant expression.
template <class Nodes = schedule_nodes>
class scratch_walk {
public:
  constexpr scratch_walk(Nodes const& table, memory const* where, int variable, bool* in_use = nullptr)
      : table_(table), where_(where), variable_(variable), in_use_(in_use) {
    walk(table.nodes, 0, table.size, *this);
  }
  scratch_mistake mistake;

  constexpr void leaf(std::size_t i) {
    for (request const& r : table_.asked(i)) {
      if (r.variable != variable_) continue;
      if (rotates(table_.nodes[i].what()) && i < mistake.node) mistake = {std::uint32_t(i), variable_};
      use(i, i + 1);
      for (int k = 0; k < region_count; ++k) {
        region const one = single_regions[k];
        if (overlap(one, r.reads)) read(i, now_.of[k], one != region::walls); // there may be no walls
        if (overlap(one, r.writes)) now_.of[k] = {std::uint32_t(i), memory_bit(i), false};
        else if (overlap(one, invalidated_by(r.writes))) now_.of[k] = {};
      }
      for (std::size_t j = table_.nodes[i].end; j < table_.nodes[i].group_end && table_.nodes[j].overlaps == i; ++j)
        use(j, j + 1); // what an exchange fills arrives after them
    }
  }
  constexpr void group(std::size_t i, auto const& body) {
    schedule_node const& n = table_.nodes[i];
    state const before = now_;
    if (is_choice(n.what())) {
      state all;
      for (std::size_t k = 0; k < n.about->child_count; ++k) {
        now_ = before;
        walk_one(table_.nodes, i, k, *this);
        all = k == 0 ? now_ : joined(all, now_);
      }
      now_ = all;
      return;
    }
    body();
    if (n.what() == entry_kind::repeat && n.about->count > 1) { // again, with what comes round
      state const once = now_;
      for (value& v : now_.of)
        if (v.memories != 0) v.writer = std::min(v.writer, std::uint32_t(i));
      body();
      now_ = joined(once, now_);
    }
    if (is_conditional(n.what()) || n.about->count == 0) now_ = joined(before, now_);
  }

private:
  /// What a region may hold: from this node on, in these memories, a bit each; and whether it may hold nothing.
  struct value {
    std::uint32_t writer = no_node;
    std::uint8_t memories = 0;
    bool may_lack = true;
  };
  struct state {
    value of[region_count]{};
  };
  static constexpr state joined(state a, state const& b) {
    for (int k = 0; k < region_count; ++k) {
      value &to = a.of[k], from = b.of[k];
      to = {std::min(to.writer, from.writer), std::uint8_t(to.memories | from.memories), to.may_lack || from.may_lack};
    }
    return a;
  }
  [[nodiscard]] constexpr std::uint8_t memory_bit(std::size_t i) const {
    return std::uint8_t(1U << unsigned(where_[i]));
  }
  constexpr void read(std::size_t i, value const& v, bool has_to_be_there) {
    bool const moves = (v.memories & ~memory_bit(i)) != 0;
    if ((moves || (has_to_be_there && v.may_lack)) && i < mistake.node) mistake = {std::uint32_t(i), variable_, moves};
    if (v.memories == 0) return;
    std::size_t end = i + 1;
    for (std::size_t g = 0; g < i; ++g)
      if (table_.nodes[g].what() == entry_kind::repeat && table_.nodes[g].end > i && v.writer <= g)
        end = std::max<std::size_t>(end, table_.nodes[g].end);
    use(v.writer, end);
  }
  constexpr void use(std::size_t begin, std::size_t end) {
    if (in_use_ != nullptr) std::fill(in_use_ + begin, in_use_ + end, true);
  }

  Nodes table_;
  memory const* where_;
  int variable_;
  bool* in_use_;
  state now_{};
};

/// Scratches, and which share a pool of memory: those that are never in use at the same time.
struct scratches {
  std::vector<int> variables;               ///< in the order of their first use
  std::vector<std::pair<int, int>> meeting; ///< those in use at the same time
  std::vector<std::vector<int>> pools;

  scratches() = default;
  scratches(schedule_nodes const& table, memory const* where);
  /// Adds those of another schedule; whether the pools change.
  bool add(scratches const& more);
  [[nodiscard]] std::size_t pool_of(int variable) const;

private:
  [[nodiscard]] bool has(int variable) const;
  void share();
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/schedule/scratch.ipp>
#endif
