// SPDX-License-Identifier: MIT
#include <keel/impl/layout/grid/grid_share.hpp>
#include <keel/impl/layout/grid/cube.hpp>
#include <keel/impl/layout/grid/grid_cut.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>

namespace keel::residency::detail {

/// Places along dimension `d` of shares that have elements in common with the one at `at`, in ascending order.
inline std::vector<std::int64_t> places_near(axis const& a, std::int64_t at, int layers, std::span<zone const> zones,
                                             int d) {
  std::vector<std::int64_t> near;
  for (std::int64_t other = 0; other < a.parts(); ++other)
    if (other == at || std::any_of(zones.begin(), zones.end(), [&](zone const& in) {
          return !a.shared(at, a, other, layers, 0, in.along[d]).empty() ||
                 !a.shared(other, a, at, layers, 0, in.along[d]).empty();
        }))
      near.push_back(other);
  return near;
}
inline std::vector<std::int64_t> all_places(std::int64_t parts) {
  std::vector<std::int64_t> all(std::size_t(parts), 0);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

KEEL_INLINE decomposition decomposition_of(std::span<share const> shares, int components, int rank, int layers,
                                           lattice const& as) {
  decomposition made;
  for (int c = 0; c < components; ++c) {
    share const& s = shares[shares.size() == 1 ? 0 : std::size_t(c)];
    if (!s.has_cells) continue;
    std::vector<axis> axes;
    std::vector<zone> const zones = zones_of(s);
    cube_seams const seams = s.folds.is_cube ? seams_of(s, as) : cube_seams{};
    std::vector<std::int64_t> near[max_grid_rank];
    indices here;
    for (int d = 0; d < s.rank; ++d) {
      here[d] = s.place(d);
      axes.emplace_back(s, d);
      near[d] = s.folds.is_cube ? all_places(s.parts(d)) : places_near(axes.back(), here[d], layers, zones, d);
    }
    for_each_choice(near, s.rank, [&](auto const& chosen) {
      indices there;
      int other = rank, peer = c; // its rank and component
      for (int d = 0; d < s.rank; ++d) {
        there[d] = *chosen[d];
        other += int((there[d] / s.blocks[d] - s.position[d]) * s.step[d]);
        peer += int((there[d] % s.blocks[d] - s.block[d]) * s.block_step[d]);
      }
      // Both find f(ghosts, rims), in the same order.
      auto const for_each_pair = [&](indices const& to, int ghosts, indices const& from, int rims, auto const& f) {
        if (s.folds.is_cube) {
          for (cube_piece const& p : shared_on_cube(s, seams, to, from, layers))
            f(segment{ghosts, p.ghosts, rims, p.steps_of_ghosts, p.changes_sign},
              segment{rims, p.owned, ghosts, p.steps, p.changes_sign});
          return;
        }
        for (zone const& in : zones)
          for_each_shared(axes, to, axes, from, layers, {}, in, [&](bounds const& box, indices const& begin) {
            origin_steps steps;
            for (int d = 0; d < s.rank; ++d) steps.of[d] = in.along[d].is_mirrored ? -1 : 1;
            bool const changes_sign = in.is_beyond && as.changes_sign;
            f(segment{ghosts, box, rims, {}, changes_sign},
              segment{rims, moved_to(begin, box, s.rank, in), ghosts, steps, changes_sign});
          });
      };
      if (other == rank)
        return for_each_pair(here, c, there, peer,
                             [&](segment const& to, segment const& from) { made.own.push_back({to, from}); });
      auto at =
          std::find_if(made.partners.begin(), made.partners.end(), [&](partner const& p) { return p.rank >= other; });
      if (at == made.partners.end() || at->rank != other) at = made.partners.insert(at, {other, {}, {}});
      for_each_pair(here, c, there, peer, [&](segment const& to, segment const&) { at->ghosts.push_back(to); });
      for_each_pair(there, peer, here, c, [&](segment const&, segment const& from) { at->rims.push_back(from); });
    });
  }
  std::erase_if(made.partners, [](partner const& p) { return p.ghosts.empty() && p.rims.empty(); });
  for (partner& p : made.partners) {
    std::stable_sort(p.ghosts.begin(), p.ghosts.end(), [](segment const& a, segment const& b) {
      return std::tie(a.component, a.other) < std::tie(b.component, b.other);
    });
    std::stable_sort(p.rims.begin(), p.rims.end(), [](segment const& a, segment const& b) {
      return std::tie(a.other, a.component) < std::tie(b.other, b.component);
    });
  }
  return made;
}

KEEL_INLINE grid_share::grid_share(std::shared_ptr<share_list const> cells, lattice const& as,
                                   std::string_view variable)
    : geometry(as), cells_(std::move(cells)) {
  for (share const& s : *cells_) shares.push_back(as == lattice{} ? s : share_of(s, as, variable));
}

KEEL_INLINE std::string grid_share::text() const {
  return "the grid, centring " + std::to_string(on.longer) + ", dimensions " + std::to_string(on.along) +
         (on.turns_faces ? ", vectors on faces"
          : on.turns     ? ", vectors"
                         : "");
}

// The widest of any component.
KEEL_INLINE int grid_share::layers() const {
  std::int64_t most = 0;
  for (share const& s : shares)
    for (int d = 0; d < s.rank; ++d) most = std::max(most, s.width[d] + s.longer[d]);
  return int(most);
}

KEEL_INLINE bounds grid_share::reach(share const& part, request const& asked, bool has_ghosts) const {
  bool const has_all = asked.read_layers == all_layers || !overlap(asked.reads, region::halo);
  return !has_ghosts ? part.owned() : has_all ? part.everywhere() : part.within(asked.read_layers);
}

// A piece that begins with the first owned cell has the variable's first owned element, too.
KEEL_INLINE bounds grid_share::owned_in(bounds const& cells, component which) const {
  share const& of_cells = share_in(*cells_, which);
  bounds const all = of_cells.owned();
  bounds own = local(which).owned();
  for (int d = 0; d < of_cells.rank && local(which).rank == of_cells.rank; ++d) {
    std::int64_t const way = own.end[d] - all.end[d];
    if (cells.begin[d] != all.begin[d]) own.begin[d] = cells.begin[d] + way;
    own.end[d] = cells.end[d] + way;
  }
  return own;
}

KEEL_INLINE indices grid_share::whole_extents(component which, bool has_walls) const {
  share const& s = local(which);
  indices made = s.global_extents;
  for (int d = 0; d < s.rank && has_walls; ++d)
    made[d] += s.wraps[std::size_t(d)] ? 0 : (d == s.folds.at ? 1 : 2) * s.width[d];
  return made;
}

// Local boxes of the walls without the columns that lie beside cells of others.
inline void add_own_walls(std::vector<bounds>& made, share const& s) {
  bounds const owned = s.owned();
  bounds rest = owned;
  for (int d = 0; d < s.rank; ++d) {
    if (s.is_wall(d, side::low)) rest.begin[d] = 0;
    if (s.is_wall(d, side::high)) rest.end[d] = s.extents[d];
  }
  for (int d = 0; d < s.rank; ++d) {
    bounds low = rest, high = rest;
    low.end[d] = rest.begin[d] = owned.begin[d], high.begin[d] = rest.end[d] = owned.end[d];
    for (bounds const* one : {&low, &high})
      if (one->size(s.rank) > 0) made.push_back(*one);
  }
}

// Several stretches where a periodic dimension begins anew.
inline std::vector<placed_box::stretch> stretches_of(share const& s, bounds const& part, int d, bool has_walls) {
  std::vector<placed_box::stretch> made;
  std::int64_t const n = s.global_extents[d];
  bool const wraps = s.wraps[std::size_t(d)];
  for (std::int64_t i = part.begin[d]; i < part.end[d];) {
    std::int64_t const global = s.global_begin[d] + i - s.owned().begin[d];
    std::int64_t const first = wraps ? (global % n + n) % n : global + (has_walls ? s.width[d] : 0);
    std::int64_t const count = std::min(part.end[d] - i, wraps ? n - first : part.end[d] - i);
    made.push_back({i, count, first});
    i += count;
  }
  return made;
}

KEEL_INLINE std::vector<placed_box> grid_share::places(component which, bool has_walls, region where, bool once) const {
  share const &s = local(which), &cells = share_in(*cells_, which);
  std::vector<placed_box> made;
  // Ranks that differ in dimensions that the variable lacks have the same.
  for (int d = 0; d < cells.rank && once && on.along != 0; ++d)
    if ((on.along >> d & 1) == 0 && cells.place(d) != 0) return made;
  std::vector<bounds> boxes;
  if (overlap(where, region::owned)) boxes.push_back(s.owned());
  if (overlap(where, region::walls) && once) add_own_walls(boxes, s);
  else if (overlap(where, region::walls))
    for (bounds const& one : boxes_of(s, region::walls)) boxes.push_back(one);
  for (bounds const& part : boxes) {
    std::vector<placed_box::stretch> along[max_grid_rank];
    for (int d = 0; d < s.rank; ++d) along[d] = stretches_of(s, part, d, has_walls);
    for_each_choice(along, s.rank, [&](auto const& chosen) {
      placed_box& one = made.emplace_back();
      for (int d = 0; d < s.rank; ++d) one.along[d] = *chosen[d];
    });
  }
  return made;
}

} // namespace keel::residency::detail
