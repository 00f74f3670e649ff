// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Cutting the row of cores into one piece for each rank.

#include <keel/impl/topology/discover.hpp>
#include <keel/topology/placement.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace keel::topology::detail {

/// The hardware threads of a core that a rule leaves, the first ones first.
inline std::vector<int> usable_threads(core const& c, placing const& rule) {
  if (rule.within && !rule.within->contains(c.id)) return {};
  auto const allowed = rule.hardware_threads ? c.hardware_threads & *rule.hardware_threads : c.hardware_threads;
  std::vector<int> threads(allowed.begin(), allowed.end());
  if (rule.threads_per_core > 0) threads.resize(std::min(threads.size(), std::size_t(rule.threads_per_core)));
  return threads;
}

/// What a rule leaves of the cores: sums up to each core, so that a range is a difference.
class usable_cores {
public:
  usable_cores(inventory const& all, placing const& rule) {
    for (auto const& c : all.cores) {
      auto const threads = int(usable_threads(c, rule).size());
      cores_.push_back(cores_.back() + (threads > 0 ? 1 : 0));
      threads_.push_back(threads_.back() + threads);
    }
  }
  [[nodiscard]] int cores(core_range r) const noexcept {
    return cores_[std::size_t(r.end)] - cores_[std::size_t(r.first)];
  }
  [[nodiscard]] int threads(core_range r) const noexcept {
    return threads_[std::size_t(r.end)] - threads_[std::size_t(r.first)];
  }

private:
  std::vector<int> cores_{0}, threads_{0};
};

/// From a locality down, every smaller one with memory of its own gets its share of the ranks, rounded
/// so that the sum is right: by its number of cores; if there are more ranks than cores one for each
/// core and the rest by its further hardware threads; if there are more ranks than those by hardware
/// threads. Cores that share their memory are cut into equal parts, whatever else they share. One rank
/// by itself gets all that is there; places too small for a rank go to a neighbour. Cores that may not be
/// used lie in the pieces, too, and are taken out later.
class spreading {
public:
  spreading(inventory const& all, usable_cores const& usable, int locality, int ranks)
      : tree_(all.tree), usable_(usable), parts_memory_(std::size_t(all.tree.size()), false) {
    for (int place : all.memory_places)
      if (place != localities::nowhere && in(place).end > in(place).first)
        for (; place != 0; place = tree_[place].parent) parts_memory_[std::size_t(tree_[place].parent)] = true;
    spread(locality, ranks);
  }
  [[nodiscard]] std::vector<core_range> take() { return std::move(made_); }

private:
  [[nodiscard]] core_range in(int locality) const { return {tree_[locality].first_core, tree_[locality].end_core}; }

  /// How many of `ranks` in `all` go before `core`.
  [[nodiscard]] int ranks_before(int core, int ranks, core_range all) const noexcept {
    auto const part = [](long long whole, long long share, long long of) { // rounded half up
      return int((2 * whole * share + of) / (2 * of));
    };
    core_range const lower{all.first, core};
    int const cores = usable_.cores(all), threads = usable_.threads(all), before = usable_.cores(lower);
    if (ranks <= cores) return part(ranks, before, cores);
    if (ranks <= threads) return before + part(ranks - cores, usable_.threads(lower) - before, threads - cores);
    return part(ranks, usable_.threads(lower), threads);
  }

  void spread(int at, int ranks) {
    auto const here = in(at);
    if (ranks == 1 || !parts_memory_[std::size_t(at)]) return cut(here, ranks);
    auto const start = made_.size();
    for (int child = at + 1; child < tree_[at].end; child = tree_[child].end) {
      auto const below = in(child);
      auto const done = made_.size();
      if (int const share = ranks_before(below.end, ranks, here) - ranks_before(below.first, ranks, here); share > 0) {
        spread(child, share);
        made_[done].first = done == start ? here.first : made_[done - 1].end;
      } else if (done > start && nearer_to_the_last(here, below, ranks, int(done - start))) {
        made_.back().end = below.end;
      }
    }
  }

  /// Into parts of equal size; into single cores, and those for several ranks, if there are not enough.
  void cut(core_range here, int ranks) {
    int const cores = usable_.cores(here);
    if (ranks > cores) {
      for (int c = here.first; c < here.end; ++c)
        made_.insert(made_.end(), std::size_t(ranks_before(c + 1, ranks, here) - ranks_before(c, ranks, here)),
                     {c, c + 1});
      return;
    }
    for (int r = 1, first = here.first, end = first; r <= ranks; ++r, first = end) {
      while (usable_.cores({here.first, end}) < int(1LL * r * cores / ranks)) ++end;
      made_.push_back({first, end});
    }
  }

  /// Whether a place too small for a rank lies before, or on, the ideal border after the first `done` of `ranks`.
  [[nodiscard]] bool nearer_to_the_last(core_range here, core_range small, int ranks, int done) const noexcept {
    auto const middle = usable_.cores({here.first, small.first}) + usable_.cores({here.first, small.end});
    return 1LL * middle * ranks <= 2LL * done * usable_.cores(here);
  }

  localities const& tree_;
  usable_cores const& usable_;
  std::vector<bool> parts_memory_; ///< of each locality: smaller ones have cores and memory of their own
  std::vector<core_range> made_;
};

/// One core for each rank, the first ones; if there are more ranks than cores, every core gets
/// ranks for its hardware threads, the first ones first; if there are more than those, evenly.
inline std::vector<core_range> packed(usable_cores const& usable, int cores, int ranks) {
  std::vector<core_range> made;
  core_range const all{0, cores};
  for (int c = 0; c < cores; ++c) {
    core_range const one{c, c + 1}, upto{0, c + 1};
    int const left = ranks - int(made.size());
    int share = 0;
    if (ranks <= usable.cores(all)) share = std::min(left, usable.cores(one));
    else if (ranks <= usable.threads(all))
      share = std::min(usable.threads(one), left - (usable.cores(all) - usable.cores(upto)));
    else share = int(1LL * ranks * usable.threads(upto) / usable.threads(all)) - int(made.size());
    made.insert(made.end(), std::size_t(std::max(0, share)), one);
  }
  return made;
}

} // namespace keel::topology::detail
