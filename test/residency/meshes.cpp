// SPDX-License-Identifier: MIT
// Variables on meshes: what is exchanged, added, copied and refused, beside what follows from the ids of elements.
#include <keel/layout/partition.hpp>

#include "counted.hpp"
#include "meshes.hpp"
#include "routines.hpp"
#include "run.hpp"

#include <keel/exchange.hpp>
#include <keel/machine/mpi.hpp>
#include <keel/machine/reductions.hpp>
#include <keel/policy/log.hpp>
#include <keel/residency/fields.hpp>
#include <keel/residency/reduce_owned.hpp>

#include <doctest/doctest.h>
#include <support/message_of.hpp>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace meshed {

namespace kr = keel::residency;
namespace km = keel::machine;
using keel::test::message_of, keel::test::refuses;

using test::meshes::app;
using test::meshes::cells;
using test::meshes::devices;
using test::meshes::edges;
using test::meshes::two_meshes;

using right_on_host = app<Kokkos::LayoutRight, kr::on_host>;
using right_on_device = app<Kokkos::LayoutRight, kr::on_device>;
using left_on_host = app<Kokkos::LayoutLeft, kr::on_host>;
using left_on_device = app<Kokkos::LayoutLeft, kr::on_device>;

struct h : kr::variable<"h", double**, kr::levels<2>, kr::on_mesh<cells>> {};
struct un : kr::variable<"un", float***, kr::levels<2>, kr::on_mesh<edges>> {};
struct mask : kr::variable<"mask", std::int8_t*, kr::on_mesh<cells>> {};
struct id : kr::variable<"id", std::int64_t*, kr::on_mesh<cells>> {};
struct area : kr::variable<"area", double*, kr::on_mesh<cells>, kr::without_ghosts> {};
struct eta : kr::variable<"eta", double**> {};

template <class App>
using fields = kr::fields<App, h, un, mask, id, area>;
constexpr int levels = 3;

/// Calls f(run, meshes, fields) for meshes of several kinds.
template <class App>
void on_meshes(std::string_view device, auto const& f) {
  test::run<km::mpi> run{device};
  for (two_meshes const& m : test::meshes::of_all_kinds(run.environment())) {
    CAPTURE(m.name);
    fields<App> all{run, m.c, m.e, kr::extra<h>{levels}, kr::extra<un>{2, 3}};
    f(run, m, all);
  }
}

KEEL_FUNCTION inline double value_of(std::int64_t number, int k) { return double(number % 100003) * 8 + k; }
/// Element k, counted over all dimensions but the first.
template <class View>
auto& element(View const& view, std::int64_t i, int k) {
  if constexpr (View::rank == 1) return view(i);
  else if constexpr (View::rank == 2) return view(i, k);
  else return view(i, k / int(view.extent(2)), k % int(view.extent(2)));
}
template <class View>
int inner_of(View const& view) {
  int count = 1;
  for (int d = 1; d < int(View::rank); ++d) count *= int(view.extent(d));
  return count;
}
template <class View, class T = typename View::non_const_value_type>
T wanted(View const&, std::int64_t number, int k) {
  return T(sizeof(T) == 1 ? number % 100 : value_of(number, k));
}

/// Owned elements from their ids; ghosts are -1.
template <class X>
struct fill : kr::routine<"fill", kr::on_host, kr::writes<kr::everywhere<X>>> {
  template <class V, class P>
  static void run(V v, P const& part) {
    auto const x = v(X{});
    for (std::int64_t i = 0; i < part.size(); ++i)
      for (int k = 0; k < inner_of(x); ++k)
        element(x, i, k) =
            i < part.owned().end ? wanted(x, part.ids()[std::size_t(i)], k) : decltype(wanted(x, 0, 0))(-1);
  }
};
/// Elements that have not the value of their ids, by layer: 0 is owned.
template <class X, class... Clauses>
struct count_wrong : kr::routine<"count_wrong", kr::on_host, Clauses...> {
  template <class V, class P>
  static std::vector<std::int64_t> run(V v, P const& part) {
    auto const x = v(X{});
    std::vector<std::int64_t> wrong;
    for (int layer = 0; layer <= part.layers(); ++layer) {
      auto const range = layer == 0 ? part.owned() : part.layer(layer);
      wrong.push_back(0);
      for (auto i = range.begin; i < range.end; ++i)
        for (int k = 0; k < inner_of(x); ++k)
          wrong.back() += element(x, i, k) == wanted(x, part.ids()[std::size_t(i)], k) ? 0 : 1;
    }
    return wrong;
  }
};
template <class X>
struct wrong : count_wrong<X, kr::reads<X>> {};
template <class X>
struct wrong_in_first : count_wrong<X, kr::reads<kr::layer<X, 1>>> {};
template <class X>
struct wrong_owned : count_wrong<X, kr::reads<kr::owned<X>>> {};

using zeros = std::vector<std::int64_t>;
template <class P>
zeros none_of(P const& part) {
  return zeros(std::size_t(part.layers()) + 1, 0);
}

struct ids_there : kr::routine<"ids_there", kr::on_host, kr::writes<kr::everywhere<id>>> {
  template <class V>
  static void run(V v, kr::partition<cells> const& part) {
    for (std::int64_t i = 0; i < part.size(); ++i) v(id{})(i) = part.ids()[std::size_t(i)];
  }
};
/// Fills owned elements, where the device is.
struct compute : kr::routine<"compute", kr::on_device, kr::reads<kr::owned<id>>, kr::writes<h>> {
  template <class V>
  static void run(V v) {
    auto const number = v(id{});
    auto const x = v(h{});
    kr::for_owned(
        v, cells{}, KOKKOS_LAMBDA(int i) {
          for (int k = 0; k < levels; ++k) x(i, k) = value_of(number(i), k);
        });
  }
};
struct doubled : kr::routine<"doubled", kr::on_device, kr::reads<kr::past<h, 1>>, kr::writes<h>> {
  template <class V>
  static void run(V v) {
    auto const before = v(kr::past<h, 1>{});
    auto const x = v(h{});
    kr::for_owned(
        v, cells{}, KOKKOS_LAMBDA(int i) {
          for (int k = 0; k < levels; ++k) x(i, k) = before(i, k);
        });
  }
};
struct step : kr::schedule<kr::cycle<h>, doubled, kr::exchange<h>> {};
static_assert(kr::plan<right_on_host, step, keel::simulated>::copies(kr::host, kr::device, kr::core) == 0);
static_assert(kr::plan<right_on_host, step, keel::simulated>::copies(kr::device, kr::host) == 1);
static_assert(kr::plan<right_on_device, step, keel::simulated>::copies(kr::device, kr::host) == 0);

template <class App>
void exchange_all(std::string_view device) {
  on_meshes<App>(device, [](auto& run, two_meshes const& m, fields<App>& f) {
    f.run(fill<h>{}, m.c), f.run(fill<un>{}, m.e), f.run(fill<mask>{}, m.c), f.run(ids_there{}, m.c);
    f.run(fill<area>{}, m.c);
    f.run(kr::exchange<h, un, mask>{});
    CHECK(f.run(wrong<h>{}, m.c) == none_of(m.c));
    CHECK(f.run(wrong<un>{}, m.e) == none_of(m.e));
    CHECK(f.run(wrong<mask>{}, m.c) == none_of(m.c));
    CHECK(f.run(wrong_owned<area>{}, m.c)[0] == 0);
    CHECK(f.size(cells{}) == m.c.size());
    CHECK(f.size(edges{}) == m.e.size());

    // What is computed on the device, over steps that cycle.
    f.run(compute{});
    f.run(kr::exchange<h>{});
    for (int n = 0; n < 3; ++n) f.step(step{});
    CHECK(f.run(wrong<h>{}, m.c) == none_of(m.c));

    // Ghosts of other ranks are what is sent, each once.
    f.reset_traffic();
    f.run(kr::exchange<h>{});
    std::int64_t away = 0;
    for (int const owner : m.c.owners()) away += owner != run.environment().rank() ? 1 : 0;
    auto const sent = std::int64_t(f.traffic().bytes(kr::way::to_neighbours));
    CHECK(km::sum(run.environment(), sent) == km::sum(run.environment(), 8 * levels * away));
  });
}

template <class App>
void exchange_layers(std::string_view device) {
  on_meshes<App>(device, [](auto&, two_meshes const& m, fields<App>& f) {
    if (m.c.layers() < 2) return;
    f.run(fill<h>{}, m.c);
    f.run(kr::exchange<kr::depth<1, h>>{});
    auto const found = f.run(wrong_in_first<h>{}, m.c);
    CHECK(found[0] == 0);
    CHECK(found[1] == 0);
    CHECK(found[2] == levels * m.c.layer(2).size());
    CHECK(f.template is_valid<kr::layer<h, 1>>(kr::region::halo));
    CHECK_FALSE(f.template is_valid<h>(kr::region::halo));
    CHECK(refuses([&] { f.run(wrong<h>{}, m.c); }, "fewer layers of it were filled"));
    f.run(kr::exchange<kr::depth<5, h>>{}); // more than there are: all
    CHECK(f.run(wrong<h>{}, m.c) == none_of(m.c));
  });
}

TEST_CASE("residency: an exchange fills the ghosts of meshes, in any layout and memory") {
  for (std::string_view const device : {test::host::name, std::string_view("simulated")}) {
    CAPTURE(device);
    exchange_all<right_on_host>(device), exchange_all<right_on_device>(device);
    exchange_all<left_on_host>(device), exchange_all<left_on_device>(device);
  }
}

TEST_CASE("residency: an exchange fills as many layers of the ghosts of a mesh as it says") {
  exchange_layers<right_on_host>(test::host::name);
  exchange_layers<right_on_host>("simulated");
  exchange_layers<left_on_device>("simulated");
}

/// What a rank adds to a cell: thirds, whose sums depend on their order.
inline double part_of(int rank, std::int64_t number, int k) { return double(number % 1009 + 17 * rank + k) / 3; }
struct owned_h : kr::routine<"owned_h", kr::on_host, kr::reads<kr::owned<h>>> {
  template <class V>
  static std::vector<double> run(V v) {
    std::vector<double> all;
    for (auto i = v.owned(cells{}).begin; i < v.owned(cells{}).end; ++i)
      for (int k = 0; k < levels; ++k) all.push_back(v(h{})(i, k));
    return all;
  }
};
/// What owned cells have to hold after an accumulate: their own part, and that of each ghost.
std::vector<double> sums(two_meshes const& m, int rank) {
  std::vector<double> all;
  for (std::int64_t const number : m.all[std::size_t(rank)].owned)
    for (int k = 0; k < levels; ++k) {
      double sum = part_of(rank, number, k);
      for (std::size_t r = 0; r < m.all.size(); ++r)
        for (auto const& layer : m.all[r].ghosts)
          for (std::int64_t const ghost : layer) sum += ghost == number ? part_of(int(r), number, k) : 0;
      all.push_back(sum);
    }
  return all;
}

template <class App>
std::vector<double> accumulate_all(std::string_view device) {
  std::vector<double> every;
  on_meshes<App>(device, [&](auto& run, two_meshes const& m, fields<App>& f) {
    int const rank = run.environment().rank();
    f.run(test::call<kr::writes<kr::everywhere<h>>>{}, [&](auto v) {
      for (std::int64_t i = 0; i < m.c.size(); ++i)
        for (int k = 0; k < levels; ++k) v(h{})(i, k) = part_of(rank, m.c.ids()[std::size_t(i)], k);
    });
    f.run(kr::accumulate<h>{});
    auto const found = f.run(owned_h{}), wanted = sums(m, rank);
    REQUIRE(found.size() == wanted.size());
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == doctest::Approx(wanted[i]).epsilon(1e-13));
    if (m.c.layers() > 0) CHECK_FALSE(f.template is_valid<h>(kr::region::halo));
    f.run(kr::exchange<h>{});
    every.insert(every.end(), found.begin(), found.end());
  });
  return every;
}

TEST_CASE("residency: ghosts of a mesh are added to their owners, with the same bits each time") {
  auto const first = accumulate_all<right_on_host>(test::host::name);
  CHECK(accumulate_all<right_on_host>("simulated") == first);
  CHECK(accumulate_all<right_on_device>("simulated") == first);
  CHECK(accumulate_all<left_on_device>("simulated") == first);
  CHECK(accumulate_all<left_on_host>(test::host::name) == first);
  keel::for_each_device<devices>([&]<class Tag>(Tag) {
    if (keel::available<Tag>()) CHECK(accumulate_all<right_on_device>(Tag::name) == first);
  });
}

TEST_CASE("residency: only the elements of a mesh that are needed are copied") {
  on_meshes<right_on_host>("simulated", [](auto&, two_meshes const& m, fields<right_on_host>& f) {
    // The rim: owned elements of which there are ghosts.
    std::vector<bool> is_rim(std::size_t(m.c.owned().end), false);
    auto const mark = [&](std::vector<std::int32_t> const& list) {
      for (auto const i : list) is_rim[std::size_t(i)] = true;
    };
    for (auto const& p : m.c.lists().partners) mark(p.rims.elements);
    mark(m.c.lists().own_elements.elements);
    auto const rim = std::uint64_t(std::count(is_rim.begin(), is_rim.end(), true)), element = std::uint64_t(8 * levels);
    auto const bytes = f.bytes<h>();
    CHECK(bytes[0] == element * (std::uint64_t(m.c.owned().end) - rim));
    CHECK(bytes[1] == element * rim);
    CHECK(bytes[2] == element * std::uint64_t(m.c.ghosts().size()));
    CHECK(bytes[3] == 0);
    CHECK(f.bytes<area>() == kr::region_bytes{8 * std::uint64_t(m.c.owned().end), 0, 0, 0});

    f.run(ids_there{}, m.c);
    f.run(compute{});
    f.run(kr::exchange<h>{});
    f.step(step{});
    f.reset_traffic();
    for (int n = 0; n < 4; ++n) f.step(step{});
    if (m.c.layers() > 0) {
      CHECK(f.traffic().bytes(kr::way::to_host) == 4 * bytes[1]);
      CHECK(f.traffic().bytes(kr::way::to_device) == 4 * bytes[2]);
    }
    CHECK(f.run(wrong<h>{}, m.c) == none_of(m.c));
  });
}

struct first_layer : kr::routine<"first_layer", kr::on_device, kr::reads<kr::owned<id>>, kr::writes<kr::layer<h, 1>>> {
  template <class V>
  static void run(V v, bool const& has_layer) {
    auto const x = v(h{});
    auto const f = KOKKOS_LAMBDA(int i) {
      for (int k = 0; k < levels; ++k) x(i, k) = 1;
    };
    kr::for_owned(v, cells{}, f);
    if (has_layer) kr::for_each_element(v, v.layer(cells{}, 1), f);
  }
};

TEST_CASE("residency: a routine gets the ranges of a mesh, and loops over them") {
  on_meshes<right_on_host>("simulated", [](auto&, two_meshes const& m, fields<right_on_host>& f) {
    f.run(fill<h>{}, m.c);
    f.run(test::call<kr::reads<kr::owned<h>>>{}, [&](auto v) {
      CHECK(v.owned(cells{}) == m.c.owned());
      CHECK(v.ghosts(cells{}) == m.c.ghosts());
      CHECK(v.owned(edges{}) == m.e.owned());
      for (int n = 1; n <= m.c.layers(); ++n) CHECK(v.layer(cells{}, n) == m.c.layer(n));
      CHECK(v.owned(h{}) == kr::bounds{{}, {{m.c.owned().end}}});
      CHECK(v.everywhere(h{}) == kr::bounds{{}, {{m.c.size()}}});
      CHECK(v.everywhere(kr::layer<h, 1>{}).end[0] == (m.c.layers() > 0 ? m.c.layer(1).end : m.c.owned().end));
      auto const refused = message_of([&] { (void)v.layer(cells{}, m.c.layers() + 1); });
      CHECK(refused.find("is not there") != std::string::npos);
    });
    f.run(ids_there{}, m.c);
    f.run(first_layer{}, m.c.layers() > 0);
    double const sum = f.run(test::call<kr::reads<kr::layer<h, 1>>>{},
                             [](auto v) { return kr::sum_owned(v, cells{}, [x = v(h{})](int i) { return x(i, 0); }); });
    CHECK(sum == double(m.c.owned().end));
    CHECK(f.is_valid<kr::layer<h, 1>>(kr::region::halo));
    CHECK(f.is_valid<h>(kr::region::halo) == (m.c.layers() < 2));
  });
}

struct fill_eta : kr::routine<"fill_eta", kr::on_host, kr::writes<eta>> {
  template <class V>
  static void run(V v) {
    auto const own = v.owned();
    for (auto i = own.begin[0]; i < own.end[0]; ++i)
      for (auto j = own.begin[1]; j < own.end[1]; ++j)
        v(eta{})(i, j) =
            double(100 * (v.global_begin()[0] + i - own.begin[0]) + v.global_begin()[1] + j - own.begin[1]);
  }
};
/// Counts wrong elements of the grid and of both meshes at once.
struct wrong_in_all : kr::routine<"wrong_in_all", kr::on_host, kr::reads<eta, h, un>> {
  template <class V>
  static std::int64_t run(V v, two_meshes const& m) {
    std::int64_t count = 0;
    auto const own = v.owned(), all = v.everywhere();
    auto const begin = v.global_begin(), n = v.global_extents();
    for (auto i = all.begin[0]; i < all.end[0]; ++i)
      for (auto j = all.begin[1]; j < all.end[1]; ++j) {
        auto const x = (begin[0] + i - own.begin[0] + n[0]) % n[0], y = (begin[1] + j - own.begin[1] + n[1]) % n[1];
        count += v(eta{})(i, j) == double(100 * x + y) ? 0 : 1;
      }
    for (std::int64_t i = 0; i < m.c.size(); ++i)
      count += v(h{})(i, 1) == wanted(v(h{}), m.c.ids()[std::size_t(i)], 1) ? 0 : 1;
    for (std::int64_t i = 0; i < m.e.size(); ++i)
      count += v(un{})(i, 1, 2) == wanted(v(un{}), m.e.ids()[std::size_t(i)], 5) ? 0 : 1;
    return count;
  }
};

struct counting : right_on_device {
  using transports = keel::list<test::counted>;
};

TEST_CASE("residency: variables on a grid and on meshes in one fields, one exchange and one routine") {
  test::run<km::mpi> run{"simulated"};
  two_meshes const m = cut(run.environment(), test::meshes::hexagons(12, 10, run.environment().size()));
  kr::grid const g{{8, 9}, kr::ghost_width{1}, kr::periodic{true}};
  auto const try_one = [&](auto&& f) {
    f.run(fill_eta{}), f.run(fill<h>{}, m.c), f.run(fill<un>{}, m.e);
    test::carried = 0;
    f.run(kr::exchange<eta, h, un>{});
    CHECK(test::carried < run.environment().size()); // one to each other rank at most
    CHECK(f.run(wrong_in_all{}, m) == 0);
    CHECK(f.size(cells{}) == m.c.size());
  };
  using all = kr::fields<counting, h, eta, un>;
  try_one(all{run, g, m.c, m.e, kr::extra<h>{levels}, kr::extra<un>{2, 3}});
  try_one(all{run, m.c, g, m.e, kr::extra<h>{levels}, kr::extra<un>{2, 3}});
  // A mesh that no variable lies on.
  kr::fields<right_on_host, eta, un> f{run, m.e, m.c, g, kr::extra<un>{2, 3}};
  f.run(fill_eta{});
  CHECK(f.size(cells{}) == m.c.size());
}

TEST_CASE("residency: each component of a variable on a mesh is exchanged by itself") {
  test::run<km::mpi> run{"simulated"};
  two_meshes const m = cut(run.environment(), test::meshes::random(50, run.environment().size(), 2));
  fields<right_on_device> f{run, m.c, m.e, kr::components{2}, kr::extra<h>{levels}, kr::extra<un>{2, 3}};
  for (int c : {0, 1}) f.run(fill<h>{}, kr::component{c}, m.c);
  f.run(kr::exchange<h>{}, kr::component{1});
  CHECK(f.run(wrong<h>{}, kr::component{1}, m.c) == none_of(m.c));
  f.run(kr::exchange<h>{});
  CHECK(f.run(wrong<h>{}, kr::component{0}, m.c) == none_of(m.c));
}

/// A run whose user named a transport.
struct named : test::run<km::mpi> {
  named(std::string_view device, std::string_view transport) : test::run<km::mpi>{device} {
    settings_.exchange_through = transport;
  }
  [[nodiscard]] kr::settings const& residency_settings() const { return settings_; }
  kr::settings settings_;
};
/// Some steps of a stencil that is made of ghosts, and an accumulate.
struct spread : kr::routine<"spread", kr::on_device, kr::reads<kr::past<h, 1>>, kr::writes<kr::everywhere<h>>> {
  template <class V>
  static void run(V v) {
    auto const before = v(kr::past<h, 1>{});
    auto const x = v(h{});
    auto const f = KOKKOS_LAMBDA(int i) {
      for (int k = 0; k < levels; ++k) x(i, k) = before(i, k) / 3 + before(i / 2, (k + 1) % levels) / 7;
    };
    kr::for_owned(v, cells{}, f);
    kr::for_each_element(v, v.ghosts(cells{}), f);
  }
};
struct spreading : kr::schedule<kr::cycle<h>, spread, kr::accumulate<h>, kr::exchange<h>> {};
template <class Exchange>
struct by_any : app<Kokkos::LayoutRight, Exchange> {
  using transports = keel::list<kr::staged, kr::direct, kr::peer, kr::nccl>;
};
template <class Exchange>
std::vector<double> steps_by(std::string_view device, std::string_view transport) {
  named run{device, transport};
  two_meshes const m = cut(run.environment(), test::meshes::hexagons(12, 10, run.environment().size()));
  kr::fields<by_any<Exchange>, h> f{run, m.c, kr::extra<h>{levels}};
  f.run(fill<h>{}, m.c);
  f.run(kr::exchange<h>{});
  for (int n = 0; n < 5; ++n) f.step(spreading{});
  return f.run(owned_h{});
}

TEST_CASE("residency: bits of variables on meshes are the same through every transport") {
  keel::policy::set_log_level(keel::policy::log_level::error); // some are passed over
  auto const staged = steps_by<kr::on_host>(test::host::name, "staged");
  keel::for_each_device<devices>([&]<class Tag>(Tag) {
    if (!keel::available<Tag>()) return;
    for (std::string_view const transport : {"staged", "direct", "peer", "nccl", "measured"}) {
      CAPTURE(Tag::name);
      CAPTURE(transport);
      CHECK(steps_by<kr::on_host>(Tag::name, transport) == staged);
      CHECK(steps_by<kr::on_device>(Tag::name, transport) == staged);
    }
  });
  keel::policy::set_log_level(keel::policy::log_level::warning);
}

struct reads_only : kr::routine<"reads_only", kr::on_host, kr::reads<h>> {
  template <class V>
  static void run(V v, std::int64_t const& at) {
    auto const x = v(h{});
    const_cast<double&>(x(at, 0)) += 1;
  }
};

TEST_CASE("residency: what a routine writes undeclared is found on a mesh, too") {
  using checking = app<Kokkos::LayoutLeft, kr::on_device, kr::checked>;
  test::run<km::mpi> run{"simulated"};
  two_meshes const m = cut(run.environment(), test::meshes::hexagons(12, 10, run.environment().size()));
  kr::fields<checking, h, id> f{run, m.c, kr::extra<h>{levels}};
  f.run(fill<h>{}, m.c), f.run(ids_there{}, m.c);
  f.run(kr::exchange<h>{});
  f.run(compute{});
  f.run(kr::exchange<h>{});
  CHECK(f.run(wrong<h>{}, m.c) == none_of(m.c));
  CHECK(refuses([&] { f.run(reads_only{}, std::int64_t(0)); }, "routine reads_only changed h, level 0, "));
}

} // namespace meshed
