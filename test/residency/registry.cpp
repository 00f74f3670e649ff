// SPDX-License-Identifier: MIT
// Variables named at run time: random calls beside a plain model, arrays of both owners, then what is refused.
#include <keel/residency/registry.hpp>

#include "model.hpp"

namespace registry_cases {

using namespace test;
struct cells : kr::mesh<"cells", kr::with_none> {};

template <class Exchange>
struct run_of : test::run<km::mpi> {
  using application = meshes::app<Kokkos::LayoutRight, Exchange>;
  run_of() : test::run<km::mpi>("simulated") {}
};

constexpr int levels = 3; // of elements beyond the mesh or grid

/// What arrays lie on: a x b elements, with b = 1 on a mesh. Those that the rank owns, those that an exchange fills,
/// and those that no neighbour has; and what tells elements apart on all ranks.
struct elements_here {
  std::size_t a = 0, b = 1;
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> parts[3];
  bool has[3] = {true, true, false}; ///< on some rank

  explicit elements_here(kr::partition<cells> const& c, std::vector<bool> const& is_ghost)
      : a(std::size_t(c.size()) + 1), ids(c.ids().begin(), c.ids().end()) {
    for (std::size_t e = 0; e < ids.size(); ++e) parts[is_ghost[e] ? 1 : 0].push_back(std::int64_t(e));
    parts[2] = {c.size()}, has[2] = true;
    ids.push_back(-7); // no neighbour
  }
  explicit elements_here(kr::share const& s) : a(std::size_t(s.extents[0])), b(std::size_t(s.extents[1])) {
    has[1] = overlap(s.regions, kr::region::halo), has[2] = overlap(s.regions, kr::region::walls);
    elements const all(s);
    ids = all.numbers;
    for (std::size_t e = 0; e < ids.size(); ++e)
      parts[all.layers[e] == 0 ? 0 : all.layers[e] == wall ? 2 : 1].push_back(std::int64_t(e));
  }
};

using host_space = Kokkos::HostSpace;
using device_space = keel::space::simulated_memory;
template <bool OnMesh, class Memory>
using array_in = Kokkos::View<std::conditional_t<OnMesh, double**, double***>, Kokkos::LayoutRight, Memory>;
template <bool OnMesh>
using wide_array = Kokkos::View<std::conditional_t<OnMesh, double***, double****>, Kokkos::LayoutRight, host_space>;

struct on_cells : kr::variable<"on_cells", double**, kr::levels<2>, kr::on_mesh<cells>> {};

constexpr int made_zero = -1; // instead of a write
KOKKOS_INLINE_FUNCTION double value(int write, std::int64_t id, int k) {
  return write == made_zero ? 0 : write * 20'000. + double(id % 10'007) + k / 8.;
}
template <class View>
KOKKOS_INLINE_FUNCTION auto& element(View const& v, std::int64_t e, int k) {
  if constexpr (int(View::rank) == 2) return v(e, k);
  else return v(e / std::int64_t(v.extent(1)), e % std::int64_t(v.extent(1)), k);
}

template <class View>
void fill(View const& v, elements_here const& on, bool everywhere, int write) {
  std::vector<std::int64_t> which;
  for (int p = 0; p < (everywhere ? 3 : 1); ++p)
    for (std::int64_t const e : on.parts[p]) which.push_back(e), which.push_back(on.ids[std::size_t(e)]);
  Kokkos::View<std::int64_t*, typename View::memory_space> const there("which", which.size());
  Kokkos::deep_copy(there, Kokkos::View<std::int64_t const*, host_space>(which.data(), which.size()));
  using space = typename View::execution_space;
  Kokkos::parallel_for(
      "fill", Kokkos::RangePolicy<space>(0, std::int64_t(which.size() / 2)), KOKKOS_LAMBDA(std::int64_t n) {
        for (int k = 0; k < levels; ++k) element(v, there(2 * n), k) = value(write, there(2 * n + 1), k);
      });
  Kokkos::fence();
}
/// Elements of a part that do not hold what that write left.
template <class View>
int wrong(View const& v, elements_here const& on, int part, int write) {
  Kokkos::View<double**, Kokkos::LayoutRight, typename View::memory_space> const packed("packed", on.ids.size(),
                                                                                        levels);
  using space = typename View::execution_space;
  Kokkos::parallel_for(
      "pack", Kokkos::RangePolicy<space>(0, std::int64_t(on.ids.size())), KOKKOS_LAMBDA(std::int64_t e) {
        for (int k = 0; k < levels; ++k) packed(e, k) = element(v, e, k);
      });
  Kokkos::fence();
  auto const here = Kokkos::create_mirror_view_and_copy(host_space(), packed);
  int found = 0;
  for (std::int64_t const e : on.parts[part])
    for (int k = 0; k < levels; ++k) found += here(e, k) == value(write, on.ids[std::size_t(e)], k) ? 0 : 1;
  return found;
}

/// A variable, and what it holds as a plain program would know it: of each time level the number of the write that each
/// part of it has, 0 if it is valid nowhere.
template <bool OnMesh>
struct known {
  kr::registered_variable handle;
  bool is_strided = false;
  array_in<OnMesh, host_space> mine = {};
  array_in<OnMesh, device_space> there = {};
  wide_array<OnMesh> wide = {};
  std::vector<std::array<int, 3>> level = {{0, 0, 0}};
};

/// A registry with arrays of both owners, or only its own.
template <bool OnMesh, class Run>
struct player {
  Run& run;
  std::mt19937& draw;
  elements_here on;
  kr::registry<typename Run::application>& f;
  std::vector<known<OnMesh>> all = {};
  int writes = 0;

  template <class Memory>
  [[nodiscard]] auto made() const {
    if constexpr (OnMesh) return array_in<true, Memory>("made", on.a, levels);
    else return array_in<false, Memory>("made", on.a, on.b, levels);
  }
  template <class... Views>
  kr::registered_variable adopt(std::string const& name, Views const&... views) {
    if constexpr (OnMesh) return f.template adopt<cells>(name, views...);
    else return f.adopt(name, views...);
  }
  void add(unsigned kind) {
    std::string const name = "array " + std::to_string(all.size());
    known<OnMesh> x;
    if (kind == 0) { // as a pointer
      x.mine = made<host_space>();
      auto const& m = x.mine;
      if constexpr (OnMesh)
        x.handle = adopt(name, m.data(), kr::extents{on.a, levels}, kr::strides{m.stride(0), m.stride(1)});
      else
        x.handle =
            adopt(name, m.data(), kr::extents{on.a, on.b, levels}, kr::strides{m.stride(0), m.stride(1), m.stride(2)});
    } else if (kind == 1)
      x.mine = made<host_space>(), x.there = made<device_space>(), x.handle = adopt(name, x.mine, x.there);
    else if (kind == 2) x.there = made<device_space>(), x.handle = adopt(name, x.there);
    else if (kind == 3) {
      x.is_strided = true;
      if constexpr (OnMesh) {
        x.wide = wide_array<true>("wide", on.a, levels, 2);
        x.handle = adopt(name, Kokkos::subview(x.wide, Kokkos::ALL, Kokkos::ALL, 1));
      } else {
        x.wide = wide_array<false>("wide", on.a, on.b, levels, 2);
        x.handle = adopt(name, Kokkos::subview(x.wide, Kokkos::ALL, Kokkos::ALL, Kokkos::ALL, 1));
      }
      Kokkos::deep_copy(x.wide, -1);
    } else {
      x.level.assign(2, {0, 0, OnMesh ? made_zero : 0});
      if constexpr (OnMesh) x.handle = f.template add<double**, cells>(name, kr::extents{levels}, kr::levels<2>{});
      else x.handle = f.template add<double***>(name, kr::extents{levels}, kr::levels<2>{});
    }
    all.push_back(x);
  }
  [[nodiscard]] bool is_valid(std::array<int, 3> const& level, bool everywhere) const {
    bool valid = level[0] != 0;
    for (int p = 1; p < 3 && everywhere; ++p) valid = valid && (!on.has[p] || level[std::size_t(p)] != 0);
    return valid;
  }
  template <class View>
  void look(View const& v, std::array<int, 3> const& level, bool everywhere) const {
    for (int p = 0; p < (everywhere ? 3 : 1); ++p) CHECK(wrong(v, on, p, level[std::size_t(p)]) == 0);
  }
  /// Whether it was done; it has to be refused if it is not valid.
  bool is_done(bool valid, auto const& call) {
    std::string const said = message_of(call);
    CHECK_MESSAGE(said.empty() == valid, said);
    return said.empty();
  }
  template <class Clause>
  void use(known<OnMesh> const& x, bool is_on_device, Clause const& clause, auto const& body) {
    using data = std::conditional_t<OnMesh, double**, double***>;
    auto const with = [&](auto place) {
      auto const u = f.use("use", place, clause);
      if (x.is_strided) body(u.template view<data, Kokkos::LayoutStride>(clause.all[0]));
      else body(u.template view<data>(clause.all[0]));
    };
    if (is_on_device) with(kr::on<keel::simulated>{});
    else with(kr::on_host{});
  }

  void call() {
    known<OnMesh>& x = all[draw() % all.size()];
    int const n = int(draw() % x.level.size());
    auto& level = x.level[std::size_t(n)];
    bool const is_on_device = draw() % 2 == 0, everywhere = draw() % 2 == 0;
    unsigned const what = draw() % 7;
    kr::region const where = everywhere ? kr::region::everywhere : kr::region::owned;
    auto const h = x.handle.past(n);
    if (what < 2) {
      ++writes;
      is_done(true, [&] {
        use(x, is_on_device, kr::writing{h.only(where)}, [&](auto const& v) { fill(v, on, everywhere, writes); });
      });
      level = {writes, everywhere ? writes : 0, everywhere ? writes : level[2]};
    } else if (what < 4) {
      bool const valid = is_valid(level, everywhere); // updating, as the use is of elements that are not const
      is_done(valid, [&] {
        use(x, is_on_device, kr::updating{h.only(where)}, [&](auto const& v) { look(v, level, everywhere); });
      });
      if (valid && !everywhere) level[1] = 0;
    } else if (what == 4) {
      known<OnMesh>& other = all[draw() % all.size()];
      bool const is_two = &other != &x, valid = level[0] != 0 && (!is_two || other.level[0][0] != 0);
      bool const is_exchanged = is_done(valid, [&] {
        if (is_two) f.exchange({h, other.handle});
        else f.exchange({h});
      });
      if (is_exchanged) level[1] = level[0];
      if (is_exchanged && is_two) other.level[0][1] = other.level[0][0];
    } else if (what == 5 && x.level.size() > 1) {
      f.cycle(x.handle);
      std::rotate(x.level.begin(), x.level.end() - 1, x.level.end());
      x.level[0] = {0, 0, OnMesh ? x.level[0][2] : 0};
    } else if (x.mine.data() != nullptr) { // by hand
      ++writes;
      f.require_invalid_data(kr::on_host{}, {h});
      fill(x.mine, on, true, writes);
      f.notify_data_modified(kr::on_host{}, {h});
      level = {writes, writes, writes};
    }
  }
  void end() const {
    for (known<OnMesh> const& x : all) // what lies between
      for (std::size_t n = 0; n < x.wide.span(); n += 2) CHECK(x.wide.data()[n] == -1);
  }
};

template <class Exchange>
void play_on_mesh(unsigned seed) {
  run_of<Exchange> run;
  auto& env = run.environment();
  std::mt19937 draw(seed); // the same on every rank
  auto g = meshes::hexagons(8, 6, env.size());
  std::vector<bool> is_ghost;
  auto const cut = [&] {
    for (int& owner : g.owners)
      if (seed % 3 == 2 && draw() % 4 == 0) owner = int(draw() % unsigned(env.size()));
    auto const ids = g.ids_of(env.rank());
    meshes::scattered const anywhere(ids, draw() + unsigned(env.rank()));
    if (draw() % 2 == 0) return is_ghost = anywhere.is_ghost, anywhere.on<cells>(env);
    kr::partition<cells> const c(env, ids.owned, ids.ghosts);
    is_ghost.assign(std::size_t(c.size()), true);
    std::fill_n(is_ghost.begin(), c.owned().end, false);
    return c;
  };
  kr::partition<cells> const c = cut();
  kr::registry f{run, c};
  player<true, run_of<Exchange>> p{run, draw, elements_here(c, is_ghost), f};
  bool const moves = seed % 3 == 2; // arrays of the application do not
  p.add(4);
  for (int n = 0; n < 100; ++n) {
    if (n % 12 == 0) p.add(moves ? 4 : draw() % 5);
    if (moves && n % 10 == 9) {
      auto const to = cut();
      f.repartition(to);
      p.on = elements_here(to, is_ghost);
      for (auto& x : p.all)
        for (auto& level : x.level) level = {level[0], 0, made_zero};
    }
    p.call();
  }
  p.end();
}

/// Unequal shares, of which some have no cells, as some ranks have none.
template <class Exchange>
void play_on_grid(unsigned seed) {
  run_of<Exchange> run;
  std::mt19937 draw(seed);
  int const ranks = run.environment().size(), parts = std::max(1, ranks - int(draw() % 2));
  std::vector<std::int64_t> at{0, 12};
  for (int n = 1; n < parts; ++n) at.push_back(2 * std::int64_t(draw() % 7));
  std::sort(at.begin(), at.end());
  kr::grid const whole{{12, 7},
                       kr::cuts{std::vector<std::vector<std::int64_t>>{at, {0, 7}}},
                       kr::ghost_width{1 + int(draw() % 2), int(draw() % 2)},
                       kr::periodic{draw() % 2 == 0, draw() % 2 == 0}};
  kr::registry f{run, whole};
  player<false, run_of<Exchange>> p{run, draw, elements_here(f.local()), f};
  p.add(4);
  for (int n = 0; n < 100; ++n) {
    if (n % 12 == 0) p.add(draw() % 5);
    p.call();
  }
  p.end();
}

TEST_CASE("residency: a registry keeps arrays of both owners on meshes and grids as a plain model does") {
  for (unsigned seed = 0; seed < 12; ++seed) {
    CAPTURE(seed);
    play_on_mesh<kr::on_host>(seed), play_on_mesh<kr::on_device>(seed + 100);
    play_on_grid<kr::on_host>(seed), play_on_grid<kr::on_device>(seed + 100);
  }
}

TEST_CASE("residency: with ghosts anywhere, fields refuse ranges of owned elements on every rank, and migrate") {
  run_of<kr::on_host> run;
  auto const& env = run.environment();
  auto const ids = meshes::ring(24, env.size()).ids_of(env.rank());
  meshes::scattered anywhere(ids, 3);
  if (ids.ghosts[0].empty())
    anywhere.ids.insert(anywhere.ids.begin(), ids.owned[0]), anywhere.is_ghost.insert(anywhere.is_ghost.begin(), true);
  kr::fields<run_of<kr::on_host>::application, on_cells> f{run, anywhere.on<cells>(env), kr::extra<on_cells>{levels}};
  auto const view = f.view<host>(on_cells{});
  f.notify_data_modified(view);
  auto const refused = doctest::Contains("owned elements and ghosts of cells are no ranges");
  auto const look = [&](auto const& at) { f.run(call<kr::reads<kr::owned<on_cells>>>{}, at); };
  CHECK_THROWS_WITH_AS(look([](auto v) { (void)v.owned(cells{}).size(); }), refused, keel::error);
  CHECK_THROWS_WITH_AS(look([](auto v) { (void)v.owned(on_cells{}).size(1); }), refused, keel::error);
  std::vector<int> const stay(std::size_t(f.size(cells{})), env.rank());
  CHECK_THROWS_WITH_AS(f.migrate(cells{}, stay), refused, keel::error);
}

TEST_CASE("residency: what a registry cannot keep is refused on every rank") {
  run_of<kr::on_host> run;
  int const rank = run.environment().rank(), size = run.environment().size();
  auto const g = meshes::ring(24, size);
  auto const ids = g.ids_of(rank);
  kr::partition<cells> const c(run.environment(), ids.owned, ids.ghosts);
  auto const n = std::size_t(c.size() + 1);
  Kokkos::View<double**, Kokkos::HostSpace> const a("a", n, 2), b("b", n, 2), other("other", n, 2),
      small("small", n - 1, 2);
  Kokkos::View<double**, Kokkos::LayoutLeft, keel::space::simulated_memory> const left("left", n, 2);
  Kokkos::View<double**, Kokkos::LayoutRight, keel::space::simulated_memory> const there("there", n, 2),
      less("less", n - 1, 2);
  kr::registry f{run, c};
  auto const said = [](auto const& call, std::string_view words) { CHECK(refuses(call, words)); };
  auto const h = f.adopt<cells>("h", a);
  auto const q = f.add<double**, cells>("q", kr::extents{2});
  said([&] { (void)f.adopt<cells>("h", b); }, "two variables 'h'");
  said([&] { (void)f.adopt<cells>("again", a); }, "is the array of 'h'");
  said([&] { (void)f.adopt<cells>("small", rank == size - 1 ? small : b); }, "along index 0");
  said([&] { (void)f.adopt<cells>("left", b, left); }, "in different ways");
  said([&] { (void)f.adopt<cells>("less", b, rank == size - 1 ? less : there); }, "in different ways");
  said([&] { (void)f.adopt<cells>("two", b, small); }, "in different ways");
  said([&] { (void)f.adopt<cells>("both", b, other); }, "two arrays in one memory");
  said([&] { (void)f.find("nothing"); }, "no variable 'nothing'");
  said([&] { (void)f.is_valid(kr::on_host{}, q.past(1)); }, "no level 1");
  if (size > 1)
    said([&] { (void)f.add<double**, cells>(rank == 0 ? "x" : "y", kr::extents{2}); }, "differ between ranks");
  said([&] { auto const u = f.use("look", kr::on_host{}, kr::reading{h}); }, "routine look reads h");
  {
    auto const u = f.use("write", kr::on_host{}, kr::writing{h});
    said([&] { (void)u.view<double**>(q); }, "does not declare it");
    said([&] { (void)u.view<float**>(h); }, "another type");
    said([&] { auto const v = f.use("other", kr::on_host{}, kr::reading{h}); }, "has not ended");
    said([&] { f.exchange({h}); }, "has not ended");
  }
  {
    auto const u = f.use("look", kr::on_host{}, kr::reading{h});
    said([&] { (void)u.view<double**>(h); }, "only reads it");
  }
  said(
      [&] {
        auto const u = f.use("fails", kr::on_host{}, kr::writing{h});
        throw keel::error("test", "it fails");
      },
      "it fails");
  CHECK_FALSE(f.is_valid(kr::on_host{}, h));
  said([&] { f.repartition(c); }, "array of the application");
  std::remove_const_t<decltype(a)> const within(a.data() + 1, n, 2);
  said([&] { (void)f.adopt<cells>("within", rank == size - 1 ? within : b); }, "has elements of");
  CHECK(f.size() == 2);
  auto const late = f.add<double**, cells>("late", kr::extents{2}); // what was refused left nothing
  CHECK((f.name(late) == "late" && late.number == 2));              // on every rank
  f.require_invalid_data(kr::on_host{}, {late});
  f.notify_data_modified(kr::on_host{}, {late});
  f.exchange({late});
  CHECK(f.is_valid(kr::on_host{}, late));
}

TEST_CASE("residency: what a use of a registry changes undeclared is found if it is checked") {
  struct checked : test::run<keel::machine::mpi> {
    using application = meshes::app<Kokkos::LayoutRight, kr::on_host, kr::checked>;
    checked() : test::run<keel::machine::mpi>("simulated") {}
  } run;
  int const rank = run.environment().rank();
  auto const ids = meshes::ring(24, run.environment().size()).ids_of(rank);
  kr::partition<cells> const c(run.environment(), ids.owned, ids.ghosts);
  auto const n = std::size_t(c.size() + 1);
  Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> const a("a", n, levels), b("b", n, levels);
  kr::registry f{run, c};
  auto const h = f.adopt<cells>("h", a), other = f.adopt<cells>("other", b);
  f.notify_data_modified(kr::on_host{}, {h, other});
  auto const change = [&](bool calls) {
    auto const u = f.use("smooth", kr::on_host{}, kr::updating{h});
    a(0, 0) = 1, b(0, 0) += 1;
    if (calls) f.notify_data_modified(kr::on_host{}, {other}); // now it is declared
  };
  change(true);
  CHECK(f.is_valid(kr::on_host{}, other));
  CHECK(refuses([&] { change(false); }, "smooth changed other, level 0, "));
  CHECK(f.is_valid(kr::on_host{}, h));
  CHECK_FALSE(f.is_valid(kr::on_host{}, other));
}

} // namespace registry_cases
