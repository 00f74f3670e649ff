// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Exchanges of ghosts between arrays in one place, as a decomposition says, element by element.

#include <keel/impl/layout/grid/grid_share.hpp>

#include <support/test.hpp>

#include <algorithm>
#include <vector>

namespace {

namespace kr = keel::residency;
namespace kd = keel::residency::detail;

void for_each(kr::bounds const& box, auto const& f) {
  for (auto i = box.begin[0]; i < box.end[0]; ++i)
    for (auto j = box.begin[1]; j < box.end[1]; ++j) f(kr::indices{{i, j}});
}

/// What a rank, or a block of it, has of a variable: numbers, or vectors of two.
struct part {
  kr::share is;
  std::vector<double> values;
  explicit part(kr::share const& s) : is(s), values(std::size_t(2 * s.everywhere().size(2)), -1e9) {}
  [[nodiscard]] double& at(kr::indices const& i, int component = 0) {
    return values[std::size_t(2 * (i[0] * is.extents[1] + i[1]) + std::max(component, 0))];
  }
};

/// By rank, by block.
struct parts {
  std::vector<std::vector<part>> all;
  std::vector<kd::decomposition> cut = {};

  parts(kr::grid const& g, int ranks, kr::lattice const& on, int layers = kr::all_layers) {
    for (int r = 0; r < ranks; ++r) {
      auto& here = all.emplace_back();
      std::vector<kr::share> list;
      for (int b = 0; b < g.blocks(); ++b)
        here.emplace_back(list.emplace_back(kr::share_of(kr::share_of(g, ranks, r, b), on, "x")));
      cut.push_back(kd::decomposition_of(list, g.blocks(), r, layers, on));
    }
  }
  /// Fills ghosts. Returns how many pieces come from elements that are not in the rim.
  int exchange() {
    int wrong = 0;
    for (std::size_t r = 0; r < all.size(); ++r) {
      for (kd::own_copy const& o : cut[r].own) {
        fill(part_of(r, o.ghosts), o.ghosts, part_of(r, o.origins), o.origins);
        wrong += is_rim(r, o.origins) ? 0 : 1;
      }
      for (kd::partner const& q : cut[r].partners) {
        for (kd::segment const& s : q.rims) wrong += is_rim(r, s) ? 0 : 1;
        auto const& theirs = cut[std::size_t(q.rank)].partners;
        auto const mine =
            std::find_if(theirs.begin(), theirs.end(), [&](auto const& one) { return one.rank == int(r); });
        REQUIRE(mine != theirs.end());
        REQUIRE(mine->rims.size() == q.ghosts.size());
        for (std::size_t k = 0; k < q.ghosts.size(); ++k)
          fill(part_of(r, q.ghosts[k]), q.ghosts[k], part_of(std::size_t(q.rank), mine->rims[k]), mine->rims[k]);
      }
    }
    return wrong;
  }

private:
  [[nodiscard]] part& part_of(std::size_t rank, kd::segment const& s) { return all[rank][std::size_t(s.component)]; }
  // In the order of the ghosts.
  static void fill(part& to, kd::segment const& ghosts, part& from, kd::segment const& rims) {
    for_each(ghosts.box, [&](kr::indices const& at) {
      kr::indices there;
      for (int d = 0; d < 2; ++d) {
        int const e = rims.steps.along[d];
        there[e] = kd::first_of(rims.box, rims.steps, e) + rims.steps.of[e] * (at[d] - ghosts.box.begin[d]);
      }
      to.at(at, ghosts.steps.part) = (ghosts.changes_sign ? -1 : 1) * from.at(there, rims.steps.part);
    });
  }
  [[nodiscard]] bool is_rim(std::size_t r, kd::segment const& s) {
    kr::bounds const core = part_of(r, s).is.core(), owned = part_of(r, s).is.owned();
    bool is_inside = true, is_core = true;
    for (int d = 0; d < 2; ++d)
      is_inside = is_inside && s.box.begin[d] >= owned.begin[d] && s.box.end[d] <= owned.end[d],
      is_core = is_core && std::max(s.box.begin[d], core.begin[d]) < std::min(s.box.end[d], core.end[d]);
    return is_inside && !is_core;
  }
};

} // namespace
