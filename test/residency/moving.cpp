// SPDX-License-Identifier: MIT
// Meshes that are cut anew, arrays that change their size, elements that move.
#include <keel/exchange/transport.hpp>

#include "model.hpp"

#include <keel/impl/residency/join.hpp>

namespace moving {

using namespace test;
using meshes::cells, meshes::edges;

struct h : kr::variable<"h", double**, kr::levels<2>, kr::on_mesh<cells>> {};
struct un : kr::variable<"un", float***, kr::levels<3>, kr::on_mesh<edges>> {};
struct mask : kr::variable<"mask", std::int8_t*, kr::on_mesh<cells>> {};
struct area : kr::variable<"area", double*, kr::on_mesh<cells>, kr::without_ghosts> {};
struct q : kr::variable<"q", double**, kr::levels<2>, kr::on_mesh<cells>> {};
struct eta : kr::variable<"eta", double**> {};
struct deep : kr::variable<"deep", float********, kr::off_grid> {};

/// Elements of `X` that are not as `fill_levels` left them, of its first columns; later ones are zeros.
template <class X>
std::int64_t wrong_levels(auto& f, int columns = 100) {
  constexpr int n = X::about.levels;
  auto all = wrong<kr::owned<X>>(f, n, detail::every, columns);
  if constexpr (n > 1) all += wrong<kr::owned<kr::past<X, 1>>>(f, n - 1, detail::every, columns);
  if constexpr (n > 2) all += wrong<kr::owned<kr::past<X, 2>>>(f, n - 2, detail::every, columns);
  return all;
}
template <class X>
void fill_levels(auto& f) {
  for (int stamp = 1; stamp <= X::about.levels; ++stamp) {
    if (stamp != 1) f.run(kr::cycle<X>{});
    fill<X>(f, stamp);
  }
}
template <class App>
void resize_all(std::string_view device) {
  run<km::mpi> here{device};
  auto const m = cut(here.environment(), meshes::random(60, here.environment().size(), 1));
  kr::fields<App, h, un> f{here, m.c, m.e, kr::extra<h>{3}, kr::extra<un>{2, 3}};
  fill_levels<h>(f), fill_levels<un>(f);
  touch<h>(f), touch<kr::owned<kr::past<un, 1>>>(f);
  f.run(kr::exchange<h>{});
  int least = 3;
  for (int const n : {5, 2, 1, 4}) {
    f.resize(kr::extra<h>{n}, kr::extra<un>{2, n});
    least = std::min(least, n);
    CHECK(wrong<h>(f, 2, detail::every, least) == 0);
    CHECK(wrong_levels<h>(f, least) + wrong_levels<un>(f, least) == 0);
  }
  f.run(kr::exchange<h, un>{});
  CHECK(wrong<h>(f, 2, detail::every, 1) == 0);
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
struct app_of_failing : app<kr::on_host, Kokkos::LayoutRight, kr::automatic, both, failing> {
  using transports = keel::list<kr::staged>;
};

TEST_CASE("residency: what stays of arrays that change their lengths stays valid") {
  for (auto const device : either_device)
    resize_all<app_right>(device), resize_all<app_left>(device), resize_all<app_checked>(device);
}

TEST_CASE("residency: an array with as many indices as there can be keeps what it had in all of them") {
  run<km::mpi> here{"simulated"};
  kr::fields<app_right, deep> f{here, kr::grid{{40}}, kr::extra<deep>{2, 3, 2, 2, 3, 2, 2, 3}};
  auto const element = [](auto const& x, int n) -> auto& {
    int i[8];
    for (int& k : i) k = n % 2, n /= 2;
    return x(i[0], i[1], i[2], i[3], i[4], i[5], i[6], i[7]);
  };
  f.run(call<kr::writes<deep>>{}, [&](auto v) {
    for (int n = 0; n < 256; ++n) element(v(deep{}), n) = float(n + 1);
  });
  f.resize(kr::extra<deep>{3, 2, 3, 3, 2, 3, 3, 2});
  int found = 0;
  f.run(call<kr::reads<deep>>{}, [&](auto v) {
    for (int n = 0; n < 256; ++n) found += element(v(deep{}), n) == float(n + 1) ? 1 : 0;
  });
  CHECK(found == 256);
}

TEST_CASE("residency: elements that are new, or partitions of other ranks") {
  run<km::mpi> here{"simulated"};
  auto const& env = here.environment();
  std::int64_t const mine = 10 * env.rank();
  std::vector<std::int64_t> owned{mine, mine + 1, mine + 2}, fewer{mine + 2, mine};
  kr::partition<cells> const c{env, owned};
  kr::fields<app_checked, h, mask, area> f{here, c, kr::extra<h>{1}};
  fill<h>(f), fill<area>(f);
  // Fewer: those that stay are valid. What was valid nowhere stays so.
  kr::partition<cells> const less{env, fewer};
  f.repartition(less);
  CHECK(wrong<kr::owned<h>>(f) + wrong<area>(f) == 0);
  CHECK_FALSE(f.is_valid<mask>(kr::region::owned));
  // Errors change nothing.
  auto const unchanged = [&](auto const& call, std::string_view text) {
    CHECK(message_of(call).find(text) != std::string::npos);
    CHECK(wrong<kr::owned<h>>(f) == 0);
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
    CHECK(refuses([&] { kr::fields<app_checked, h> const g{here, other, kr::extra<h>{1}}; },
                  "partition of cells was made on another environment"));
  }
  unchanged([&] { f.reserve(cells{}, env.rank() == 0 ? std::int64_t(1) << 50 : 10); }, "reserve is not done (rank 0: ");
  // A new one: the mesh has it, and its variables are valid nowhere.
  if (env.rank() == 0) fewer.push_back(-5);
  kr::partition<cells> const more{env, fewer};
  f.repartition(more);
  CHECK(f.size(cells{}) == more.size());
  CHECK(refuses([&] { wrong<kr::owned<h>>(f); }, "repartition found no values for some of it"));
  fill<h>(f, 4);
  CHECK(wrong<kr::owned<h>>(f, 4) == 0);
}

/// Each rank owns two cells, rank 0 gets a third one, and each a fourth.
template <class App>
void check_new_elements(std::string_view device, bool stays_in_place, std::string through = "measured") {
  run<km::mpi> here{device, {.exchange_through = std::move(through)}};
  auto const& env = here.environment();
  std::vector<std::int64_t> ids{10 * env.rank(), 10 * env.rank() + 1};
  kr::fields<App, h, mask, q> f{here, kr::partition<cells>{env, ids}, kr::extra<h, q>{3}};
  if (stays_in_place) f.reserve(cells{}, 10);
  fill_levels<h>(f), fill<mask>(f), fill<q>(f);
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
  CHECK(wrong_levels<h>(f) == 0);
  f.repartition(after, kr::initial<h>{rows}, kr::initial<mask>{std::int8_t{5}});
  auto const check = [&]<class X>(X, auto const& wanted) {
    for (auto const& e : listed_here<kr::owned<X>>(f)) CHECK(e.value == wanted(e.number, e.k, e.number % 10 > 1));
  };
  check(h{}, [](std::int64_t id, int k, bool is_new) { return value_of<double>(id, k, is_new ? 7 : 2); });
  check(kr::past<h, 1>{}, [](std::int64_t id, int k, bool is_new) { return value_of<double>(id, k, is_new ? 7 : 1); });
  check(mask{}, [](std::int64_t id, int, bool is_new) { return is_new ? 5 : value_of<std::int8_t>(id, 0, 1); });
  std::string const text = message_of([&] { wrong<kr::owned<q>>(f); });
  CHECK_MESSAGE(text.find("its mesh got elements without values, or the levels cycled since). Give repartition an "
                          "initial<...> of it, or write it first.") != text.npos,
                text);
  // Where there was nothing, all elements are new.
  kr::fields<App, mask> none{here, kr::partition<cells>{env, std::vector<std::int64_t>{}}};
  none.repartition(after, kr::initial<mask>{std::vector<std::int8_t>(ids.size(), 9)});
  CHECK(none.template is_valid<mask>(kr::region::owned));
}

TEST_CASE("residency: elements that are new get the values that are given, and the others keep theirs") {
  check_new_elements<app_right>(host::name, false);
  check_new_elements<app_left>("simulated", false);
  check_new_elements<app_left>("simulated", true);
  check_new_elements<app_right>("simulated", true);
  check_new_elements<app_left>("simulated", true, "peer");
}

template <class Exchange, class... Transports>
struct app_by : app<Exchange, Kokkos::LayoutLeft> {
  using transports = keel::list<Transports...>;
};
/// Elements go to each rank in turn, more bytes of each the next time, and then home. How many messages were counted.
template <class App>
int count_of_moves(std::string_view device, std::string_view through, int ghosts_of) {
  CAPTURE(through);
  run<km::mpi> here{device, {.exchange_through = std::string(through)}};
  auto const& env = here.environment();
  auto const ids_of = [&](int distance) {
    std::vector<std::int64_t> ids(40);
    std::iota(ids.begin(), ids.end(), 40 * ((env.rank() + distance) % env.size()));
    return ids;
  };
  kr::partition<cells> const c{env, ids_of(0), ghosts_of == 0 ? std::vector<std::int64_t>() : ids_of(ghosts_of)};
  kr::fields<App, h, mask> f{here, c, kr::extra<h>{1}};
  auto const fill_there = [&] {
    fill_levels<h>(f), fill<mask>(f);
    touch<kr::owned<h>>(f), touch<kr::owned<kr::past<h, 1>>>(f), touch<kr::owned<mask>>(f);
  };
  carried = 0;
  for (int n = 1; n <= 4; ++n) {
    f.resize(kr::extra<h>{n * n});
    fill_there();
    std::vector<int> to(std::size_t(f.size(cells{})));
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = (env.rank() + int(i % 3 == 0 ? 0 : n)) % env.size();
    f.migrate(cells{}, to);
    CHECK(wrong_levels<h>(f) + wrong<kr::owned<mask>>(f) == 0);
  }
  fill_there();
  f.repartition(c);
  CHECK(wrong_levels<h>(f) + wrong<kr::owned<mask>>(f) == 0);
  return carried;
}

TEST_CASE_TEMPLATE("residency: elements go by the transport that the user names, or that was chosen for ghosts", E,
                   kr::on_host, kr::on_device) {
  using all = app_by<E, kr::staged, counted, counting<kr::peer>>;
  int const ranks = km::environment().size();
  for (auto const device : {std::string_view(host::name), std::string_view("simulated")}) {
    CAPTURE(device);
    CHECK(count_of_moves<all>(device, "staged", 0) == 0);
    int const each = count_of_moves<all>(device, "counted", 0);
    CHECK((each > 0) == (ranks > 1));
    int const by_peer = device == host::name || std::is_same_v<E, kr::on_device> ? each : 0; // others are elsewhere
    CHECK(count_of_moves<all>(device, "peer", 0) == by_peer);
    // The only transport is chosen for ghosts, and for no other ranks.
    using peer = app_by<E, counting<kr::peer>>;
    CHECK(count_of_moves<peer>(device, "measured", 0) == 0);
    if (ranks == 2) CHECK(count_of_moves<peer>(device, "measured", 1) == by_peer);
  }
}

/// Elements go to ranks, are numbered anew and given as ghosts by lists in memory `M`, beside a partition made of ids.
template <class M, class App>
void give_ghosts(std::string_view device, bool reserves) {
  run<km::mpi> here{device};
  auto const& env = here.environment();
  int const rank = env.rank(), size = env.size();
  auto const in = [](std::vector<int> const& all) {
    Kokkos::View<int const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const listed(all.data(), all.size());
    Kokkos::View<int*, M> made("list", all.size() + 2); // there may be more than counts
    Kokkos::deep_copy(Kokkos::subview(made, std::pair<std::size_t, std::size_t>(0, all.size())), listed);
    return made;
  };
  std::vector<std::int64_t> owned;
  for (int i = 0; i < 5; ++i) owned.push_back(100 * rank - 7 * i);
  kr::fields<App, h, mask> f{here, kr::partition<cells>{env, owned}, kr::extra<h>{3}};
  if (reserves) f.reserve(cells{}, 20);
  fill_levels<h>(f), fill<mask>(f);
  auto const check = [&](std::vector<std::vector<int>> const& given) { // by receiver
    auto const part = f.partition_of(cells{});
    std::vector<kr::ghosts_of> ranks;
    std::vector<int> list;
    for (int r = 0; r < size; ++r) {
      auto const& one = given[std::size_t((r - rank + size) % size)];
      if (size == 1 || !one.empty()) ranks.push_back({r, std::int64_t(one.size())});
      list.insert(list.end(), one.begin(), one.end());
    }
    auto const before = f.partition_of(cells{});
    f.renew_ghosts(cells{}, ranks, in(list));
    auto const now = f.partition_of(cells{});
    // Each rank has as many, whose ids a sum of what all know brings here.
    std::vector<std::uint64_t> ids(std::size_t(10 * size), 0);
    for (std::int64_t i = 0; i < now.owned().end; ++i) ids[std::size_t(10 * rank + i)] = std::uint64_t(now.ids()[i]);
    km::agreement(env).sum(ids);
    std::vector<std::int64_t> ghosts;
    for (int r = 0; r < size; ++r)
      for (int const e : given[std::size_t((rank - r + size) % size)])
        ghosts.push_back(std::int64_t(ids[std::size_t(10 * r + e)]));
    kr::partition<cells> const wanted{env, before.ids().first(std::size_t(before.owned().end)), ghosts};
    CHECK(std::ranges::equal(now.ids(), wanted.ids()));
    CHECK(std::ranges::equal(now.owners(), wanted.owners()));
    CHECK(std::ranges::equal(now.index_at_owner(), wanted.index_at_owner()));
    CHECK(now.layers() == 1);
    CHECK(now.layer(1).end == now.size());
    CHECK(now.lists().partners == wanted.lists().partners);
    CHECK(now.lists().own_ghosts == wanted.lists().own_ghosts);
    CHECK(now.lists().own_elements == wanted.lists().own_elements);
    CHECK(wrong_levels<h>(f) + wrong<kr::owned<mask>>(f) == 0);
    f.run(kr::exchange<h, mask>{});
    CHECK(wrong<h>(f, 2) + wrong<mask>(f) == 0);
  };
  // By how many ranks further a receiver is. The rank itself is one, too.
  std::vector<std::vector<int>> given(static_cast<std::size_t>(size));
  given.front() = {3};
  check(given);
  check(given);
  given.back() = {0, 2, 4}, given[std::size_t(1 % size)] = {1, 2};
  check(given);
  f.reorder(cells{}, in({3, 4, 0, 2, 1}));
  CHECK(f.size(cells{}) == 5);
  for (std::size_t n = 0; std::int64_t const e : {3, 4, 0, 2, 1})
    CHECK(f.partition_of(cells{}).ids()[n++] == owned[std::size_t(e)]);
  CHECK(wrong_levels<h>(f) + wrong<kr::owned<mask>>(f) == 0);
  check(given);
  std::vector<int> to(5, rank);
  to[1] = to[3] = (rank + 1) % size;
  auto const had = f.partition_of(cells{});
  std::vector<std::int64_t> const ids(had.ids().begin(), had.ids().end());
  f.migrate(cells{}, in(to));
  CHECK(std::equal(ids.begin(), ids.end(), had.ids().begin(), had.ids().end()));
  CHECK(f.size(cells{}) == 5);
  CHECK(wrong_levels<h>(f) + wrong<kr::owned<mask>>(f) == 0);
  for (auto& one : given) one.clear();
  check(given), check(given);
  auto const stay = [&] {
    f.migrate(cells{}, in(std::vector<int>(5, rank)));
    CHECK(f.size(cells{}) == 5);
    CHECK(wrong_levels<h>(f) + wrong<kr::owned<mask>>(f) == 0);
  };
  stay();
  auto const none = std::exchange(given, std::vector<std::vector<int>>(std::size_t(size), {0, 1}));
  check(given), stay();
  check(given), check(none), check(given);
  // What cannot be is refused on every rank, and nothing has changed.
  auto const unchanged = [&](auto const& call, std::string_view text) {
    std::string const said = message_of(call);
    CHECK_MESSAGE(said.find(text) != std::string::npos, said);
    CHECK(wrong<h>(f, 2) == 0);
  };
  bool const is_last = rank == size - 1;
  std::vector<kr::ghosts_of> const two{{rank, 2}};
  auto const list = [&](int a, int b) { return in(is_last ? std::vector{a, b} : std::vector{0, 1}); };
  std::string const after = "element " + std::string("1 of 5 owned cells cannot come after ");
  unchanged([&] { f.renew_ghosts(cells{}, two, list(1, 1)); }, after + "1 (each is listed once");
  unchanged([&] { f.renew_ghosts(cells{}, two, list(3, 1)); }, after + "3 (");
  unchanged([&] { f.renew_ghosts(cells{}, two, list(0, 5)); }, "element 5 of 5 owned cells cannot come after 0 (");
  unchanged([&] { f.renew_ghosts(cells{}, two, list(-1, 0)); }, "element -1 of 5 owned cells cannot");
  auto const ranks = [&](kr::ghosts_of a, kr::ghosts_of b) {
    std::vector<kr::ghosts_of> all{a, b}; // nvcc crashes at a choice of braces
    if (!is_last) all = {{rank, 1}};
    f.renew_ghosts(cells{}, all, std::vector{0, 1});
  };
  unchanged([&] { ranks({size, 1}, {size + 1, 0}); }, "rank " + std::to_string(size) + " cannot get 1 ghosts of cells");
  unchanged([&] { ranks({rank, 1}, {rank, 1}); }, "(after rank " + std::to_string(size - 1) + " of ");
  unchanged([&] { ranks({rank, 3}, {size, 0}); }, " cannot get 3 ghosts of cells");
  unchanged([&] { ranks({rank, -1}, {size, 0}); }, " cannot get -1 ghosts of cells");
  for (int const wrong_one : {0, 5, -1})
    unchanged([&] { f.reorder(cells{}, std::vector{0, 1, 2, is_last ? wrong_one : 3, 4}); },
              "place 3 in the order of 5 cells cannot be used");
  unchanged([&] { f.reorder(cells{}, std::vector{0, 1, 2, 3, 4, 4}); }, "place 5 in the order of 5 cells");
  unchanged([&] { f.reorder(cells{}, std::vector<int>(is_last ? 0U : 5U)); }, "in the order of 5 cells");
  unchanged([&] { f.migrate(cells{}, in({0, 0, 0, is_last ? size : 0, 0})); },
            " of cells goes to rank " + std::to_string(size));
}

TEST_CASE("residency: ghosts that their owners give are those of a partition, and elements keep their values") {
  give_ghosts<Kokkos::HostSpace, app_right>(host::name, false);
  give_ghosts<kr::detail::memory_space_of<keel::simulated>, app_left>("simulated", true);
  give_ghosts<Kokkos::HostSpace, app_checked>("simulated", false);
}

TEST_CASE("residency: fields of other options than those of other ranks are refused on every rank") {
  run<km::mpi> here{host::name};
  auto const& env = here.environment();
  if (env.size() == 1) return;
  int const me = env.rank() == env.size() - 1 ? 1 : 0;
  kr::grid const whole{{40, 40}, kr::ghost_width{1}};
  auto const differ = [&](std::string_view what, auto const&... options) {
    CHECK(refuses([&] { kr::fields<app_right, eta> const f(here, options...); },
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
    CHECK(refuses([&] { kr::fields<app_right, h> const f(here, c, kr::extra<h>{me == 0 ? 2 : n}); },
                  "(the lengths differ between ranks)"));
  CHECK(refuses([&] { kr::fields<app_right, h> const f(here, me == 0 ? c : c2, kr::extra<h>{2}); },
                "(the partitions differ between ranks)"));
  kr::fields<app_right, h> f{here, c, kr::extra<h>{2}};
  CHECK(refuses([&] { f.repartition(me == 0 ? c : c2); }, "repartition is not done (the partitions differ"));
  f.repartition(c2);
}

TEST_CASE("residency: if messages fail after ranks were connected anew, all ranks stay with what they had") {
  run<failing> here{host::name};
  auto const& env = here.environment();
  // What was dealt to the rank at the first distance, with ghosts of the one at the other.
  auto const partition_of = [&](int first, int other) {
    auto const dealt = [&](int distance) {
      std::int64_t const rank = (env.rank() + distance) % env.size();
      return std::vector<std::int64_t>{2 * rank, 2 * rank + 1};
    };
    return kr::partition<cells>{env, dealt(first), dealt(other)};
  };
  auto const old = partition_of(0, 1), next = partition_of(1, 3);
  kr::fields<app_of_failing, mask> f{here, old};
  auto const check = [&] {
    f.run(kr::exchange<mask>{});
    CHECK(wrong<mask>(f) == 0);
  };
  fill<mask>(f);
  check();
  // The last waits: of the second round in which ways are tried, and for elements.
  constexpr int many = 1000;
  failing::left = many;
  f.repartition(next);
  int const waits = many - std::exchange(failing::left, 0);
  check();
  if (env.size() == 1) return; // no messages
  for (int n = std::max(waits - 1, 1); n <= waits; ++n) {
    f.repartition(old);
    failing::left = env.rank() == env.size() - 1 ? n : 0;
    CHECK(message_of([&] { f.repartition(next); }).find("repartition is not done (rank") != std::string::npos);
    check();
  }
}

} // namespace moving
