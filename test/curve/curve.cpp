// SPDX-License-Identifier: MIT
// A geometry that nobody planned for: fields, exchanges, gather, files go on with it as they are.
#include <keel/residency/fields.hpp>

#include "curve.hpp"

#include <residency/in_folder.hpp>
#include <residency/model.hpp>

#include <keel/impl/store/read_file.hpp>
#include <keel/residency/gather.hpp>
#include <keel/schedule/checkpoint.hpp>

namespace {

using namespace test;

struct leaves : kr::mesh<"leaves"> {};
struct heat : kr::variable<"heat", double* [2], kr::on_mesh<leaves>, kr::levels<2>> {};
struct mark : kr::variable<"mark", std::int32_t*, kr::on_mesh<leaves>> {};
struct depth : kr::variable<"depth", double**> {}; // on a grid, beside them
using on_leaves = test::app<kr::on_device>;
using fields = kr::fields<on_leaves, heat, mark, depth>;

/// Means of the neighbours, which are given as local indices.
struct spread : kr::routine<"spread", kr::on_device, kr::reads<kr::past<heat, 1>, kr::owned<mark>>, kr::writes<heat>> {
  template <class V>
  static void run(V v, Kokkos::View<int* [4], Kokkos::HostSpace> const& near) {
    auto const h = v(heat{});
    auto const was = v(kr::past<heat, 1>{});
    auto const m = v(mark{});
    kr::for_owned(
        v, leaves{}, KOKKOS_LAMBDA(int e) {
          for (int k = 0; k < 2; ++k) {
            double sum = m(e) < 0 ? 0 : was(e, k);
            for (int n = 0; n < 4; ++n) sum += near(e, n) < 0 ? was(e, k) : was(near(e, n), k);
            h(e, k) = sum / 5;
          }
        });
  }
};
struct step : kr::schedule<kr::cycle<heat>, spread, kr::exchange<heat>, kr::every<2, kr::checkpoint<"curve">>> {};

constexpr int levels = 4;
double begun(std::int64_t n, int k) { return double(n * n % 101 + 7 * k); }

/// What a program without ranks has after so many steps, by number and column.
std::vector<double> plain(int steps) {
  morton const all{levels};
  std::vector<double> h;
  for (std::int64_t n = 0; n < all.size(); ++n) h.push_back(begun(n, 0)), h.push_back(begun(n, 1));
  for (int s = 0; s < steps; ++s) {
    auto const was = h;
    for (std::int64_t n = 0; n < all.size(); ++n)
      for (int k = 0; k < 2; ++k) {
        double const own = was[std::size_t(2 * n + k)];
        double sum = own;
        auto const near = all.neighbours(n);
        for (std::int64_t const b : near) sum += was[std::size_t(2 * b + k)];
        for (auto lacking = near.size(); lacking < 4; ++lacking) sum += own;
        h[std::size_t(2 * n + k)] = sum / 5;
      }
  }
  return h;
}

struct model {
  run<km::mpi>& on;
  curve<leaves> c;
  fields f;
  Kokkos::View<int* [4], Kokkos::HostSpace> near;

  explicit model(run<km::mpi>& r)
      : on(r), c(r.environment(), levels), f(r, kr::grid{{16, 12}, kr::ghost_width{1}}, c),
        near("near", std::size_t(c.cut->owned())) {
    for (std::int64_t e = 0; e < c.cut->owned(); ++e) {
      auto const all = c.cut->all.neighbours(c.cut->number(e));
      for (std::size_t n = 0; n < 4; ++n) near(e, n) = n < all.size() ? int(c.cut->local(all[n])) : -1;
    }
  }
  void begin() {
    f.run(call<kr::writes<kr::owned<heat>, kr::owned<mark>>>{}, [&](auto v) {
      CHECK(v.owned(leaves{}) == kr::element_range{0, c.cut->owned()});
      CHECK(v.layer(leaves{}, 1) == v.ghosts(leaves{}));
      for (std::int64_t e = 0; e < c.cut->owned(); ++e) {
        for (int k = 0; k < 2; ++k) v(heat{})(e, k) = begun(c.cut->number(e), k);
        v(mark{})(e) = std::int32_t(c.cut->number(e));
      }
    });
    fill<depth>(f), f.run(kr::exchange<heat, mark>{});
  }
  /// Of owned elements and ghosts.
  void check(int steps) {
    auto const wanted = plain(steps);
    CHECK(f.run(call<kr::reads<heat, mark>>{}, [&](auto v) {
      int bad = std::int64_t(v(heat{}).extent(0)) == c.cut->size() ? 0 : 1;
      for (std::int64_t e = 0; e < c.cut->size(); ++e) {
        for (int k = 0; k < 2; ++k) bad += v(heat{})(e, k) != wanted[std::size_t(2 * c.cut->number(e) + k)];
        bad += v(mark{})(e) != c.cut->number(e);
      }
      return bad;
    }) == 0);
    auto const whole = kr::gather(f, heat{}, 0);
    bool is_right = on.environment().rank() != 0 || whole.size() == wanted.size();
    for (std::size_t n = 0; n < whole.extent(0); ++n)
      is_right = is_right && whole(n, 0) == wanted[2 * n] && whole(n, 1) == wanted[2 * n + 1];
    CHECK(is_right);
  }
};

} // namespace

TEST_CASE("curve: steps, ghosts, gather") {
  for (auto const device : either_device) {
    run<km::mpi> r(device);
    model m(r);
    m.begin(), m.check(0);
    for (int n = 1; n <= 3; ++n) m.f.step(step{}, m.near), m.check(n);
    CHECK(wrong<kr::owned<depth>>(m.f) == 0);
    CHECK(sends_least<heat>(r.environment(), m.f));
    CHECK(refuses([&] { (void)m.f.partition_of(leaves{}); }, "elements of leaves have no ids"));
  }
}

TEST_CASE("curve: arrays of the application") {
  run<km::mpi> r(host::name);
  curve<leaves> const c(r.environment(), levels);
  kr::exchanger const x(r, c);
  std::vector<double> a(std::size_t(3 * c.cut->size()), -1);
  for (std::int64_t e = 0; e < 3 * c.cut->owned(); ++e) a[std::size_t(e)] = double(3 * c.cut->number(e / 3) + e % 3);
  x.exchange(kr::array_on<leaves>(a.data(), kr::extents{c.cut->size(), 3}));
  bool is_right = true;
  for (std::int64_t e = 0; e < 3 * c.cut->size(); ++e)
    is_right = is_right && a[std::size_t(e)] == double(3 * c.cut->number(e / 3) + e % 3);
  CHECK(is_right);
}

TEST_CASE("curve: files, on other ranks") {
  for_numbers_of_ranks([](int before, int after) {
    on_ranks(before, "simulated", [](auto& some) {
      model m(some);
      m.begin();
      for (int n = 0; n < 3; ++n) m.f.step(step{}, m.near);
      m.f.run(kr::save<"seen", heat, mark>{});
    });
    on_ranks(after, "simulated", [](auto& some) {
      model m(some);
      m.f.restart("curve");
      CHECK(m.f.steps() == 2);
      m.f.run(kr::exchange<heat, mark>{}), m.check(2);
      m.f.step(step{}, m.near), m.check(3);
      if (some.environment().rank() != 0) return;
      std::string_view const names[] = {"/VTKHDF/PointData/heat", "/VTKHDF/CellData/id"};
      auto const file = kr::detail::read_file("seen.000003.vtkhdf", names);
      for (auto const name : names) {
        auto const* const d = file.dataset(name);
        REQUIRE(d != nullptr);
        auto const wanted = plain(3);
        std::vector<std::int64_t> ids(wanted.size() / 2);
        std::iota(ids.begin(), ids.end(), 0);
        bool const is_heat = name == names[0];
        CHECK(std::memcmp(d->content.data(), is_heat ? static_cast<void const*>(wanted.data()) : ids.data(),
                          is_heat ? 8 * wanted.size() : 8 * ids.size()) == 0);
      }
    });
  });
}

TEST_CASE("curve: cut over other ranks, and another one on each") {
  run<km::mpi> r(host::name);
  struct others {
    int ranks, which;
    [[nodiscard]] int size() const { return ranks; }
    [[nodiscard]] int rank() const { return which; }
  };
  auto const& env = r.environment();
  curve<leaves> const other(others{env.size() + 1, env.rank()}, levels);
  CHECK(refuses([&] { fields(r, kr::grid{{16, 12}}, other); }, "the curve was cut over other ranks"));
  CHECK(refuses([&] { kr::exchanger(r, other); }, "the curve was cut over other ranks"));
  if (env.size() == 1) return;
  curve<leaves> const apart(env, levels + (env.rank() == 0 ? 1 : 0));
  CHECK(refuses([&] { fields(r, kr::grid{{16, 12}}, apart); }, "the partitions differ between ranks"));
}
