// SPDX-License-Identifier: MIT
#include <keel/layout/partition.hpp>
#include <keel/layout/rows.hpp>

#include <keel/machine/alone.hpp>
#include <keel/machine/collectives.hpp>

#include <support/test.hpp>

#include <numeric>
#include <random>

namespace kr = keel::residency;
namespace km = keel::machine;
using keel::test::message_of;

namespace {

struct cells : kr::mesh<"cells"> {};
struct edges : kr::mesh<"edges"> {};
static_assert(kr::Mesh<cells> && !kr::Mesh<int>);

using ids = std::vector<std::int64_t>;
using layers = std::vector<ids>;

/// What one rank was given; if it is scattered, where each element is, owned ones counted first, and which are ghosts.
struct share {
  ids owned;
  layers ghosts;
  bool is_scattered = false;
  std::vector<std::int32_t> places = {};
  std::vector<char> mask = {};

  [[nodiscard]] std::int32_t place(std::int64_t n) const {
    return is_scattered ? places[std::size_t(n)] : std::int32_t(n);
  }
  /// Owned ones first.
  [[nodiscard]] ids all() const {
    ids made = owned;
    for (ids const& layer : ghosts) made.insert(made.end(), layer.begin(), layer.end());
    return made;
  }
  [[nodiscard]] ids by_place() const {
    ids const list = all();
    ids made(list.size());
    for (std::size_t n = 0; n != list.size(); ++n) made[std::size_t(place(std::int64_t(n)))] = list[n];
    return made;
  }
  /// Makes its ghosts one layer, anywhere among its elements or after them; each kind keeps its order.
  void scatter(std::mt19937_64& random, bool keeps_places) {
    ids const list = all();
    ghosts = {{list.begin() + std::ptrdiff_t(owned.size()), list.end()}};
    is_scattered = true, places.resize(list.size()), mask.resize(list.size());
    std::iota(places.begin(), places.end(), 0);
    if (!keeps_places) std::shuffle(places.begin(), places.end(), random);
    auto const middle = places.begin() + std::ptrdiff_t(owned.size());
    std::sort(places.begin(), middle), std::sort(middle, places.end());
    for (auto at = middle; at != places.end(); ++at) mask[std::size_t(*at)] = 1;
  }
};

/// Elements of any ids over all ranks, drawn alike on each.
std::vector<share> random_shares(std::mt19937_64& random, int ranks) {
  auto all = std::vector<share>(std::size_t(ranks));
  int const count = int(random() % 200), spread = int(random() % 3);
  std::set<std::int64_t> drawn;
  while (int(drawn.size()) != count)
    drawn.insert(spread == 0   ? std::int64_t(random())
                 : spread == 1 ? std::int64_t(random() % 256) - 128
                               : std::int64_t(random() % 1000) << 48);
  ids list(drawn.begin(), drawn.end());
  std::shuffle(list.begin(), list.end(), random);
  auto const used = 1 + random() % std::uint64_t(ranks); // the others own none
  for (std::int64_t const id : list) all[random() % used].owned.push_back(id);
  for (share& s : all) {
    if (spread == 1 && count % 2 == 0) std::sort(s.owned.begin(), s.owned.end()); // so that ids follow each other
    std::shuffle(list.begin(), list.end(), random);
    s.ghosts.resize(random() % 4);
    std::size_t at = 0;
    for (ids& layer : s.ghosts)
      for (auto n = random() % 40; n != 0 && at != list.size(); --n) layer.push_back(list[at++]);
  }
  return all;
}

template <class R>
kr::partition<cells> partition_of(km::basic_environment<R> const& world, share const& mine) {
  if (mine.is_scattered) return {world, mine.by_place(), kr::is_ghost{mine.mask}};
  return {world, mine.owned, mine.ghosts};
}

/// The ghosts that rank `has` has of the elements of rank `owns`: their local indices on both.
struct links {
  kr::detail::layered_list ghosts, owned;
};
links between(std::vector<share> const& all, int has, int owns) {
  auto const& owned = all[std::size_t(owns)].owned;
  auto const& mine = all[std::size_t(has)];
  std::size_t most = 0;
  for (share const& s : all) most = std::max(most, s.ghosts.size());
  links made;
  auto local = std::int32_t(mine.owned.size());
  for (std::size_t n = 0; n != most; ++n) {
    for (std::int64_t const id : n < mine.ghosts.size() ? mine.ghosts[n] : ids{}) {
      if (auto const at = std::find(owned.begin(), owned.end(), id); at != owned.end()) {
        made.ghosts.elements.push_back(mine.place(local));
        made.owned.elements.push_back(all[std::size_t(owns)].place(at - owned.begin()));
      }
      ++local;
    }
    made.ghosts.ends.push_back(std::int32_t(made.ghosts.elements.size()));
    made.owned.ends.push_back(std::int32_t(made.owned.elements.size()));
  }
  return made;
}

/// Whether a partition is what all that every rank was given says.
bool is_right(kr::partition<cells> const& c, std::vector<share> const& all, int me) {
  auto const& mine = all[std::size_t(me)];
  ids const every = mine.all(), by_place = mine.by_place();
  auto const owned = std::int64_t(mine.owned.size());
  bool right = std::equal(by_place.begin(), by_place.end(), c.ids().begin(), c.ids().end()) &&
               c.size() == std::int64_t(every.size());
  if (!mine.is_scattered) {
    right = right && c.owned() == kr::element_range{0, owned} && c.ghosts() == kr::element_range{owned, c.size()};
    std::int64_t begin = owned;
    for (int n = 1; n <= c.layers(); ++n) {
      auto const end =
          begin + (std::size_t(n) <= mine.ghosts.size() ? std::int64_t(mine.ghosts[std::size_t(n) - 1].size()) : 0);
      right = right && c.layer(n) == kr::element_range{begin, end};
      begin = end;
    }
  }
  for (std::int64_t const id : every) // its first place
    right = right && c.local_of(id) == mine.place(std::find(every.begin(), every.end(), id) - every.begin());
  right = right && c.local_of(12'345'678'901) == std::nullopt;

  std::vector<int> owners(c.owners().size(), -1);
  std::vector<kr::detail::element_partner> partners;
  std::vector<std::int64_t> ghost_at(every.size(), -1); // by place, its number among the ghosts
  for (std::size_t n = std::size_t(owned); n != every.size(); ++n)
    ghost_at[std::size_t(mine.place(std::int64_t(n)))] = std::int64_t(n) - owned;
  for (int r = 0; r != int(all.size()); ++r) {
    auto const here = between(all, me, r), there = between(all, r, me);
    for (std::size_t n = 0; n != here.ghosts.elements.size(); ++n) {
      auto const g = std::size_t(ghost_at[std::size_t(here.ghosts.elements[n])]);
      owners.at(g) = r;
      right = right && c.index_at_owner()[g] == here.owned.elements[n];
    }
    if (r == me) right = right && c.lists().own_ghosts == here.ghosts && c.lists().own_elements == here.owned;
    else if (!here.ghosts.elements.empty() || !there.owned.elements.empty())
      partners.push_back({r, there.owned, here.ghosts});
  }
  return right && c.lists().partners == partners && std::equal(owners.begin(), owners.end(), c.owners().begin());
}

/// What a call says, the same on every rank.
template <class R>
std::string error_on_all(km::basic_environment<R> const& world, auto const& call) {
  auto const said = message_of(call);
  auto const length = std::int64_t(said.size());
  std::string first = said;
  first.resize(1000), first.resize(std::size_t(km::max(world, length)));
  km::broadcast(world, std::span(first.data(), first.size()), 0);
  CHECK(km::all_of(world, first == said));
  return said;
}
template <class R>
std::string error_of(ids const& owned, layers const& ghosts) {
  km::basic_environment<R> const world;
  return error_on_all(world, [&] { kr::partition<cells>(world, owned, ghosts); });
}

/// Neighbours of elements by id, some of which no rank owns, and what grows out of the owned ones of a rank.
using adjacency = std::map<std::int64_t, ids>;
layers grown(adjacency const& near, ids const& owned, int count) {
  layers made;
  std::set<std::int64_t> here(owned.begin(), owned.end());
  for (ids last = owned; int(made.size()) != count; last = made.back()) {
    std::set<std::int64_t> next;
    for (std::int64_t const id : last)
      for (std::int64_t const other : near.at(id))
        if (near.contains(other) && !here.contains(other)) next.insert(other);
    made.emplace_back(next.begin(), next.end());
    here.insert(next.begin(), next.end());
  }
  return made;
}

} // namespace

TEST_CASE_TEMPLATE("residency: random partitions are what all ranks together say", R, km::mpi, km::alone) {
  km::basic_environment<R> const world;
  int right = 0;
  for (unsigned seed = 0; seed != 200; ++seed) {
    std::mt19937_64 random(seed);
    auto all = random_shares(random, world.size());
    if (seed % 3 == 2)
      for (share& s : all) s.scatter(random, seed % 30 == 2);
    share const& mine = all[std::size_t(world.rank())];
    kr::partition<cells> const c = partition_of(world, mine);
    right += is_right(c, all, world.rank()) ? 1 : 0;
    bool const is_scattered = std::any_of(
        all.begin(), all.end(), [](share const& s) { return !std::is_sorted(s.places.begin(), s.places.end()); });
    CHECK((message_of([&] { (void)c.owned(); }).find("are no ranges") != std::string::npos) == is_scattered);
    CHECK((message_of([&] { (void)c.layer(1); }).find("are no ranges") != std::string::npos) == is_scattered);
    kr::partition<cells> const in_order{world, mine.owned, mine.ghosts};
    CHECK((c.here()->digest != in_order.here()->digest) == is_scattered);
  }
  CHECK(right == 200);
}

TEST_CASE_TEMPLATE("residency: layers of ghosts grow out of neighbours", R, km::mpi, km::alone) {
  km::basic_environment<R> const world;
  int right = 0;
  for (unsigned seed = 0; seed != 100; ++seed) {
    std::mt19937_64 random(seed);
    auto const all = random_shares(random, world.size());
    adjacency near;
    ids every{-5}; // what no rank owns
    for (share const& s : all)
      for (std::int64_t const id : s.owned) near[id], every.push_back(id);
    for (auto& [id, row] : near)
      for (auto n = random() % 4; n != 0; --n) row.push_back(every[random() % every.size()]);
    ids const& owned = all[std::size_t(world.rank())].owned;
    layers rows;
    for (std::int64_t const id : owned) rows.push_back(near.at(id));
    int const count = int(seed % 5);
    auto const found = kr::grow<cells>(world, owned, rows, count);
    right += found.owned == owned && found.ghosts == grown(near, owned, count) &&
                     kr::partition<cells>(world, found).layers() == count
                 ? 1
                 : 0;
  }
  CHECK(right == 100);

  int const me = world.rank(), last = world.size() - 1;
  std::string const place = "keel::residency: grow is not done (rank ";
  std::string const hint = "). Give each owned element a row, and all ranks as many layers.";
  ids const own{me};
  CHECK(error_on_all(world, [&] { (void)kr::grow<cells>(world, own, layers(me == last ? 2 : 1), 1); }) ==
        place + std::to_string(last) + ": there are 2 rows of neighbours (the rank owns 1 cells)" + hint);
  CHECK(error_on_all(world, [&] { (void)kr::grow<cells>(world, own, layers(1), me == last ? -1 : 1); }) ==
        place + std::to_string(last) + ": -1 layers are wanted" + hint);
  CHECK(error_on_all(world, [&] { (void)kr::grow<cells>(world, own, layers(1), me == last ? 3 : 1); }) ==
        (last == 0 ? ""
                   : "keel::residency::grow: a rank wants 1 layer, another one 3 (all grow together). Give the same "
                     "number on every rank."));
}

TEST_CASE_TEMPLATE("residency: rows come to the ranks that have their elements", R, km::mpi, km::alone) {
  km::basic_environment<R> const world;
  int right = 0;
  auto const row_of = [](std::int64_t id) { return std::vector<std::int16_t>(std::size_t(id & 7), std::int16_t(id)); };
  for (unsigned seed = 0; seed != 100; ++seed) {
    std::mt19937_64 random(seed);
    auto all = random_shares(random, world.size());
    if (seed % 3 == 2)
      for (share& s : all) s.scatter(random, seed % 30 == 2);
    kr::partition<cells> const c = partition_of(world, all[std::size_t(world.rank())]);
    std::map<std::int64_t, std::vector<std::int16_t>> rows; // of any elements
    std::vector<std::pair<std::int64_t, std::array<double, 3>>> numbers;
    for (share const& s : all)
      for (std::int64_t const id : s.owned)
        if (int(random() % std::uint64_t(world.size())) == world.rank()) {
          rows[id] = row_of(id);
          numbers.push_back({id, {double(id), 1, 2}});
        }
    auto const here = kr::gather_rows(c, rows);
    auto const numbers_here = kr::gather_rows(c, numbers);
    bool is_right = here.size() == c.ids().size() && numbers_here.size() == here.size();
    for (std::size_t i = 0; is_right && i != here.size(); ++i)
      is_right = here[i] == row_of(c.ids()[i]) && numbers_here[i] == std::array{double(c.ids()[i]), 1., 2.};
    right += is_right ? 1 : 0;
  }
  CHECK(right == 100);

  int const me = world.rank(), last = world.size() - 1;
  kr::partition<cells> const c{world, ids{me}};
  auto const error_with = [&](std::vector<std::pair<int, double>> const& rows) {
    return error_on_all(world, [&] { (void)kr::gather_rows(c, rows); });
  };
  std::string const place = "keel::residency::gather_rows: ";
  CHECK(error_with({{me, 1.}, {-1 - me, 1.}}).empty()); // that no rank needs
  std::string const rank = "rank " + std::to_string(last);
  CHECK(error_with({{me == last ? -1 : me, 1.}}) == place + "no rank has a row of id " + std::to_string(last) +
                                                        " of cells, which " + rank +
                                                        " needs (each element gets one). Give it on some rank.");
  if (last != 0)
    CHECK(error_with({{me == last ? 0 : me, 1.}}) ==
          place + "id 0 of cells has two rows, on rank 0 and " + rank + " (an element has one). Give it once.");
}

TEST_CASE_TEMPLATE("residency: a partition may lack elements, ghosts or layers", R, km::mpi, km::alone) {
  km::basic_environment<R> const world;
  kr::partition<cells> const nothing{world, ids{}};
  CHECK(nothing.size() == 0);
  CHECK(nothing.layers() == 0);
  CHECK(nothing.local_of(0) == std::nullopt);
  CHECK_THROWS_WITH_AS((void)nothing.layer(1),
                       "keel::residency::partition: layer 1 of cells is not there (there are 0). Count from 1.",
                       keel::error);
}

TEST_CASE("residency: ghosts are one range of ids, or a range of such ranges") {
  km::basic_environment<km::alone> const world;
  ids const own{5, 7, -9};
  std::array<std::int64_t, 2> const near{7, 5};
  std::int64_t const far[] = {-9};
  std::vector<std::span<std::int64_t const>> const both{near, far};
  CHECK(kr::partition<cells>(world, own, near).layer(1) == kr::element_range{3, 5});
  CHECK(kr::partition<cells>(world, own).here()->digest != kr::partition<cells>(world, ids{7, 5, -9}).here()->digest);
  kr::partition<cells> const c{world, own, std::span(both)};
  CHECK(c.layer(2) == kr::element_range{5, 6});
  CHECK(c.owners()[2] == 0);
  CHECK(c.lists().own_elements.elements == std::vector<std::int32_t>{1, 0, 2});
}

TEST_CASE_TEMPLATE("residency: mistakes in the ids of a mesh are one error on all ranks", R, km::mpi, km::alone) {
  km::basic_environment<R> const world;
  int const me = world.rank(), last = world.size() - 1;
  ids const own{2 * me, 2 * me + 1};
  auto const on_last = [&](ids const& list) { return me == last ? list : ids{}; };
  auto const with = [&](ids list) { return list.insert(list.begin(), own.begin(), own.end()), list; };
  std::string const place = "keel::residency::partition: ", rank = "rank " + std::to_string(last);

  CHECK(error_of<R>(own, {on_last({0, 1})}).empty());
  CHECK(error_of<R>(own, {{}, on_last({0, -77})}) ==
        place + "the ghost with id -77 of cells on " + rank +
            " has no owner (it is in no list of owned ids). Let a rank own it, or leave it out.");
  CHECK(error_of<R>(with(on_last({88, 88})), {}) ==
        place + rank +
            " owns id 88 of cells twice (an element has one owner). Leave it in one list of owned ids, once.");
  CHECK(error_of<R>(own, {{0}, on_last({1, 0})}) ==
        place + rank +
            " has the ghost with id 0 of cells twice (it lies in one layer). "
            "Leave it in the first layer that it belongs to.");
  if (last == 0) return;
  CHECK(error_of<R>(with(on_last({0})), {{1}}) ==
        place + "rank 0 and " + rank +
            " both own id 0 of cells (an element has one owner). Leave it in one list of owned ids, once.");
}

TEST_CASE("residency: the worst of all mistakes is told, whichever rank finds it") {
  km::environment const world;
  // Each rank has mistakes of each kind; the least id of the worst kind counts.
  std::int64_t const id = 1000 - world.rank();
  CHECK(error_of<km::mpi>({id, id}, {{id, id}, {-id}}) ==
        "keel::residency::partition: rank " + std::to_string(world.size() - 1) + " owns id " +
            std::to_string(1001 - world.size()) +
            " of cells twice (an element has one owner). Leave it in one list of owned ids, once.");
}

TEST_CASE("residency: a rank with too many elements is an error on all ranks") {
  km::environment const world;
  // The ids are not read.
  std::int64_t const one = 1;
  std::span<std::int64_t const> const many(&one, std::size_t{1} << 31);
  bool const has_many = world.rank() == world.size() - 1;
  auto const said = message_of([&] { kr::partition<cells>(world, has_many ? many : many.first(0)); });
  CHECK(said == "keel::residency::partition: rank " + std::to_string(world.size() - 1) +
                    " has 2147483648 cells (local indices have 32 bits). Take more ranks.");
}

TEST_CASE("residency: a partition of ranks that are not members is empty") {
  km::environment const world;
  km::environment const one{world, km::first{1}};
  kr::partition<cells> const c{one, ids{1, 2}};
  CHECK(c.size() == (one.is_member() ? 2 : 0));
  CHECK(c.local_of(2).has_value() == one.is_member());
}

TEST_CASE("residency: edges belong to the owner of their first cell") {
  km::environment const world;
  // A ring of cells, two on each rank; edge 100 + i lies between the cells i - 1 and i, and edge 200 + i at cell i
  // only.
  int const n = 2 * world.size(), me = world.rank();
  auto const wrapped = [&](int i) { return std::int64_t((i + n) % n); };
  ids const own{wrapped(2 * me), wrapped(2 * me + 1)};
  ids const ghosts = n == 2 ? ids{} : ids{wrapped(2 * me - 1), wrapped(2 * me + 2)};
  kr::partition<cells> const c{world, own, ghosts};
  std::map<std::int64_t, std::array<std::int64_t, 3>> cells_on_edge;
  for (int i = 0; i != n; ++i) {
    cells_on_edge[100 + i] = {-1, wrapped(i - 1), wrapped(i)}; // -1 is no cell
    cells_on_edge[200 + i] = {-1, -1, i};
  }
  auto const found = kr::owned_through<edges>(c, cells_on_edge);
  ids wanted{100 + wrapped(2 * me + 1), 100 + wrapped(2 * me + 2), 200 + own[0], 200 + own[1]};
  std::sort(wanted.begin(), wanted.end());
  CHECK(found.owned == wanted);
  kr::partition<edges> const e{world, found};
  CHECK(e.layers() == 2);
  CHECK(e.owned().size() == 4);
  if (n == 2) return;
  CHECK(std::count(e.owners().begin(), e.owners().end(), me) == 0);
  CHECK(e.local_of(100 + wrapped(2 * me)) == 4); // of an owned cell, so in the first layer
  CHECK(e.layer(1).size() == 1);
  CHECK(e.layer(2).size() == (n == 4 ? 3 : 4)); // of the ghosts; two of four cells share an edge
}

TEST_CASE("residency: edges whose cells are not all here are found") {
  km::environment const world;
  // Without ghosts, every rank takes the edge to its right neighbour and the one to its left.
  int const n = world.size(), me = world.rank();
  kr::partition<cells> const c{world, ids{me}};
  std::map<std::int64_t, std::array<std::int64_t, 2>> cells_on_edge;
  for (int i = 0; i + 1 != n; ++i) cells_on_edge[i] = {i, i + 1};
  auto const made = [&] { kr::partition<edges>{world, kr::owned_through<edges>(c, cells_on_edge)}; };
  if (n == 1) CHECK_NOTHROW(made());
  else CHECK_THROWS_WITH_AS(made(), doctest::Contains("rank 0 and rank 1 both own id 0 of edges"), keel::error);
}

TEST_CASE("residency: is_ghost speaks of each element, on every rank") {
  km::environment const world;
  ids const mine{world.rank(), world.size() + world.rank()};
  std::vector<bool> mask(world.rank() == world.size() - 1 ? 3 : 2, false);
  auto const said = error_on_all(world, [&] { kr::partition<cells>(world, mine, kr::is_ghost{mask}); });
  CHECK(said.find("rank " + std::to_string(world.size() - 1) + " has 2 cells, is_ghost says it of 3") !=
        std::string::npos);
}
