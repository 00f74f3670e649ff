// SPDX-License-Identifier: MIT
// Folded grids, cut at random: ghosts are what lies at their place, by coordinates.
#include <keel/impl/layout/grid/boxes.hpp>
#include <keel/impl/layout/grid/grid_share.hpp>
#include <keel/layout.hpp>

#include <support/random_cuts.hpp>
#include <support/test.hpp>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "pole.hpp"

namespace kr = keel::residency;
namespace kd = keel::residency::detail;
using keel::test::refuses;

namespace {

void for_each(kr::bounds const& box, auto const& f) {
  for (auto i = box.begin[0]; i < box.end[0]; ++i)
    for (auto j = box.begin[1]; j < box.end[1]; ++j) f(kr::indices{{i, j}});
}

/// What a rank, or a block of it, has of a variable.
struct part {
  kr::share is;
  std::vector<double> values;
  [[nodiscard]] double& at(kr::indices const& i) { return values[std::size_t(i[0] * is.extents[1] + i[1])]; }
};

/// In the order of the ghosts.
void fill(part& to, kd::segment const& ghosts, part& from, kd::segment const& rims) {
  for_each(ghosts.box, [&](kr::indices const& at) {
    kr::indices there;
    for (int d = 0; d < 2; ++d)
      there[d] = kd::first_of(rims.box, rims.steps, d) + rims.steps.of[d] * (at[d] - ghosts.box.begin[d]);
    to.at(at) = (ghosts.changes_sign ? -1 : 1) * from.at(there);
  });
}

} // namespace

TEST_CASE("fold: ghosts of random cuts are what lies at their place") {
  int wrong = 0, ghosts = 0, twins = 0;
  for (unsigned seed = 0; seed < 2400; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    auto const below = [&](int n) { return int(random() % unsigned(n)); };
    int const at = below(2), along = 1 - at;
    kr::folding const folds{at, along, std::uint8_t(below(4))};
    kr::ghost_width const width{1 + below(3), 1 + below(3)};
    int n[2], shares[] = {1 + below(4), 1 + below(3)};
    n[along] = 2 * (6 + below(10)), n[at] = 8 + below(16);
    kr::periodic const wraps{at != 0, at != 1};
    std::vector<std::vector<std::int64_t>> cuts;
    for (int d = 0; d < 2; ++d) cuts.push_back(keel::test::random_cuts(random, n[d], shares[d], 2 * width[d]));
    int const ranks = shares[0] * shares[1] + below(2);
    kr::grid const g{{n[0], n[1]}, width, wraps, kr::cuts{cuts}, kr::blocks{1 + below(2)}, folds};
    kr::lattice on;
    on.longer = std::uint8_t(below(4)), on.changes_sign = below(2) == 0;
    pole const p{folds, {{n[0], n[1]}}, on.longer};

    std::vector<std::vector<part>> all;
    std::vector<kd::decomposition> made;
    std::multiset<double> owned;
    for (int r = 0; r < ranks; ++r) {
      auto& here = all.emplace_back();
      std::vector<kr::share> list;
      for (int b = 0; b < g.blocks(); ++b) {
        kr::share const is = list.emplace_back(kr::share_of(kr::share_of(g, ranks, r, b), on, "x"));
        here.push_back({is, std::vector<double>(std::size_t(is.everywhere().size(2)), -1e9)});
        for (kr::bounds const& box : kd::without_twins(is, is.owned()))
          for_each(box, [&](kr::indices const& i) {
            double const value = here.back().at(i) = p.value(is, i, on.changes_sign);
            if (!on.changes_sign) owned.insert(value);
          });
        twins += int(kd::twins_of(is).size(2));
      }
      made.push_back(kd::decomposition_of(list, g.blocks(), r, kr::all_layers, on));
    }
    wrong += std::adjacent_find(owned.begin(), owned.end()) == owned.end() ? 0 : 1; // once
    for (int r = 0; r < ranks; ++r) {
      auto const part_of = [&](int rank, kd::segment const& s) -> part& {
        return all[std::size_t(rank)][std::size_t(s.component)];
      };
      auto const is_rim = [&](kd::segment const& s) {
        kr::bounds const core = part_of(r, s).is.core(), all_owned = part_of(r, s).is.owned();
        bool is_inside = true, is_core = true;
        for (int d = 0; d < 2; ++d)
          is_inside = is_inside && s.box.begin[d] >= all_owned.begin[d] && s.box.end[d] <= all_owned.end[d],
          is_core = is_core && std::max(s.box.begin[d], core.begin[d]) < std::min(s.box.end[d], core.end[d]);
        return is_inside && !is_core;
      };
      for (kd::own_copy const& o : made[std::size_t(r)].own) {
        fill(part_of(r, o.ghosts), o.ghosts, part_of(r, o.origins), o.origins);
        wrong += is_rim(o.origins) ? 0 : 1;
      }
      for (kd::partner const& q : made[std::size_t(r)].partners) {
        for (kd::segment const& s : q.rims) wrong += is_rim(s) ? 0 : 1;
        auto const& theirs = made[std::size_t(q.rank)].partners;
        auto const mine = std::find_if(theirs.begin(), theirs.end(), [&](auto const& one) { return one.rank == r; });
        REQUIRE(mine != theirs.end());
        REQUIRE(mine->rims.size() == q.ghosts.size());
        for (std::size_t k = 0; k < q.ghosts.size(); ++k)
          fill(part_of(r, q.ghosts[k]), q.ghosts[k], part_of(q.rank, mine->rims[k]), mine->rims[k]);
      }
    }
    for (auto& rank : all)
      for (part& one : rank) {
        for_each(one.is.everywhere(), [&](kr::indices const& i) {
          double const wanted = p.is_wall(one.is, i) ? -1e9 : p.value(one.is, i, on.changes_sign);
          wrong += one.at(i) == wanted ? 0 : 1, ++ghosts;
        });
      }
    REQUIRE(wrong == 0);
  }
  CHECK(ghosts > 100'000);
  CHECK(twins > 1'000);
}
