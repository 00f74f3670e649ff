// SPDX-License-Identifier: MIT
#include <keel/layout/grid.hpp>
#include <keel/impl/layout/grid/grid_cut.hpp>
#include <keel/impl/layout/lengths.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <string>

namespace keel::residency {

KEEL_INLINE indices processes_for(grid const& g, int ranks) {
  indices wanted;
  bool is_cut = g.rank() > 0, is_wanted = false;
  for (int d = 0; d < g.rank(); ++d) {
    is_cut = is_cut && g.cuts_in(d), is_wanted = is_wanted || g.ranks_wanted(d) != 0;
    wanted[d] = g.ranks_wanted(d);
  }
  if (is_cut && !detail::has_place(wanted, g.rank(), ranks)) return wanted;
  indices const best = detail::best_cut(g, g.extents(), ranks, true, g.blocks());
  if (best == indices{} && g.rank() > 0) {
    auto const text = [&](auto&& number) { return detail::text_of(g.rank(), number); };
    std::string const cells = text([&](int d) { return g.extents()[d]; }),
                      widths = text([&](int d) { return g.width(d); }),
                      says = text([&](int d) { return g.ranks_wanted(d); });
    std::string const wrong = "a grid of " + cells + " cells cannot be cut for " + policy::counted(ranks, "rank");
    if (is_cut)
      throw error("residency::grid", wrong + " as cuts say, " + says, "there are fewer ranks than shares",
                  "Take more ranks or fewer cuts");
    throw error("residency::grid", wrong + (is_wanted ? " as ranks_in says, " + says : ""),
                (is_wanted ? "their product has to be the number of ranks, and " : "") +
                    std::string("each needs at least one cell, and as many as the ") + "ghosts are wide, " + widths +
                    ", in each dimension",
                g.folds().is_cube ? "Give blocks that are, times the ranks, a multiple of 6, or take a larger grid"
                                  : "Take fewer ranks or a larger grid");
  }
  return best;
}

KEEL_INLINE indices blocks_for(grid const& g, indices const& processes) {
  indices cells; // of the smallest share
  for (int d = 0; d < g.rank(); ++d) cells[d] = detail::smallest_part(g.cuts_in(d), g.extents()[d], processes[d]);
  indices const best = detail::best_cut(g, cells, g.blocks(), false, processes[0]);
  if (best == indices{} && (g.rank() > 0 || g.blocks() > 1))
    throw error("residency::grid",
                "a rank's share of " + detail::text_of(g.rank(), [&](int d) { return cells[d]; }) +
                    " cells cannot be cut into " + policy::counted(g.blocks(), "block"),
                "each needs at least one cell, and as many as the ghosts are wide, " +
                    detail::text_of(g.rank(), [&](int d) { return g.width(d); }) + ", in each dimension",
                "Take fewer blocks, fewer ranks or a larger grid");
  return best;
}

KEEL_INLINE grid::grid(std::initializer_list<extent> extents, grid_option first, grid_option second, grid_option third,
                       grid_option fourth, grid_option fifth)
    : rank_(int(extents.size())) {
  std::vector<std::vector<std::int64_t>> const* cut_at = nullptr;
  for (grid_option const* option : {&first, &second, &third, &fourth, &fifth}) {
    if (option->ghosts.given != 0) width_ = option->ghosts;
    if (option->wraps.given != 0) periodic_ = option->wraps;
    if (option->cut.given != 0) ranks_ = option->cut;
    if (!option->cut_at.empty()) cut_at = &option->cut_at;
    if (option->cut_again) blocks_ = option->cut_again->of_rank;
    if (option->folds.at >= 0 || option->folds.is_cube) folds_ = option->folds;
  }
  auto const refuse = [](std::string const& wrong, std::string const& why, std::string_view hint) {
    throw error("residency::grid", wrong, why, hint);
  };
  if (rank_ > max_grid_rank)
    refuse("a grid has " + policy::counted(rank_, "dimension"), "keel cuts up to " + std::to_string(max_grid_rank),
           "Let the others be dimensions of the variables");
  for (int d = 0; extent const& e : extents) extents_[d++] = e.cells;
  auto const check = [&](std::string_view option, int given, std::string_view what, bool one_goes_for_all) {
    if (given != 0 && given != rank_ && !(one_goes_for_all && given == 1))
      refuse(std::string(option) + " has " + policy::counted(given, what) + ", the grid " +
                 policy::counted(rank_, "dimension"),
             one_goes_for_all ? "there is one for each dimension, or one for all" : "there is one for each dimension",
             "Give as many");
  };
  check("ghost_width", width_.given, "number", true);
  check("periodic", periodic_.given, "answer", true);
  check("ranks_in", ranks_.given, "number", false);
  if (cut_at != nullptr) {
    check("cuts", int(cut_at->size()), "list", false);
    if (ranks_.given != 0)
      refuse("cuts and ranks_in are both given", "either says how many ranks there are", "Give one");
    ranks_.given = rank_;
  }
  if (blocks_ < 1 || blocks_ > detail::most_components)
    refuse("blocks{" + std::to_string(blocks_) + "} are refused",
           blocks_ < 1 ? "a rank has at least one" : "a rank has at most " + std::to_string(detail::most_components),
           blocks_ < 1 ? "Give 1 or more" : "Give fewer");
  for (int d = 0; d < rank_; ++d) {
    if (ranks_.given != 0 && ranks_[d] < 0)
      refuse("ranks_in has " + std::to_string(ranks_[d]) + " for dimension " + std::to_string(d), "it counts ranks",
             "Give 1 or more, or 0, and keel chooses");
    if (width_[d] < 0)
      refuse("a ghost width is " + std::to_string(width_[d]) + ", that of dimension " + std::to_string(d),
             "it counts layers", "Give 0 or more");
    if (extents_[d] < 1 || extents_[d] < width_[d])
      refuse("dimension " + std::to_string(d) + " has " + policy::counted(extents_[d], "cell") +
                 ", with a ghost width of " + std::to_string(width_[d]),
             "it needs at least one cell, and as many as its ghosts are wide", "Take a larger grid");
    if (cut_at == nullptr || (*cut_at)[std::size_t(d)].empty()) continue;
    auto const& at = (*cut_at)[std::size_t(d)];
    if (at.size() < 2 || at.front() != 0 || at.back() != extents_[d] || !std::is_sorted(at.begin(), at.end())) {
      std::string all;
      for (std::int64_t const position : at) all += (all.empty() ? "" : ", ") + std::to_string(position);
      refuse("the cuts of dimension " + std::to_string(d) + " are " + all,
             "they ascend from 0 to its extent, " + std::to_string(extents_[d]), "Give the first and the last, too");
    }
    cuts_[std::size_t(d)] = std::make_shared<std::vector<std::int64_t> const>(at);
    ranks_.values[std::size_t(d)] = int(at.size()) - 1;
    if (std::int64_t const least = detail::smallest_part(cuts_[std::size_t(d)], extents_[d], 1); least < width_[d])
      refuse("a share of dimension " + std::to_string(d) + " has " + policy::counted(least, "cell") +
                 ", with a ghost width of " + std::to_string(width_[d]),
             "it has none, or as many as its ghosts are wide", "Give other cuts");
  }
  if (folds_.is_cube && periodic_.given == 0) periodic_ = periodic{true};
  detail::check_seams(*this);
  std::int64_t lengths[max_grid_rank]{};
  for (int d = 0; d < rank_; ++d)
    lengths[d] = extents_[d] + (extents_[d] > detail::most_bytes ? 0 : 2 * std::int64_t{width_[d]});
  detail::check_lengths("residency::grid", "a grid with its ghosts", "", {lengths, std::size_t(rank_)}, 1);
}

// The lower rank owns a layer that two share, so that the elements on the ends of cells begin one later; except at a
// wall.
KEEL_INLINE bounds share::owned() const {
  if (!ends.empty()) return within(0);
  bounds b;
  if (!has_cells) return b;
  for (int d = 0; d < rank; ++d) {
    b.begin[d] = width[d] + (is_wall(d, side::low) ? 0 : longer[d]);
    b.end[d] = extents[d] - width[d];
  }
  return b;
}

KEEL_INLINE bounds share::core() const {
  bounds b = owned();
  if (!ends.empty() || !has_cells) return b;
  for (int d = 0; d < rank; ++d) {
    if (!is_wall(d, side::low)) b.begin[d] += width[d];
    if (!is_wall(d, side::high)) b.end[d] -= width[d] + longer[d] + rows_on_fold(d);
    if (b.end[d] < b.begin[d]) b.end[d] = b.begin[d];
  }
  return b;
}

KEEL_INLINE bounds share::within(int layers) const {
  if (!ends.empty()) return {{}, {{ends[std::min(std::size_t(layers), ends.size() - 1)]}}};
  bounds b = owned();
  if (!has_cells) return b;
  for (int d = 0; d < rank; ++d) {
    b.begin[d] = layers == 0 ? width[d] : std::max<std::int64_t>(b.begin[d] - layers, 0);
    b.end[d] = std::min(b.end[d] + layers, extents[d]);
  }
  return b;
}

KEEL_INLINE bounds share::inside() const {
  bounds b = owned();
  for (int d = 0; d < rank; ++d) {
    if (!is_wall(d, side::low)) b.begin[d] = 0;
    if (!is_wall(d, side::high)) b.end[d] = extents[d];
  }
  return b;
}

// Ranks, and blocks of a rank, are counted with the last dimension fastest.
KEEL_INLINE share share_of(grid const& g, int ranks, int rank, int block) {
  indices const processes = processes_for(g, ranks);
  return detail::share_of(g, processes, blocks_for(g, processes), rank, block);
}
KEEL_INLINE share share_of(share const& cells, lattice const& on, std::string_view variable) {
  share s;
  for (int d = 0; d < max_grid_rank; ++d) {
    bool const is_along = on.along == 0 ? d < cells.rank : (on.along >> d & 1) != 0;
    if (!is_along) continue;
    auto const refuse = [&](std::string const& wrong, std::string_view why, std::string_view hint) {
      throw error("residency::fields", "variable " + std::string(variable) + wrong, why, hint);
    };
    if (d >= cells.rank)
      refuse(" lies along dimension " + std::to_string(d), "the grid has " + std::to_string(cells.rank),
             "Leave it out of along<...>");
    int const k = s.rank++;
    std::int64_t const own = detail::cells_in(cells, d), longer = on.longer >> d & 1,
                       width = on.width[d] < 0 ? cells.width[d] : on.width[d];
    std::int64_t const smallest =
        detail::smallest_part(cells.cuts[std::size_t(d)], cells.global_extents[d], cells.processes[d], cells.blocks[d]);
    if (smallest < width + (d == cells.folds.at && width == cells.global_extents[d] && cells.folds.is_centred(d)))
      refuse(" has ghosts of a width of " + std::to_string(width) + " in dimension " + std::to_string(d),
             std::string(cells.blocks[d] == 1 ? "a rank" : "a block") + " has only " + std::to_string(smallest) +
                 " cells there",
             "Take fewer ranks or a larger grid");
    bool const wraps = cells.wraps[std::size_t(d)], begins_later = longer != 0 && !cells.is_wall(d, side::low);
    s.width[k] = width, s.longer[k] = longer;
    s.extents[k] = own + 2 * width + longer;
    s.has_cells = s.has_cells && own > 0;
    s.global_begin[k] = cells.global_begin[d] + (begins_later ? 1 : 0);
    s.global_extents[k] = cells.global_extents[d] + (wraps ? 0 : longer);
    s.wraps[std::size_t(k)] = wraps, s.neighbour[std::size_t(k)] = cells.neighbour[std::size_t(d)];
    s.processes[k] = cells.processes[d], s.position[k] = cells.position[d], s.step[k] = cells.step[d];
    s.cuts[std::size_t(k)] = cells.cuts[std::size_t(d)];
    if (d == cells.folds.at) s.folds.at = k, s.is_folded = cells.is_folded;
    if (d == cells.folds.along) s.folds.along = k;
    if (cells.folds.at >= 0 && !cells.folds.is_centred(d)) s.folds.longer |= std::uint8_t(1U << k);
    s.blocks[k] = cells.blocks[d], s.block[k] = cells.block[d], s.block_step[k] = cells.block_step[d];
    if (width + longer > 0) s.regions = s.regions | region::rim | (wraps || width == 0 ? region::halo : region::ghosts);
  }
  if (s.folds.at < 0) s.folds = {};
  if (cells.folds.is_cube) {
    if (s.rank != 2 || on.longer != 0)
      throw error("residency::fields", "variable " + std::string(variable) + " lies otherwise than cells do",
                  "the panels of a cubed_sphere have none but cells in common",
                  "Leave at and along out; components of vectors may be on lower faces, turns_on_faces");
    s.folds = cells.folds;
  }
  if (!s.has_cells) s.extents = {}, s.is_folded = false;
  return s;
}

} // namespace keel::residency
