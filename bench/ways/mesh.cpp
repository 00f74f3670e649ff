// SPDX-License-Identifier: MIT
/// @file
/// Meshes beside what others offer for them, all in turns in one run: exchanges, and how long it takes to find the owner
/// of each ghost. bench-ways-mesh [TURNS [CELLS [exchanges|owners|names]]], and keel's options. Each rank has CELLS x CELLS
/// hexagons of a periodic plane, and three layers of ghosts; 0 stands for several sizes.

#include "libraries.hpp"
#include "table.hpp"

#include <keel/keel.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace kr = keel::residency;
namespace km = keel::machine;

namespace {

using namespace bench;
using ids = std::vector<std::int64_t>;

struct app : keel::defaults {
  using exchange = kr::on_device;
};
struct cells : kr::mesh<"cells"> {};
struct edges : kr::mesh<"edges"> {};
struct vertices : kr::mesh<"vertices"> {};

/// "field 007".
template <int N>
inline constexpr char name_of[] = {'f', 'i', 'e', 'l', 'd', ' ', '0' + N / 100, '0' + N / 10 % 10, '0' + N % 10, 0};
template <int N>
struct field : kr::variable<name_of<N>, double**, kr::on_mesh<cells>> {};

template <int N>
struct fill : kr::routine<"fill", kr::on_host, kr::writes<kr::everywhere<field<N>>>> {
  template <class V>
  static void run(V v, std::vector<double> const* from) {
    std::copy(from->begin(), from->end(), v(field<N>{}).data());
  }
};
struct collect : kr::routine<"collect", kr::on_host, kr::reads<field<0>>> {
  template <class V>
  static void run(V v, std::vector<double>* to) {
    std::copy_n(v(field<0>{}).data(), to->size(), to->begin());
  }
};

/// Rows of hexagons, odd ones shifted by half a cell; ranks own rectangles of them. A cell's id is its place in the plane.
struct plane {
  int width, height;          ///< of a rank's part
  std::array<int, 2> ranks{}; ///< up and across
  long across, up;            ///< cells of the whole

  plane(int w, int h) : width(w), height(h + h % 2) {
    MPI_Dims_create(all_ranks(), 2, ranks.data());
    across = long(width) * ranks[1], up = long(height) * ranks[0];
  }
  [[nodiscard]] std::int64_t id(long row, long column) const {
    return (row + up) % up * across + (column + across) % across;
  }
  [[nodiscard]] int owner(std::int64_t cell) const {
    return int(cell / across / height) * ranks[1] + int(cell % across / width);
  }
  /// East, north-east, north-west and the opposite ones.
  [[nodiscard]] std::array<std::int64_t, 6> neighbours(std::int64_t cell) const {
    long const r = cell / across, c = cell % across, s = r % 2;
    return {id(r, c + 1), id(r + 1, c + s), id(r + 1, c + s - 1), id(r, c - 1), id(r - 1, c + s - 1), id(r - 1, c + s)};
  }
  [[nodiscard]] ids owned() const {
    ids all;
    long const row = long(my_rank() / ranks[1]) * height, column = long(my_rank() % ranks[1]) * width;
    for (long i = 0; i < height; ++i)
      for (long j = 0; j < width; ++j) all.push_back(id(row + i, column + j));
    return all;
  }
};

/// The cells of this rank and three layers of ghosts.
kr::element_ids<cells> cells_of(plane const& p, km::environment const& env) {
  auto const owned = p.owned();
  std::vector<std::array<std::int64_t, 6>> near;
  for (auto const cell : owned) near.push_back(p.neighbours(cell));
  return kr::grow<cells>(env, owned, near, 3);
}

/// Ids of one mesh on this rank, owned ones first.
struct part {
  ids owned;
  std::vector<ids> ghosts;

  [[nodiscard]] ids all() const {
    ids every = owned;
    for (ids const& layer : ghosts) every.insert(every.end(), layer.begin(), layer.end());
    return every;
  }
};

cut lists_of(kr::partition<cells> const& c, int doubles) {
  cut made{int(c.size()), doubles, {}, {}};
  for (int i = 0; i < int(c.owned().end); ++i) made.own.push_back(i);
  for (std::size_t i = 0; i < c.owners().size(); ++i)
    made.ghosts.push_back({int(c.owned().end) + int(i), c.owners()[i], c.index_at_owner()[i]});
  return made;
}

/// `calls` the ghosts of all `fields` at once.
template <int... N>
way by_keel(keel::runtime<app>& run, kr::partition<cells> const& c, int doubles, std::vector<double> const& initial,
            std::integer_sequence<int, N...>) {
  auto const f = std::make_shared<kr::fields<app, field<N>...>>(run, c, kr::extra<>{doubles});
  (f->run(fill<N>{}, &initial), ...);
  return {"keel", [f] { f->run(kr::exchange<field<N>...>{}); },
          [f, n = initial.size()] {
            std::vector<double> all(n);
            f->run(collect{}, &all);
            return all;
          }};
}

using space = Kokkos::DefaultExecutionSpace;
using array = Kokkos::View<double**, Kokkos::LayoutRight, space::memory_space>;

/// An array of the application, in the memory of the device if there is one.
array array_of(kr::partition<cells> const& c, int doubles, std::vector<double> const& initial) {
  array const made("array", std::size_t(c.size()), std::size_t(doubles));
  auto const here = Kokkos::create_mirror_view(made);
  std::copy(initial.begin(), initial.end(), here.data());
  Kokkos::deep_copy(made, here);
  return made;
}
std::vector<double> values_of(array const& a) {
  auto const here = Kokkos::create_mirror_view(a);
  Kokkos::deep_copy(here, a);
  return {here.data(), here.data() + here.size()};
}

/// Ghosts of arrays that keel does not own, all at once.
template <int... N>
way by_exchanger(keel::runtime<app>& run, kr::partition<cells> const& c, int doubles,
                 std::vector<double> const& initial, std::integer_sequence<int, N...>) {
  std::array const all{(void(N), array_of(c, doubles, initial))...};
  auto const plan = kr::exchanger{run, c}.plan(kr::array_on<cells>(all[N])...);
  return {"exchanger", [all, plan] { plan.exchange(all[N]...); }, [all] { return values_of(all[0]); }};
}

/// Variables named at run time, of arrays of keel's: the owned elements of all are written, then their ghosts filled.
template <int... N>
way by_registry(keel::runtime<app>& run, kr::partition<cells> const& c, std::integer_sequence<int, N...>) {
  auto const f = std::make_shared<kr::registry<app>>(run, c);
  std::array const all{f->add<double**, cells>(name_of<N>, kr::extents{1})...};
  return {"registry",
          [f, all] {
            {
              auto const u = f->use("write", kr::on_host{}, kr::writing{all[N].only(kr::region::owned)...});
            }
            f->exchange({all[N]...});
          },
          {}};
}
template <class... Fields>
struct write_all : kr::routine<"write", kr::on_host, kr::writes<Fields...>> {
  template <class V>
  static void run(V) {}
};
template <int... N>
way by_types(keel::runtime<app>& run, kr::partition<cells> const& c, std::integer_sequence<int, N...>) {
  auto const f = std::make_shared<kr::fields<app, field<N>...>>(run, c, kr::extra<>{1});
  return {"types", [f] { f->run(write_all<field<N>...>{}), f->run(kr::exchange<field<N>...>{}); }, {}};
}

/// As Omega's halo: one array a call; a kernel packs what goes to a neighbour into reals of 8 bytes, and the host waits
/// for all queues before the message leaves; what came is unpacked as it arrives. Messages are of the host's memory.
way by_omega(cut const& lists, kr::partition<cells> const& c, std::vector<double> const& initial) {
  using numbers = Kokkos::View<int*, space::memory_space>;
  using buffer = Kokkos::View<double*, space::memory_space>;
  struct neighbour {
    int rank;
    numbers out, in;
    buffer sent, came;
    decltype(Kokkos::create_mirror_view(buffer())) mail_out, mail_in;
  };
  auto const numbers_of = [](std::vector<int> const& from) {
    numbers const made("numbers", from.size());
    auto const here = Kokkos::create_mirror_view(made);
    std::copy(from.begin(), from.end(), here.data());
    Kokkos::deep_copy(made, here);
    return made;
  };
  auto const a = array_of(c, lists.doubles, initial);
  std::map<int, std::array<std::vector<int>, 2>> asked; // by owner: where ghosts are, there and here
  for (ghost const& g : lists.ghosts) asked[g.rank][0].push_back(g.there), asked[g.rank][1].push_back(g.at);
  auto const all = std::make_shared<std::vector<neighbour>>();
  numbers own_out, own_in;
  for (auto const& [rank, ask] : asked) {
    if (rank == my_rank()) {
      own_out = numbers_of(ask[0]), own_in = numbers_of(ask[1]);
      continue;
    }
    std::vector<int> wanted(ask[0].size()); // as many, because the ranks' parts are alike
    MPI_Sendrecv(ask[0].data(), int(ask[0].size()), MPI_INT, rank, 1, wanted.data(), int(wanted.size()), MPI_INT, rank,
                 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    auto const count = wanted.size() * std::size_t(lists.doubles);
    buffer const out("out", count), in("in", count);
    all->push_back({rank, numbers_of(wanted), numbers_of(ask[1]), out, in, Kokkos::create_mirror_view(out),
                    Kokkos::create_mirror_view(in)});
  }
  auto const exchange = [a, all, own_out, own_in, levels = lists.doubles] {
    std::vector<MPI_Request> came(all->size()), gone(all->size());
    for (std::size_t n = 0; n < all->size(); ++n) {
      neighbour const& b = (*all)[n];
      MPI_Irecv(b.mail_in.data(), int(b.mail_in.size()), MPI_DOUBLE, b.rank, 0, MPI_COMM_WORLD, &came[n]);
    }
    for (std::size_t n = 0; n < all->size(); ++n) {
      neighbour const& b = (*all)[n];
      auto const to = b.sent;
      auto const at = b.out;
      auto const from = a;
      Kokkos::parallel_for(
          "pack", Kokkos::RangePolicy<space>(0, at.size()), KOKKOS_LAMBDA(std::size_t i) {
            for (int k = 0; k < levels; ++k) to(i * std::size_t(levels) + std::size_t(k)) = from(at(i), k);
          });
      Kokkos::fence();
      Kokkos::deep_copy(b.mail_out, b.sent);
      MPI_Isend(b.mail_out.data(), int(b.mail_out.size()), MPI_DOUBLE, b.rank, 0, MPI_COMM_WORLD, &gone[n]);
    }
    auto const own = a;
    auto const there = own_out, here = own_in;
    Kokkos::parallel_for(
        "own", Kokkos::RangePolicy<space>(0, here.size()), KOKKOS_LAMBDA(std::size_t i) {
          for (int k = 0; k < levels; ++k) own(here(i), k) = own(there(i), k);
        });
    for (std::size_t left = all->size(); left > 0; --left) {
      int n = 0;
      MPI_Waitany(int(came.size()), came.data(), &n, MPI_STATUS_IGNORE);
      neighbour const& b = (*all)[std::size_t(n)];
      Kokkos::deep_copy(b.came, b.mail_in);
      auto const from = b.came;
      auto const at = b.in;
      auto const to = a;
      Kokkos::parallel_for(
          "unpack", Kokkos::RangePolicy<space>(0, at.size()), KOKKOS_LAMBDA(std::size_t i) {
            for (int k = 0; k < levels; ++k) to(at(i), k) = from(i * std::size_t(levels) + std::size_t(k));
          });
      Kokkos::fence();
    }
    MPI_Waitall(int(gone.size()), gone.data(), MPI_STATUSES_IGNORE);
  };
  return {"Omega's", exchange, [a] { return values_of(a); }};
}

/// The exchanger in the place of fields, which come after; then beside these alone, and beside Omega's scheme.
void rows_of_exchanger(table& t, std::string const& what, way const& exchanger, std::vector<way> ways,
                       way const& omega) {
  way fields = std::exchange(ways[0], exchanger);
  fields.name = "fields";
  t.check(ways);
  t.row(what, ways, ways.size() - 1);
  for (way const& peer : {fields, omega}) {
    t.check({exchanger, peer});
    t.row(what, {exchanger, peer}, 1);
  }
}

void of_exchanges(table& t, keel::runtime<app>& run, int width, int height) {
  plane const p(width, height);
  kr::partition<cells> const c{run.environment(), cells_of(p, run.environment())};
  auto const size = std::to_string(p.width) + "x" + std::to_string(p.height);
  for (int doubles : {1, 10, 60}) {
    cut const lists = lists_of(c, doubles);
    auto const initial = initial_of(lists);
    std::vector<way> ways{by_keel(run, c, doubles, initial, std::integer_sequence<int, 0>{}), packed(lists, initial)};
#if BENCH_WITH_PETSC
    ways.push_back(petsc_sf(lists, initial));
#endif
#if BENCH_WITH_TPETRA
    ways.push_back(tpetra(lists));
#endif
    t.check(ways);
    std::string const what = size + ", " + std::to_string(doubles) + " an element";
    t.row(what, ways, ways.size() - 1);
    rows_of_exchanger(t, what, by_exchanger(run, c, doubles, initial, std::integer_sequence<int, 0>{}), ways,
                      by_omega(lists, c, initial));
  }
  int const levels = 60;
  cut const lists = lists_of(c, levels);
  auto const initial = initial_of(lists);
  std::vector<way> one_by_one;
  for (int n = 0; n < 10; ++n) one_by_one.push_back(packed(lists, initial));
  std::vector<way> ways{by_keel(run, c, levels, initial, std::make_integer_sequence<int, 10>{}),
                        {"one by one",
                         [one_by_one] {
                           for (way const& w : one_by_one) w.exchange(), Kokkos::fence();
                         },
                         one_by_one[0].array}};
  t.check(ways);
  std::string const what = size + ", 10 arrays of 60 levels";
  t.row(what, ways, 1);
  std::vector<way> omega;
  for (int n = 0; n < 10; ++n) omega.push_back(by_omega(lists, c, initial));
  rows_of_exchanger(t, what, by_exchanger(run, c, levels, initial, std::make_integer_sequence<int, 10>{}), ways,
                    {"Omega's",
                     [omega] {
                       for (way const& w : omega) w.exchange();
                     },
                     omega[0].array});
}

/// Many variables with one number an element: what their names cost.
void of_names(table& t, keel::runtime<app>& run) {
  plane const p(32, 32);
  kr::partition<cells> const c{run.environment(), cells_of(p, run.environment())};
  auto const row = [&]<int... N>(std::integer_sequence<int, N...> all) {
    t.row(std::to_string(sizeof...(N)) + " variables, written and exchanged",
          {by_registry(run, c, all), by_types(run, c, all)}, 1);
  };
#if defined(__CUDACC__)
  row(std::make_integer_sequence<int, 100>{}); // nvcc makes no list of 300 types
#else
  row(std::make_integer_sequence<int, 300>{});
#endif
}

/// What the cells of a plane are called.
enum class numbering { by_rank, by_row, scattered };

std::int64_t named(plane const& p, std::int64_t cell, numbering how) {
  long const row = cell / p.across, column = cell % p.across, prime = 1'000'000'007;
  switch (how) {
  case numbering::by_rank:
    return long(p.owner(cell)) * p.width * p.height + row % p.height * p.width + column % p.width;
  case numbering::scattered: return cell * prime % (p.across * p.up);
  default: return cell;
  }
}
part named(plane const& p, part of, numbering how) {
  auto const rename = [&](ids& all) {
    for (std::int64_t& cell : all) cell = named(p, cell, how);
  };
  rename(of.owned);
  for (ids& layer : of.ghosts) rename(layer);
  return of;
}

#if BENCH_WITH_PETSC
/// PETSc finds owners by arithmetic if ids follow on each other from rank to rank; others it translates by an AO.
way petsc_graph_of(part const& of, numbering how) {
  std::vector<PetscInt> owned(of.owned.begin(), of.owned.end()), remote;
  for (ids const& layer : of.ghosts) remote.insert(remote.end(), layer.begin(), layer.end());
  return {"PetscSF",
          [=, wanted = remote]() mutable {
            wanted = remote;
            auto const own = PetscInt(owned.size()), ghosts = PetscInt(remote.size());
            if (how != numbering::by_rank) {
              AO to_petsc = nullptr;
              AOCreateMemoryScalable(PETSC_COMM_WORLD, own, owned.data(), nullptr, &to_petsc);
              AOApplicationToPetsc(to_petsc, ghosts, wanted.data());
              AODestroy(&to_petsc);
            }
            PetscLayout layout = nullptr;
            PetscLayoutCreate(PETSC_COMM_WORLD, &layout);
            PetscLayoutSetLocalSize(layout, own), PetscLayoutSetUp(layout);
            PetscSF graph = nullptr;
            PetscSFCreate(PETSC_COMM_WORLD, &graph);
            PetscSFSetGraphLayout(graph, layout, ghosts, nullptr, PETSC_COPY_VALUES, wanted.data());
            PetscSFSetUp(graph);
            PetscSFDestroy(&graph), PetscLayoutDestroy(&layout);
          },
          {}};
}
#endif

#if BENCH_WITH_TPETRA
way tpetra_import_of(part const& of) {
  auto const every = of.all();
  std::vector<tpetra_id> const own(of.owned.begin(), of.owned.end()), all(every.begin(), every.end());
  return {"Tpetra", [own, all] { Tpetra::Import<> const made(map_of(own), map_of(all)); }, {}};
}
#endif

/// Each rank broadcasts what it owns, and all look for their ghosts there.
void find_by_broadcasts(part const& of) {
  std::unordered_map<std::int64_t, std::array<int, 2>> found;
  for (ids const& layer : of.ghosts)
    for (auto const id : layer) found.emplace(id, std::array{-1, -1});
  for (int r = 0; r < all_ranks(); ++r) {
    long count = long(of.owned.size());
    MPI_Bcast(&count, 1, MPI_LONG, r, MPI_COMM_WORLD);
    ids theirs(std::size_t(count), 0);
    if (r == my_rank()) theirs = of.owned;
    MPI_Bcast(theirs.data(), int(count), MPI_INT64_T, r, MPI_COMM_WORLD);
    for (int i = 0; i < int(count); ++i)
      if (auto const at = found.find(theirs[std::size_t(i)]); at != found.end()) at->second = {r, i};
  }
}

/// Finding the owners, for `elements` cells altogether, and for the cells, edges and vertices of as many.
void of_owners(table& t, keel::runtime<app>& run, long elements) {
  std::array<int, 2> ranks{};
  MPI_Dims_create(all_ranks(), 2, ranks.data());
  int const edge = int(std::sqrt(double(elements)));
  plane const p(edge / ranks[1], edge / ranks[0]);
  auto const& env = run.environment();
  auto const found = cells_of(p, env);
  part const of_cells{found.owned, found.ghosts};
  for (auto const& [how, what] : {std::pair(numbering::by_rank, "in order"), std::pair(numbering::by_row, "by rows"),
                                  std::pair(numbering::scattered, "scattered")}) {
    part const of = named(p, of_cells, how);
    std::vector<way> ways{{"keel", [&] { kr::partition<cells> const c{env, of.owned, of.ghosts}; }, {}}};
#if BENCH_WITH_PETSC
    ways.push_back(petsc_graph_of(of, how));
#endif
#if BENCH_WITH_TPETRA
    ways.push_back(tpetra_import_of(of));
#endif
    ways.push_back({"broadcasts", [&] { find_by_broadcasts(of); }, {}});
    t.row(std::to_string(p.across * p.up) + " cells, ids " + what, ways,
          std::max<std::size_t>(1, ways.size() - 2)); // broadcasts are a peer of the next row
  }

  // Three edges and two vertices of a cell have its number; each belongs to the first of its cells.
  std::map<std::int64_t, std::array<std::int64_t, 2>> cells_on_edge;
  std::map<std::int64_t, std::array<std::int64_t, 3>> cells_on_vertex;
  for (auto const cell : of_cells.all()) {
    auto const near = p.neighbours(cell);
    for (std::size_t k = 0; k < 3; ++k) cells_on_edge[3 * cell + std::int64_t(k)] = {cell, near[k]};
    for (std::size_t k = 0; k < 2; ++k) cells_on_vertex[2 * cell + std::int64_t(k)] = {cell, near[k], near[k + 1]};
  }
  kr::partition<cells> const c{env, of_cells.owned, of_cells.ghosts};
  auto const e = kr::owned_through<edges>(c, cells_on_edge);
  auto const v = kr::owned_through<vertices>(c, cells_on_vertex);
  part const of_edges{e.owned, e.ghosts}, of_vertices{v.owned, v.ghosts};
  t.row("owners of cells, edges, vertices",
        {{"keel",
          [&] {
            kr::partition<cells> const made{env, of_cells.owned, of_cells.ghosts};
            kr::partition<edges> const made_too{env, e};
            kr::partition<vertices> const the_last{env, v};
          },
          {}},
         {"broadcasts",
          [&] {
            for (part const* of : {&of_cells, &of_edges, &of_vertices}) find_by_broadcasts(*of);
          },
          {}}},
        1);
}

} // namespace

int main(int argc, char** argv) try {
  keel::runtime<app> run{argc, argv};
  if (run.help_requested()) return 0;
  [[maybe_unused]] bench::petsc const started;
  int const turns = argc > 1 ? std::atoi(argv[1]) : 21, edge = argc > 2 ? std::atoi(argv[2]) : 0;
  std::string_view const only = argc > 3 ? argv[3] : "";
  table t(turns);
  if (only.empty() || only == "names") of_names(t, run);
  if (only.empty() || only == "exchanges")
    for (int n : edge > 0 ? std::vector{edge} : std::vector{32, 128}) of_exchanges(t, run, n, n);
  if (only.empty() || only == "owners")
    for (long n : edge > 0 ? std::vector{long(edge) * edge} : std::vector{655'362L, 1'000'000L}) of_owners(t, run, n);
} catch (std::exception const& e) {
  return keel::report(e);
}
