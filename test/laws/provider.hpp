// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What every provider must keep. A bench shows a provider with two variables of two components, the first with three
/// levels, the second with one; no region is empty. It has
///
/// | member | |
/// |---|---|
/// | `provider`, `memories` | the one in question; how many, all created |
/// | `set(variable, level, component, single, m, value)` | writes a small number to a region, as a kernel there would |
/// | `get(variable, level, component, single, m)` | the number there, when all that was begun is done; `mixed`, `poisoned` |

#include <keel/validity/concepts.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace laws {

namespace kr = keel::residency;

inline constexpr int mixed = -1, poisoned = -2;

/// A number for each place.
inline int number_at(int variable, int level, int component, kr::region single, kr::memory m) {
  return 1 + (((variable * 3 + level) * 2 + component) * kr::region_count + index_of(single)) * 3 + int(m);
}

template <class Bench, class F>
void for_each_place(Bench& bench, F&& f) {
  for (int v = 0; v < 2; ++v)
    for (int l = 0; l < (v == 0 ? 3 : 1); ++l)
      for (int c = 0; c < 2; ++c)
        for (kr::region r : kr::single_regions)
          for (int m = 0; m < bench.memories; ++m) f(v, l, c, r, kr::memory(m));
}

template <class Bench>
void fill(Bench& bench) {
  for_each_place(bench, [&](auto... at) { bench.set(at..., number_at(at...)); });
}

/// How many places hold something else than `f(variable, level, component, single, memory)` says.
template <class Bench, class F>
int count_wrong(Bench& bench, F&& f) {
  int wrong = 0;
  for_each_place(bench, [&](auto... at) { wrong += bench.get(at...) != f(at...); });
  return wrong;
}

/// After a batch every region that was sent is where it should be, and nothing else has changed.
template <class Bench, class F>
void check_batch(Bench& bench, std::vector<kr::transfer> const& batch, F&& send) {
  fill(bench);
  send(batch);
  CHECK(count_wrong(bench, [&](int v, int l, int c, kr::region r, kr::memory m) {
          for (kr::transfer const& t : batch)
            if (t.variable == v && t.level == l && t.component == c && overlap(t.where, r) && t.to == m)
              return number_at(v, l, c, r, t.from);
          return number_at(v, l, c, r, m);
        }) == 0);
}

template <kr::Provider P, class Bench>
void check_provider(Bench& bench) {
  P& p = bench.provider;
  using kr::region;
  auto const everywhere = region::everywhere;
  kr::memory const far{1};
  auto const both_ways = [&](std::vector<kr::transfer> up) {
    check_batch(bench, up, [&](auto const& batch) { p.to_device(batch); });
    for (auto& t : up) t.from = far, t.to = kr::host;
    check_batch(bench, up, [&](auto const& batch) { p.to_host(batch); });
  };
  SUBCASE("a region arrives, and only that") {
    for (region r :
         {region::core, region::rim, region::owned, region::ghosts, region::core | region::ghosts, everywhere})
      for (int v = 0; v < 2; ++v) both_ways({{v, 0, 1, r, kr::host, far}});
  }
  SUBCASE("a batch arrives whole, whatever it mixes") {
    both_ways({{0, 0, 0, everywhere, kr::host, far},
               {0, 2, 1, region::rim, kr::host, far},
               {1, 0, 0, region::ghosts, kr::host, far},
               {1, 0, 1, region::owned, kr::host, far},
               {0, 1, 0, region::core, kr::host, far}});
  }
  SUBCASE("rims go down and ghosts up around an exchange") {
    std::vector<kr::transfer> rims{{0, 0, 0, region::rim, far, kr::host}, {1, 0, 1, region::rim, far, kr::host}};
    check_batch(bench, rims, [&](auto const& batch) { p.pre_sync(batch); });
    std::vector<kr::transfer> ghosts{{0, 0, 0, region::ghosts, kr::host, far},
                                     {1, 0, 1, region::ghosts, kr::host, far}};
    check_batch(bench, ghosts, [&](auto const& batch) { p.post_sync(batch); });
  }
  SUBCASE("after waiting, the source may be written") {
    fill(bench);
    std::vector<kr::transfer> const batch{{0, 0, 0, everywhere, kr::host, far}, {1, 0, 0, region::rim, kr::host, far}};
    p.to_device(batch);
    p.wait(far);
    bench.set(0, 0, 0, region::core, kr::host, 9999);
    bench.set(1, 0, 0, region::rim, kr::host, 9999);
    CHECK(bench.get(0, 0, 0, region::core, far) == number_at(0, 0, 0, region::core, kr::host));
    CHECK(bench.get(1, 0, 0, region::rim, far) == number_at(1, 0, 0, region::rim, kr::host));
  }
  SUBCASE("copies of the same place keep their order") {
    fill(bench);
    std::vector<kr::transfer> const up{{0, 0, 0, region::owned, kr::host, far}},
        down{{0, 0, 0, region::core, far, kr::host}};
    p.to_device(up);
    bench.set(0, 0, 0, region::core, far, 7777);
    p.to_host(down);
    CHECK(bench.get(0, 0, 0, region::core, kr::host) == 7777);
    CHECK(bench.get(0, 0, 0, region::rim, far) == number_at(0, 0, 0, region::rim, kr::host));
  }
  if constexpr (kr::StartsToHost<P>) {
    SUBCASE(
        "a copy to the host that was begun is there after waiting, as the device had it then, whatever happens after it") {
      std::vector<kr::transfer> const down{{0, 0, 0, everywhere, far, kr::host},
                                           {0, 1, 1, region::rim, far, kr::host},
                                           {1, 0, 0, region::core | region::ghosts, far, kr::host}};
      check_batch(bench, down, [&](auto const& batch) {
        p.begin_to_host(batch);
        p.wait(far);
      });
      fill(bench);
      p.begin_to_host(down);
      p.copy_cycle(0);
      std::vector<kr::transfer> const up{{0, 0, 1, everywhere, kr::host, far}, {1, 0, 1, region::rim, kr::host, far}};
      p.to_device(up);
      p.wait(far);
      CHECK(bench.get(0, 1, 0, region::halo, kr::host) == number_at(0, 0, 0, region::halo, far));
      CHECK(bench.get(0, 2, 1, region::rim, kr::host) == number_at(0, 1, 1, region::rim, far));
      CHECK(bench.get(0, 2, 1, region::core, kr::host) == number_at(0, 1, 1, region::core, kr::host));
      CHECK(bench.get(1, 0, 0, region::core, kr::host) == number_at(1, 0, 0, region::core, far));
      p.copy_cycle(0);
      p.copy_cycle(0);
    }
  }
  SUBCASE("levels change places, and only those of one variable; after as many times as there are they are back") {
    fill(bench);
    p.copy_cycle(0);
    CHECK(count_wrong(bench, [](int v, int l, int c, region r, kr::memory m) {
            return number_at(v, v == 0 ? (l + 2) % 3 : l, c, r, m);
          }) == 0);
    p.copy_cycle(0);
    p.copy_cycle(0);
    CHECK(count_wrong(bench, [](auto... at) { return number_at(at...); }) == 0);
  }
  SUBCASE("the past is copied within one memory and component") {
    for (int m = 0; m < bench.memories; ++m) {
      fill(bench);
      p.copy_from_past(0, 1, kr::memory(m));
      CHECK(count_wrong(bench, [&](int v, int l, int c, region r, kr::memory k) {
              return number_at(v, v == 0 && l == 0 && c == 1 && int(k) == m ? 1 : l, c, r, k);
            }) == 0);
    }
  }
  SUBCASE("poison fills a region, and only that") {
    for (int m = 0; m < bench.memories; ++m) {
      fill(bench);
      p.poison(1, 0, 0, region::rim | region::ghosts, kr::memory(m));
      CHECK(count_wrong(bench, [&](int v, int l, int c, region r, kr::memory k) {
              bool const is_hit = v == 1 && c == 0 && r != region::core && int(k) == m;
              return is_hit ? poisoned : number_at(v, l, c, r, k);
            }) == 0);
    }
  }
}

} // namespace laws
