// SPDX-License-Identifier: MIT
#include <keel/layout/grid.hpp>

#include <keel/layout.hpp>
#include <keel/policy/error.hpp>

#include "plain.hpp"

#include <support/random_cuts.hpp>

#include <random>

using keel::test::refuses;

namespace {

/// Where a local element lies in the grid, as the owner counts; -1e9 beyond a wall.
double place(kr::share const& s, kr::indices const& at) {
  std::int64_t x[2], longer = s.longer[0];
  for (int d = 0; d < 2; ++d) {
    std::int64_t const n = s.global_extents[d];
    x[d] = s.global_begin[d] + at[d] - s.owned().begin[d];
    if (s.wraps[std::size_t(d)]) x[d] = (x[d] + 4 * n - longer) % n + longer;
    else if (x[d] < 0 || x[d] >= n) return -1e9;
  }
  return double(1000 * x[0] + x[1]);
}

} // namespace

TEST_CASE("residency: a grid is cut so that little has to be exchanged") {
  CHECK(kr::processes_for(kr::grid{{64, 64}, kr::ghost_width{1}}, 4) == kr::indices{{2, 2}});
  CHECK(kr::processes_for(kr::grid{{4, 4000}, kr::ghost_width{1}}, 4) == kr::indices{{1, 4}});
  CHECK(kr::processes_for(kr::grid{{64, 64}, kr::ghost_width{1}}, 2) == kr::indices{{2, 1}});
}

TEST_CASE("residency: a grid that cannot be, and one smaller than the ranks, are refused in words") {
  CHECK(refuses([] { (void)kr::processes_for(kr::grid{{4, 4}, kr::ghost_width{2}}, 8); },
                "a grid of 4 x 4 cells cannot be cut for 8 ranks"));
  CHECK(refuses([] { kr::grid{{0, 4}}; }, "dimension 0 has 0 cells"));
  CHECK(refuses([] { kr::grid{{8, 4}, kr::ghost_width{-1, 1}}; }, "a ghost width is -1, that of dimension 0"));
  CHECK(refuses([] { kr::grid{{8, 4}, kr::ghost_width{1, 5}}; }, "dimension 1 has 4 cells, with a ghost width of 5"));
  CHECK(refuses([] { kr::grid{{8, 4, 4}, kr::ghost_width{1, 1}}; }, "ghost_width has 2 numbers"));
}

TEST_CASE("residency: a grid whose cells cannot be counted is refused, and so are blocks beyond all numbers") {
  constexpr std::int64_t huge = std::int64_t{1} << 61, most = std::numeric_limits<std::int64_t>::max();
  CHECK(refuses([] { kr::grid{{huge, 8}}; }, "a grid with its ghosts cannot have 2305843009213693952 x 8 elements"));
  CHECK(refuses([] { kr::grid{{most}, kr::ghost_width{2147483647}}; }, "cannot have"));
  CHECK(refuses([] { kr::grid{{1 << 20, 1 << 20, 1 << 20}, kr::ghost_width{1}}; }, "cannot have"));
  CHECK(kr::grid{{std::int64_t{1} << 50}}.rank() == 1);
  CHECK(refuses([] { kr::grid{{8}, kr::blocks{2147483647}}; }, "blocks{2147483647} are refused"));
  kr::grid const many{{std::int64_t{1} << 30}, kr::blocks{1 << 20}};
  CHECK(kr::blocks_for(many, kr::processes_for(many, 1)) == kr::indices{{1 << 20}});
  CHECK(kr::processes_for(kr::grid{{most >> 10}}, 2147483647) == kr::indices{{2147483647}}); // a prime
}

TEST_CASE("residency: the caller may say how many ranks cut each dimension") {
  CHECK(kr::processes_for(kr::grid{{64, 64, 64}, kr::ranks_in{1, 1, 4}}, 4) == kr::indices{{1, 1, 4}});
  CHECK(kr::processes_for(kr::grid{{8, 64}, kr::periodic{true}, kr::ranks_in{4, 1}, kr::ghost_width{2}}, 4) ==
        kr::indices{{4, 1}});
  CHECK(refuses([] { (void)kr::processes_for(kr::grid{{64, 64}, kr::ranks_in{2, 2}}, 8); },
                "8 ranks as ranks_in says, 2 x 2"));
  CHECK(refuses([] { kr::grid{{64, 64}, kr::ranks_in{2}}; }, "ranks_in has 1 number, the grid 2 dimensions"));
  CHECK(refuses([] { kr::grid{{64}, kr::ranks_in{-1}}; }, "ranks_in has -1 for dimension 0"));
  kr::grid const some{{64, 64, 64}, kr::ghost_width{1}, kr::ranks_in{0, 0, 2}}; // 0: keel chooses
  CHECK(kr::processes_for(some, 8) == kr::indices{{2, 2, 2}});
  CHECK(refuses([&] { (void)kr::processes_for(some, 3); }, "3 ranks as ranks_in says, 0 x 0 x 2"));
  CHECK(kr::processes_for(kr::grid{{64, 64, 64}, kr::ghost_width{1}, kr::ranks_in{0, 0, 0}}, 8) ==
        kr::indices{{2, 2, 2}});
}

TEST_CASE(
    "residency: random cuts cover a grid once, and ghosts are what their owners have, whichever ranks have no cells") {
  int wrong = 0, ghosts = 0, without_cells = 0;
  for (unsigned seed = 0; seed < 600; ++seed) {
    std::mt19937 random(seed);
    auto const below = [&](int n) { return int(random() % unsigned(n)); };
    kr::ghost_width const width{below(3), below(3)};
    bool const is_cut_by_keel = below(4) == 0;
    int const blocks = 1 + below(2), shares[] = {1 + below(4), 1 + below(3)},
              least = is_cut_by_keel ? 8 * (shares[0] * shares[1] + 2) : 8;
    int const n[] = {least + below(20), least + below(20)}, ranks = shares[0] * shares[1] + below(3);
    std::vector<std::vector<std::int64_t>> at(2);
    for (std::size_t d = 0; d < 2 && !is_cut_by_keel; ++d)
      at[d] = keel::test::random_cuts(random, n[d], shares[d], std::max(2, 2 * width[int(d)]));
    kr::grid const g{{n[0], n[1]}, width, kr::periodic{below(2) == 0, below(2) == 0}, kr::cuts{at}, kr::blocks{blocks}};
    kr::lattice on;
    if (below(2) == 0) on.longer = 3;
    kr::region regions = kr::core;
    for (int d = 0; d < 2; ++d)
      if (width[d] > 0)
        regions = regions | kr::region::rim | (g.is_periodic(d) ? kr::region::halo : kr::region::ghosts);
      else if (on.longer != 0) regions = regions | kr::region::rim | kr::region::halo;
    if (on.longer == 0) wrong += kr::share_of(g, ranks, ranks - 1).regions == regions ? 0 : 1;
    parts x(g, ranks, on);
    std::vector<int> owners(std::size_t(1000 * (n[0] + 1)), 0);
    for (auto& rank : x.all)
      for (part& one : rank) {
        if (!one.is.has_cells) ++without_cells, wrong += one.values.empty() ? 0 : 1;
        for_each(one.is.owned(), [&](kr::indices const& i) {
          one.at(i) = place(one.is, i);
          ++owners[std::size_t(one.at(i))];
        });
        wrong += one.is.regions == regions ? 0 : 1;
      }
    auto const owned = n[0] * n[1] * (on.longer == 0 ? 1 : 0);
    if (on.longer == 0 && std::count(owners.begin(), owners.end(), 1) != owned) ++wrong;
    if (std::any_of(owners.begin(), owners.end(), [](int many) { return many > 1; })) ++wrong;
    wrong += x.exchange();
    for (int r = 0; r < ranks; ++r)
      for (part& one : x.all[std::size_t(r)]) {
        for_each(one.is.everywhere(),
                 [&](kr::indices const& i) { wrong += one.at(i) == place(one.is, i) ? 0 : 1, ++ghosts; });
        for (int d = 0; d < 2; ++d) { // beyond the low side lies what the neighbour there owns
          if (!one.is.has_cells) continue;
          int const low = one.is.neighbour[std::size_t(d)][0];
          bool const is_at_end = one.is.global_begin[d] == 0 && !g.is_periodic(d);
          wrong += one.is.is_wall(d, kr::side::low) == is_at_end ? 0 : 1;
          if (is_at_end) continue;
          kr::share const& next = x.all[std::size_t(low)][0].is;
          wrong += next.has_cells && (blocks > 1 || next.neighbour[std::size_t(d)][1] == r) ? 0 : 1;
        }
      }
  }
  CHECK(wrong == 0);
  CHECK(ghosts > 100'000);
  CHECK(without_cells > 300);
}

TEST_CASE("residency: cuts that no grid has are refused in words") {
  CHECK(refuses(
      [] { kr::grid{{100, 8}, kr::cuts{{0, 40, 90}, {0, 8}}}; },
      "the cuts of dimension 0 are 0, 40, 90 (they ascend from 0 to its extent, 100). Give the first and the last, too."));
  CHECK(refuses([] { kr::grid{{100}, kr::cuts{{0, 60, 40, 100}}}; }, "the cuts of dimension 0 are 0, 60, 40, 100"));
  CHECK(refuses([] { kr::grid{{100, 8}, kr::cuts{{0, 40, 100}}}; }, "cuts has 1 list, the grid 2 dimensions"));
  CHECK(refuses([] { kr::grid{{100}, kr::ghost_width{2}, kr::cuts{{0, 99, 100}}}; },
                "a share of dimension 0 has 1 cell, with a ghost width of 2"));
  CHECK(refuses([] { kr::grid{{100}, kr::ranks_in{2}, kr::cuts{{0, 99, 100}}}; }, "cuts and ranks_in are both given"));
  kr::grid const three{{100, 8}, kr::cuts{{0, 40, 40, 100}, {0, 8}}};
  CHECK(refuses(
      [&] { (void)kr::processes_for(three, 2); },
      "a grid of 100 x 8 cells cannot be cut for 2 ranks as cuts say, 3 x 1 (there are fewer ranks than shares)"));
  CHECK(kr::processes_for(three, 5) == kr::indices{{3, 1}});
  // A dimension without numbers is left to keel.
  CHECK(kr::processes_for(kr::grid{{100, 8}, kr::cuts{{0, 40, 100}, {}}}, 6) == kr::indices{{2, 3}});
}

TEST_CASE("residency: a grid without ghosts is cut so that the fewest cells lie at the cuts") {
  CHECK(kr::processes_for(kr::grid{{16, 16, 16}, kr::ghost_width{0}}, 8) == kr::indices{{2, 2, 2}});
  for (kr::periodic const wraps : {kr::periodic{false}, kr::periodic{true}})
    for (int const ranks : {2, 8, 12, 32}) { // as one layer of ghosts would be the least
      CHECK(kr::processes_for(kr::grid{{16, 16, 40}, wraps}, ranks) ==
            kr::processes_for(kr::grid{{16, 16, 40}, wraps, kr::ghost_width{1}}, ranks));
    }
  CHECK(kr::blocks_for(kr::grid{{16, 16}, kr::blocks{4}}, {{1, 1}}) == kr::indices{{2, 2}});
  // A dimension without ghosts beside others that have some is free to cut.
  CHECK(kr::processes_for(kr::grid{{16, 16}, kr::ghost_width{1, 0}}, 4) == kr::indices{{1, 4}});
}

TEST_CASE("residency: a line of cells is cut for as many ranks as it has cells, and no more") {
  CHECK(kr::processes_for(kr::grid{{3}}, 3) == kr::indices{{3}});
  CHECK(refuses([] { (void)kr::processes_for(kr::grid{{2}}, 3); }, "cannot be cut for 3 ranks"));
  CHECK(refuses([] { (void)kr::processes_for(kr::grid{{8}, kr::ranks_in{2}}, 1); }, "cannot be cut for 1 rank as"));
}

TEST_CASE("residency: indices turn into the arrays that policies take") {
  std::array<long, 2> const a = kr::indices{{3, 4}};
  CHECK(a == std::array<long, 2>{3, 4});
}
