// SPDX-License-Identifier: MIT
// Folded grids, cut at random: ghosts are what lies at their place, by coordinates.
#include <keel/impl/layout/grid/boxes.hpp>
#include <keel/layout.hpp>

#include "pole.hpp"
#include "sphere.hpp"

#include <layout/plain.hpp>
#include <support/random_cuts.hpp>

#include <numeric>
#include <random>
#include <set>

using keel::test::refuses;

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

    parts x(g, ranks, on);
    std::multiset<double> owned;
    for (auto& rank : x.all)
      for (part& one : rank) {
        for (kr::bounds const& box : kd::without_twins(one.is, one.is.owned()))
          for_each(box, [&](kr::indices const& i) {
            double const value = one.at(i) = p.value(one.is, i, on.changes_sign);
            if (!on.changes_sign) owned.insert(value);
          });
        twins += int(kd::twins_of(one.is).size(2));
      }
    wrong += std::adjacent_find(owned.begin(), owned.end()) == owned.end() ? 0 : 1; // once
    wrong += x.exchange();
    for (auto& rank : x.all)
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

TEST_CASE("cube: ghosts of random cuts are what lies at their place in space") {
  int wrong = 0, ghosts = 0;
  for (unsigned seed = 0; seed < 1200; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    auto const below = [&](int n) { return int(random() % unsigned(n)); };
    int const ranks = 1 + below(24), width = 1 + below(3), corners = below(3) - 1,
              layers = below(2) == 0 ? kr::all_layers : 1 + below(width);
    int const blocks = 6 / std::gcd(ranks, 6) * (1 + below(2)), n = width * std::max(1, ranks * blocks / 6) + below(7);
    kr::grid const g{{6 * n, n}, kr::ghost_width{width}, kr::blocks{blocks}, kr::cubed_sphere{corners}};
    kr::lattice on;
    on.turns = below(3) != 0, on.turns_faces = on.turns && below(2) == 0;
    sphere const all{n, on.turns_faces, corners};
    parts x(g, ranks, on, layers);
    auto const each = [&](bool is_owned, auto const& f) {
      for (auto& rank : x.all)
        for (part& one : rank) {
          int const panel = int(one.is.global_begin[0] / n);
          for_each(is_owned ? one.is.owned() : one.is.everywhere(), [&](kr::indices const& i) {
            std::int64_t const row = one.is.global_begin[0] - panel * n + i[0] - width,
                               column = one.is.global_begin[1] + i[1] - width;
            bool is_near = true;
            for (int d = 0; d < 2 && layers != kr::all_layers; ++d)
              is_near = is_near && i[d] >= width - layers && i[d] < one.is.extents[d] - width + layers;
            for (int c = 0; c < (on.turns ? 2 : 1); ++c)
              f(one.at(i, c), is_near ? all.value(panel, row, column, on.turns ? c : -1) : 0);
          });
        }
    };
    each(true, [](double& is, double wanted) { is = wanted; });
    wrong += x.exchange();
    each(false, [&](double& is, double wanted) { wrong += is == (wanted == 0 ? -1e9 : wanted) ? 0 : 1, ++ghosts; });
    REQUIRE(wrong == 0);
  }
  CHECK(ghosts > 100'000);
}
