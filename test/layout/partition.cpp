// SPDX-License-Identifier: MIT
#include <keel/layout/partition.hpp>
#include <keel/layout/rows.hpp>

#include <keel/machine/alone.hpp>
#include <keel/machine/collectives.hpp>

#include <support/test.hpp>

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

/// What one rank was given.
struct share {
  ids owned;
  layers ghosts;
};

/// Elements of any ids over all ranks, drawn alike on each.
std::vector<share> random_shares(std::mt19937_64& random, int ranks) {
  auto all = std::vector<share>(std::size_t(ranks));
  int const count = int(random() % 200), spread = int(random() % 3);
  std::set<std::int64_t> drawn;
  while (int(drawn.size()) != count)
    drawn.insert(spread == 0   ? std::int64_t(random())
                 : spread == 1 ? std::int64_t(random() % 1000) - 500
                               : std::int64_t(random() % 1000) << 48);
  ids list(drawn.begin(), drawn.end());
  std::shuffle(list.begin(), list.end(), random);
  auto const used = 1 + random() % std::uint64_t(ranks); // the others own none
  for (std::int64_t const id : list) all[random() % used].owned.push_back(id);
  for (share& s : all) {
    std::shuffle(list.begin(), list.end(), random);
    s.ghosts.resize(random() % 4);
    std::size_t at = 0;
    for (ids& layer : s.ghosts)
      for (auto n = random() % 40; n != 0 && at != list.size(); --n) layer.push_back(list[at++]);
  }
  return all;
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
        made.ghosts.elements.push_back(local);
        made.owned.elements.push_back(std::int32_t(at - owned.begin()));
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
  ids every = mine.owned;
  bool right = c.owned() == kr::element_range{0, std::int64_t(mine.owned.size())};
  for (int n = 1; n <= c.layers(); ++n) {
    ids const layer = std::size_t(n) <= mine.ghosts.size() ? mine.ghosts[std::size_t(n) - 1] : ids{};
    auto const begin = std::int64_t(every.size());
    every.insert(every.end(), layer.begin(), layer.end());
    right = right && c.layer(n) == kr::element_range{begin, std::int64_t(every.size())};
  }
  right = right && std::equal(every.begin(), every.end(), c.ids().begin(), c.ids().end()) &&
          c.size() == std::int64_t(every.size()) && c.ghosts() == kr::element_range{c.owned().end, c.size()};
  for (std::int64_t const id : every) // its first place
    right = right && c.local_of(id) == std::find(every.begin(), every.end(), id) - every.begin();
  right = right && c.local_of(12'345'678'901) == std::nullopt;

  std::vector<int> owners(c.owners().size(), -1);
  std::vector<kr::detail::element_partner> partners;
  for (int r = 0; r != int(all.size()); ++r) {
    auto const here = between(all, me, r), there = between(all, r, me);
    for (std::size_t n = 0; n != here.ghosts.elements.size(); ++n) {
      auto const g = std::size_t(here.ghosts.elements[n] - c.owned().end);
      owners.at(g) = r;
      right = right && c.index_at_owner()[g] == here.owned.elements[n];
    }
    if (r == me) right = right && c.lists().own_ghosts == here.ghosts && c.lists().own_elements == here.owned;
    else if (!here.ghosts.elements.empty() || !there.owned.elements.empty())
      partners.push_back({r, there.owned, here.ghosts});
  }
  return right && c.lists().partners == partners && std::equal(owners.begin(), owners.end(), c.owners().begin());
}

/// The same elements in an order of the rank's own, and what it is given then.
struct mixed {
  std::vector<std::size_t> places; ///< of each element, counted with owned ones first
  ids all;
  std::vector<char> mask;
};
mixed mixed_from(std::mt19937_64& random, share const& s) {
  mixed made;
  ids every = s.owned;
  for (ids const& layer : s.ghosts) every.insert(every.end(), layer.begin(), layer.end());
  made.places.resize(every.size()), made.all.resize(every.size()), made.mask.resize(every.size());
  std::vector<std::size_t> free(every.size());
  for (std::size_t n = 0; n != free.size(); ++n) free[n] = n;
  std::shuffle(free.begin(), free.end(), random);
  auto const owned = std::ptrdiff_t(s.owned.size());
  std::sort(free.begin(), free.begin() + owned), std::sort(free.begin() + owned, free.end());
  for (std::size_t n = 0; n != every.size(); ++n) {
    made.places[n] = free[n], made.all[free[n]] = every[n];
    made.mask[free[n]] = n < s.owned.size() ? 0 : 1;
  }
  return made;
}
/// Whether a partition with scattered ghosts is that one of the same elements in order, but for places.
bool is_same(kr::partition<cells> const& c, kr::partition<cells> const& in_order, std::vector<mixed> const& all,
             int me) {
  mixed const& mine = all[std::size_t(me)];
  auto const place = [&](int rank, std::int32_t n) {
    return std::int32_t(all[std::size_t(rank)].places[std::size_t(n)]);
  };
  auto const moved = [&](kr::detail::layered_list list, int rank) {
    for (std::int32_t& e : list.elements) e = place(rank, e);
    return list;
  };
  bool right = std::equal(mine.all.begin(), mine.all.end(), c.ids().begin(), c.ids().end()) &&
               std::equal(c.owners().begin(), c.owners().end(), in_order.owners().begin(), in_order.owners().end());
  for (std::int64_t const id : mine.all)
    right = right && *c.local_of(id) == place(me, std::int32_t(*in_order.local_of(id)));
  for (std::size_t g = 0; g != c.owners().size(); ++g)
    right = right && c.index_at_owner()[g] == place(c.owners()[g], in_order.index_at_owner()[g]);
  auto wanted = in_order.lists();
  for (auto& p : wanted.partners) p.rims = moved(p.rims, me), p.ghosts = moved(p.ghosts, me);
  return right && c.lists().partners == wanted.partners && c.lists().own_ghosts == moved(wanted.own_ghosts, me) &&
         c.lists().own_elements == moved(wanted.own_elements, me);
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
    auto const all = random_shares(random, world.size());
    auto const& mine = all[std::size_t(world.rank())];
    right += is_right({world, mine.owned, mine.ghosts}, all, world.rank()) ? 1 : 0;
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
    auto const all = random_shares(random, world.size());
    share const& mine = all[std::size_t(world.rank())];
    kr::partition<cells> const c{world, mine.owned, mine.ghosts};
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
  // One rank has two layers, so all have.
  ids const own{world.rank() * 10, world.rank() * 10 + 1};
  kr::partition<cells> const c{world, own, world.rank() == 0 ? layers{{1}, {0}} : layers{}};
  CHECK(c.layers() == 2);
  CHECK(c.layer(2).size() == (world.rank() == 0 ? 1 : 0));
  CHECK(c.lists().partners.empty()); // copies of its own elements
  CHECK(c.lists().own_elements.of_layers(0, 1).size() == (world.rank() == 0 ? 1 : 0));
  CHECK(c.lists().own_elements.of_layers(0, 0).empty());
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

TEST_CASE("residency: two million ghosts come from one neighbour") {
  km::environment const world;
  std::int64_t const n = 2'000'000;
  int const last = world.size() - 1;
  ids own, ghosts;
  for (std::int64_t i = 0; i != n; ++i) {
    if (world.rank() == 0) own.push_back(i * 3);
    if (world.rank() == last) ghosts.push_back((n - 1 - i) * 3);
  }
  kr::partition<cells> const c{world, own, ghosts};
  auto const& lists = c.lists();
  CHECK(c.layers() == 1);
  auto const& got = last == 0 ? lists.own_elements : world.rank() == 0 ? lists.partners.at(0).rims : lists.own_elements;
  bool const owns = world.rank() == 0;
  CHECK(got.elements.size() == (owns ? std::size_t(n) : 0));
  CHECK((!owns || (got.elements.front() == n - 1 && got.elements.back() == 0)));
  if (world.rank() == last && last != 0) CHECK(lists.partners.at(0).ghosts.elements.size() == std::size_t(n));
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

TEST_CASE("residency: ghosts may lie anywhere among the elements of a rank") {
  km::environment const world;
  std::mt19937_64 random(77);
  int scattered = 0;
  for (int n = 0; n != 60; ++n) {
    CAPTURE(n);
    auto shares = random_shares(random, world.size());
    std::vector<mixed> all;
    for (share& s : shares) {
      ids one;
      for (ids const& layer : s.ghosts) one.insert(one.end(), layer.begin(), layer.end());
      s.ghosts = {one};
      all.push_back(mixed_from(random, s));
    }
    if (n % 10 == 9) // on all ranks owned ones first
      for (std::size_t r = 0; r != all.size(); ++r) {
        std::size_t at = 0;
        for (std::size_t& p : all[r].places) p = at++;
        all[r].all = shares[r].owned, all[r].mask.assign(all[r].all.size(), 0);
        all[r].all.insert(all[r].all.end(), shares[r].ghosts[0].begin(), shares[r].ghosts[0].end());
        all[r].mask.resize(all[r].all.size(), 1);
      }
    auto const me = std::size_t(world.rank());
    kr::partition<cells> const in_order{world, shares[me].owned, shares[me].ghosts},
        c{world, all[me].all, kr::is_ghost{all[me].mask}};
    CHECK(is_same(c, in_order, all, world.rank()));
    bool is_scattered = false;
    for (mixed const& m : all) is_scattered = is_scattered || !std::is_sorted(m.mask.begin(), m.mask.end());
    scattered += is_scattered ? 1 : 0;
    CHECK((message_of([&] { (void)c.owned(); }).find("are no ranges") != std::string::npos) == is_scattered);
    CHECK((message_of([&] { (void)c.layer(1); }).find("are no ranges") != std::string::npos) == is_scattered);
    CHECK((c.here()->digest != in_order.here()->digest) == is_scattered);
    std::map<std::int64_t, std::int64_t> rows; // of the elements of all ranks, each read by one
    for (share const& s : shares)
      for (std::int64_t const id : s.owned)
        if (std::uint64_t(id) % std::uint64_t(world.size()) == me) rows[id] = 3 * (id / 4);
    auto const got = kr::gather_rows(c, rows);
    bool right = got.size() == std::size_t(c.size());
    for (std::size_t e = 0; e != got.size(); ++e) right = right && got[e] == 3 * (c.ids()[e] / 4);
    CHECK(right);
  }
  CHECK(scattered > 30);
}

TEST_CASE("residency: is_ghost speaks of each element, on every rank") {
  km::environment const world;
  ids const mine{world.rank(), world.size() + world.rank()};
  std::vector<bool> mask(world.rank() == world.size() - 1 ? 3 : 2, false);
  auto const said = error_on_all(world, [&] { kr::partition<cells>(world, mine, kr::is_ghost{mask}); });
  CHECK(said.find("rank " + std::to_string(world.size() - 1) + " has 2 cells, is_ghost says it of 3") !=
        std::string::npos);
}
