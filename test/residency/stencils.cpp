// SPDX-License-Identifier: MIT
// Steps of a stencil whose exchange travels while other routines run: the same bits however the grid is cut, whole or
// in pieces, in any memory and by any transport; and in which order what is called.
#include <keel/exchange/transport.hpp>

#include "model.hpp"

namespace stencil_cases {

using namespace test;

template <int R>
struct w : kr::variable<"w", stars<double, R>, kr::levels<2>> {};
template <int R>
struct s : kr::variable<"s", stars<double, R>> {};
template <int R>
struct visits : kr::variable<"visits", stars<double, R>, kr::without_ghosts> {};

template <bool InPieces>
using pieces = std::conditional_t<InPieces, kr::in_pieces, kr::reads<>>;

template <int R, class View>
KOKKOS_FUNCTION auto& element(View const& of, int const (&i)[4]) {
  if constexpr (R == 1) return of(i[0]);
  else if constexpr (R == 2) return of(i[0], i[1]);
  else return of(i[0], i[1], i[2]);
}

/// A cell from its neighbours, that in the corner included, but for those beyond the grid.
template <int R, class Old, class Sum, class New, class Visits>
struct stencil {
  Old old;
  Sum sum;
  New now;
  Visits seen;
  kr::bounds all;
  bool walls[R][2];

  template <std::integral... I>
    requires(sizeof...(I) == R)
  KOKKOS_FUNCTION void operator()(I... index) const {
    int i[4] = {int(index)...};
    double next = 0.5 * element<R>(old, i);
    bool is_corner_there = true;
    for (int d = 0; d < R; ++d) {
      bool const low = walls[d][0] && i[d] == all.begin[d], high = walls[d][1] && i[d] + 1 == all.end[d];
      is_corner_there = is_corner_there && !low;
      --i[d];
      if (!low) next += (0.1 + 0.01 * d) * element<R>(old, i);
      i[d] += 2;
      if (!high) next -= (0.07 + 0.01 * d) * element<R>(old, i);
      --i[d];
    }
    element<R>(seen, i) += 1;
    for (int d = 0; d < R && is_corner_there; ++d) --i[d];
    if (is_corner_there) next += 0.3 * element<R>(old, i) + 0.01 * element<R>(sum, i);
    for (int d = 0; d < R && is_corner_there; ++d) ++i[d];
    element<R>(now, i) = next;
  }
};
template <int R, bool P>
struct advance
    : kr::routine<"advance", kr::on_device, pieces<P>, kr::reads<kr::inside<kr::past<w<R>, 1>>, kr::inside<s<R>>>,
                  kr::writes<w<R>>, kr::updates<visits<R>>> {
  template <class V>
  static void run(V v) {
    auto const old = v(kr::past<w<R>, 1>{});
    auto const sum = v(s<R>{});
    auto const now = v(w<R>{});
    auto const seen = v(visits<R>{});
    stencil<R, decltype(old), decltype(sum), decltype(now), decltype(seen)> kernel{
        old, sum, now, seen, v.local().owned(), {}};
    for (int d = 0; d < R; ++d)
      kernel.walls[d][0] = v.is_wall(d, kr::side::low), kernel.walls[d][1] = v.is_wall(d, kr::side::high);
    kr::for_owned(v, kernel);
  }
};
/// On the host, so that data cross between the memories in the middle of it.
template <int R, bool P>
struct add_up : kr::routine<"add_up", kr::on_host, pieces<P>, kr::reads<kr::owned<w<R>>>, kr::updates<s<R>>> {
  template <class V>
  static void run(V v) {
    for_all(v.owned(), R, [&, from = v(w<R>{}), to = v(s<R>{})](kr::indices const& at) {
      int const i[4] = {int(at[0]), int(at[1]), int(at[2])};
      element<R>(to, i) = 0.9 * element<R>(to, i) + 0.3 * element<R>(from, i) * element<R>(from, i);
    });
  }
};
struct odd {
  static bool holds(int step) { return step % 2 != 0; }
};
// The second exchange begins within a routine during which the first one is still under way.
template <int R, bool P>
struct step
    : kr::schedule<kr::repeat<2, kr::cycle<w<R>>, advance<R, P>, kr::exchange<w<R>>, add_up<R, P>, kr::exchange<s<R>>>,
                   kr::every<2, kr::cycle<w<R>>, advance<R, P>, kr::exchange<w<R>>>,
                   kr::when<odd, add_up<R, P>, kr::exchange<s<R>>>, kr::once<add_up<R, P>, kr::exchange<s<R>>>> {};
constexpr int steps = 3, advances = 2 * steps + 1;

/// All cells of the grid after some steps.
template <int R, bool P, class App>
std::vector<double> stepped(std::string_view device, kr::grid const& g, kr::settings const& how = {}) {
  run<typename App::ranks> here{device, how};
  kr::fields<App, w<R>, s<R>, visits<R>> f{here, g};
  CHECK(f.components() == g.blocks());
  f.run(call<kr::writes<w<R>, s<R>, visits<R>>>{}, [&](auto v) {
    for_all(v.local().owned(), R, [&, x = v(w<R>{}), y = v(s<R>{}), z = v(visits<R>{})](kr::indices const& at) {
      int const i[4] = {int(at[0]), int(at[1]), int(at[2])};
      kr::indices const place = in_grid(v.local(), at);
      std::int64_t const number = (place[0] * 40 + place[1]) * 40 + place[2];
      element<R>(x, i) = double((number * 7919) % 101) / 101, element<R>(y, i) = double((number * 31) % 17) / 17;
      element<R>(z, i) = 0;
    });
  });
  f.run(kr::exchange<w<R>, s<R>>{});
  for (int n = 1; n <= steps; ++n) f.step(step<R, P>{}, n);
  auto const& env = here.environment();
  std::vector<double> const sum = whole<s<R>>(env, f), seen = whole<visits<R>>(env, f);
  REQUIRE(std::count(seen.begin(), seen.end(), advances) == std::ptrdiff_t(seen.size()));
  std::vector<double> values = whole<w<R>>(env, f);
  values.insert(values.end(), sum.begin(), sum.end());
  return values;
}

using alone = app<kr::on_host, Kokkos::LayoutRight, kr::automatic, both, km::alone>;
// With what a queue orders, nothing would travel meanwhile.
struct staged_right : app_right {
  using transports = keel::list<kr::staged>;
};
struct staged_left : app_left {
  using transports = keel::list<kr::staged>;
};

template <int R>
void have_same_bits(auto const& grid_with) {
  auto const reference = stepped<R, false, alone>(host::name, grid_with(kr::grid_option()));
  CHECK(stepped<R, true, alone>("simulated", grid_with(kr::blocks{4})) == reference);
  for (int const n : {1, 2, 3}) {
    CAPTURE(n);
    kr::grid const g = grid_with(kr::blocks{n});
    CHECK(stepped<R, true, staged_right>(host::name, g) == reference);
    CHECK(stepped<R, true, staged_right>("simulated", g) == reference);
    CHECK(stepped<R, true, staged_left>("simulated", g) == reference);
  }
}

TEST_CASE(
    "residency: steps have the same bits whole, in pieces and in blocks, in any dimensions, memories and layouts") {
  have_same_bits<1>([](auto n) { return kr::grid{{47}, kr::ghost_width{1}, kr::periodic{true}, n}; });
  have_same_bits<1>([](auto n) { return kr::grid{{47}, kr::ghost_width{1}, n}; });
  have_same_bits<2>([](auto n) { return kr::grid{{17, 22}, kr::ghost_width{2, 1}, kr::periodic{true, false}, n}; });
  have_same_bits<2>([](auto n) { return kr::grid{{17, 16}, kr::ghost_width{1, 2}, kr::periodic{true}, n}; });
  have_same_bits<3>(
      [](auto n) { return kr::grid{{9, 14, 7}, kr::ghost_width{1}, kr::periodic{false, true, true}, n}; });
}

using every_device = keel::where_supported<keel::list<host, keel::tbb, keel::simulated, keel::cuda, keel::hip>>;
template <class Exchange, class Tracking = kr::automatic>
struct by_any : app<Exchange, Kokkos::LayoutRight, Tracking, every_device> {
  using transports = keel::list<kr::staged, kr::direct, kr::peer, kr::nccl>;
};

TEST_CASE("residency: steps have the same bits on ranks without cells, on devices of other kinds, by any transport") {
  km::environment const world;
  auto const grid_with = [](auto n) { return kr::grid{{17, 22}, kr::ghost_width{1}, kr::periodic{true, false}, n}; };
  auto const g = grid_with(kr::grid_option()), cut = grid_with(with_idle_ranks(world.size(), 17, 22));
  auto const reference = stepped<2, false, alone>(host::name, g);
  std::string_view const own = either_device[world.rank() % 2];
  CHECK(stepped<2, true, staged_right>(host::name, cut) == reference);
  CHECK(stepped<2, true, staged_left>("simulated", cut) == reference);
  CHECK(stepped<2, true, staged_right>(own, g) == reference);
  CHECK(stepped<2, true, staged_left>(own, g) == reference);
  CHECK(stepped<2, false, by_any<kr::on_device, kr::checked>>("simulated", grid_with(kr::blocks{2})) == reference);
  keel::policy::set_log_level(keel::policy::log_level::error); // some transports are passed over
  keel::for_each_device<every_device>([&]<class Tag>(Tag) {
    if (!keel::available<Tag>()) return;
    for (char const* transport : {"staged", "direct", "peer", "nccl", "measured"})
      for (bool const together : {true, false}) {
        CAPTURE(Tag::name);
        CAPTURE(transport);
        kr::settings const how{.exchange_through = transport, .exchange_together = together};
        CHECK(stepped<2, false, by_any<kr::on_host>>(Tag::name, g, how) == reference);
        CHECK(stepped<2, false, by_any<kr::on_device>>(Tag::name, g, how) == reference);
      }
  });
  keel::policy::set_log_level(keel::policy::log_level::warning);
}

TEST_CASE("residency: an exchange overlaps routines that do not meet it, and is done for the one that does") {
  for (auto const device : either_device) {
    run<km::mpi> here{device};
    kr::fields<app_right, w<2>, s<2>> f{here, kr::grid{{9, 13}, kr::ghost_width{1}, kr::periodic{true, true}}};
    using pass = call<kr::reads<kr::owned<w<2>>>>;
    auto const prepare = [&] {
      fill<kr::everywhere<w<2>>>(f), fill<kr::everywhere<s<2>>>(f);
      touch<w<2>>(f), touch<s<2>>(f);
    };
    prepare();
    std::vector<double> seen; // of a ghost that has a neighbour
    f.step(kr::schedule<kr::exchange<w<2>, s<2>>, pass, pass, call<kr::reads<kr::inside<w<2>>>>>{},
           [&](auto v) { seen.push_back(v(w<2>{})(0, v.owned().begin[1])); });
    CHECK((seen.size() == 3 && seen[0] != seen[2] && seen[1] != seen[2])); // poison is not equal to itself
    CHECK(wrong_inside<w<2>>(f) + wrong_inside<s<2>>(f) == 0);
    prepare();
    CHECK_THROWS_AS(
        f.step(kr::schedule<kr::exchange<w<2>, s<2>>, pass>{}, [] { throw std::runtime_error("stumbled"); }),
        std::runtime_error);
    CHECK(wrong_inside<w<2>>(f) + wrong_inside<s<2>>(f) == 0); // what was under way has landed
  }
}

// What happens in which order, on this rank: the cells of a call, or -1 for the first half of an exchange, -2 for the
// second.
std::vector<std::int64_t> events;
struct recorder : kr::unobserved {
  static constexpr bool is_told = true;
  void after_exchange(std::span<kr::sent const>, bool done) { events.push_back(done ? -2 : -1); }
};
struct recorded : kr::automatic {
  static constexpr std::string_view name = "recorded";
  using observer = recorder;
};
template <class Exchange>
struct told : app<Exchange, Kokkos::LayoutRight, recorded> {
  using transports = keel::list<kr::staged>;
};
int throws_at = -1; // the call
template <class Place>
struct mark : kr::routine<"mark", Place, kr::in_pieces, kr::writes<w<1>>> {
  template <class V>
  static void run(V v) {
    if (throws_at-- == 0) throw std::runtime_error("at a piece");
    auto const own = v.owned();
    events.push_back(own.size(1));
    auto const to = v(w<1>{});
    kr::for_owned(v, KOKKOS_LAMBDA(int i) { to(i) = 3; });
  }
};
struct pass : empty<"pass", kr::on_host, kr::reads<kr::owned<w<1>>>> {};
template <class Place>
struct marked : kr::schedule<mark<Place>, kr::exchange<w<1>>> {};
template <class Place>
struct marked_long : kr::schedule<mark<Place>, kr::exchange<w<1>>, pass> {};
struct marked_late : kr::schedule<mark<kr::on_device>, pass, kr::exchange<w<1>>> {};

template <class S>
std::vector<std::int64_t> events_of(std::string_view device, kr::components many = {}, kr::blocks n = {}) {
  run<km::mpi> here{device};
  kr::fields<told<kr::on_host>, w<1>> f{here, kr::grid{{48}, kr::ghost_width{2}, kr::periodic{true}, n}, many};
  events.clear();
  f.step(S{});
  return std::exchange(events, {});
}

TEST_CASE(
    "residency: a routine in pieces computes the rim before messages leave, and the rest before they are awaited") {
  using list = std::vector<std::int64_t>;
  int const ranks = km::environment().size();
  std::int64_t const owned = 48 / ranks;
  list const cut = ranks == 1 ? list{48, -1, -2} : list{2, 2, -1, owned - 4, -2};
  list const whole{owned, -1, -2};
  for (auto const device : either_device) {
    CHECK(events_of<marked<kr::on_device>>(device) == cut);
    CHECK(events_of<marked<kr::on_host>>(device) == cut);
    CHECK(events_of<marked_long<kr::on_device>>(device) == cut);
    CHECK(events_of<marked_late>(device) == whole);
    CHECK(events_of<marked<kr::on_device>>(device, kr::components{2}) == whole);
    CHECK(events_of<mark<kr::on_device>>(device) == list{owned});
    // Each block has a rim on one side.
    std::int64_t const half = owned / 2;
    list const blocks = ranks == 1 ? list{half, half, -1, -2} : list{2, 2, -1, half - 2, half - 2, -2};
    CHECK(events_of<marked<kr::on_host>>(device, {}, {2}) == blocks);
  }
}

TEST_CASE("residency: a routine in pieces that fails loses what it writes, and the exchange within it ends") {
  int const calls = km::environment().size() == 1 ? 1 : 3;
  for (auto const device : either_device)
    for (int n = 0; n < calls; ++n) {
      run<km::mpi> here{device};
      kr::fields<told<kr::on_device>, w<1>> f{here, kr::grid{{48}, kr::ghost_width{2}, kr::periodic{true}}};
      events.clear();
      throws_at = n;
      CHECK_THROWS_AS(f.step(marked_long<kr::on_device>{}), std::runtime_error);
      CHECK(std::count(events.begin(), events.end(), -1) == (n == 2 ? 1 : 0));
      CHECK(std::count(events.begin(), events.end(), -2) == (n == 2 ? 1 : 0));
      CHECK_FALSE(f.is_valid<w<1>>(kr::core));
      CHECK_FALSE(f.is_valid<w<1>, keel::simulated>(kr::core));
      CHECK_FALSE(f.is_valid<w<1>, keel::simulated>(kr::region::halo));
      f.step(marked_long<kr::on_device>{}); // messages of another exchange would be in the way
      f.run(pass{});
    }
}

} // namespace stencil_cases
