// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Into how many shares a grid is cut in each dimension, and where they begin; the stretches along it that a share has
/// of what another owns, and boxes, the products of such stretches.

#include <keel/layout/grid.hpp>
#include <keel/policy/macros.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace keel::residency::detail {

inline constexpr int panels = 6; ///< of a cubed sphere

/// Where part `at` begins, if `cells` are cut into `parts` that differ by one at most, the larger ones first.
inline std::int64_t begin_of(std::int64_t cells, std::int64_t parts, std::int64_t at) {
  return at * (cells / parts) + std::min(at, cells % parts);
}
/// Where block `at` of all blocks of all ranks begins, if the ranks' parts are cut into blocks, or `cuts` has these.
inline std::int64_t begin_of(cut_positions const& cuts, std::int64_t cells, std::int64_t ranks, std::int64_t blocks,
                             std::int64_t at) {
  if (cuts && std::int64_t(cuts->size()) == ranks * blocks + 1) return (*cuts)[std::size_t(at)];
  auto const of_rank = [&](std::int64_t r) { return cuts ? (*cuts)[std::size_t(r)] : begin_of(cells, ranks, r); };
  std::int64_t const begin = of_rank(at / blocks);
  return at % blocks == 0 ? begin : begin + begin_of(of_rank(at / blocks + 1) - begin, blocks, at % blocks);
}
/// The cells of the smallest block that has some.
inline std::int64_t smallest_part(cut_positions const& cuts, std::int64_t cells, std::int64_t ranks,
                                  std::int64_t blocks = 1) {
  if (!cuts) return cells / ranks / blocks;
  std::int64_t least = cells;
  for (std::size_t n = 1; n < cuts->size(); ++n)
    if (std::int64_t const own = (*cuts)[n] - (*cuts)[n - 1]; own != 0) least = std::min(least, own);
  return std::int64_t(cuts->size()) == ranks * blocks + 1 ? least : least / blocks;
}
/// Whether a rank has a place in the grid of processes. With `cuts` there may be more ranks.
inline bool has_place(indices const& processes, int dimensions, int rank) {
  std::int64_t places = 1;
  for (int d = 0; d < dimensions; ++d) places *= processes[d];
  return dimensions == 0 || rank < places;
}
/// The cells of a share along a dimension of the grid.
inline std::int64_t cells_in(share const& s, int d) {
  auto const begin = [&](std::int64_t at) {
    return begin_of(s.cuts[std::size_t(d)], s.global_extents[d], s.processes[d], s.blocks[d], at);
  };
  return s.position[d] < 0 ? 0 : begin(s.place(d) + 1) - begin(s.place(d));
}

/// The share of a rank, or that block of it, of a grid that is cut so.
[[nodiscard]] share share_of(grid const& g, indices const& processes, indices const& blocks, int rank, int block);

/// Throws `keel::error` if the grid cannot be folded so, or be the surface of a cube.
void check_seams(grid const& g);

/// Few parts have few divisors: all products are tried, the first factor from the largest down. Zeros if none goes.
/// Each of the parts along dimension 0 is cut again into so many, or was.
[[nodiscard]] indices best_cut(grid const& g, indices const& cells, int parts, bool as_wanted, std::int64_t again);

inline std::string text_of(int rank, auto&& number) {
  std::string all;
  for (int d = 0; d < rank; ++d) all += (d ? " x " : "") + std::to_string(number(d));
  return all;
}

/// Neighbouring elements along one dimension: half open local indices of the share that has copies of them, and the
/// first one's local index at their owner.
struct stretch {
  std::int64_t begin, end, owner_begin;
};

/// Which elements along one dimension are looked for, by their places in the whole, and which have them: at the same
/// place, or mirrored, where both places add up to `sum`.
struct zone_along {
  static constexpr std::int64_t most = std::int64_t{1} << 62;
  std::int64_t begin = -most, end = most;
  std::int64_t owner_begin = -most, owner_end = most;
  bool is_mirrored = false;
  std::int64_t sum = 0;
};
/// Elements of a folded grid that exist twice and are not the owners: in a row, the last one, these columns.
struct twin_row {
  std::int64_t row = 0, begin = 0, end = 0;
};
[[nodiscard]] twin_row twins_in(share const& s);

/// Elements whose owners are found in the same way.
struct zone {
  zone_along along[max_grid_rank];
  bool is_beyond = false; ///< the fold
};
/// One, or, of a folded grid, what lies before the fold, on it and beyond it.
[[nodiscard]] std::vector<zone> zones_of(share const& s);

/// One dimension of a variable on the grid, for the shares at all places along it.
class axis {
public:
  axis(share const& s, int d)
      : cuts_(s.cuts[std::size_t(d)]), cells_(s.global_extents[d] - (s.wraps[std::size_t(d)] ? 0 : s.longer[d])),
        ranks_(s.processes[d]), blocks_(s.blocks[d]), width_(s.width[d]), longer_(s.longer[d]),
        wraps_(s.wraps[std::size_t(d)]) {}

  [[nodiscard]] std::int64_t parts() const { return ranks_ * blocks_; }
  /// What the share at `here` has of the elements that the one at `there` owns of the same dimension or of another cut
  /// `of` it, which counts an element `shift` higher: what it owns itself, and up to so many layers of ghosts. In
  /// ascending order.
  [[nodiscard]] std::vector<stretch> shared(std::int64_t here, axis const& of, std::int64_t there, int layers,
                                            std::int64_t shift = 0, zone_along const& in = {}) const {
    std::vector<stretch> made;
    if (is_empty(here) || of.is_empty(there)) return made;
    if (layers == all_layers) layers = std::numeric_limits<int>::max();
    std::int64_t const low = std::max({owned_begin(here) - layers, origin(here), in.begin}),
                       high = std::min({owned_end(here) + layers, owned_end(here) + width_, in.end});
    std::int64_t begin = std::max(of.owned_begin(there), in.owner_begin) - shift,
                 end = std::min(of.owned_end(there), in.owner_end) - shift;
    if (begin >= end) return made;
    if (in.is_mirrored) begin = in.sum - std::exchange(end, in.sum - begin + 1) + 1;
    std::int64_t const first = of.wraps_ ? (low - end) / of.cells_ - 1 : 0;
    for (std::int64_t turn = first; turn == first || of.wraps_; ++turn) {
      std::int64_t const way = turn * of.cells_;
      if (begin + way >= high) break;
      std::int64_t const from = std::max(begin + way, low), to = std::min(end + way, high);
      std::int64_t const owned = in.is_mirrored ? in.sum - (from - way) : from - way;
      if (from < to) made.push_back({from - origin(here), to - origin(here), owned + shift - of.origin(there)});
    }
    return made;
  }

private:
  [[nodiscard]] std::int64_t first_cell(std::int64_t at) const { return begin_of(cuts_, cells_, ranks_, blocks_, at); }
  [[nodiscard]] bool is_empty(std::int64_t at) const { return at < 0 || first_cell(at) == first_cell(at + 1); }
  // The lower one owns a layer that two share.
  [[nodiscard]] std::int64_t owned_begin(std::int64_t at) const {
    return first_cell(at) + (first_cell(at) > 0 || wraps_ ? longer_ : 0);
  }
  [[nodiscard]] std::int64_t owned_end(std::int64_t at) const { return first_cell(at + 1) + longer_; }
  [[nodiscard]] std::int64_t origin(std::int64_t at) const { return first_cell(at) - width_; } // of local indices

  cut_positions cuts_;
  std::int64_t cells_, ranks_, blocks_, width_, longer_;
  bool wraps_;
};

/// Calls f(chosen) for each choice of one of a list for each dimension, the first dimension fastest.
template <class T>
void for_each_choice(std::vector<T> const* lists, int rank, auto const& f) {
  std::size_t count = 1;
  for (int d = 0; d < rank; ++d) count *= lists[d].size();
  T const* chosen[max_grid_rank]{};
  for (std::size_t n = 0; n < count; ++n) {
    std::size_t rest = n;
    for (int d = 0; d < rank; ++d) chosen[d] = &lists[d][rest % lists[d].size()], rest /= lists[d].size();
    f(chosen);
  }
}

/// What the share at `here` has of what the one at `there` owns in a zone, of the same variable without what it owns
/// itself, or of another cut `of` it: f(its box, where the box begins at the owner). Both ranks find the same boxes in
/// the same order.
template <class F>
void for_each_shared(std::span<axis const> axes, indices const& here, std::span<axis const> of, indices const& there,
                     int layers, indices const& shift, zone const& in, F const& f) {
  std::vector<stretch> along[max_grid_rank];
  int const rank = int(axes.size());
  bool const is_itself = axes.data() == of.data() && here == there && !in.is_beyond;
  for (int d = 0; d < rank; ++d)
    along[d] = axes[std::size_t(d)].shared(here[d], of[std::size_t(d)], there[d], layers, shift[d], in.along[d]);
  for_each_choice(along, rank, [&](auto const& chosen) {
    bounds box;
    indices owner_begin;
    bool is_owned = is_itself;
    for (int d = 0; d < rank; ++d) {
      stretch const& s = *chosen[d];
      box.begin[d] = s.begin, box.end[d] = s.end, owner_begin[d] = s.owner_begin;
      is_owned = is_owned && s.begin == s.owner_begin;
    }
    if (!is_owned) f(box, owner_begin);
  });
}

/// The box at its owner, where its first element lies at `begin`.
[[nodiscard]] inline bounds moved_to(indices const& begin, bounds box, int rank, zone const& in = {}) {
  for (int d = 0; d < rank; ++d) {
    std::int64_t const size = box.end[d] - box.begin[d];
    box.begin[d] = begin[d] - (in.along[d].is_mirrored ? size - 1 : 0), box.end[d] = box.begin[d] + size;
  }
  return box;
}

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/layout/grid/grid_cut.ipp>
#endif
