// SPDX-License-Identifier: MIT
#include <keel/layout/grid.hpp>

#include <keel/layout.hpp>
#include <keel/policy/error.hpp>

#include <doctest/doctest.h>
#include <support/message_of.hpp>

#include <string>
#include <limits>
#include <utility>

namespace kr = keel::residency;
namespace kd = keel::residency::detail;

using keel::test::refuses;

TEST_CASE("residency: one rank owns the whole grid, and periodic sides are their own neighbours") {
  kr::share const s = kr::share_of(kr::grid{{6, 4}, kr::ghost_width{2, 1}, kr::periodic{true, false}}, 1, 0);
  CHECK(s.extents == kr::indices{{10, 6}});
  CHECK(s.owned() == kr::bounds{{{2, 1}}, {{8, 5}}});
  CHECK(s.core() == kr::bounds{{{4, 1}}, {{6, 5}}});
  CHECK(s.neighbour[0][0] == 0);
  CHECK(s.is_wall(1, kr::side::low));
  CHECK_FALSE(s.is_wall(0, kr::side::high));
}

TEST_CASE("residency: the shares of all ranks cover the grid once, for every number of ranks that fits") {
  for (int ranks = 1; ranks <= 24; ++ranks) {
    kr::grid const g{{13, 11}, kr::ghost_width{1}, kr::periodic{false, true}};
    if (ranks == 17 || ranks == 19 || ranks == 23) continue; // cannot be cut
    int owners[13][11]{};
    for (int r = 0; r < ranks; ++r) {
      kr::share const s = kr::share_of(g, ranks, r);
      auto const own = s.owned();
      for (auto i = own.begin[0]; i < own.end[0]; ++i)
        for (auto j = own.begin[1]; j < own.end[1]; ++j)
          ++owners[s.global_begin[0] + i - s.width[0]][s.global_begin[1] + j - s.width[1]];
      for (int d = 0; d < 2; ++d)
        if (int const low = s.neighbour[std::size_t(d)][0]; low >= 0)
          CHECK(kr::share_of(g, ranks, low).neighbour[std::size_t(d)][1] == r);
    }
    bool once = true;
    for (auto const& row : owners)
      for (int n : row) once = once && n == 1;
    CHECK(once);
  }
}

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

TEST_CASE("residency: core, rim, halo and walls are all cells, and which exist does not depend on the ranks") {
  for (int ranks : {1, 2, 3, 6})
    for (bool wraps : {true, false}) {
      kr::grid const g{{12, 11}, kr::ghost_width{2, 1}, kr::periodic{wraps, true}};
      kr::region seen = kr::region::none;
      for (int r = 0; r < ranks; ++r) {
        kr::share const s = kr::share_of(g, ranks, r);
        CHECK(s.regions == (wraps ? kr::region::inside : kr::region::everywhere));
        CHECK(s.inside().size(2) <= s.everywhere().size(2));
        if (s.core().size(2) > 0) seen = seen | kr::core;
        if (s.inside() != s.everywhere()) seen = seen | kr::region::walls;
      }
      CHECK(overlap(seen, kr::region::walls) == !wraps);
    }
  CHECK(kr::share_of(kr::grid{{12, 11}}, 1, 0).regions == kr::core);
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
