// SPDX-License-Identifier: MIT
#include <keel/impl/layout/grid/cube.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace keel::residency::detail {

KEEL_INLINE bounds cube_way::image(bounds const& box) const {
  bounds made;
  for (int e = 0; e < 2; ++e) {
    std::int64_t const first = box.begin[along[e]], last = box.end[along[e]] - 1;
    made.begin[e] = at[e] + (of[e] < 0 ? -last : first), made.end[e] = at[e] + (of[e] < 0 ? -first : last) + 1;
  }
  return made;
}

// A seam that turns joins an end of dimension d to one of the other dimension: what went on along d goes on along that,
// and what went along that goes back along d. Lower faces along it are upper ones then, the lower ones of the next
// cell.
KEEL_INLINE cube_way cube_way::across(int d, side s, std::int64_t n, bool is_on_faces) const {
  bool const is_odd = panel % 2 != 0, is_up = s == side::high;
  cube_way to = *this;
  std::int64_t const way = is_up ? -n : n;
  bool const turns = (d == 0) == (is_odd == is_up);
  to.panel = (panel + (is_up ? 1 : panels - 1) * (turns ? 2 : 1)) % panels;
  if (!turns) {
    to.at[d] += way;
    return to;
  }
  int const other = 1 - d;
  bool const goes_back = part == other;
  to.at[other] = at[d] + way, to.of[other] = of[d], to.along[other] = along[d];
  to.at[d] = n - 1 + (goes_back && is_on_faces ? 1 : 0) - at[other], to.of[d] = -of[other], to.along[d] = along[other];
  if (part >= 0) to.part = 1 - part, to.changes_sign = changes_sign != goes_back;
  return to;
}

KEEL_INLINE std::array<double, 3> point_on_sphere(int panel, std::array<std::int64_t, 2> at, std::int64_t n) {
  // Dimensions of space, from 1, along those of a panel and away from the middle of the cube.
  static constexpr int ways[panels][3] = {{2, 3, 1}, {-1, 3, 2}, {-1, -2, 3}, {-3, -2, -1}, {-3, 1, -2}, {2, 1, -3}};
  double const eighth = std::atan(1.), along[] = {std::tan(eighth * (2. * double(at[0]) / double(n) - 1)),
                                                  std::tan(eighth * (2. * double(at[1]) / double(n) - 1)), 1};
  double const length = std::sqrt(along[0] * along[0] + along[1] * along[1] + 1);
  std::array<double, 3> made{};
  for (int k = 0; k < 3; ++k)
    made[std::size_t(std::abs(ways[panel][k]) - 1)] = std::copysign(1., ways[panel][k]) * along[k] / length;
  return made;
}

// What lies beyond an end of the panel is cut off and goes over it. About a corner the way has no end.
inline void add_zones(std::vector<cube_zone>& all, cube_zone zone, std::int64_t n, bool is_on_faces, int first,
                      int seams) {
  for (int e : {first, 1 - first}) {
    bounds const there = zone.way.image(zone.box);
    for (side const s : {side::low, side::high}) {
      bool const is_up = s == side::high;
      std::int64_t const count =
          is_up ? there.end[e] - std::max(n, there.begin[e]) : std::min<std::int64_t>(0, there.end[e]) - there.begin[e];
      if (count <= 0) continue;
      int const d = zone.way.along[e];
      cube_zone beyond = zone;
      if (is_up == (zone.way.of[e] > 0)) beyond.box.begin[d] = zone.box.end[d] -= count;
      else beyond.box.end[d] = zone.box.begin[d] += count;
      beyond.way = zone.way.across(e, s, n, is_on_faces);
      if (seams < 3) add_zones(all, beyond, n, is_on_faces, 0, seams + 1);
    }
  }
  if (zone.box.size(2) > 0) all.push_back(zone);
}

KEEL_INLINE cube_seams seams_of(share const& s, lattice const& as) {
  std::int64_t const n = s.global_extents[1], w = std::max(s.width[0], s.width[1]);
  int const along = s.folds.corners_along;
  cube_seams made;
  std::pair<std::int64_t, std::int64_t> const thirds[] = {{-w, 0}, {0, n}, {n, n + w}};
  for (int panel = 0; panel < panels; ++panel)
    for (int part = as.turns ? 0 : -1; part < (as.turns ? 2 : 0); ++part)
      for (auto const& [first, end] : thirds)
        for (auto const& [low, high] : thirds) {
          bool const is_corner = first != 0 && low != 0;
          if (is_corner && along < 0) continue;
          cube_way const here{.panel = panel, .part = part};
          add_zones(made[std::size_t(panel)], {{{{first, low}}, {{end, high}}}, here, part}, n, as.turns_faces,
                    along < 0 ? 0 : 1 - along, 0);
        }
  return made;
}

KEEL_INLINE std::vector<cube_piece> shared_on_cube(share const& s, cube_seams const& seams, indices const& here,
                                                   indices const& there, int layers) {
  std::int64_t const n = s.global_extents[1];
  struct owned_box {
    int panel;
    bounds box;
  };
  auto const owned = [&](indices const& at) {
    owned_box made{int((*s.cuts[0])[std::size_t(at[0])] / n), {}};
    for (int d = 0; d < 2; ++d) {
      std::int64_t const first = d == 0 ? made.panel * n : 0;
      made.box.begin[d] = (*s.cuts[std::size_t(d)])[std::size_t(at[d])] - first;
      made.box.end[d] = (*s.cuts[std::size_t(d)])[std::size_t(at[d]) + 1] - first;
    }
    return made;
  };
  owned_box const to = owned(here), from = owned(there);
  auto const local = [&](bounds box, bounds const& own) {
    for (int d = 0; d < 2; ++d) box.begin[d] += s.width[d] - own.begin[d], box.end[d] += s.width[d] - own.begin[d];
    return box;
  };
  std::vector<cube_piece> made;
  for (auto const& [zone, way, part] : seams[std::size_t(to.panel)]) {
    bool const is_own = here == there && way.is_here();
    if (way.panel != from.panel || is_own) continue;
    bounds box = zone;
    for (int d = 0; d < 2; ++d) {
      std::int64_t const most = layers == all_layers ? s.width[d] : std::min<std::int64_t>(layers, s.width[d]);
      box.begin[d] = std::max(box.begin[d], to.box.begin[d] - most);
      box.end[d] = std::min(box.end[d], to.box.end[d] + most);
    }
    cube_piece one{{}, {}, {}, {}, way.changes_sign};
    for (int e = 0; e < 2; ++e) { // where the owner's part of it lies here
      int const d = way.along[e];
      std::int64_t const first = from.box.begin[e] - way.at[e], last = from.box.end[e] - 1 - way.at[e];
      box.begin[d] = std::max(box.begin[d], way.of[e] < 0 ? -last : first);
      box.end[d] = std::min(box.end[d], (way.of[e] < 0 ? -first : last) + 1);
      one.steps.of[e] = std::int8_t(way.of[e]), one.steps.along[d] = std::int8_t(e);
    }
    one.steps_of_ghosts.part = std::int8_t(part), one.steps.part = std::int8_t(way.part);
    one.ghosts = local(box, to.box), one.owned = local(way.image(box), from.box);
    bool const is_there = box.begin[0] < box.end[0] && box.begin[1] < box.end[1];
    if (is_there) made.push_back(one);
  }
  return made;
}

} // namespace keel::residency::detail
