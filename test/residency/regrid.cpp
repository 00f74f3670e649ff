// SPDX-License-Identifier: MIT
// Components that come and go: at random beside the model, and what a program relies on.
#include <keel/residency/fields.hpp>

#include "model.hpp"

namespace regridding {

using namespace test;
using meshes::cells;
using left = app<kr::on_device, Kokkos::LayoutLeft, kr::checked>;

struct mass : kr::variable<"mass", double**, kr::levels<2>> {};
struct corner : kr::variable<"corner", double** [2], kr::at<kr::vertex>, kr::ghosts<2>> {};
struct flux : kr::variable<"flux", float**, kr::at<kr::face<0>>> {};
struct length : kr::variable<"length", double*, kr::along<1>> {};
struct label : kr::variable<"label", int*, kr::off_grid> {};
struct age : kr::variable<"age", double*, kr::on_mesh<cells>> {};
struct spare : kr::scratch<"spare", double**> {};

/// What a level holds as the model has it: which element of those of a fill each element was once, by number.
struct values {
  static constexpr std::int64_t nothing = -1; ///< zeros
  int stamp;
  std::vector<std::int64_t> origins = std::vector<std::int64_t>(64 * 64);
  explicit values(int of_fill) : stamp(of_fill) { std::iota(origins.begin(), origins.end(), 0); }
};
/// Elements of a component that are otherwise.
template <class Part>
std::int64_t wrong_in(auto& f, int component, values const& model) {
  std::int64_t count = 0;
  for (auto const& e : listed_here<Part>(f, component)) {
    std::int64_t const was = model.origins[std::size_t(e.number)];
    count += e.value == (was == values::nothing ? 0 : value_of<double>(was, e.k, model.stamp)) ? 0 : 1;
  }
  return count;
}
struct use_spare : kr::routine<"use_spare", kr::on_device, kr::writes<spare>> {
  template <class V>
  static void run(V v) {
    for (int c = 0; c < v.components(); ++c) {
      auto const x = v(spare{}, kr::component{c});
      kr::for_each_cell(v, v.local(kr::component{c}).owned(), KOKKOS_LAMBDA(int i, int j) { x(i, j) = i + j; });
    }
  }
};
/// A step that keeps the values.
struct keep : kr::routine<"keep", kr::on_device, kr::reads<kr::inside<kr::past<mass, 1>>>, kr::writes<mass>> {
  template <class V>
  static void run(V v) {
    for (int c = 0; c < v.components(); ++c) {
      auto const from = v(kr::past<mass, 1>{}, kr::component{c});
      auto const to = v(mass{}, kr::component{c});
      kr::for_each_cell(v, v.local(kr::component{c}).owned(), KOKKOS_LAMBDA(int i, int j) { to(i, j) = from(i, j); });
    }
  }
};
struct step : kr::schedule<kr::exchange<mass>, kr::cycle<mass>, keep, kr::exchange<mass>> {};

/// A component as it should be: by part of a variable, values or nothing.
struct model {
  kr::grid whole;
  std::array<std::optional<values>, 7> parts;
};

/// The number of elements of a variable along a dimension of a grid.
template <class X>
std::int64_t extent_of(kr::grid const& g, int d) {
  return g.extents()[d] + (!g.is_periodic(d) && (X::about.on.longer >> d & 1) != 0 ? 1 : 0);
}

/// What `next` gets of `was`: zeros where it has nothing.
template <class X>
values moved(values const& was, kr::grid const& before, kr::grid const& next, kr::indices const& shift) {
  constexpr bool is_along = X::about.on.along != 0;
  auto const number = [](std::int64_t i, std::int64_t j) {
    return std::size_t((is_along ? 0 : 64 * (i + 10)) + j + 10);
  };
  values made(was.stamp);
  std::fill(made.origins.begin(), made.origins.end(), values::nothing);
  auto const source = [&](int d, std::int64_t x) -> std::int64_t {
    bool const is_longer = (X::about.on.longer >> d & 1) != 0;
    if (next.is_periodic(d) && is_longer && x == 0) x = next.extents()[d];
    std::int64_t const n = extent_of<X>(before, d), y = x + shift[d];
    return before.is_periodic(d) ? (y % n + n) % n : y < n ? y : -1;
  };
  for (std::int64_t i = 0; i < (is_along ? 1 : extent_of<X>(next, 0)); ++i)
    for (std::int64_t j = 0; j < extent_of<X>(next, 1); ++j) {
      std::int64_t const x = is_along ? 0 : source(0, i), y = source(1, j);
      if (x >= 0 && y >= 0) made.origins[number(i, j)] = was.origins[number(x, y)];
    }
  return made;
}

template <class App>
class program {
public:
  template <class Run>
  program(Run& run, unsigned seed)
      : draw_(seed), ranks_(run.environment().size()), models_{{some_grid(), {}}},
        part_(run.environment(), ids_of(run.environment().rank())),
        f_(run, models_[0].whole, part_, kr::extra<label>{3}) {}

  void play(int calls) {
    for (int n = 0; n < calls; ++n) {
      fill_some(n + 1);
      regrid();
      check();
    }
  }

private:
  using fields = kr::fields<App, mass, corner, flux, length, label, age, spare>;
  int below(int n) { return int(draw_() % unsigned(n)); }
  kr::grid some_grid() {
    int const nx = 16 + below(8), ny = 16 + below(8);
    bool const wraps = below(2) == 0, mixed = below(2) == 0;
    kr::ghost_width const width{1 + below(2), 1};
    if (below(2) == 0) return {{nx, ny}, width, kr::periodic{wraps, mixed}};
    // Shares of two cells or more, or none; there may be fewer of them than ranks.
    std::vector<std::vector<std::int64_t>> at{{0, nx}, {0, ny}};
    auto& cut = at[std::size_t(below(2))];
    std::int64_t const cells = cut[1];
    for (int n = below(ranks_); n > 0; --n) cut.push_back(below(5) == 0 ? cells : 2 * below(int(cells / 2)));
    std::sort(cut.begin(), cut.end());
    return {{nx, ny}, kr::cuts{at}, width, kr::periodic{wraps, mixed}};
  }
  static std::vector<std::int64_t> ids_of(int rank) {
    std::vector<std::int64_t> ids(std::size_t(5 + rank));
    std::iota(ids.begin(), ids.end(), 100 * rank);
    return ids;
  }

  template <class X, int Part>
  void fill_one(int stamp, int c) {
    if (below(3) == 0) return;
    fill<X>(f_, stamp, c);
    if (below(2) == 0) touch<kr::owned<X>>(f_, c);
    models_[std::size_t(c)].parts[Part] = values(stamp);
  }
  void fill_some(int stamp) {
    for (int c = 0; c < int(models_.size()); ++c) {
      fill_one<mass, 0>(stamp, c), fill_one<corner, 2>(stamp, c), fill_one<flux, 3>(stamp, c);
      fill_one<length, 4>(stamp, c), fill_one<label, 5>(stamp, c), fill_one<age, 6>(stamp, c);
    }
    if (below(3) == 0) {
      f_.run(kr::cycle<mass>{});
      for (model& m : models_) m.parts[1] = std::move(m.parts[0]), m.parts[0].reset();
    }
  }

  void regrid() {
    std::vector<kr::patch> patches;
    std::vector<model> next;
    std::vector<bool> taken(models_.size());
    for (int n = 1 + below(4); n > 0; --n) {
      int const from = below(int(models_.size()) + 1) - 1;
      bool const is_same = from >= 0 && below(2) == 0;
      kr::grid const g = is_same ? models_[std::size_t(from)].whole : some_grid();
      kr::indices const shift{{is_same ? 0 : below(12), is_same ? 0 : below(12)}};
      patches.push_back({g, from, shift});
      model& made = next.emplace_back(model{g, {}});
      if (from < 0) continue;
      model const& was = models_[std::size_t(from)];
      auto const move = [&]<class X>(X, int part) {
        if (was.parts[std::size_t(part)])
          made.parts[std::size_t(part)] = moved<X>(*was.parts[std::size_t(part)], was.whole, g, shift);
      };
      move(mass{}, 0), move(mass{}, 1), move(corner{}, 2), move(flux{}, 3), move(length{}, 4);
      made.parts[5] = was.parts[5], made.parts[6] = was.parts[6];
    }
    f_.regrid(patches);
    models_ = std::move(next);
  }

  template <class Part, int N>
  void check_one(int c) {
    auto const& m = models_[std::size_t(c)].parts[N];
    CAPTURE(N);
    CAPTURE(c);
    if (!m) CHECK(message_of([&] { listed_here<kr::owned<Part>>(f_, c); }) != "");
    else CHECK(wrong_in<kr::owned<Part>>(f_, c, *m) == 0);
  }
  template <class X, int N>
  void check_ghosts() {
    for (model const& m : models_)
      if (!m.parts[N]) return;
    f_.run(kr::exchange<X>{});
    for (int c = 0; c < int(models_.size()); ++c)
      CHECK(wrong_in<kr::inside<X>>(f_, c, *models_[std::size_t(c)].parts[N]) == 0);
  }
  void check() {
    REQUIRE(f_.components() == int(models_.size()));
    for (int c = 0; c < f_.components(); ++c) {
      CHECK(f_.local(kr::component{c}).global_extents == models_[std::size_t(c)].whole.extents());
      check_one<mass, 0>(c), check_one<kr::past<mass, 1>, 1>(c), check_one<corner, 2>(c), check_one<flux, 3>(c);
      check_one<length, 4>(c), check_one<label, 5>(c), check_one<age, 6>(c);
    }
    check_ghosts<mass, 0>(), check_ghosts<corner, 2>(), check_ghosts<flux, 3>(), check_ghosts<length, 4>();
    f_.run(use_spare{});
    for (model const& m : models_)
      if (!m.parts[0]) return;
    f_.step(step{}), f_.step(step{});
    for (model& m : models_) m.parts[1] = m.parts[0];
    for (int c = 0; c < f_.components(); ++c) check_one<mass, 0>(c), check_one<kr::past<mass, 1>, 1>(c);
  }

  std::mt19937 draw_;
  int ranks_;
  std::vector<model> models_;
  kr::partition<cells> part_;
  fields f_;
};

struct look : kr::routine<"look", kr::on_device, kr::reads<kr::owned<mass>>> {
  template <class V>
  static void run(V v, void*& at) {
    at = const_cast<double*>(v(mass{}).data());
  }
};
template <class App>
void play_all(std::string_view device, unsigned seeds, std::string through = "measured") {
  CAPTURE(device);
  run<km::mpi> here{device, {.exchange_through = std::move(through)}};
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    CAPTURE(seed);
    program<App>(here, seed).play(here.environment().size() > 3 ? 2 : 6);
  }
}

TEST_CASE("residency: components come, go and move at random, and their values are those of a plain model") {
  play_all<app_right>(host::name, 3);
  play_all<app_right>("simulated", 3);
  play_all<left>("simulated", 1);
  play_all<left>("simulated", 1, "peer"), play_all<app_right>("simulated", 1, "peer");
}

TEST_CASE("residency: a patch that moves takes its cells along, and one that stays keeps its arrays") {
  run<km::mpi> here{"simulated"};
  kr::grid const base{{16, 12}, kr::ghost_width{1}, kr::periodic{true}}, fine{{16, 12}, kr::ghost_width{1}},
      other{{9, 8}, kr::ghost_width{2}};
  kr::fields<app_right, mass, age> f{
      here, base, kr::further_grids{{fine, other}},
      kr::partition<cells>{here.environment(), std::vector<std::int64_t>{here.environment().rank()}}};
  for (int c = 0; c < 3; ++c) fill<mass>(f, c + 1, c), fill<age>(f, c + 1, c);
  f.step(step{}), f.step(step{});
  auto const place = [&](int c) {
    void* at = nullptr;
    f.run(look{}, kr::component{c}, at);
    return at;
  };
  touch<kr::owned<kr::past<mass, 1>>>(f, 2); // valid only on the device
  std::array<void*, 3> const before{place(0), place(1), place(2)};
  // The fine one moves, the others stay with other numbers. No byte goes between memories.
  f.reset_traffic();
  f.regrid({kr::patch{other, 2}, kr::patch{fine, 1, {8, 2}}, kr::patch{base, 0}, kr::patch{fine}});
  CHECK(f.components() == 4);
  CHECK(f.traffic().bytes(kr::way::to_host) == 0);
  CHECK(f.traffic().bytes(kr::way::to_device) == 0);
  auto const sent = km::sum(here.environment(), std::int64_t(f.traffic().bytes(kr::way::to_neighbours)));
  CHECK((sent != 0) == (here.environment().size() > 1));
  CHECK_FALSE(f.is_valid<mass>(kr::region::owned, kr::component{0}));
  CHECK(f.is_valid<mass>(kr::region::halo, kr::component{0}));
  CHECK_FALSE(f.is_valid<kr::past<mass, 1>>(kr::region::owned, kr::component{0}));
  CHECK(f.is_valid<mass, keel::simulated>(kr::region::owned, kr::component{1}));
  CHECK_FALSE(f.is_valid<mass>(kr::region::halo, kr::component{1}));
  CHECK(f.is_valid<mass>(kr::region::halo, kr::component{2}));
  CHECK_FALSE(f.is_valid<mass, keel::simulated>(kr::region::owned, kr::component{3}));
  CHECK_FALSE(f.is_valid<age>(kr::region::owned, kr::component{3}));
  CHECK(place(0) == before[2]);
  CHECK(place(2) == before[0]);
  fill<mass>(f, 4, 3), fill<age>(f, 4, 3);
  f.regrid({{fine, 3}}); // all vanish but one
  // The same cells with other ghosts.
  for (kr::periodic const& wraps : {kr::periodic{false}, kr::periodic{true}}) {
    f.regrid({{kr::grid{{16, 12}, kr::ghost_width{2}, wraps}, 0}});
    CHECK_FALSE(f.is_valid<mass>(kr::region::ghosts));
    f.run(kr::exchange<mass>{});
    CHECK(wrong_inside<mass>(f, 4) == 0);
  }
}

TEST_CASE("residency: patches that do not fit are refused on every rank, and nothing has changed") {
  run<km::mpi> here{"simulated"};
  auto const& env = here.environment();
  kr::grid const base{{16, 12}, kr::ghost_width{1}};
  kr::fields<left, mass, corner> f{here, base};
  fill<mass>(f, 1), fill<corner>(f, 2);
  auto const refused = [&](std::vector<kr::patch> const& patches, std::string_view text) {
    std::string const message = message_of([&] { f.regrid(patches); });
    CAPTURE(message);
    CHECK(message.find(text) != std::string::npos);
    CHECK(f.components() == 1);
    CHECK(wrong<kr::owned<mass>>(f, 1) + wrong<kr::owned<corner>>(f, 2) == 0);
  };
  refused({}, "regrid is refused (rank 0: there are no patches (fields have at least one component");
  refused({{base, 1}}, "patch 0 is from component 1 (there are 1");
  refused({{base, 0}, {base, -2}}, "patch 1 is from component -2");
  refused({{base, 0}, {kr::grid{{16}}, 0}}, "patch 1 is of 1 dimension (the grid has 2");
  refused({{base, 0}, {kr::grid{{16, 12}, kr::blocks{2}}, 0}}, "patch 1 is in blocks");
  refused({{kr::grid{{1 * env.size(), 1}}, 0}}, "corner has ghosts of a width of 2");
  std::int64_t const huge = std::int64_t(1) << 28;
  refused({{base, 0}, {kr::grid{{huge, huge}}}}, "regrid is not done (rank 0: ");
  if (env.size() > 1) refused({{base, env.rank() == 0 ? 0 : -1}}, "the patches differ between ranks");
  kr::fields<left, mass, corner> g{here, kr::grid{{32, 24}, kr::blocks{2}}};
  CHECK(refuses([&] { g.regrid({{base, 0}}); }, "the grid is in blocks"));
  CHECK(refuses(
      [&] { f.step(kr::schedule<call<kr::reads<kr::owned<mass>>>>{}, [&] { f.regrid({{kr::grid{{16, 12}}, 0}}); }); },
      "called inside a step"));
}

} // namespace regridding
