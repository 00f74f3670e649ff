// SPDX-License-Identifier: MIT
// Ghosts of arrays that keel does not own, beside a plain model: each element has a number that follows from its global
// place and its other indices.
#include "../residency/mailed.hpp"
#include "../residency/meshes.hpp"

#include <keel/exchange/exchanger.hpp>
#include <keel/exchange/peer.hpp>
#include <keel/layout.hpp>

#include <support/test.hpp>

#include <complex>
#include <numeric>
#include <random>

#include <sys/mman.h>

namespace kr = keel::residency;
using keel::test::message_of, keel::test::refuses;
using test::meshes::cells;
using test::meshes::edges;

namespace {

/// Throws when the n-th of its messages leaves, or when they have come; says how many there are of it.
struct stumbling : kr::staged {
  static constexpr std::string_view name = "stumbling";
  static inline int left = 0, alive = 0;
  explicit stumbling(kr::messenger const& ranks) : kr::staged(ranks) { ++alive; }
  stumbling(stumbling const& other) : kr::staged(other) { ++alive; }
  ~stumbling() { --alive; }
  static void step() {
    if (left > 0 && --left == 0) throw std::runtime_error("it stumbled");
  }
  void begin(auto const& queue, std::span<kr::message const> sends, std::span<kr::message const> receives) {
    step();
    kr::staged::begin(queue, sends, receives);
  }
  void finish(auto const& queue) {
    kr::staged::finish(queue);
    step();
  }
};

struct app : test::meshes::app<Kokkos::LayoutRight, kr::automatic> {
  using transports = keel::list<kr::staged, kr::peer, test::mailed, stumbling>;
};
struct run_of : test::run<keel::machine::mpi> {
  using application = app;
  explicit run_of(std::string through = "measured")
      : test::run<keel::machine::mpi>(test::host::name, {.exchange_through = std::move(through)}) {}
  [[nodiscard]] int rank() { return environment().rank(); }
  [[nodiscard]] int size() { return environment().size(); }
};

/// The number of an element: all types that are exchanged hold it.
std::int64_t number(std::int64_t place, std::int64_t inner) { return ((place + 1000) * 37 + inner * 11 + 5) % 30'011; }

/// An array of the application's, with gaps between its elements, in memory of the host or of the simulated device: its
/// bytes on the host, and the view that is exchanged.
struct box {
  std::vector<std::int64_t> extents, strides; // in elements
  std::int64_t elements = 1;

  /// `order`: indices, that of neighbours in memory first; `gap` more elements along each.
  box(std::vector<std::int64_t> of, std::vector<int> const& order, int gap) : extents(std::move(of)), strides(extents) {
    for (int const d : order) strides[std::size_t(d)] = elements, elements *= extents[std::size_t(d)] + gap;
  }
  /// Calls f(indices, place in memory) for each element.
  template <class F>
  void each(F const& f) const {
    std::vector<std::int64_t> at(extents.size(), 0);
    if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return;
    for (;;) {
      std::int64_t place = 0;
      for (std::size_t d = 0; d < at.size(); ++d) place += at[d] * strides[d];
      f(at, place);
      std::size_t d = 0;
      while (d < at.size() && ++at[d] == extents[d]) at[d++] = 0;
      if (d == at.size()) return;
    }
  }
};

/// One array on a place, and what it has to hold.
template <class Data, class Memory>
struct held {
  using strided = Kokkos::View<Data, Kokkos::LayoutStride, Memory>;
  using T = typename strided::non_const_value_type;
  box lies;
  Kokkos::View<T*, Memory> data;
  decltype(Kokkos::create_mirror_view(Kokkos::View<T*, Memory>())) host;
  std::function<std::int64_t(std::vector<std::int64_t> const&)> wanted; // -1: a ghost that nobody fills
  std::function<bool(std::vector<std::int64_t> const&)> is_owned;

  held(box b, auto want, auto own) : lies(std::move(b)), wanted(want), is_owned(own) {
    data = Kokkos::View<T*, Memory>("held", std::size_t(lies.elements));
    host = Kokkos::create_mirror_view(data);
    fill();
  }
  static constexpr int stale = -7;
  void fill() {
    for (std::size_t i = 0; i < host.extent(0); ++i) host(i) = T(stale);
    lies.each([&](auto const& at, std::int64_t place) {
      if (is_owned(at)) host(std::size_t(place)) = T(double(wanted(at)));
    });
    Kokkos::deep_copy(data, host);
    Kokkos::fence();
  }
  strided view() const {
    Kokkos::LayoutStride all;
    for (std::size_t d = 0; d < lies.extents.size(); ++d)
      all.dimension[d] = std::size_t(lies.extents[d]), all.stride[d] = std::size_t(lies.strides[d]);
    return strided(data.data(), all);
  }
  /// Elements that do not hold what they should, and words between them that are not as they were.
  int wrong() {
    Kokkos::fence();
    Kokkos::deep_copy(host, data);
    int found = 0;
    std::vector<bool> is_element(std::size_t(lies.elements), false);
    lies.each([&](auto const& at, std::int64_t place) {
      is_element[std::size_t(place)] = true;
      std::int64_t const n = wanted(at);
      if (!(host(std::size_t(place)) == T(double(n < 0 ? stale : n)))) ++found;
    });
    for (std::size_t i = 0; i < is_element.size(); ++i)
      if (!is_element[i] && !(host(i) == T(stale))) ++found;
    return found;
  }
};

template <class Data, class Memory, class M>
held<Data, Memory> on_mesh(kr::partition<M> const& c, std::vector<bool> const& is_ghost, int at, int layers,
                           std::mt19937& draw, int more = 0) {
  std::vector<std::int64_t> extents;
  std::vector<int> order;
  for (int d = 0; d < int(held<Data, Memory>::strided::rank); ++d)
    extents.push_back(d == at ? c.size() + more : 2 + (d + 1) % 3), order.push_back(d);
  std::shuffle(order.begin(), order.end(), draw);
  std::int64_t const filled = layers == 0 || !is_ghost.empty() ? c.size() : c.layer(layers).end;
  auto const inner = [at](std::vector<std::int64_t> const& i) {
    std::int64_t n = 0;
    for (std::size_t d = 0; d < i.size(); ++d) n = d == std::size_t(at) ? n : n * 5 + i[d];
    return n;
  };
  std::vector<std::int64_t> const ids(c.ids().begin(), c.ids().end());
  return {box(extents, order, int(draw() % 2)),
          [=](std::vector<std::int64_t> const& i) {
            std::int64_t const e = i[std::size_t(at)];
            return e < filled ? number(ids[std::size_t(e)], inner(i)) : -1;
          },
          [=, owned = is_ghost.empty() ? c.owned().end : 0](std::vector<std::int64_t> const& i) {
            auto const e = i[std::size_t(at)];
            return e < std::int64_t(is_ghost.size()) ? !is_ghost[std::size_t(e)] : e < owned;
          }};
}

template <class Data, class Memory>
void on_meshes(run_of& run, std::mt19937& draw, test::meshes::graph const& g) {
  test::meshes::scattered const anywhere(g.ids_of(run.rank()), draw() + unsigned(run.rank()));
  bool const is_scattered = draw() % 2 == 0;
  auto mask = is_scattered ? anywhere.is_ghost : std::vector<bool>{};
  if (is_scattered) mask.push_back(true); // not empty on a rank without elements
  auto const c =
      is_scattered ? anywhere.on(run.environment()) : kr::partition<cells>(run.environment(), g.ids_of(run.rank()));
  kr::exchanger const x{run, c};
  constexpr int rank = held<Data, Memory>::strided::rank;
  for (int round = 0; round < 3; ++round) {
    int const at = int(draw() % unsigned(rank)), other = (at + 1) % rank;
    int const layers = int(draw() % unsigned(c.layers() + 1)), others = int(draw() % unsigned(c.layers() + 1));
    auto a = on_mesh<Data, Memory>(c, mask, at, layers != 0 ? layers : others, draw),
         b = on_mesh<Data, Memory>(c, mask, other, others, draw, 5);
    auto const first = layers == 0 ? kr::array_on<cells>(a.view(), kr::index{at})
                                   : kr::array_on<cells>(a.view(), kr::index{at}, kr::depth_of{layers});
    auto const second = kr::array_on<cells>(b.view(), kr::index{other});
    if (others == 0) x.exchange(first, second);
    else x.exchange(first, second, kr::depth_of{others}); // of those that do not say it
    CHECK(a.wrong() + b.wrong() == 0);
    a.fill(), b.fill();
    auto p = others == 0 ? x.plan(first, second) : x.plan(first, second, kr::depth_of{others});
    p.exchange(a.view(), b.view());
    CHECK(a.wrong() + b.wrong() == 0);
    auto const apart = [](auto one) {
      one.data = decltype(one.data)("other", one.data.extent(0)), one.host = Kokkos::create_mirror_view(one.data);
      return one;
    };
    auto a2 = apart(a), b2 = apart(b);
    a.fill(), b.fill(), a2.fill(), b2.fill();
    typename Memory::execution_space const space;
    {
      auto w = p.begin(space, a.view(), b.view()), v = p.begin(space, a2.view(), b2.view()); // two are open
      v.finish();
    }
    CHECK(a.wrong() + b.wrong() + a2.wrong() + b2.wrong() == 0);
  }
}

} // namespace

TEST_CASE("exchange: ghosts on a mesh are filled, whatever the strides, types and place of the index") {
  std::mt19937 draw(11);
  for (auto const* const through : {"staged", "peer", "mailed"}) {
    run_of run{through};
    for (auto const& g : {test::meshes::ring(23, run.size()), test::meshes::hexagons(8, 6, run.size()),
                          test::meshes::random(40, std::max(1, run.size() - 1), 5)}) {
      CAPTURE(g.name);
      CAPTURE(through);
      on_meshes<double*****, Kokkos::HostSpace>(run, draw, g);
      on_meshes<float*, Kokkos::HostSpace>(run, draw, g);
      on_meshes<std::int64_t*****, keel::space::simulated_memory>(run, draw, g);
      on_meshes<std::int32_t****, keel::space::simulated_memory>(run, draw, g);
      on_meshes<float**, keel::space::simulated_memory>(run, draw, g);
      on_meshes<double*, keel::space::simulated_memory>(run, draw, g);
      on_meshes<std::complex<double>**, Kokkos::HostSpace>(run, draw, g);
      on_meshes<std::complex<float>***, Kokkos::HostSpace>(run, draw, g);
      on_meshes<std::int16_t***, Kokkos::HostSpace>(run, draw, g);
    }
  }
}

namespace {

struct pair { // not of a function, which nvcc has no name for
  int a;
  char b;
};

/// Indices i along the first dimension of the grid, then j, and one more before them: q(k, j, i), or in another order.
template <class T, class Memory, class... Options>
void on_grid(run_of& run, std::mt19937& draw, kr::grid const& whole, kr::lattice const& on, Options const&... options) {
  kr::share const s = kr::share_of(kr::share_of(whole, run.size(), run.rank()), on, "q");
  std::array<int, 3> places{0, 1, 2};
  std::shuffle(places.begin(), places.end(), draw);
  auto const [first, second, inner] = places;
  std::vector<std::int64_t> extents(3, 3);
  extents[std::size_t(first)] = s.extents[0], extents[std::size_t(second)] = s.extents[1];
  std::vector<int> order{0, 1, 2};
  std::shuffle(order.begin(), order.end(), draw);
  auto const is_in = [=, f = first, n = second](kr::bounds const& b, std::vector<std::int64_t> const& i) {
    auto const x = i[std::size_t(f)], y = i[std::size_t(n)];
    return x >= b.begin[0] && x < b.end[0] && y >= b.begin[1] && y < b.end[1];
  };
  auto const global = [=, f = first, n = second, k = inner](std::vector<std::int64_t> const& i) {
    std::int64_t at[2]{i[std::size_t(f)], i[std::size_t(n)]};
    for (int d = 0; d < 2; ++d) {
      at[d] += s.global_begin[d] - s.owned().begin[d];
      if (s.wraps[std::size_t(d)]) at[d] = (at[d] + s.global_extents[d]) % s.global_extents[d];
    }
    return number(at[0] * 50 + at[1], i[std::size_t(k)]);
  };
  held<T***, Memory> a{box(extents, order, int(draw() % 2)),
                       [=](auto const& i) { return is_in(s.inside(), i) ? global(i) : -1; },
                       [=](auto const& i) { return is_in(s.owned(), i); }};
  kr::exchanger const x{run, whole};
  x.exchange(kr::array(a.view(), kr::index{first, second}, options...));
  CHECK(a.wrong() == 0);
}

} // namespace

TEST_CASE("exchange: ghosts on a grid are filled, wherever elements lie, whichever index counts a dimension") {
  std::mt19937 draw(3);
  run_of run;
  for (auto const& g :
       {kr::grid{{13, 12}, kr::ghost_width{1}}, kr::grid{{16, 12}, kr::ghost_width{2, 1}, kr::periodic{true, false}},
        kr::grid{{12, 18}, kr::ghost_width{2}, kr::periodic{true}}}) {
    on_grid<double, Kokkos::HostSpace>(run, draw, g, {});
    on_grid<float, keel::space::simulated_memory>(run, draw, g, {.longer = kr::face<0>::longer}, kr::at<kr::face<0>>{});
    on_grid<double, Kokkos::HostSpace>(run, draw, g, {.longer = kr::vertex::longer, .width = {3, 3, 3, 3}},
                                       kr::at<kr::vertex>{}, kr::ghosts<3>{});
  }
}

TEST_CASE("exchange: ghosts are added to what their owners have") {
  run_of run;
  auto const g = test::meshes::hexagons(8, 6, run.size());
  kr::partition<cells> const c(run.environment(), g.ids_of(run.rank()));
  kr::exchanger const x{run, c};
  std::vector<double> t(std::size_t(c.size() * 2));
  auto const p = x.plan(kr::array_on<cells>(t.data(), kr::extents{c.size(), 2}));
  auto const start = [](std::int64_t id, int k, int rank) { return double(number(id, k) + rank); };
  for (std::int64_t e = 0; e < c.size(); ++e)
    for (int k = 0; k < 2; ++k) t[std::size_t(2 * e + k)] = start(c.ids()[std::size_t(e)], k, run.rank());
  p.accumulate(t.data());
  for (std::int64_t e = 0; e < c.owned().end; ++e)
    for (int k = 0; k < 2; ++k) {
      auto const id = c.ids()[std::size_t(e)];
      double sum = start(id, k, run.rank());
      for (int r = 0; r < run.size(); ++r)
        for (auto const& layer : g.ids_of(r).ghosts)
          if (std::find(layer.begin(), layer.end(), id) != layer.end()) sum += start(id, k, r);
      CHECK(t[std::size_t(2 * e + k)] == sum);
    }
}

TEST_CASE("exchange: what does not fit is refused on every rank, and nothing is sent") {
  run_of run;
  auto const g = test::meshes::ring(24, run.size());
  kr::partition<cells> const c(run.environment(), g.ids_of(run.rank()));
  kr::grid const whole{{24, 8}, kr::ghost_width{1}};
  kr::exchanger const x{run, c}, y{run, whole};
  Kokkos::View<double**, Kokkos::HostSpace> const h("h", std::size_t(c.size()), 3),
      other("other", std::size_t(c.size()), 3), levels("levels", 3, std::size_t(c.size())),
      small("small", std::size_t(c.size()) - 1, 3);
  auto const on_c = [](auto const& v, auto const&... more) { return kr::array_on<cells>(v, more...); };
  bool const is_last = run.rank() == run.size() - 1;
  CHECK(refuses([&] { x.exchange(on_c(is_last ? small : h)); }, "along index 0"));
  CHECK(refuses([&] { x.exchange(on_c(levels)); }, "this rank has"));
  CHECK(refuses([&] { x.exchange(on_c(h, kr::index{2})); }, "has no index 2"));
  CHECK(refuses([&] { x.exchange(kr::array_on<edges>(h)); }, "the mesh edges is not there"));
  CHECK(refuses([&] { x.exchange(kr::array(h)); }, "without its mesh"));
  CHECK(refuses([&] { y.exchange(kr::array(h)); }, "of the grid there"));
  CHECK(refuses([&] { x.exchange(on_c(h), on_c(other), on_c(h)); }, "array 3 is array 1 again"));
  CHECK(refuses([&] { x.exchange(on_c(h, kr::depth_of{3})); }, "2 layers of ghosts"));
  CHECK(refuses([&] { x.exchange(on_c(h.data(), kr::extents{c.size(), 3}, kr::strides{1, 2})); }, "share memory"));
  CHECK(refuses([&] { x.exchange(on_c(h.data())); }, "without extents"));
  Kokkos::View<double*, Kokkos::HostSpace> const flat(
      "flat", std::size_t(kr::share_of(whole, run.size(), run.rank()).extents[0]));
  CHECK(refuses([&] { y.exchange(kr::array(flat)); }, "has no index 1"));
  // As a pointer to memory of a device.
  auto const bytes = std::size_t(c.size()) * 3 * sizeof(double);
  auto* const far = static_cast<double*>(::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  auto const as_flat = [&](double* at) { return on_c(at, kr::extents{c.size(), 3}); };
  CHECK(refuses([&] { x.exchange(as_flat(is_last ? far : h.data())); }, "the host does not reach"));
  x.exchange(as_flat(h.data()));
  CHECK(
      refuses([&] { x.exchange(as_flat(is_last ? far : h.data())); }, "the host does not reach")); // of a known layout
  ::munmap(far, bytes);
  if (run.size() > 1) {
    CHECK(refuses([&] { is_last ? x.exchange(on_c(h)) : x.exchange(on_c(h), on_c(other)); }, "differ between ranks"));
    CHECK(
        refuses([&] { is_last ? x.exchange(on_c(h)) : x.exchange(on_c(h, kr::depth_of{1})); }, "differ between ranks"));
  }
  auto const p = x.plan(on_c(h));
  CHECK(refuses([&] { p.exchange(levels); }, "in another way than planned"));
  CHECK(refuses([&] { p.exchange(h, other); }, "2 arrays instead of 1"));
  {
    auto const w = p.begin(Kokkos::DefaultHostExecutionSpace(), h);
    CHECK(refuses([&] { p.exchange(h); }, "has begun"));
    CHECK(refuses([&] { x.exchange(on_c(h)); }, "has begun"));
    p.exchange(other);
  }
  Kokkos::View<pair*, Kokkos::HostSpace> const pairs("pairs", std::size_t(c.size()));
  x.exchange(on_c(pairs));
  CHECK(refuses([&] { x.accumulate(on_c(pairs)); }, "are no numbers"));
  p.exchange(h); // all that was refused left nothing behind
}

TEST_CASE("exchange: a transport that throws loses nothing, and the next exchange fills the ghosts") {
  run_of run{"stumbling"};
  std::mt19937 draw(5);
  kr::partition<cells> const c(run.environment(), test::meshes::ring(24, run.size()).ids_of(run.rank()));
  CHECK(stumbling::alive == 0);
  {
    kr::exchanger const x{run, c};
    auto a = on_mesh<double***, Kokkos::HostSpace>(c, {}, 0, 0, draw);
    auto b = on_mesh<float***, keel::space::simulated_memory>(c, {}, 1, 0, draw);
    auto const on_a = kr::array_on<cells>(a.view()), on_b = kr::array_on<cells>(b.view(), kr::index{1});
    auto const p = x.plan(on_a, on_b);
    p.exchange(a.view(), b.view());
    bool fails = true;
    int last = 0;
    for (; fails; ++last) {
      a.fill(), b.fill();
      stumbling::left = last + 1;
      std::string const text = message_of([&] {
        try {
          if (last % 2 == 0) p.exchange(a.view(), b.view());
          else x.exchange(on_a, on_b);
        } catch (std::runtime_error const& e) {
          throw keel::error("test", e.what());
        }
      });
      fails = !text.empty(), stumbling::left = 0;
      CHECK((!fails || text.find("it stumbled") != std::string::npos));
      p.exchange(a.view(), b.view()), x.exchange(on_b, on_a);
      CHECK(a.wrong() + b.wrong() == 0);
    }
    CHECK(last == (run.size() == 1 ? 1 : 5)); // two memories, whose messages leave and come
  }
  CHECK(stumbling::alive == 0); // an exchanger goes with the plans that it kept
}

namespace {

struct vertices : kr::mesh<"vertices"> {};

} // namespace

TEST_CASE("exchange: arrays on cells, edges and vertices travel together") {
  std::mt19937 draw(7);
  for (auto const* const through : {"staged", "peer"}) {
    CAPTURE(std::string(through));
    run_of run{through};
    auto const g = test::meshes::hexagons(8, 6, run.size()), other = test::meshes::random(50, run.size(), 8);
    kr::partition<cells> const c(run.environment(), g.ids_of(run.rank()));
    kr::partition<edges> const e(run.environment(), kr::owned_through<edges>(c, g.cells_on_edges()));
    auto const ids = other.ids_of(run.rank());
    kr::partition<vertices> const v(run.environment(), ids.owned, ids.ghosts);
    kr::exchanger const x{run, c, e, v};
    for (int const layers : {1, 2}) {
      auto on_c = on_mesh<float**, Kokkos::HostSpace>(c, {}, 0, layers, draw);
      auto on_e = on_mesh<double***, keel::space::simulated_memory>(e, {}, 1, layers, draw);
      auto on_v = on_mesh<double**, Kokkos::HostSpace>(v, {}, 0, layers, draw);
      x.exchange(kr::array_on<cells>(on_c.view()), kr::array_on<edges>(on_e.view(), kr::index{1}),
                 kr::array_on<vertices>(on_v.view()), kr::depth_of{layers});
      CHECK(on_c.wrong() + on_e.wrong() + on_v.wrong() == 0);
    }
  }
}

TEST_CASE("exchange: lists of arrays whose length is known at run time, in a code that started MPI and Kokkos itself") {
  namespace km = keel::machine;
  std::mt19937 draw(9);
  run_of run;
  kr::partition<cells> const c(run.environment(), test::meshes::ring(24, run.size()).ids_of(run.rank()));
  auto const started = [&] { return kr::exchanger{km::environment{km::borrow, run.environment().comm()}, c}; };
  kr::exchanger const x = started();
  auto one = on_mesh<double**, Kokkos::HostSpace>(c, {}, 0, 0, draw);
  auto two = on_mesh<float***, keel::space::simulated_memory>(c, {}, 1, 0, draw);
  auto three = on_mesh<std::int64_t*, Kokkos::HostSpace>(c, {}, 0, 0, draw);
  std::vector<kr::any_array> list;
  auto const filled = [&](auto const& exchange) {
    one.fill(), two.fill(), three.fill();
    exchange();
    CHECK(one.wrong() == 0);
    CHECK((two.wrong() == 0) == (list.size() > 1 || run.size() == 1));
    CHECK((three.wrong() == 0) == (list.size() > 2 || run.size() == 1));
  };
  for (auto const& next : {kr::array_on<cells>(one.view()), kr::array_on<cells>(two.view(), kr::index{1}),
                           kr::array_on<cells>(three.view())}) {
    list.push_back(next);
    auto const plan = x.plan(list, kr::depth_of{c.layers()});
    filled([&] { x.exchange(list); });
    filled([&] { x.exchange(std::span(list)); });
    filled([&] { plan.exchange(list); });
    filled([&] { plan.begin(keel::device_traits<keel::simulated>::execution_space{}, list).finish(); });
  }
  filled([&] { x.exchange(std::span(list).first(2), list[2]); });
  CHECK(refuses([&] { x.exchange(list, list[1]); }, "array 4 is array 2 again"));
  setenv("KEEL_EXCHANGE_THROUGH", "pear", 1);
  CHECK(refuses([&] { started().exchange(list); }, "exchange-through names 'pear'"));
  unsetenv("KEEL_EXCHANGE_THROUGH");
}
