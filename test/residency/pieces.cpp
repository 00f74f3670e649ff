// SPDX-License-Identifier: MIT
/// @file
/// Routines in pieces: what they compute, in which order they are called, and what is left if one fails.
#include <keel/exchange/transport.hpp>
#include <keel/residency/fields.hpp>
#include <keel/residency/loops.hpp>

#include "routines.hpp"
#include "run.hpp"

#include <keel/machine/alone.hpp>
#include <keel/machine/collectives.hpp>
#include <keel/machine/mpi.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace pieces_cases {

namespace kr = keel::residency;
namespace km = keel::machine;

template <class Ranks, class Exchange, class Tracking = kr::automatic>
struct app : test::application<keel::list<test::host, keel::simulated>, Tracking, Kokkos::LayoutRight, Ranks> {
  using exchange = Exchange;
  using transports = keel::list<kr::staged>; // with what a queue orders, nothing would travel meanwhile
};

template <int Rank>
struct stars : std::add_pointer<typename stars<Rank - 1>::type> {};
template <>
struct stars<0> : std::type_identity<double> {};
template <int Rank>
struct w : kr::variable<"w", typename stars<Rank>::type, kr::levels<2>> {};
template <int Rank>
struct s : kr::variable<"s", typename stars<Rank>::type> {};
template <int Rank>
struct visits : kr::variable<"visits", typename stars<Rank>::type, kr::without_ghosts> {};

template <bool InPieces>
using pieces = std::conditional_t<InPieces, kr::in_pieces, kr::reads<>>;

template <int Rank, class View>
KOKKOS_FUNCTION auto& element(View const& of, int const (&i)[4]) {
  if constexpr (Rank == 1) return of(i[0]);
  else if constexpr (Rank == 2) return of(i[0], i[1]);
  else return of(i[0], i[1], i[2]);
}
// Calls f(i, cell's number in the grid) on the host.
template <int Rank, class V, class F>
void for_each_owned(V const& v, F const& f) {
  auto const own = v.local().owned();
  auto const begin = v.global_begin(), n = v.global_extents();
  int i[4]{};
  auto const walk = [&](auto const& self, int d, std::int64_t number) -> void {
    if (d == Rank) return f(i, number);
    for (i[d] = int(own.begin[d]); i[d] < own.end[d]; ++i[d])
      self(self, d + 1, number * n[d] + begin[d] + i[d] - own.begin[d]);
  };
  walk(walk, 0, 0);
}

template <int Rank>
struct start : kr::routine<"start", kr::on_host, kr::writes<w<Rank>, s<Rank>, visits<Rank>>> {
  template <class V>
  static void run(V v) {
    for_each_owned<Rank>(v, [&, x = v(w<Rank>{}), y = v(s<Rank>{}), z = v(visits<Rank>{})](auto& i, std::int64_t at) {
      element<Rank>(x, i) = double((at * 7919) % 101) / 101;
      element<Rank>(y, i) = double((at * 31) % 17) / 17;
      element<Rank>(z, i) = 0;
    });
  }
};

/// A cell from its neighbours, that in the corner included, but for those beyond the grid.
template <int Rank, class Old, class Sum, class New, class Visits>
struct stencil {
  Old old;
  Sum sum;
  New now;
  Visits seen;
  kr::bounds all;
  bool walls[Rank][2];

  template <std::integral... I>
    requires(sizeof...(I) == Rank)
  KOKKOS_FUNCTION void operator()(I... index) const {
    int i[4] = {int(index)...};
    double next = 0.5 * element<Rank>(old, i);
    bool is_corner_there = true;
    for (int d = 0; d < Rank; ++d) {
      bool const low = walls[d][0] && i[d] == all.begin[d], high = walls[d][1] && i[d] + 1 == all.end[d];
      is_corner_there = is_corner_there && !low;
      --i[d];
      if (!low) next += (0.1 + 0.01 * d) * element<Rank>(old, i);
      i[d] += 2;
      if (!high) next -= (0.07 + 0.01 * d) * element<Rank>(old, i);
      --i[d];
    }
    element<Rank>(seen, i) += 1;
    for (int d = 0; d < Rank && is_corner_there; ++d) --i[d];
    if (is_corner_there) next += 0.3 * element<Rank>(old, i) + 0.01 * element<Rank>(sum, i);
    for (int d = 0; d < Rank && is_corner_there; ++d) ++i[d];
    element<Rank>(now, i) = next;
  }
};
template <int Rank, bool InPieces>
struct advance : kr::routine<"advance", kr::on_device, pieces<InPieces>,
                             kr::reads<kr::inside<kr::past<w<Rank>, 1>>, kr::inside<s<Rank>>>, kr::writes<w<Rank>>,
                             kr::updates<visits<Rank>>> {
  template <class V>
  static void run(V v) {
    auto const old = v(kr::past<w<Rank>, 1>{});
    auto const sum = v(s<Rank>{});
    auto const now = v(w<Rank>{});
    auto const seen = v(visits<Rank>{});
    stencil<Rank, decltype(old), decltype(sum), decltype(now), decltype(seen)> kernel{
        old, sum, now, seen, v.local().owned(), {}};
    for (int d = 0; d < Rank; ++d)
      kernel.walls[d][0] = v.is_wall(d, kr::side::low), kernel.walls[d][1] = v.is_wall(d, kr::side::high);
    kr::for_owned(v, kernel);
  }
};
/// On the host, so that data cross between the memories in the middle of it.
template <int Rank, bool InPieces>
struct add_up
    : kr::routine<"add_up", kr::on_host, pieces<InPieces>, kr::reads<kr::owned<w<Rank>>>, kr::updates<s<Rank>>> {
  template <class V>
  static void run(V v) {
    auto const from = v(w<Rank>{});
    auto const to = v(s<Rank>{});
    auto const own = v.owned();
    for_each_owned<Rank>(v, [&](auto& i, std::int64_t) {
      for (int d = 0; d < Rank; ++d)
        if (i[d] < own.begin[d] || i[d] >= own.end[d]) return;
      element<Rank>(to, i) = 0.9 * element<Rank>(to, i) + 0.3 * element<Rank>(from, i) * element<Rank>(from, i);
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

struct cell {
  std::int64_t at;
  double w, s, visits;
};
std::vector<cell> cells;
template <int Rank>
struct collect : kr::routine<"collect", kr::on_host, kr::reads<kr::owned<w<Rank>>, kr::owned<s<Rank>>, visits<Rank>>> {
  template <class V>
  static void run(V v) {
    for_each_owned<Rank>(v, [&, x = v(w<Rank>{}), y = v(s<Rank>{}), z = v(visits<Rank>{})](auto& i, std::int64_t at) {
      cells.push_back({at, element<Rank>(x, i), element<Rank>(y, i), element<Rank>(z, i)});
    });
  }
};

/// All cells of the grid after some steps, in order, on the first rank.
template <int Rank, bool InPieces, class Ranks, class Exchange>
std::vector<double> stepped(std::string_view device, kr::grid const& g) {
  test::run<Ranks> run{device};
  kr::fields<app<Ranks, Exchange>, w<Rank>, s<Rank>, visits<Rank>> f{run, g};
  f.run(start<Rank>{});
  f.run(kr::exchange<w<Rank>, s<Rank>>{});
  for (int n = 1; n <= steps; ++n) f.step(step<Rank, InPieces>{}, n);
  cells.clear();
  f.run(collect<Rank>{});
  auto all = km::gather(run.environment(), std::span<cell const>(cells), 0);
  std::sort(all.begin(), all.end(), [](cell const& x, cell const& y) { return x.at < y.at; });
  std::vector<double> values;
  for (cell const& one : all) values.insert(values.end(), {one.w, one.s, one.visits});
  return values;
}
template <int Rank>
void has_same_bits(kr::grid const& g) {
  auto const reference = stepped<Rank, false, km::alone, kr::on_host>(test::host::name, g);
  km::basic_environment<km::mpi> const world;
  auto const check = [&](std::vector<double> const& found) {
    if (world.rank() == 0) CHECK(found == reference);
  };
  check(stepped<Rank, true, km::mpi, kr::on_host>(test::host::name, g));
  check(stepped<Rank, true, km::mpi, kr::on_host>("simulated", g));
  check(stepped<Rank, true, km::mpi, kr::on_device>("simulated", g));
  for (std::size_t i = 2; i < reference.size(); i += 3) REQUIRE(reference[i] == advances);
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
struct pass : test::empty<"pass", kr::on_host, kr::reads<kr::owned<w<1>>>> {};
template <class Place>
struct marked : kr::schedule<mark<Place>, kr::exchange<w<1>>> {};
template <class Place>
struct marked_long : kr::schedule<mark<Place>, kr::exchange<w<1>>, pass> {};
struct marked_late : kr::schedule<mark<kr::on_device>, pass, kr::exchange<w<1>>> {};

template <class S>
std::vector<std::int64_t> events_of(std::string_view device, kr::components many = {}, kr::blocks n = {}) {
  test::run<km::mpi> run{device};
  kr::fields<app<km::mpi, kr::on_host, recorded>, w<1>> f{
      run, kr::grid{{48}, kr::ghost_width{2}, kr::periodic{true}, n}, many};
  events.clear();
  f.step(S{});
  return std::exchange(events, {});
}

TEST_CASE("residency: routines in pieces compute the same bits, each cell once, in any dimensions and memories") {
  has_same_bits<1>({{23}, kr::ghost_width{1}, kr::periodic{true}});
  has_same_bits<1>({{23}, kr::ghost_width{1}});
  has_same_bits<2>({{17, 16}, kr::ghost_width{2, 1}, kr::periodic{true, false}});
  has_same_bits<2>({{17, 16}, kr::ghost_width{1, 2}, kr::periodic{true}});
  has_same_bits<3>({{9, 8, 7}, kr::ghost_width{1}, kr::periodic{false, true, true}});
  has_same_bits<2>({{17, 16}, kr::ghost_width{1}, kr::periodic{true, false}, kr::blocks{3}});
}

TEST_CASE(
    "residency: a routine in pieces computes the rim before messages leave, and the rest before they are awaited") {
  using list = std::vector<std::int64_t>;
  km::basic_environment<km::mpi> const world;
  std::int64_t const owned = 48 / world.size();
  list const cut = world.size() == 1 ? list{48, -1, -2} : list{2, 2, -1, owned - 4, -2};
  list const whole{owned, -1, -2};
  for (std::string_view const device : {test::host::name, std::string_view("simulated")}) {
    CHECK(events_of<marked<kr::on_device>>(device) == cut);
    CHECK(events_of<marked<kr::on_host>>(device) == cut);
    CHECK(events_of<marked_long<kr::on_device>>(device) == cut);
    CHECK(events_of<marked_late>(device) == whole);
    CHECK(events_of<marked<kr::on_device>>(device, kr::components{2}) == whole);
    CHECK(events_of<mark<kr::on_device>>(device) == list{owned});
    // Each block has a rim on one side.
    std::int64_t const half = owned / 2;
    list const blocks = world.size() == 1 ? list{half, half, -1, -2} : list{2, 2, -1, half - 2, half - 2, -2};
    CHECK(events_of<marked<kr::on_host>>(device, {}, {2}) == blocks);
  }
}

TEST_CASE("residency: a routine in pieces that fails loses what it writes, and the exchange within it ends") {
  km::basic_environment<km::mpi> const world;
  int const calls = world.size() == 1 ? 1 : 3;
  for (std::string_view const device : {test::host::name, std::string_view("simulated")})
    for (int n = 0; n < calls; ++n) {
      test::run<km::mpi> run{device};
      kr::fields<app<km::mpi, kr::on_device, recorded>, w<1>> f{run,
                                                                kr::grid{{48}, kr::ghost_width{2}, kr::periodic{true}}};
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

} // namespace pieces_cases
