// SPDX-License-Identifier: MIT
#include <keel/impl/schedule/liveness.hpp>

#include <cstddef>
#include <utility>

namespace keel::residency::detail {

/// Walks a schedule from its end to its beginning.
class live_search {
public:
  live_search(schedule_nodes const& of, live_levels& live, bool is_first) : of_(of), live_(live), is_first_(is_first) {}

  void run() { body(0, of_.size); }

private:
  void body(std::size_t begin, std::size_t end) {
    std::vector<std::size_t> entries;
    for (std::size_t i = begin; i < end; i = of_.nodes[i].end) entries.push_back(i);
    for (std::size_t n = entries.size(); n-- > 0;) entry_of(entries[n]);
  }
  void entry_of(std::size_t i) {
    schedule_node const& n = of_.nodes[i];
    switch (n.what()) {
    case entry_kind::cycle:
    case entry_kind::rewind:
    case entry_kind::cycle_in_place:
      for (request const& r : of_.asked(i)) rotate_back(live_[std::size_t(r.variable)], rotation_of(n.what()));
      return;
    case entry_kind::output:
      for (auto& levels : live_)
        for (live_level& one : levels) one.what = one.what | region::owned;
      return;
    case entry_kind::checkpoint: return;
    case entry_kind::routine:
    case entry_kind::reduce:
    case entry_kind::exchange:
    case entry_kind::accumulate:
    case entry_kind::all_reduce:
    case entry_kind::walls:
    case entry_kind::save: return leaf(i);
    case entry_kind::sequence:
    case entry_kind::graph:
    case entry_kind::analysis: return body(i + 1, n.end);
    case entry_kind::every:
    case entry_kind::when: return maybe(i);
    case entry_kind::once: return is_first_ ? maybe(i) : void();
    case entry_kind::repeat:
      for (int k = 0; k < n.about->count; ++k) {
        live_levels const after = live_;
        body(i + 1, n.end);
        if (live_ == after) return;
      }
      return;
    case entry_kind::choose: {
      live_levels const after = live_;
      live_levels all = after;
      for (auto& levels : all) levels.assign(levels.size(), {});
      for (std::size_t k = i + 1; k < n.end; k = of_.nodes[k].end) {
        live_ = after;
        entry_of(k);
        join(all, live_);
      }
      live_ = std::move(all);
      return;
    }
    }
  }
  // A write ends what it overwrites, and what it makes stale; what is read has to be there before.
  void leaf(std::size_t i) {
    for (request const& r : of_.asked(i)) {
      live_level& one = level_of(r);
      region const gone = invalidated_by(r.writes);
      one.what = without(one.what, gone);
      if (overlap(gone, region::halo)) one.is_summand = false;
    }
    for (request const& r : of_.asked(i)) level_of(r).join({r.reads, of_.nodes[i].what() == entry_kind::accumulate});
  }
  void maybe(std::size_t i) {
    live_levels const after = live_;
    body(i + 1, of_.nodes[i].end);
    join(live_, after);
  }
  // What was level `l` before the rotation is another one after it, or nothing any more: rotates the other way.
  static void rotate_back(std::vector<live_level>& levels, rotation how) {
    rotation const back = how == rotation::rewind ? rotation::cycle : rotation::rewind;
    live_level* const last = rotate_levels(levels.data(), int(levels.size()), back);
    if (levels.size() > 1 && how != rotation::in_place) *last = {};
  }
  [[nodiscard]] live_level& level_of(request const& r) const {
    return live_[std::size_t(r.variable)][std::size_t(r.level)];
  }

  schedule_nodes const& of_;
  live_levels& live_;
  bool is_first_;
};

// What is live before a step is live after the one before it, so it is looked for until nothing is added.
KEEL_INLINE live_levels live_before(std::span<schedule_nodes const> schedules, live_levels const& none, bool is_first) {
  live_levels live = none;
  for (bool grows = true; grows;) {
    live_levels const before = live;
    for (schedule_nodes const& s : schedules) {
      live_levels one = before;
      live_search(s, one, is_first).run();
      join(live, one);
    }
    grows = live != before;
  }
  return live;
}

} // namespace keel::residency::detail
