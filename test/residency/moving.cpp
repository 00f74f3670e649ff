// SPDX-License-Identifier: MIT
// Meshes that are cut anew, arrays that change their size, elements that move.
#include <keel/exchange/transport.hpp>
#include <keel/residency/fields.hpp>

#include "meshes.hpp"
#include "routines.hpp"
#include "run.hpp"

#include <keel/layout/partition.hpp>
#include <keel/impl/residency/join.hpp>
#include <keel/machine/mpi.hpp>
#include <keel/machine/reductions.hpp>
#include <keel/residency/loops.hpp>

#include <doctest/doctest.h>
#include <support/message_of.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace moving {

namespace kr = keel::residency;
namespace km = keel::machine;
using keel::test::message_of, keel::test::refuses;

using test::meshes::app;
using test::meshes::cells;
using test::meshes::edges;
using test::meshes::graph;

using right = app<Kokkos::LayoutRight, kr::on_host>;
using left = app<Kokkos::LayoutLeft, kr::on_device>;
using checking = app<Kokkos::LayoutRight, kr::on_host, kr::checked>;

struct h : kr::variable<"h", double**, kr::levels<2>, kr::on_mesh<cells>> {
  using mesh = cells;
};
struct un : kr::variable<"un", float***, kr::levels<3>, kr::on_mesh<edges>> {
  using mesh = edges;
};
struct mask : kr::variable<"mask", std::int8_t*, kr::on_mesh<cells>> {};
struct area : kr::variable<"area", double*, kr::on_mesh<cells>, kr::without_ghosts> {};
struct q : kr::variable<"q", double**, kr::levels<2>, kr::on_mesh<cells>> {};
struct eta : kr::variable<"eta", double**> {};
template <class App>
using fields = kr::fields<App, h, un, mask, area, q, eta>;

template <class View>
KEEL_FUNCTION auto& element(View const& view, std::int64_t i, int k) {
  if constexpr (View::rank == 1) return view(i);
  else if constexpr (View::rank == 2) return view(i, k);
  else return view(i, k / int(view.extent(2)), k % int(view.extent(2)));
}
template <class View>
KEEL_FUNCTION int inner_of(View const& view) {
  int count = 1;
  for (int d = 1; d < int(View::rank); ++d) count *= int(view.extent(d));
  return count;
}
template <class T>
T value_of(std::int64_t id, int k, int stamp) {
  return T(sizeof(T) == 1 ? (id + stamp) % 50 : id % 100003 * 4 + k + 1000 * stamp);
}

/// Owned elements from their ids.
template <class X>
struct fill : kr::routine<"fill", kr::on_host, kr::writes<X>> {
  template <class V, class P>
  static void run(V v, P const& part, int const& stamp) {
    auto const x = v(X{});
    for (auto i = part.owned().begin; i < part.owned().end; ++i)
      for (int k = 0; k < inner_of(x); ++k)
        element(x, i, k) = value_of<typename decltype(x)::value_type>(part.ids()[std::size_t(i)], k, stamp);
  }
};
/// Leaves what is there valid only on the device.
template <class X>
struct on_device : kr::routine<"on_device", kr::on_device, kr::updates<kr::owned<X>>> {
  template <class V>
  static void run(V v) {
    auto const x = v(X{});
    kr::for_owned(
        v, typename kr::detail::item<X>::variable::mesh{}, KOKKOS_LAMBDA(int i) {
          for (int k = 0; k < inner_of(x); ++k) element(x, i, k) += 0;
        });
  }
};
/// Elements with other values than their ids say, of the first `inner` numbers of each.
template <class X, class Reads, bool WithGhosts>
struct count_wrong : kr::routine<"count_wrong", kr::on_host, kr::reads<Reads>> {
  template <class V, class P>
  static std::int64_t run(V v, P const& part, int const& stamp, int const& inner) {
    auto const x = v(X{});
    using number = typename decltype(x)::non_const_value_type;
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < (WithGhosts ? part.size() : part.owned().end); ++i)
      for (int k = 0; k < inner; ++k)
        count += element(x, i, k) == value_of<number>(part.ids()[std::size_t(i)], k, stamp) ? 0 : 1;
    return count;
  }
};
template <class X>
using wrong = count_wrong<X, kr::owned<X>, false>;
template <class X>
using wrong_with_ghosts = count_wrong<X, X, true>;

/// Counts wrong numbers of `past<un, 1>`, 3 in each row before, in columns `begin` to `end`: later ones are zeros.
struct wrong_rows : kr::routine<"wrong_rows", kr::on_host, kr::reads<kr::owned<kr::past<un, 1>>>> {
  template <class V>
  static std::int64_t run(V v, kr::partition<edges> const& part, int const& stamp, int const& end, int const& begin) {
    auto const x = v(kr::past<un, 1>{});
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < part.owned().end; ++i)
      for (int row = 0; row < 2; ++row)
        for (int k = begin; k < end; ++k)
          count += x(i, row, k) == (begin != 0 ? 0 : value_of<float>(part.ids()[std::size_t(i)], 3 * row + k, stamp))
                       ? 0
                       : 1;
    return count;
  }
};

/// A step that leaves the values as they are.
struct copied : kr::routine<"copied", kr::on_device, kr::reads<kr::past<q, 1>>, kr::writes<q>> {
  template <class V>
  static void run(V v) {
    auto const before = v(kr::past<q, 1>{});
    auto const x = v(q{});
    kr::for_owned(v, cells{}, KOKKOS_LAMBDA(int i) { x(i, 0) = before(i, 0), x(i, 1) = before(i, 1); });
  }
};
struct step : kr::schedule<kr::cycle<q>, copied, kr::exchange<q>> {};

/// Two meshes that are cut at random: `seed` 0 gives all to the last rank.
struct cut_meshes {
  kr::partition<cells> c;
  kr::partition<edges> e;
};
template <class Environment>
cut_meshes cut(Environment const& env, graph g, unsigned seed) {
  std::mt19937 draw(seed);
  for (int& owner : g.owners) owner = seed == 0 ? env.size() - 1 : int(draw() % unsigned(env.size()));
  g.layers = 1 + int(seed % 2), g.has_own_ghosts = seed % 3 == 1;
  kr::partition<cells> const c(env, g.ids_of(env.rank()));
  return {c, {env, kr::owned_through<edges>(c, g.cells_on_edges())}};
}

template <class App>
void check_all(fields<App>& f, cut_meshes const& m) {
  CHECK(f.size(cells{}) == m.c.size());
  CHECK(f.run(wrong<h>{}, m.c, 2, 3) == 0);
  CHECK(f.run(wrong<kr::past<h, 1>>{}, m.c, 1, 3) == 0);
  CHECK(f.run(wrong<un>{}, m.e, 3, 6) == 0);
  CHECK(f.run(wrong<kr::past<un, 1>>{}, m.e, 2, 6) == 0);
  CHECK(f.run(wrong<kr::past<un, 2>>{}, m.e, 1, 6) == 0);
  CHECK(f.run(wrong<mask>{}, m.c, 1, 1) == 0);
  CHECK(f.run(wrong<area>{}, m.c, 1, 1) == 0);
}

template <class App>
void fill_all(fields<App>& f, cut_meshes const& m) {
  f.run(fill<h>{}, m.c, 1), f.run(kr::cycle<h>{}), f.run(fill<h>{}, m.c, 2);
  for (int stamp : {1, 2, 3}) {
    if (stamp != 1) f.run(kr::cycle<un>{});
    f.run(fill<un>{}, m.e, stamp);
  }
  f.run(fill<mask>{}, m.c, 1), f.run(fill<area>{}, m.c, 1);
  f.run(fill<q>{}, m.c, 4), f.run(kr::exchange<q>{});
  f.run(test::call<kr::writes<eta>>{},
        [](auto v) { kr::for_owned(v, [x = v(eta{})](int i, int j) { x(i, j) = i + j; }); });
}

template <class App>
void repartition_all(std::string_view device) {
  test::run<km::mpi> run{device};
  auto const& env = run.environment();
  for (graph const& g : {test::meshes::hexagons(12, 10, env.size()), test::meshes::random(60, env.size(), 1),
                         test::meshes::random(1, 1, 5)}) {
    CAPTURE(g.name);
    cut_meshes m = cut(env, g, 1);
    fields<App> f{
        run, kr::grid{{8, 8}, kr::ghost_width{1}}, m.c, m.e, kr::extra<h>{3}, kr::extra<q>{2}, kr::extra<un>{2, 3}};
    fill_all(f, m);
    f.run(on_device<h>{}), f.run(on_device<kr::past<un, 1>>{});
    for (unsigned seed = 2; seed < 9; ++seed) {
      m = cut(env, g, seed == 5 ? 0 : seed);
      f.repartition(m.c, m.e);
      CHECK_FALSE(f.template is_valid<h>(kr::region::halo));
      check_all(f, m);
      f.run(kr::exchange<h, un, mask, q, eta>{});
      CHECK(f.run(wrong_with_ghosts<h>{}, m.c, 2, 3) == 0);
      CHECK(f.run(wrong_with_ghosts<un>{}, m.e, 3, 6) == 0);
      CHECK(f.run(wrong_with_ghosts<mask>{}, m.c, 1, 1) == 0);
      f.step(step{}), f.step(step{});
      CHECK(f.run(wrong_with_ghosts<q>{}, m.c, 4, 2) == 0);
    }
  }
}

template <class App>
void resize_all(std::string_view device) {
  test::run<km::mpi> run{device};
  auto const& env = run.environment();
  cut_meshes const m = cut(env, test::meshes::random(60, env.size(), 1), 1);
  fields<App> f{
      run, kr::grid{{8, 8}, kr::ghost_width{1}}, m.c, m.e, kr::extra<h>{3}, kr::extra<q>{2}, kr::extra<un>{2, 3}};
  fill_all(f, m);
  f.run(on_device<h>{}), f.run(on_device<kr::past<un, 1>>{});
  f.run(kr::exchange<h>{});
  int least = 3;
  for (int const n : {5, 2, 1, 4}) {
    f.resize(kr::extra<h>{n}, kr::extra<un>{2, n});
    least = std::min(least, n);
    CHECK(f.run(wrong_with_ghosts<h>{}, m.c, 2, least) == 0);
    CHECK(f.run(wrong<kr::past<h, 1>>{}, m.c, 1, least) == 0);
    CHECK(f.run(wrong_rows{}, m.e, 2, least, 0) == 0);
    if (n > least) CHECK(f.run(wrong_rows{}, m.e, 2, n, least) == 0);
  }
  f.run(kr::exchange<h, un, mask, eta>{});
  CHECK(f.run(wrong_with_ghosts<h>{}, m.c, 2, 1) == 0);
}

struct atoms : kr::mesh<"atoms"> {};
struct at : kr::variable<"at", double* [3], kr::levels<2>, kr::on_mesh<atoms>> {
  using mesh = atoms;
};
struct charge : kr::variable<"charge", float*, kr::on_mesh<atoms>> {
  using mesh = atoms;
};
struct goes_to : kr::variable<"goes_to", int*, kr::on_mesh<atoms>, kr::without_ghosts> {};
/// Where an atom goes in a step.
KEEL_FUNCTION inline int rank_of(std::int64_t id, int step, int ranks, int spread) {
  std::uint64_t const x = std::uint64_t(id * 7 + step) * 0x9e3779b97f4a7c15U;
  return spread == 0 ? ranks - 1 : int((x >> 33) % std::uint64_t(spread)) % ranks;
}

template <class App>
void migrate_all(std::string_view device) {
  test::run<km::mpi> run{device};
  auto const& env = run.environment();
  std::vector<std::int64_t> owned;
  for (std::int64_t id = env.rank(); id < 100; id += env.size()) owned.push_back(id * 1'000'003 - 7);
  kr::fields<App, at, charge, goes_to> f{run, kr::partition<atoms>{env, owned}};
  auto part = f.partition_of(atoms{});
  f.run(fill<at>{}, part, 1), f.run(kr::cycle<at>{}), f.run(fill<at>{}, part, 2), f.run(fill<charge>{}, part, 3);
  for (int step = 0; step < 12; ++step) {
    if (step % 3 == 1) f.run(on_device<at>{}), f.run(on_device<charge>{});
    int const spread = step % 5 == 4 ? 0 : 64;
    std::vector<int> ranks;
    for (std::int64_t const id : part.ids().first(std::size_t(part.owned().end)))
      ranks.push_back(rank_of(id, step, env.size(), spread));
    std::int64_t away = 0;
    for (int const r : ranks) away += r != env.rank() ? 1 : 0;
    f.reset_traffic();
    if (step % 2 == 0) f.migrate(atoms{}, ranks);
    else {
      Kokkos::View<int*, Kokkos::HostSpace> view("ranks", ranks.size());
      std::copy(ranks.begin(), ranks.end(), view.data());
      f.migrate(atoms{}, view);
    }
    CHECK(f.traffic().bytes(kr::way::to_neighbours) == std::uint64_t(away) * (2 * 24 + 4));
    part = f.partition_of(atoms{});
    CHECK(part.size() == part.owned().end);
    CHECK(f.size(atoms{}) == part.size());
    CHECK(km::sum(env, part.size()) == 100);
    std::int64_t strangers = 0;
    for (std::int64_t const id : part.ids()) strangers += rank_of(id, step, env.size(), spread) != env.rank();
    CHECK(strangers == 0);
    auto const check = [&] {
      CHECK(f.run(wrong<at>{}, part, 2, 3) == 0);
      CHECK(f.run(wrong<kr::past<at, 1>>{}, part, 1, 3) == 0);
      CHECK(f.run(wrong<charge>{}, part, 3, 1) == 0);
    };
    check();
    if (step % 4 == 2) { // with ghosts: those of the next rank
      std::vector<std::int64_t> ghosts;
      for (std::int64_t id = 0; id < 100; ++id)
        if (rank_of(id * 1'000'003 - 7, step, env.size(), spread) == (env.rank() + 1) % env.size())
          ghosts.push_back(id * 1'000'003 - 7);
      f.repartition(kr::partition<atoms>{env, part.ids(), ghosts});
      part = f.partition_of(atoms{});
      check();
      f.run(kr::exchange<at, charge>{});
      CHECK(f.run(wrong_with_ghosts<at>{}, part, 2, 3) == 0);
      CHECK(f.run(wrong_with_ghosts<charge>{}, part, 3, 1) == 0);
    }
  }
}

/// Ranks on which a wait for messages fails when it has ended.
struct failing : km::mpi {
  static inline int left = 0; ///< waits until one fails
  struct requests : km::mpi::requests {
    void wait() {
      km::mpi::requests::wait();
      if (left > 0 && --left == 0) throw keel::error("test", "messages are lost");
    }
  };
};
struct app_of_failing : test::application<test::meshes::devices, kr::automatic, Kokkos::LayoutRight, failing> {
  using exchange = kr::on_host;
  using transports = keel::list<kr::staged>;
};

TEST_CASE("residency: values go by their ids to the new owners of a mesh") {
  for (std::string_view const device : {test::host::name, std::string_view("simulated")}) {
    CAPTURE(device);
    repartition_all<right>(device);
    repartition_all<left>(device);
    repartition_all<checking>(device);
  }
}

TEST_CASE("residency: what stays of arrays that change their lengths stays valid") {
  for (std::string_view const device : {test::host::name, std::string_view("simulated")}) {
    CAPTURE(device);
    resize_all<right>(device), resize_all<left>(device), resize_all<checking>(device);
  }
}

TEST_CASE("residency: elements move to other ranks with all their values") {
  for (std::string_view const device : {test::host::name, std::string_view("simulated")}) {
    CAPTURE(device);
    migrate_all<right>(device), migrate_all<left>(device), migrate_all<checking>(device);
  }
}

TEST_CASE("residency: elements move with the values of all components") {
  test::run<km::mpi> run{"simulated"};
  auto const& env = run.environment();
  std::vector<std::int64_t> owned(5);
  for (std::size_t i = 0; i < owned.size(); ++i) owned[i] = std::int64_t(i) * env.size() + env.rank();
  kr::partition<atoms> part{env, owned};
  kr::fields<left, at, charge> f{run, part, kr::components{2}};
  for (int c : {0, 1}) f.run(fill<at>{}, kr::component{c}, part, c + 1);
  f.run(on_device<at>{}, kr::component{1});
  f.migrate(atoms{}, std::vector<int>(5, 0));
  part = f.partition_of(atoms{});
  CHECK(part.size() == (env.rank() == 0 ? 5 * env.size() : 0));
  for (int c : {0, 1}) CHECK(f.run(wrong<at>{}, kr::component{c}, part, c + 1, 3) == 0);
}

TEST_CASE("residency: elements that are new, or partitions of other ranks") {
  test::run<km::mpi> run{"simulated"};
  auto const& env = run.environment();
  std::int64_t const mine = 10 * env.rank();
  std::vector<std::int64_t> owned{mine, mine + 1, mine + 2}, fewer{mine + 2, mine};
  kr::partition<cells> const c{env, owned};
  kr::fields<checking, h, mask> f{run, c, kr::extra<h>{1}};
  f.run(fill<h>{}, c, 1);
  // Fewer: those that stay are valid. What was valid nowhere stays so.
  kr::partition<cells> const less{env, fewer};
  f.repartition(less);
  CHECK(f.run(wrong<h>{}, less, 1, 1) == 0);
  CHECK_FALSE(f.is_valid<mask>(kr::region::owned));
  // Errors change nothing.
  auto const unchanged = [&](auto const& call, std::string_view text) {
    CHECK(message_of(call).find(text) != std::string::npos);
    CHECK(f.run(wrong<h>{}, less, 1, 1) == 0);
    CHECK(f.size(cells{}) == 2);
  };
  unchanged([&] { f.migrate(cells{}, std::vector<int>(2, env.rank() == env.size() - 1 ? env.size() : 0)); },
            "goes to rank " + std::to_string(env.size()) + " (there are");
  unchanged([&] { f.migrate(cells{}, std::vector<int>(env.rank() == 0 ? 1 : 2)); }, "1 destinations are too few");
  unchanged([&] { f.resize(kr::extra<h>{env.rank() == 0 ? -1 : 2}); }, "has -1 elements");
  unchanged([&] { f.resize(kr::extra<h>{2, 3}); }, "resize gets 2 lengths");
  unchanged([&] { f.resize(kr::extra<h>{std::int64_t(1) << 61}); }, "variable h cannot have");
  unchanged([&] { f.reserve(cells{}, env.rank() == 0 ? -1 : 10); }, "gets room for -1 elements");
  unchanged([&] { f.reserve(cells{}, std::int64_t(1) << 61); }, "variable h cannot have");
  if (env.size() > 1) unchanged([&] { f.resize(kr::extra<h>{1 + env.rank()}); }, "the lengths differ between ranks");
  unchanged([&] { f.repartition(kr::partition<edges>{env, owned}); }, "the mesh edges is not there");
  if (env.size() > 1) {
    km::environment const first{env, km::first{env.size() - 1}};
    kr::partition<cells> const other{first, owned};
    unchanged([&] { f.repartition(other); }, "partition of cells was made on another environment");
    CHECK(refuses([&] { kr::fields<checking, h> const g{run, other, kr::extra<h>{1}}; },
                  "partition of cells was made on another environment"));
  }
  unchanged([&] { f.reserve(cells{}, env.rank() == 0 ? std::int64_t(1) << 50 : 10); }, "reserve is not done (rank 0: ");
  // A new one: the mesh has it, and its variables are valid nowhere.
  if (env.rank() == 0) fewer.push_back(-5);
  kr::partition<cells> const more{env, fewer};
  f.repartition(more);
  CHECK(f.size(cells{}) == more.size());
  CHECK(refuses([&] { f.run(wrong<h>{}, more, 1, 1); }, "repartition found no values for some of it"));
  f.run(fill<h>{}, more, 4);
  CHECK(f.run(wrong<h>{}, more, 4, 1) == 0);
}

/// Each rank owns two cells, rank 0 gets a third one, and each a fourth.
template <class App>
void check_new_elements(std::string_view device, bool stays_in_place) {
  test::run<km::mpi> run{device};
  auto const& env = run.environment();
  std::vector<std::int64_t> ids{10 * env.rank(), 10 * env.rank() + 1};
  kr::fields<App, h, mask, q> f{run, kr::partition<cells>{env, ids}, kr::extra<h, q>{3}};
  if (stays_in_place) f.reserve(cells{}, 10);
  kr::partition<cells> const before{env, ids};
  f.run(fill<h>{}, before, 1), f.run(fill<mask>{}, before, 1), f.run(fill<q>{}, before, 1);
  f.run(kr::cycle<h>{}), f.run(fill<h>{}, before, 2);
  ids.insert(ids.begin(), 10 * env.rank() + 3);
  if (env.rank() == 0) ids.push_back(2);
  kr::partition<cells> const after{env, ids};
  Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> rows("rows", ids.size(), 3);
  for (std::size_t i = 0; i < ids.size(); ++i)
    for (int k = 0; k < 3; ++k) rows(i, k) = value_of<double>(ids[i], k, 7);
  CHECK(refuses([&] { f.repartition(after, kr::initial<h>{Kokkos::subview(rows, std::pair(1, 2), Kokkos::ALL)}); },
                "gets 1 rows of values"));
  CHECK(refuses([&] { f.repartition(after, kr::initial<h>{Kokkos::subview(rows, Kokkos::ALL, std::pair(0, 2))}); },
                "the rows of h have 2 elements in dimension 1"));
  CHECK(f.run(wrong<h>{}, before, 2, 0) == 0);
  f.repartition(after, kr::initial<h>{rows}, kr::initial<mask>{std::int8_t{5}});
  auto const check = [&](auto x, auto const& wanted) {
    int bad = 0;
    f.run(test::call<kr::reads<kr::owned<decltype(x)>>>{}, [&](auto v) {
      auto const a = v(x);
      for (std::size_t i = 0; i < ids.size(); ++i)
        for (int k = 0; k < inner_of(a); ++k) {
          bool const is_new = ids[i] % 10 > 1;
          bad += element(a, std::int64_t(i), k) != wanted(ids[i], k, is_new) ? 1 : 0;
        }
    });
    CHECK(bad == 0);
  };
  check(h{}, [](std::int64_t id, int k, bool is_new) { return value_of<double>(id, k, is_new ? 7 : 2); });
  check(kr::past<h, 1>{}, [](std::int64_t id, int k, bool is_new) { return value_of<double>(id, k, is_new ? 7 : 1); });
  check(mask{}, [](std::int64_t id, int, bool is_new) { return is_new ? 5 : value_of<std::int8_t>(id, 0, 1); });
  std::string const text = message_of([&] { f.run(wrong<q>{}, after, 1, 0); });
  CHECK_MESSAGE(text.find("its mesh got elements without values, or the levels cycled since). Give repartition an "
                          "initial<...> of it, or write it first.") != text.npos,
                text);
  // Where there was nothing, all elements are new.
  kr::fields<App, mask> none{run, kr::partition<cells>{env, std::vector<std::int64_t>{}}};
  none.repartition(after, kr::initial<mask>{std::vector<std::int8_t>(ids.size(), 9)});
  CHECK(none.template is_valid<mask>(kr::region::owned));
}

TEST_CASE("residency: elements that are new get the values that are given, and the others keep theirs") {
  check_new_elements<right>(test::host::name, false);
  check_new_elements<left>("simulated", false);
  check_new_elements<left>("simulated", true);
  check_new_elements<right>("simulated", true);
}

TEST_CASE("residency: fields of other options than those of other ranks are refused on every rank") {
  test::run<km::mpi> run{test::host::name};
  auto const& env = run.environment();
  if (env.size() == 1) return;
  int const me = env.rank() == env.size() - 1 ? 1 : 0;
  kr::grid const whole{{40, 40}, kr::ghost_width{1}};
  auto const differ = [&](std::string_view what, auto const&... options) {
    CHECK(refuses([&] { kr::fields<right, eta> const f(run, options...); },
                  "keel::residency::fields: the fields are not made (the " + std::string(what) +
                      " differ between ranks). Give the same on every rank."));
  };
  differ("extents of the grid", kr::grid{{40 + me, 40}, kr::ghost_width{1}});
  differ("ghost widths", kr::grid{{40, 40}, kr::ghost_width{1, 1 + me}});
  differ("periodic dimensions", kr::grid{{40, 40}, kr::periodic{false, me == 0}});
  differ("ranks_in", me == 0 ? whole : kr::grid{{40, 40}, kr::ghost_width{1}, kr::ranks_in{1, env.size()}});
  differ("blocks", kr::grid{{40, 40}, kr::blocks{1 + me}});
  differ("numbers of components", whole, kr::components{me});
  differ("numbers of components", whole, kr::further_grids{std::vector<kr::grid>(std::size_t(1 + me), whole)});
  differ("ghost widths", whole, kr::further_grids{{kr::grid{{8, 40}, kr::ghost_width{me}}}});
  std::vector<std::int64_t> const ids{3 * env.rank(), 3 * env.rank() + 1}, others{ids[1], ids[0]};
  kr::partition<cells> const c{env, ids}, c2{env, others};
  for (int const n : {-1, 3, 4000})
    CHECK(refuses([&] { kr::fields<right, h> const f(run, c, kr::extra<h>{me == 0 ? 2 : n}); },
                  "(the lengths differ between ranks)"));
  CHECK(refuses([&] { kr::fields<right, h> const f(run, me == 0 ? c : c2, kr::extra<h>{2}); },
                "(the partitions differ between ranks)"));
  kr::fields<right, h> f{run, c, kr::extra<h>{2}};
  CHECK(refuses([&] { f.repartition(me == 0 ? c : c2); }, "repartition is not done (the partitions differ"));
  f.repartition(c2);
}

TEST_CASE("residency: if messages fail after ranks were connected anew, all ranks stay with what they had") {
  test::run<failing> run{test::host::name};
  auto const& env = run.environment();
  auto const with_ghosts_of = [&](int distance) { // of the rank at that distance
    auto const owned = [&](int rank) { return std::vector<std::int64_t>{2 * rank, 2 * rank + 1}; };
    return kr::partition<cells>{env, owned(env.rank()), owned((env.rank() + distance) % env.size())};
  };
  auto const old = with_ghosts_of(1), next = with_ghosts_of(2);
  kr::fields<app_of_failing, mask> f{run, old};
  auto const check = [&](auto const& part) {
    f.run(kr::exchange<mask>{});
    CHECK(f.run(wrong_with_ghosts<mask>{}, part, 1, 1) == 0);
  };
  f.run(fill<mask>{}, old, 1);
  check(old);
  // The last waits: of the second round in which ways are tried, and for elements.
  constexpr int many = 1000;
  failing::left = many;
  f.repartition(next);
  int const waits = many - std::exchange(failing::left, 0);
  check(next);
  if (env.size() == 1) return; // no messages
  for (int n = std::max(waits - 1, 1); n <= waits; ++n) {
    f.repartition(old);
    failing::left = env.rank() == env.size() - 1 ? n : 0;
    CHECK(message_of([&] { f.repartition(next); }).find("repartition is not done (rank") != std::string::npos);
    check(old);
  }
}

} // namespace moving
