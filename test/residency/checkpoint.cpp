// SPDX-License-Identifier: MIT
// A run that goes on from a file has the bits of one that was not broken, on whatever ranks.
#include <keel/residency/fields.hpp>

#include "in_folder.hpp"
#include "meshes.hpp"
#include "run.hpp"
#include "spoil.hpp"

#include <keel/layout/partition.hpp>
#include <keel/machine/mpi.hpp>
#include <keel/machine/reductions.hpp>
#include <keel/residency/gather.hpp>
#include <keel/residency/loops.hpp>
#include <keel/residency/registry.hpp>
#include <keel/impl/store/read_file.hpp>
#include <keel/schedule/checkpoint.hpp>

#include <support/test.hpp>

#include <ctime>
#include <filesystem>
#include <fstream>

namespace checkpoints {

namespace kr = keel::residency;
namespace km = keel::machine;
using keel::test::message_of;
using test::meshes::cells;

struct app : test::meshes::app<Kokkos::LayoutRight, kr::on_device> {};
struct on_left : test::meshes::app<Kokkos::LayoutLeft, kr::on_host, kr::checked> {};

/// Of many ranks some numbers do.
std::vector<int> numbers_up_to(int ranks) {
  if (ranks > 3) return {3, ranks};
  std::vector<int> made;
  for (int n = 1; n <= ranks; ++n) made.push_back(n);
  return made;
}

/// Ranks of the test, some of them.
struct run : test::run<km::mpi> {
  run(int ranks, std::string_view device) : test::run<km::mpi>(device, ranks) {}
};

// Levels that only a later step reads, walls that only `fixed` keeps, elements on faces, along one dimension, on no
// grid, of a mesh, of several numbers; and what nobody reads again.
struct height : kr::variable<"height", double**, kr::levels<3>> {};
struct plate : kr::variable<"plate", double** [2], kr::levels<2>> {};
struct flux : kr::variable<"flux", float**, kr::at<kr::face<1>>> {};
struct width : kr::variable<"width", double*, kr::along<1>> {};
struct clock : kr::variable<"clock", std::int64_t, kr::off_grid> {};
struct age : kr::variable<"age", Kokkos::complex<double>* [3], kr::levels<2>, kr::on_mesh<cells>> {};
struct slope : kr::variable<"slope", double**> {};

constexpr std::int64_t nx = 11, ny = 14;

/// Where this rank's elements lie.
struct places {
  kr::partition<cells> c;
  kr::indices face, column; ///< global ones of the first that it owns
};

struct start : kr::routine<"start", kr::on_host,
                           kr::writes<kr::everywhere<height>, kr::everywhere<kr::past<height, 1>>,
                                      kr::everywhere<plate>, flux, width, clock, age>> {
  template <class V>
  static void run(V v, places const& at) {
    kr::partition<cells> const& c = at.c;
    auto const h = v(height{}), before = v(kr::past<height, 1>{});
    auto const p = v(plate{});
    auto const f = v(flux{});
    auto const w = v(width{});
    auto const a = v(age{});
    v(clock{})() = 1;
    auto const all = v.everywhere(), own = v.owned();
    auto const first = v.global_begin();
    for (auto i = all.begin[0]; i < all.end[0]; ++i)
      for (auto j = all.begin[1]; j < all.end[1]; ++j) {
        auto const x = first[0] + i - own.begin[0], y = (first[1] + j - own.begin[1] + ny) % ny;
        h(i, j) = double(x * 31 % 17) + 0.1 * double(y * 7 % 5), before(i, j) = 1 / (2. + double(x * y % 9 + x + 2));
        for (int k = 0; k < 2; ++k) p(i, j, k) = double(3 * x + y) / (k + 3);
      }
    auto const faces = v.owned(flux{});
    auto const first_face = at.face;
    for (auto i = faces.begin[0]; i < faces.end[0]; ++i)
      for (auto j = faces.begin[1]; j < faces.end[1]; ++j)
        f(i, j) = float((first_face[0] + i - faces.begin[0]) * 3 + (first_face[1] + j - faces.begin[1]) % ny) / 7;
    auto const columns = v.owned(width{});
    auto const first_column = at.column;
    for (auto j = columns.begin[0]; j < columns.end[0]; ++j)
      w(j) = 1 + double(first_column[0] + j - columns.begin[0]) / 16;
    for (auto e = c.owned().begin; e < c.owned().end; ++e)
      for (int k = 0; k < 3; ++k)
        a(e, k) = Kokkos::complex<double>(double(c.ids()[std::size_t(e)] % 101 + k),
                                          1. / double(c.ids()[std::size_t(e)] % 13 + 20));
  }
};
/// Each step reads what the one before left, with neighbours, of every variable.
struct forward
    : kr::routine<"forward", kr::on_device,
                  kr::reads<kr::past<height, 1>, kr::owned<kr::past<height, 2>>, kr::past<plate, 1>, kr::owned<width>>,
                  kr::updates<clock, kr::owned<flux>>, kr::writes<height, slope>> {
  template <class V>
  static void run(V v) {
    auto const h = v(height{}), d = v(slope{});
    auto const one = v(kr::past<height, 1>{}), two = v(kr::past<height, 2>{});
    auto const p = v(kr::past<plate, 1>{});
    auto const w = v(width{});
    auto const f = v(flux{});
    auto const c = v(clock{});
    kr::for_owned(
        v, KOKKOS_LAMBDA(int i, int j) {
          d(i, j) = one(i + 1, j) - one(i - 1, j);
          h(i, j) = 0.4 * one(i, j) + 0.1 * two(i, j) + 0.2 * (one(i, j + 1) + one(i, j - 1)) * w(j) + 0.01 * d(i, j) +
                    0.001 * (p(i + 1, j, 0) - p(i - 1, j, 1)) + 1e-3 * f(i, j + 1);
          f(i, j + 1) = float(0.5 * f(i, j + 1) + 0.25 * h(i, j)); // the upper one, which is owned
        });
    Kokkos::parallel_for("tick", Kokkos::RangePolicy(v.execution_space(), 0, 1), KOKKOS_LAMBDA(int) { c() += 3; });
  }
};
struct cool : kr::routine<"cool", kr::on_device, kr::reads<kr::past<plate, 1>, clock>, kr::writes<plate>> {
  template <class V>
  static void run(V v) {
    auto const p = v(plate{});
    auto const was = v(kr::past<plate, 1>{});
    auto const c = v(clock{});
    kr::for_owned(
        v, KOKKOS_LAMBDA(int i, int j) {
          for (int k = 0; k < 2; ++k)
            p(i, j, k) = 0.5 * was(i, j, k) + 0.125 * (was(i - 1, j, k) + was(i + 1, j, k)) + 1e-4 * double(c() % 10);
        });
  }
};
struct ripen : kr::routine<"ripen", kr::on_device, kr::reads<kr::past<age, 1>>, kr::writes<age>> {
  template <class V>
  static void run(V v) {
    auto const a = v(age{});
    auto const was = v(kr::past<age, 1>{});
    kr::for_owned(
        v, cells{}, KOKKOS_LAMBDA(int e) {
          for (int k = 0; k < 3; ++k) a(e, k) = was(e, k) * Kokkos::complex<double>(0.9, 0.1);
        });
  }
};
struct go_on : kr::schedule<kr::cycle<height, plate, age>, forward, cool, kr::fixed<plate>, ripen,
                            kr::exchange<height, age>, kr::fixed<height>, kr::exchange<plate>> {};
struct step : kr::schedule<go_on, kr::every<5, kr::checkpoint<"checkpoint-run">>> {};

template <class App>
using fields = kr::fields<App, height, plate, flux, width, clock, age, slope>;

/// Numbers for what the owned elements hold, whoever owns them.
struct look : kr::routine<"look", kr::on_host,
                          kr::reads<kr::owned<height>, kr::owned<kr::past<height, 1>>, kr::owned<plate>,
                                    kr::owned<flux>, clock, kr::owned<age>>> {
  template <class V>
  static std::array<std::uint64_t, 6> run(V v, places const& at) {
    kr::partition<cells> const& c = at.c;
    std::array<std::uint64_t, 6> sums{};
    auto const add = [&](std::size_t which, auto value, std::int64_t x, std::int64_t y) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, &value, sizeof(value));
      sums[which] += (bits ^ std::uint64_t(x * 1000 + y) * 0x9e3779b97f4a7c15U) * (2 * std::uint64_t(x * 77 + y) + 1);
    };
    auto const own = v.owned(), faces = v.owned(flux{});
    auto const first = v.global_begin(), first_face = at.face;
    for (auto i = own.begin[0]; i < own.end[0]; ++i)
      for (auto j = own.begin[1]; j < own.end[1]; ++j) {
        auto const x = first[0] + i - own.begin[0], y = first[1] + j - own.begin[1];
        add(0, v(height{})(i, j), x, y), add(1, v(kr::past<height, 1>{})(i, j), x, y);
        for (int k = 0; k < 2; ++k) add(2, v(plate{})(i, j, k), x + 100 * k, y);
      }
    for (auto i = faces.begin[0]; i < faces.end[0]; ++i)
      for (auto j = faces.begin[1]; j < faces.end[1]; ++j)
        add(3, v(flux{})(i, j), first_face[0] + i - faces.begin[0], (first_face[1] + j - faces.begin[1]) % ny);
    sums[4] = std::uint64_t(v(clock{})());
    for (auto e = c.owned().begin; e < c.owned().end; ++e)
      for (int k = 0; k < 3; ++k)
        add(5, v(age{})(e, k).real(), c.ids()[std::size_t(e)], k),
            add(5, v(age{})(e, k).imag(), c.ids()[std::size_t(e)], k + 3);
    return sums;
  }
};

template <class App>
struct model {
  run& on;
  test::meshes::graph graph;
  kr::partition<cells> c;
  fields<App> f;

  explicit model(run& r, std::int64_t columns = ny)
      : on(r), graph(test::meshes::random(60, r.environment().size(), 7)),
        c(r.environment(), graph.ids_of(r.environment().rank())),
        f(r, kr::grid{{nx, columns}, kr::ghost_width{2, 1}, kr::periodic{false, true}}, c) {}
  [[nodiscard]] places at() const {
    return {c, f.template local<flux>().global_begin, f.template local<width>().global_begin};
  }
  [[nodiscard]] std::array<std::uint64_t, 6> sums() {
    auto mine = f.run(look{}, at());
    auto const clock_here = mine[4];
    km::all_reduce(on.environment(), std::span(mine), [](std::uint64_t a, std::uint64_t b) { return a + b; });
    mine[4] = clock_here;
    return mine;
  }
};

TEST_CASE("a restart goes on with the bits of the unbroken run") {
  km::basic_environment<km::mpi> const world;
  test::in_folder const here(world);
  std::array<std::uint64_t, 6> expected{};
  auto const test_on = [&]<class App>(std::type_identity<App>, std::string_view device, int before, int after) {
    CAPTURE(device);
    CAPTURE(before);
    CAPTURE(after);
    {
      run some(before, device);
      if (some.environment().is_member()) {
        model<App> whole(some);
        whole.f.run(start{}, whole.at());
        whole.f.run(kr::exchange<height, plate, age>{});
        for (int n = 0; n < 9; ++n) whole.f.step(step{});
        expected = whole.sums();
      }
    }
    km::broadcast(world, std::span(expected), 0);
    run some(after, device);
    if (!some.environment().is_member()) return;
    model<App> again(some);
    again.f.template restart<step>("checkpoint-run");
    CHECK(again.f.steps() == 5);
    while (again.f.steps() < 9) again.f.step(go_on{});
    auto const found = again.sums();
    for (std::size_t k = 0; k < found.size(); ++k) {
      CAPTURE(k); // height, the level before, plate, flux, clock, age
      CHECK(found[k] == expected[k]);
    }
  };
  for (int const before : numbers_up_to(world.size()))
    for (int const after : numbers_up_to(world.size())) {
      test_on(std::type_identity<app>{}, "simulated", before, after);
      test_on(std::type_identity<app>{}, test::host::name, before, after);
      test_on(std::type_identity<on_left>{}, "simulated", before, after);
    }
}

TEST_CASE("a checkpoint has the levels and regions that change later bits, and no other") {
  km::basic_environment<km::mpi> const world;
  if (world.size() > 2) return; // as on two
  test::in_folder const here(world);
  run all(world.size(), test::host::name);
  auto const play = [&](auto const& between) {
    model<app> m(all);
    m.f.run(start{}, m.at());
    m.f.run(kr::exchange<height, plate, age>{});
    for (int n = 0; n < 3; ++n) m.f.step(go_on{});
    between(m.f);
    for (int n = 0; n < 4; ++n) m.f.step(go_on{});
    return m.sums();
  };
  auto const expected = play([](auto& f) { f.run(kr::checkpoint<"checkpoint-least">{}); });
  km::barrier(world);
  auto const file = kr::detail::read_file("checkpoint-least.h5");
  auto const compare = [&]<class X, int L>(kr::past<X, L> part) {
    auto const* const saved = file.dataset("/" + std::string(X::about.name) + "/" + std::to_string(L));
    for (kr::region const where : {kr::region::owned, kr::region::walls}) {
      if (where == kr::region::walls && !X::about.lies_on_grid) continue; // has none
      auto const found =
          play([&](auto& f) { test::spoil(f.template view<test::host>(part), f.template local<X>(), where); });
      bool const is_saved =
          saved != nullptr &&
          overlap(kr::region((*kr::detail::attribute_of<std::vector<std::int64_t>>(saved->attributes, "level"))[2]),
                  where);
      CAPTURE(X::about.name);
      CAPTURE(L);
      CAPTURE(kr::name_of(where));
      CHECK(is_saved == (found != expected));
    }
  };
  compare(kr::past<height, 0>{}), compare(kr::past<height, 1>{}), compare(kr::past<height, 2>{});
  compare(kr::past<plate, 0>{}), compare(kr::past<plate, 1>{}), compare(kr::past<age, 0>{}),
      compare(kr::past<age, 1>{});
  compare(kr::past<flux, 0>{}), compare(kr::past<width, 0>{}), compare(kr::past<clock, 0>{});
  compare(kr::past<slope, 0>{});
}

TEST_CASE("a user asks for checkpoints, and for a restart, of a program that has none") {
  km::basic_environment<km::mpi> const world;
  test::in_folder const here(world);
  int const ranks = world.size();
  std::array<std::uint64_t, 6> expected{};
  { // steps 2 and 4
    run every(ranks, "simulated");
    model<app> whole(every);
    kr::settings how;
    how.checkpoint_every = 2;
    whole.f.set(how);
    whole.f.run(start{}, whole.at());
    whole.f.run(kr::exchange<height, plate, age>{});
    for (int n = 0; n < 5; ++n) whole.f.step(go_on{});
    expected = whole.sums();
  }
  run again(ranks, "simulated");
  model<app> later(again);
  kr::settings how;
  how.restart = "checkpoint", how.checkpoint_before_end = 60;
  later.f.set(how);
  ::unsetenv("SLURM_JOB_END_TIME");
  CHECK(keel::test::refuses([&] { later.f.step(go_on{}); }, "SLURM_JOB_END_TIME is not set"));
  CHECK(later.f.steps() == 5);
  CHECK(later.sums() == expected);
  ::setenv("SLURM_JOB_END_TIME", std::to_string(std::time(nullptr) + 30).c_str(), 1);
  later.f.step(go_on{});
  later.f.step(go_on{}); // one is enough
  ::unsetenv("SLURM_JOB_END_TIME");
  later.f.restart("checkpoint.previous");
  CHECK(later.f.steps() == 4);
  later.f.restart("checkpoint");
  CHECK(later.f.steps() == 6);
  // A program that counts asks before its first step.
  run counts(ranks, "simulated");
  model<app> at_once(counts), anew(counts);
  CHECK_FALSE(anew.f.restart<go_on>());
  how.checkpoint_before_end = {};
  at_once.f.set(how);
  CHECK(at_once.f.restart<go_on>());
  CHECK(at_once.f.steps() == 6);
  CHECK_FALSE(at_once.f.restart<go_on>());
  at_once.f.step(go_on{});
  CHECK(at_once.f.steps() == 7);
  kr::registry<app> registered(counts);
  CHECK_FALSE(registered.restart());
}

struct trusting : test::application<keel::list<test::host>, kr::off, Kokkos::LayoutRight, km::mpi> {
  using exchange = kr::on_host;
};
struct count_up : kr::routine<"count_up", kr::on_device, kr::updates<clock>> {
  template <class V>
  static void run(V v) {
    ++v(clock{})();
  }
};

TEST_CASE("a user asks for checkpoints of a program that calls its routines and records nothing") {
  km::basic_environment<km::mpi> const world;
  test::in_folder const here(world);
  run all(world.size(), test::host::name);
  kr::settings how;
  how.checkpoint_every = 2;
  {
    kr::fields<trusting, clock> f(all, kr::grid{{8}});
    f.set(how);
    for (int n = 0; n < 3; ++n) f.step(count_up{});
  }
  km::barrier(world);
  how = {}, how.restart = "checkpoint";
  kr::fields<trusting, clock> f(all, kr::grid{{8}});
  f.set(how);
  f.step(count_up{});
  CHECK(f.steps() == 3);
  CHECK(f.view<test::host>(clock{})() == 3);
}

struct water : kr::variable<"water", double*> {};
struct pour : kr::routine<"pour", kr::on_device, kr::writes<water>> {
  template <class V>
  static void run(V v, double by) {
    auto const w = v(water{});
    auto const own = v.owned();
    Kokkos::parallel_for(
        "pour", Kokkos::RangePolicy(v.execution_space(), own.begin[0], own.end[0]),
        KOKKOS_LAMBDA(int i) { w(i) = by; });
  }
};

TEST_CASE("what a device alone has comes to the host behind the step, as it was") {
  km::basic_environment<km::mpi> const world;
  test::in_folder const here(world);
  run all(world.size(), "simulated");
  kr::fields<app, water> f(all, kr::grid{{100000}});
  for (double const by : {1, 2, 3}) {
    f.run(pour{}, by);
    f.reset_traffic();
    f.run(kr::checkpoint<"checkpoint-water">{});
    for (int n = 4; n < 8; ++n) f.run(pour{}, n); // while it is copied
    CHECK(f.traffic().bytes(kr::way::to_host) == 0);
    CHECK_FALSE(f.is_valid<water, test::host>(kr::region::owned));
    f.restart("checkpoint-water");
    auto const whole = kr::gather(f, water{}, 0);
    CHECK(std::all_of(whole.data(), whole.data() + whole.size(), [&](double each) { return each == by; }));
  }
}

/// Reads what no step of `go_on` does.
struct steepest : kr::routine<"steepest", kr::on_host, kr::reads<kr::owned<slope>>> {
  template <class V>
  static void run(V) {}
};

TEST_CASE("what a later step reads and the last checkpoint left out is refused by name") {
  km::basic_environment<km::mpi> const world;
  test::in_folder const here(world);
  run all(world.size(), "simulated");
  {
    model<app> whole(all);
    whole.f.run(start{}, whole.at());
    whole.f.run(kr::exchange<height, plate, age>{});
    using once_only = kr::schedule<kr::checkpoint<"checkpoint-left">>;
    whole.f.step(once_only{}); // nothing reads anything later, and slope was not written yet
    whole.f.step(go_on{});
    whole.f.reserve(cells{}, whole.f.size(cells{}) + 9); // in new arrays what ran before still counts
    whole.f.step(once_only{});
  }
  model<app> again(all);
  CHECK(keel::test::refuses([&] { again.f.restart<steepest>("checkpoint-left"); }, "later steps read slope level 0"));
  again.f.restart<go_on>("checkpoint-left");
  CHECK(again.f.steps() == 3);
  again.f.run(go_on{});
  CHECK(keel::test::refuses([&] { again.f.restart("checkpoint-left"); },
                            "which is valid here and would keep its values"));
}

// What changes where elements are: blocks, patches, elements that move.
struct mass : kr::variable<"mass", double**> {};
struct spot : kr::variable<"spot", double* [2], kr::on_mesh<cells>> {};
using moving = kr::fields<app, mass, spot>;
using on_grid = kr::fields<app, mass>;
using blocked_fields = kr::fields<app, mass, clock>; // each block has the clock

struct fill : kr::routine<"fill", kr::on_device, kr::writes<mass>> {
  template <class V>
  static void run(V v) {
    for (int c = 0; c < v.components(); ++c) {
      auto const m = v(mass{}, kr::component{c});
      auto const own = v.local(kr::component{c}).owned();
      auto const first = v.local(kr::component{c}).global_begin;
      auto const x = first[0] - own.begin[0], y = first[1] - own.begin[1];
      Kokkos::parallel_for(
          "fill",
          Kokkos::RangePolicy<typename V::space>(v.execution_space(), std::size_t(own.begin[0]),
                                                 std::size_t(own.end[0])),
          KOKKOS_LAMBDA(std::size_t i) {
            for (auto j = own.begin[1]; j < own.end[1]; ++j)
              m(i, j) = 100 * double(x + std::int64_t(i)) + double(y + j) + 10000 * c;
          });
    }
  }
};
/// How many elements are not what `fill` makes, of components from number `first` on.
struct wrong : kr::routine<"wrong", kr::on_host, kr::reads<kr::owned<mass>>> {
  template <class V>
  static void run(V v, std::int64_t& bad) {
    for (int c = 0; c < v.components(); ++c) {
      auto const m = v(mass{}, kr::component{c});
      auto const own = v.local(kr::component{c}).owned();
      auto const first = v.local(kr::component{c}).global_begin;
      for (auto i = own.begin[0]; i < own.end[0]; ++i)
        for (auto j = own.begin[1]; j < own.end[1]; ++j)
          bad += m(i, j) == 100 * double(first[0] + i - own.begin[0]) + double(first[1] + j - own.begin[1]) + 10000 * c
                     ? 0
                     : 1;
    }
  }
};
struct set_clock : kr::routine<"set_clock", kr::on_host, kr::writes<clock>> {
  template <class V>
  static void run(V v) {
    v(clock{})() = 77;
  }
};
struct read_clock : kr::routine<"read_clock", kr::on_host, kr::reads<clock>> {
  template <class V>
  static std::int64_t run(V v) {
    return v(clock{})();
  }
};
template <bool Writes>
using spots = std::conditional_t<Writes, kr::writes<kr::owned<spot>>, kr::reads<kr::owned<spot>>>;
template <bool Writes>
struct visit : kr::routine<Writes ? "mark" : "compare", kr::on_host, spots<Writes>> {
  template <class V>
  static std::int64_t run(V v, std::span<std::int64_t const> ids) {
    auto const s = v(spot{});
    std::int64_t bad = 0;
    for (auto e = v.owned(cells{}).begin; e < v.owned(cells{}).end; ++e)
      for (int k = 0; k < 2; ++k) {
        double const value = double(ids[std::size_t(e)]) / 3 + k;
        if constexpr (Writes) s(e, k) = value;
        else bad += s(e, k) == value ? 0 : 1;
      }
    return bad;
  }
};

TEST_CASE("blocks, patches and elements that moved are as they were, on other ranks") {
  km::basic_environment<km::mpi> const world;
  test::in_folder const here(world);
  kr::grid const coarse{{12, 9}, kr::ghost_width{1}}, fine{{8, 10}, kr::ghost_width{1}};
  for (int const before : numbers_up_to(world.size()))
    for (int const after : numbers_up_to(world.size())) {
      CAPTURE(before);
      CAPTURE(after);
      run some(before, "simulated"), others(after, test::host::name);
      auto const mesh_on = [](run& r, int per_rank) {
        std::vector<std::int64_t> ids;
        for (int n = 0; n < per_rank; ++n) ids.push_back(17 * (n * r.environment().size() + r.environment().rank()));
        return kr::partition<cells>(r.environment(), ids);
      };
      if (some.environment().is_member()) {
        auto const& env = some.environment();
        blocked_fields blocked(some, kr::grid{{12, 9}, kr::ghost_width{1}, kr::blocks{2}});
        blocked.run(fill{});
        blocked.run(set_clock{});
        blocked.run(kr::checkpoint<"checkpoint-blocks">{});

        moving patched(some, coarse, mesh_on(some, 6));
        patched.run(visit<true>{}, patched.partition_of(cells{}).ids());
        std::vector<int> to(6);
        for (int n = 0; n < 6; ++n) to[std::size_t(n)] = (env.rank() * n) % env.size();
        patched.migrate(cells{}, to);
        patched.regrid({{coarse, 0, {}}, {fine, -1, {}}});
        patched.run(fill{});
        patched.run(kr::checkpoint<"checkpoint-patches">{});
      }
      km::barrier(world);
      if (others.environment().is_member()) {
        blocked_fields whole(others, kr::grid{{12, 9}, kr::ghost_width{1}, kr::blocks{3}});
        whole.restart("checkpoint-blocks");
        std::int64_t bad = 0;
        whole.run(wrong{}, bad);
        CHECK(bad == 0);
        for (int b = 0; b < 3; ++b) CHECK(whole.run(read_clock{}, kr::component{b}) == 77);
        moving patched(others, coarse, mesh_on(others, 1));
        patched.restart("checkpoint-patches");
        CHECK(patched.components() == 2);
        patched.run(wrong{}, bad);
        CHECK(bad == 0);
        CHECK(km::sum(others.environment(), patched.partition_of(cells{}).owned().end) == 6 * before);
        CHECK(patched.run(visit<false>{}, kr::component{0}, patched.partition_of(cells{}).ids()) == 0);
      }
      km::barrier(world);
    }
}

TEST_CASE("a checkpoint has what schedules read that the program goes on with and that did not run yet") {
  km::basic_environment<km::mpi> const world;
  test::in_folder const here(world);
  run all(world.size(), "simulated");
  kr::grid const g{{12, 9}, kr::ghost_width{1}};
  kr::settings how;
  how.checkpoint_every = 1;
  for (int n = 0; n < 2; ++n) { // the second one goes on from the first one's file
    on_grid f(all, g);
    f.set(how);
    CHECK(f.restart<fill, wrong>() == (n != 0));
    CHECK(f.is_valid<mass>(kr::region::owned) == (n != 0));
    f.step(fill{});
    how.restart = "checkpoint";
  }
  on_grid f(all, g);
  f.restart<wrong>("checkpoint");
  CHECK(f.steps() == 2);
}

// What a rank has of its own.
struct own_list : kr::variable<"own_list", int*, kr::off_grid, kr::without_checkpoint> {};
struct near : kr::variable<"near", int*, kr::on_mesh<cells>, kr::without_checkpoint> {};
using with_lists = kr::fields<app, spot, own_list, near>;
struct connect : kr::routine<"connect", kr::on_host, kr::writes<own_list, near>> {
  template <class V>
  static void run(V v, int rank) {
    v(own_list{})(0) = rank;
    for (auto e = v.owned(cells{}).begin; e < v.owned(cells{}).end; ++e) v(near{})(e) = int(e);
  }
};
struct follow : kr::routine<"follow", kr::on_host, kr::reads<own_list, kr::owned<near>>, kr::updates<kr::owned<spot>>> {
  template <class V>
  static void run(V v) {
    for (auto e = v.owned(cells{}).begin; e < v.owned(cells{}).end; ++e)
      v(spot{})(v(near{})(e), 0) += v(own_list{})(0) + 1;
  }
};

TEST_CASE("what a rank has of its own is in no checkpoint, and may be missing when it is read") {
  km::basic_environment<km::mpi> const world;
  test::in_folder const here(world);
  run all(world.size(), "simulated");
  int const rank = all.environment().rank();
  kr::partition<cells> const c(all.environment(), std::vector<std::int64_t>{2 * rank, 2 * rank + 1});
  {
    with_lists f(all, c, kr::extra<own_list>{1});
    f.run(visit<true>{}, c.ids());
    f.run(connect{}, rank);
    f.step(kr::schedule<follow, kr::checkpoint<"checkpoint-own">>{});
  }
  with_lists f(all, c, kr::extra<own_list>{1});
  f.restart<follow>("checkpoint-own");
  CHECK_FALSE(f.is_valid<near>(kr::region::owned));
  CHECK_FALSE(f.is_valid<own_list>());
  f.run(connect{}, rank);
  f.step(follow{});
  double expected = double(2 * rank + 1) / 3;
  for (int n = 0; n < 2; ++n) expected += rank + 1;
  CHECK(f.view<test::host>(spot{})(1, 0) == expected);
}

TEST_CASE("a registry goes on with what was valid, whoever owns the arrays") {
  km::basic_environment<km::mpi> const world;
  test::in_folder const here(world);
  for (int const before : numbers_up_to(world.size()))
    for (int const after : numbers_up_to(world.size())) {
      CAPTURE(before);
      CAPTURE(after);
      auto const on = [&](int ranks, auto const& f) {
        run some(ranks, "simulated");
        if (!some.environment().is_member()) return;
        auto const graph = test::meshes::random(40, ranks, 4);
        kr::partition<cells> const c(some.environment(), graph.ids_of(some.environment().rank()));
        Kokkos::View<float** [2], Kokkos::LayoutLeft, Kokkos::HostSpace> mine("mine", std::size_t(c.size()), 3);
        kr::registry<app> all(some, c);
        auto const q = all.template add<double**, cells>("q", kr::extents{4}, kr::levels<2>{});
        auto const h = all.template adopt<cells>("h", mine);
        auto const spare = all.template add<int*, cells>("spare");
        (void)all.template add<int*, cells>("own", kr::without_checkpoint{});
        f(all, c, q, h, spare, mine);
      };
      on(before, [](auto& all, auto const& c, auto q, auto h, auto, auto const& mine) {
        {
          auto const use = all.use("fill", kr::on_host{}, kr::writing{q, h, all.find("own")});
          auto const view = use.template view<double**>(q);
          for (std::int64_t e = 0; e < c.size(); ++e)
            for (int k = 0; k < 3; ++k)
              view(e, k) = double(c.ids()[std::size_t(e)]) + k / 4.,
                      mine(e, k, 1) = float(c.ids()[std::size_t(e)] % 99 + k);
        }
        all.cycle(q);
        all.checkpoint("checkpoint-registry");
      });
      km::barrier(world);
      on(after, [](auto& all, auto const& c, auto q, auto h, auto spare, auto const& mine) {
        all.restart("checkpoint-registry");
        CHECK_FALSE(all.is_valid(kr::on_host{}, spare));
        CHECK_FALSE(all.is_valid(kr::on_host{}, all.find("own").only(kr::region::owned)));
        CHECK_FALSE(all.is_valid(kr::on_host{}, q)); // the new level
        all.require_valid_data(kr::on_host{}, {q.past(1).only(kr::region::owned), h.only(kr::region::owned)});
        auto const view = all.template view<double**, test::host>(q.past(1));
        int bad = 0;
        for (std::int64_t e = 0; e < c.owned().end; ++e)
          for (int k = 0; k < 3; ++k)
            bad += view(e, k) == double(c.ids()[std::size_t(e)]) + k / 4. &&
                           mine(e, k, 1) == float(c.ids()[std::size_t(e)] % 99 + k)
                       ? 0
                       : 1;
        CHECK(bad == 0);
      });
      km::barrier(world);
    }
}

/// One byte of a file is another one, or all from there on are missing.
void damage(std::string const& path, std::uintmax_t at, bool cuts) {
  if (cuts) return std::filesystem::resize_file(path, at);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(std::streamoff(at));
  char const was = char(file.get());
  file.seekp(std::streamoff(at));
  file.put(char(was ^ 4));
}

TEST_CASE("a file that is not whole, or of another program, is refused by name on every rank") {
  km::basic_environment<km::mpi> const world;
  test::in_folder const here(world);
  run all(world.size(), "simulated");
  auto const& env = all.environment();
  kr::partition<cells> const c(env, std::vector<std::int64_t>{env.rank()});
  kr::grid const g{{12, 9}, kr::ghost_width{1}};
  moving f(all, g, c);
  f.run(fill{});
  f.run(visit<true>{}, c.ids());
  f.run(kr::checkpoint<"checkpoint-bad">{});
  f.run(kr::checkpoint<"checkpoint-bad">{});
  f.run(kr::checkpoint<"checkpoint-other">{}); // the one before is written
  auto const refused = [&](auto& by, std::string_view name, std::string_view words) {
    bool const is_refused = keel::test::refuses([&] { by.restart(name); }, words);
    CHECK(km::min(env, is_refused ? 1 : 0) == 1);
  };
  km::barrier(env);
  refused(f, "checkpoint-none", "checkpoint-none.h5");
  std::string const path = "checkpoint-bad.h5";
  { // the fields wait for what they write
    moving before(all, g, c);
    before.run(fill{});
    before.run(visit<true>{}, c.ids());
    before.run(kr::checkpoint<"checkpoint-bad-2">{});
  }
  km::barrier(env);
  if (env.is_master()) {
    std::filesystem::copy_file("checkpoint-bad-2.h5", "checkpoint-bad-2.previous.h5",
                               std::filesystem::copy_options::overwrite_existing);
    damage("checkpoint-bad-2.h5", std::filesystem::file_size("checkpoint-bad-2.h5") - 9, true);
  }
  km::barrier(env);
  refused(f, "checkpoint-bad-2", "checkpoint-bad-2.previous");
  f.restart("checkpoint-bad-2.previous");
  std::int64_t bad = 0;
  f.run(wrong{}, bad);
  CHECK(bad == 0);
  moving larger(all, kr::grid{{13, 9}, kr::ghost_width{1}}, c);
  refused(larger, "checkpoint-bad-2.previous", "its grid is 12 x 9, the fields' is 13 x 9");
  on_grid fewer(all, g);
  refused(fewer, "checkpoint-other", "it has a variable spot");
  moving other(all, g, kr::partition<cells>(env, std::vector<std::int64_t>{env.rank() + 100}));
  refused(other, "checkpoint-other", "mesh cells has other elements");
  // A byte of the data.
  std::int64_t offset = 0;
  if (env.is_master()) offset = kr::detail::read_file("checkpoint-other.h5").dataset("/mass/0")->offset;
  km::barrier(env);
  if (env.is_master()) damage("checkpoint-other.h5", std::uintmax_t(offset + 40), false);
  km::barrier(env);
  refused(f, "checkpoint-other", "its checksum is wrong");
  CHECK_FALSE(f.is_valid<mass>(kr::region::owned));
}

} // namespace checkpoints
