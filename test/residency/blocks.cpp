// SPDX-License-Identifier: MIT
// Several blocks a rank: their messages and bytes, how routines are called for them, and what does not go with them.
#include <keel/layout/grid_options.hpp>

#include "model.hpp"

namespace blocked {

using namespace test;

struct h : kr::variable<"h", double**, kr::levels<2>> {};
struct wide : kr::variable<"wide", double**, kr::ghosts<6>> {};

struct counting : app_twin {
  using transports = keel::list<test::counted>;
};

TEST_CASE("residency: blocks send the least bytes, in one message to each partner, by two kernels") {
  run<km::mpi> here{twin::name};
  auto const& env = here.environment();
  for (int const blocks : {1, 2, 3, 4, 6}) {
    CAPTURE(blocks);
    kr::fields<counting, h> f{here,
                              kr::grid{{24, 37}, kr::ghost_width{2}, kr::periodic{true, false}, kr::blocks{blocks}}};
    CHECK(sends_least<h>(env, f));
    fill<h>(f), touch<h>(f);
    (void)kernels_called("keel: regions");
    f.run(kr::exchange<h>{});
    CHECK(kernels_called("keel: regions") == (env.size() > 1 ? 1 : 0) + 1);
    stop_counting();
    CHECK(wrong_inside<h>(f) == 0);
  }
}

/// Counts the runs of routines.
struct recorder : kr::unobserved {
  static constexpr bool is_told = true;
  static inline int runs = 0;
  static int begin_routine() { return ++runs; }
  void end_routine(int, std::string_view, kr::memory) {}
};
struct recorded : kr::automatic {
  static constexpr std::string_view name = "recorded";
  using observer = recorder;
};
template <int N>
struct want : kr::routine<"want", kr::on_host, kr::reads<kr::owned<h>>> {
  template <class V>
  static void run(V v) {
    (void)v(h{}, kr::component{N});
  }
};

TEST_CASE("residency: a routine runs once and is called for each block, which is valid by itself") {
  run<km::mpi> here{"simulated"};
  kr::fields<app<kr::on_host, Kokkos::LayoutRight, recorded>, h> f{
      here, kr::grid{{24, 30}, kr::ghost_width{1}, kr::periodic{true, false}, kr::blocks{4}}};
  fill<h>(f), touch<h>(f);
  std::vector<kr::share> seen;
  std::vector<Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>> views;
  f.run(kr::exchange<h>{});
  recorder::runs = 0;
  f.run(call<kr::updates<h>>{}, [&](auto v) {
    seen.push_back(v.local()), views.push_back(v(h{}));
    CHECK(v.components() == 1);
    CHECK(v(h{}, kr::component{0}).data() == v(h{}).data());
    CHECK(v.local(kr::component{0}).global_begin == v.global_begin());
    for (int d = 0; d < 2; ++d)
      for (kr::side const s : {kr::side::low, kr::side::high}) {
        auto const end = v.global_begin()[d] + v.owned().end[d] - v.owned().begin[d];
        bool const is_last = s == kr::side::low ? v.global_begin()[d] == 0 : end == v.global_extents()[d];
        CHECK(v.is_wall(d, s) == (d == 1 && is_last));
      }
  });
  CHECK(recorder::runs == 1);
  REQUIRE(seen.size() == 4);
  std::int64_t cells = 0;
  for (int b = 0; b < 4; ++b) {
    kr::share const& s = f.local(kr::component{b});
    CHECK(seen[std::size_t(b)].global_begin == s.global_begin);
    cells += s.owned().size(2);
  }
  CHECK(km::sum(here.environment(), cells) == 24 * 30);
  touch<h>(f);
  f.require_invalid_data(views[2]);
  f.notify_data_modified(views[2]);
  CHECK(f.is_valid<h>(kr::region::owned, kr::component{2}));
  CHECK_FALSE(f.is_valid<h>(kr::region::owned, kr::component{1}));
  CHECK_FALSE(f.is_valid<h, keel::simulated>(kr::region::owned, kr::component{2}));
  f.run(want<0>{}), f.run(want<0>{}, kr::component{3});
  CHECK(f.is_valid<h>(kr::region::owned, kr::component{1}));
}

TEST_CASE("residency: what does not go with blocks is refused, on every rank") {
  run<km::mpi> here{host::name};
  kr::grid const g{{24, 30}, kr::ghost_width{1}, kr::blocks{4}};
  using fields = kr::fields<app_right, h>;
  CHECK(refuses([] { kr::grid{{9}, kr::blocks{0}}; }, "blocks{0} are refused (a rank has at least one)"));
  CHECK(
      refuses([&] { fields(here, kr::grid{{9, 8}, kr::ghost_width{2}, kr::blocks{35}}); },
              "cells cannot be cut into 35 blocks (each needs at least one cell, and as many as the ghosts are wide"));
  CHECK(refuses([&] { fields(here, g, kr::components{2}); }, "a grid in blocks is given with components"));
  CHECK(refuses([&] { fields(here, g, kr::further_grids{{g}}); }, "a grid in blocks is given with components"));
  CHECK(refuses([&] { kr::fields<app_right, wide>(here, kr::grid{{24, 24}, kr::blocks{25}}); },
                "block")); // too thin, or too many
  std::int64_t const mine[] = {here.environment().rank()};
  kr::partition<meshes::cells> const part{here.environment(), mine, std::span<std::int64_t const>()};
  CHECK(refuses([&] { fields(here, g, part); }, "a grid in blocks is given with the mesh cells"));
  fields f{here, g};
  fill<h>(f);
  CHECK(refuses([&] { f.run(kr::exchange<h>{}, kr::component{1}); }, "exchange is run for block 1 only"));
  auto const corner = [](auto v) { return v(h{})(v.owned().begin[0], v.owned().begin[1]); };
  using first = call<kr::reads<kr::owned<h>>>;
  CHECK(refuses([&] { (void)f.run(first{}, corner); }, "routine call returns a value, and is called for each block"));
  CHECK(f.run(first{}, kr::component{3}, corner) >= 0);
  CHECK(refuses([&] { f.run(want<1>{}); }, "routine want wants component 1 (it is called for each block"));
}

} // namespace blocked
