// SPDX-License-Identifier: MIT
// Variables on meshes: what is exchanged, added, copied and refused, beside what follows from the ids of elements.
#include <keel/layout/partition.hpp>

#include "model.hpp"

namespace meshed {

using namespace test;
using meshes::cells, meshes::edges, meshes::two_meshes;

struct h : kr::variable<"h", double**, kr::levels<2>, kr::on_mesh<cells>> {};
struct un : kr::variable<"un", float***, kr::levels<2>, kr::on_mesh<edges>> {};
struct mask : kr::variable<"mask", std::int8_t*, kr::on_mesh<cells>> {};
struct id : kr::variable<"id", std::int64_t*, kr::on_mesh<cells>> {};
struct area : kr::variable<"area", double*, kr::on_mesh<cells>, kr::without_ghosts> {};
struct eta : kr::variable<"eta", double**> {};

template <class App>
using fields = kr::fields<App, h, un, mask, id, area>;
constexpr int levels = 3;

/// Calls f(environment, meshes, fields) for meshes of several kinds.
template <class App>
void on_meshes(std::string_view device, auto const& f) {
  run<km::mpi> here{device};
  for (two_meshes const& m : meshes::of_all_kinds(here.environment())) {
    CAPTURE(m.name);
    fields<App> all{here, m.c, m.e, kr::extra<h>{levels}, kr::extra<un>{2, 3}};
    f(here.environment(), m, all);
  }
}
template <class App>
void exchange_all(std::string_view device) {
  on_meshes<App>(device, [](auto const& env, two_meshes const& m, fields<App>& f) {
    fill<kr::everywhere<h>>(f), fill<kr::everywhere<un>>(f), fill<kr::everywhere<mask>>(f), fill<id>(f), fill<area>(f);
    touch<h>(f), touch<mask>(f);
    f.run(kr::exchange<h, un, mask, id>{});
    CHECK(wrong<h>(f) + wrong<un>(f) + wrong<mask>(f) + wrong<id>(f) + wrong<area>(f) == 0);
    CHECK(f.size(cells{}) == m.c.size());
    CHECK(f.size(edges{}) == m.e.size());
    CHECK(sends_least<h>(env, f));
    CHECK(sends_least<un>(env, f));
    if (m.c.layers() > 1) CHECK(sends_least<kr::depth<1, h>>(env, f));
  });
}

TEST_CASE("residency: an exchange fills the ghosts of meshes, in any layout and memory") {
  for (auto const device : either_device) {
    CAPTURE(device);
    exchange_all<app_right>(device), exchange_all<app_left>(device);
  }
}

template <class Exchange>
struct by_any : meshes::app<Kokkos::LayoutRight, Exchange> {
  using transports = keel::list<kr::staged, kr::direct, kr::peer, kr::nccl>;
};
/// Sums of thirds, whose bits depend on their order, after some exchanges and accumulates.
template <class App>
std::vector<double> accumulated(std::string_view device, std::string transport = "measured") {
  std::vector<double> every;
  run<km::mpi> here{device, {.exchange_through = std::move(transport)}};
  for (two_meshes const& m : meshes::of_all_kinds(here.environment())) {
    CAPTURE(m.name);
    kr::fields<App, h> f{here, m.c, kr::extra<h>{levels}};
    auto const& env = here.environment();
    scatter<h>(f, env.rank());
    auto const all = sums<kr::inside<h>>(env, f);
    touch<kr::everywhere<h>>(f);
    f.run(kr::accumulate<h>{});
    auto found = sums<kr::owned<h>>(env, f), wanted = all;
    std::erase_if(wanted, [&](auto const& one) { return !found.contains(one.first); });
    CHECK(found == wanted);
    if (m.c.layers() > 0) CHECK_FALSE(f.template is_valid<h>(kr::region::halo));
    for (int n = 0; n < 3; ++n) {
      f.run(kr::exchange<h>{});
      f.run(call<kr::updates<kr::everywhere<h>>>{}, [](auto v) {
        for (std::size_t i = 0; i < v(h{}).span(); ++i) v(h{}).data()[i] /= 3;
      });
      touch<kr::everywhere<h>>(f);
      f.run(kr::accumulate<h>{});
    }
    auto const values = whole<h>(env, f);
    every.insert(every.end(), values.begin(), values.end());
  }
  return every;
}

TEST_CASE("residency: ghosts of a mesh are added to their owners, with the same bits each time, by any transport") {
  auto const first = accumulated<app_right>(host::name);
  CHECK(accumulated<app_right>("simulated") == first);
  CHECK(accumulated<app_left>(host::name) == first);
  CHECK(accumulated<app_left>("simulated") == first);
  keel::policy::set_log_level(keel::policy::log_level::error); // some are passed over
  keel::for_each_device<meshes::devices>([&]<class Tag>(Tag) {
    if (!keel::available<Tag>()) return;
    for (std::string_view const transport : {"staged", "direct", "peer", "nccl"}) {
      CAPTURE(Tag::name);
      CAPTURE(transport);
      CHECK(accumulated<by_any<kr::on_host>>(Tag::name, std::string(transport)) == first);
      CHECK(accumulated<by_any<kr::on_device>>(Tag::name, std::string(transport)) == first);
    }
  });
  keel::policy::set_log_level(keel::policy::log_level::warning);
}

TEST_CASE("residency: the rim of a mesh is what others have, and all regions are counted") {
  on_meshes<app_right>("simulated", [](auto const&, two_meshes const& m, fields<app_right>& f) {
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
  });
}

struct first_layer : kr::routine<"first_layer", kr::on_device, kr::writes<kr::layer<h, 1>>> {
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
  on_meshes<app_right>("simulated", [](auto const&, two_meshes const& m, fields<app_right>& f) {
    fill<h>(f);
    f.run(call<kr::reads<kr::owned<h>>>{}, [&](auto v) {
      CHECK(v.owned(cells{}) == m.c.owned());
      CHECK(v.ghosts(cells{}) == m.c.ghosts());
      CHECK(v.owned(edges{}) == m.e.owned());
      for (int n = 1; n <= m.c.layers(); ++n) CHECK(v.layer(cells{}, n) == m.c.layer(n));
      CHECK(v.owned(h{}) == kr::bounds{{}, {{m.c.owned().end}}});
      CHECK(v.everywhere(h{}) == kr::bounds{{}, {{m.c.size()}}});
      CHECK(v.everywhere(kr::layer<h, 1>{}).end[0] == (m.c.layers() > 0 ? m.c.layer(1).end : m.c.owned().end));
      CHECK(refuses([&] { (void)v.layer(cells{}, m.c.layers() + 1); }, "is not there"));
    });
    f.run(first_layer{}, m.c.layers() > 0);
    double const sum = f.run(call<kr::reads<kr::layer<h, 1>>>{},
                             [](auto v) { return kr::sum_owned(v, cells{}, [x = v(h{})](int i) { return x(i, 0); }); });
    CHECK(sum == double(m.c.owned().end));
    f.run(call<kr::reads<kr::layer<h, 1>>>{}, [&](auto v) { // the same without waiting
      Kokkos::View<double, typename decltype(v)::space::memory_space> const to("to");
      kr::reduce_owned(v, cells{}, km::plain_sum{}, [x = v(h{})](int i) { return x(i, 0); }, to);
      double found = 0;
      Kokkos::deep_copy(found, to);
      CHECK(found == sum);
    });
    CHECK(f.is_valid<kr::layer<h, 1>>(kr::region::halo));
    CHECK(f.is_valid<h>(kr::region::halo) == (m.c.layers() < 2));
  });
}

TEST_CASE("residency: grid and meshes come in any order, and a mesh may have no variable") {
  run<km::mpi> here{"simulated"};
  two_meshes const m = cut(here.environment(), meshes::hexagons(12, 10, here.environment().size()));
  kr::grid const g{{8, 9}, kr::ghost_width{1}, kr::periodic{true}};
  kr::fields<app_right, eta, un> f{here, m.e, m.c, g, kr::extra<un>{2, 3}};
  fill<eta>(f), fill<un>(f);
  f.run(kr::exchange<eta, un>{});
  CHECK(wrong_inside<eta>(f) + wrong<un>(f) == 0);
  CHECK(f.size(cells{}) == m.c.size());
}

} // namespace meshed
