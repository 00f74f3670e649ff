// SPDX-License-Identifier: MIT
#include <keel/residency/fields.hpp>

#include "routines.hpp"
#include "run.hpp"

#include <keel/machine/alone.hpp>
#include <keel/policy/error.hpp>
#include <keel/residency/loops.hpp>

#include <doctest/doctest.h>
#include <support/message_of.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

namespace fields_cases {

namespace kr = keel::residency;

using one_memory = test::application<keel::list<test::host>>;
using watched = test::application<keel::list<test::host>, kr::checked>;
using two_memories = test::application<keel::list<test::host, keel::simulated>>;

struct eta : kr::variable<"eta", double**, kr::levels<3>> {};
struct u : kr::variable<"u", double***, kr::levels<3>> {};
struct du : kr::variable<"du", double***> {};
struct total : kr::variable<"total", double> {};

struct init : kr::routine<"init", kr::on_host, kr::writes<kr::everywhere<eta>, kr::everywhere<u>>> {
  template <class V>
  static void run(V v) {
    auto e = v(eta{});
    auto w = v(u{});
    auto const origin = v.global_begin();
    auto const own = v.owned(), all = v.everywhere();
    for (auto i = all.begin[0]; i < all.end[0]; ++i)
      for (auto j = all.begin[1]; j < all.end[1]; ++j) {
        e(i, j) = double(100 * (origin[0] + i - own.begin[0]) + origin[1] + j - own.begin[1]);
        for (std::size_t k = 0; k < w.extent(2); ++k) w(i, j, k) = double(k);
      }
  }
};

struct rhs
    : kr::routine<"rhs", kr::on_device, kr::reads<kr::past<eta, 1>, kr::inside<kr::past<u, 1>>>, kr::writes<du>> {
  template <class V>
  static void run(V v, double) {
    auto e = v(kr::past<eta, 1>{});
    auto d = v(du{});
    kr::for_owned(
        v, KOKKOS_LAMBDA(int i, int j) {
          for (int k = 0; k < int(d.extent(2)); ++k)
            d(i, j, k) = 0.25 * (e(i - 1, j) + e(i + 1, j) + e(i, j - 1) + e(i, j + 1));
        });
  }
};

struct advance : kr::routine<"advance", kr::on_device,
                             kr::reads<kr::inside<kr::past<eta, 1>>, kr::inside<kr::past<u, 1>>, kr::owned<du>>,
                             kr::writes<eta, u>> {
  template <class V>
  static void run(V v, double dt) {
    auto e1 = v(kr::past<eta, 1>{});
    auto u1 = v(kr::past<u, 1>{});
    auto d = v(du{});
    auto e = v(eta{});
    auto w = v(u{});
    kr::for_owned(
        v, KOKKOS_LAMBDA(int i, int j) {
          e(i, j) = (1 - dt) * e1(i, j) + dt * d(i, j, 0);
          for (int k = 0; k < int(w.extent(2)); ++k) w(i, j, k) = u1(i, j, k) + dt * d(i, j, k);
        });
  }
};

int outputs = 0;
double checksum = 0;
struct output : kr::routine<"output", kr::on_host, kr::reads<kr::owned<eta>>> {
  template <class V>
  static void run(V v) {
    ++outputs;
    auto e = v(eta{});
    auto const own = v.owned();
    checksum = 0;
    for (auto i = own.begin[0]; i < own.end[0]; ++i)
      for (auto j = own.begin[1]; j < own.end[1]; ++j)
        checksum = 3 * checksum + e(i, j), checksum -= std::trunc(checksum);
  }
};

// Beyond the walls the last owned value goes on; runs after the exchange, and after it all ghosts are right.
struct walls : kr::routine<"walls", kr::on_device, kr::reads<kr::inside<eta>>, kr::writes<kr::walls<eta>>> {
  template <class V>
  static void run(V v) {
    auto e = v(eta{});
    auto const own = v.owned(), all = v.everywhere();
    bool const low = v.is_wall(1, kr::side::low), high = v.is_wall(1, kr::side::high);
    auto const first = own.begin[1], last = own.end[1] - 1;
    Kokkos::parallel_for(
        "walls", Kokkos::RangePolicy<typename V::space>(v.execution_space(), all.begin[0], all.end[0]),
        KOKKOS_LAMBDA(int i) {
          if (low) e(i, first - 1) = e(i, first);
          if (high) e(i, last + 1) = e(i, last);
        });
  }
};
struct is_hot {
  static bool holds(double const& dt) { return dt > 1; }
};
struct heat : kr::routine<"heat", kr::on_host, kr::updates<kr::part<eta, kr::core>>> {
  template <class V>
  static void run(V v) {
    auto e = v(eta{});
    auto const inside = v.core();
    for (auto i = inside.begin[0]; i < inside.end[0]; ++i) e(i, inside.begin[1]) += 1;
  }
};
struct count : kr::routine<"count", kr::on_host, kr::updates<total>> {
  template <class V>
  static void run(V v) {
    v(total{})() += 1;
  }
};
struct zero : kr::routine<"zero", kr::on_device, kr::writes<total>> {
  template <class V>
  static void run(V v) {
    auto t = v(total{});
    Kokkos::parallel_for(
        "zero", Kokkos::RangePolicy<typename V::space>(v.execution_space(), 0, 1), KOKKOS_LAMBDA(int) { t() = 0; });
  }
};
struct forget : test::empty<"forget", kr::on_device, kr::writes<eta>> {};
struct number : kr::routine<"number", kr::on_host, kr::writes<eta>> {
  template <class V>
  static void run(V v, int n) {
    Kokkos::deep_copy(v(eta{}), double(n));
  }
};
/// The sum over components of an owned cell of each.
struct add_up : kr::routine<"add_up", kr::on_host, kr::reads<kr::owned<eta>>> {
  template <class V>
  static double run(V v) {
    double sum = 0;
    for (int c = 0; c < v.components(); ++c) sum += v(eta{}, kr::component{c})(1, 1);
    return sum;
  }
};

struct lift : kr::routine<"lift", kr::on<keel::simulated>, kr::updates<eta>> {
  template <class V>
  static void run(V v) {
    auto e = v(eta{});
    kr::for_owned(v, KOKKOS_LAMBDA(int i, int j) { e(i, j) += 1; });
  }
};
// Reads the ghosts of what it writes, which are stale only when it is done.
struct lean : kr::routine<"lean", kr::on_device, kr::reads<kr::part<eta, kr::region::ghosts>>, kr::updates<eta>> {
  template <class V>
  static void run(V v) {
    auto e = v(eta{});
    auto const own = v.owned();
    auto const first = own.begin[0];
    Kokkos::parallel_for(
        "lean", Kokkos::RangePolicy<typename V::space>(v.execution_space(), own.begin[1], own.end[1]),
        KOKKOS_LAMBDA(int j) { e(first, j) += e(first - 1, j); });
  }
};
struct with_walls : kr::schedule<kr::cycle<eta, u>, rhs, advance, kr::exchange<eta, u>, walls,
                                 kr::when<is_hot, heat, kr::exchange<eta>, walls>, kr::every<3, kr::repeat<2, count>>> {
};
struct step : kr::schedule<kr::cycle<eta, u>, rhs, advance, kr::exchange<eta, u>, kr::every<10, output>> {};

template <class App>
double twenty_steps(std::string_view device, std::uint64_t* to_host = nullptr, std::uint64_t* to_device = nullptr) {
  int const nx = 12, ny = 9;
  std::size_t const layers = 3;
  test::run<typename App::ranks> run{device};
  kr::fields<App, eta, u, du> f{run, kr::grid{{nx, ny}, kr::ghost_width{1, 1}, kr::periodic{true, true}},
                                kr::extra<u>{layers}};
  f.run(init{});
  for (int n = 0; n < 20; ++n) f.step(step{}, 0.1);
  if (to_host) *to_host = f.traffic().bytes(kr::way::to_host);
  if (to_device) *to_device = f.traffic().bytes(kr::way::to_device);
  return checksum;
}

using keel::test::message_of, keel::test::refuses;

TEST_CASE("residency: a model steps on one memory, and nothing is copied") {
  outputs = 0;
  std::uint64_t to_host = 1, to_device = 1;
  CHECK(twenty_steps<one_memory>(test::host::name, &to_host, &to_device) != 0);
  CHECK(outputs == 2);
  CHECK(to_host == 0);
  CHECK(to_device == 0);
}

TEST_CASE("residency: the simulated device gives the host's bits, and moves ghosts and rims alone") {
  double const on_host = twenty_steps<two_memories>(test::host::name);
  std::uint64_t to_host = 0, to_device = 0;
  double const on_device = twenty_steps<two_memories>("simulated", &to_host, &to_device);
  CHECK(on_host == on_device);
  std::uint64_t const rim = 2 * (12 + 7), ghosts = 2 * (14 + 9), core = 10 * 7, layers = 1 + 3;
  CHECK(to_host == 8 * (20 * rim * layers + 2 * core));
  CHECK(to_device == 8 * layers * (14 * 11 + 19 * ghosts));
}

TEST_CASE("residency: walls, conditions and repetitions give the same on host and device") {
  auto const final_eta = [](std::string_view device, double hot) {
    test::run run{device};
    kr::fields<two_memories, eta, u, du, total> f{run, kr::grid{{12, 9}, kr::ghost_width{1}, kr::periodic{true, false}},
                                                  kr::extra<u>{2}};
    f.run(init{});
    f.run(zero{});
    for (int n = 1; n <= 12; ++n) f.step(with_walls{}, n % 4 == 0 ? hot : 0.1);
    f.run(output{});
    CHECK(f.run(test::call<kr::reads<total>>{}, [](auto v) { return v(total{})(); }) == 8);
    return checksum;
  };
  double const cold = final_eta(test::host::name, 0.1);
  CHECK(cold == final_eta("simulated", 0.1));
  double const hot = final_eta(test::host::name, 1.25);
  CHECK(hot == final_eta("simulated", 1.25));
  CHECK(hot != cold);
}

TEST_CASE("residency: what a routine on the simulated device does not write, though it said so, is poison") {
  test::run run{"simulated"};
  kr::fields<two_memories, eta, u> f{run, kr::grid{{8, 8}, kr::ghost_width{1}}, kr::extra<u>{1}};
  f.run(init{});
  f.run(output{});
  CHECK(checksum == checksum);
  f.run(forget{});
  f.run(output{});
  CHECK(checksum != checksum);
}

TEST_CASE("residency: a routine finds the ghosts of what it updates, also where poison is laid") {
  auto const sum_on = []<class App>(App, std::string_view device) {
    test::run run{device};
    kr::fields<App, eta, u> f{run, kr::grid{{4, 4}, kr::ghost_width{1}, kr::periodic{true, true}}, kr::extra<u>{1}};
    f.run(init{});
    f.step(kr::schedule<kr::exchange<eta>, lean>{});
    double const sum = f.run(add_up{});
    CHECK_FALSE(f.template is_valid<eta>(kr::region::ghosts));
    return sum;
  };
  CHECK(sum_on(two_memories{}, test::host::name) == 300);
  CHECK(sum_on(two_memories{}, "simulated") == 300);
  CHECK(sum_on(watched{}, test::host::name) == 300);
}

TEST_CASE("residency: a routine on a certain device runs there, whichever was chosen") {
  test::run run{test::host::name};
  kr::fields<two_memories, eta> f{run, kr::grid{{4, 4}, kr::ghost_width{1}}};
  f.run(number{}, 6);
  f.run(lift{});
  CHECK(f.is_valid<eta, keel::simulated>(kr::region::owned));
  CHECK_FALSE(f.is_valid<eta>(kr::core));
  CHECK(f.run(add_up{}) == 7);
  CHECK(f.traffic().bytes(kr::way::to_device) == 16 * 8);
  CHECK(f.traffic().bytes(kr::way::to_host) == 16 * 8);
}

TEST_CASE("residency: checked tracking poisons on the host too") {
  using checked = test::application<keel::list<test::host>, kr::checked>;
  test::run run{test::host::name};
  kr::fields<checked, eta, u> f{run, kr::grid{{8, 8}, kr::ghost_width{1}}, kr::extra<u>{1}};
  f.run(init{});
  f.run(forget{});
  f.run(output{});
  CHECK(checksum != checksum);
}

TEST_CASE("residency: checked tracking finds nothing in a model without mistakes, and changes no bit") {
  using checked = test::application<keel::list<test::host, keel::simulated>, kr::checked>;
  CHECK(twenty_steps<checked>("simulated") == twenty_steps<two_memories>("simulated"));
}

TEST_CASE("residency: off runs the routines and nothing else") {
  using trusted = test::application<keel::list<test::host>, kr::off, Kokkos::LayoutLeft>;
  CHECK(twenty_steps<trusted>(test::host::name) == twenty_steps<one_memory>(test::host::name));
}

TEST_CASE("residency: each component has a state of its own") {
  test::run run{"simulated"};
  kr::fields<two_memories, eta> f{run, kr::grid{{4, 4}, kr::ghost_width{1}}, kr::components{3}};
  f.run(number{}, kr::component{0}, 1);
  f.run(number{}, kr::component{2}, 3);
  CHECK(f.is_valid<eta>(kr::region::owned, kr::component{2}));
  CHECK_FALSE(f.is_valid<eta>(kr::region::owned, kr::component{1}));
  CHECK(refuses([&] { (void)f.run(add_up{}); }, "eta, level 0, core, component 1, valid nowhere"));
  f.run(number{}, kr::component{1}, 2);
  CHECK(f.run(add_up{}) == 6);
  CHECK(refuses([&] { f.run(number{}, kr::component{3}, 1); }, "there are 3"));
}

TEST_CASE("residency: what a failed routine leaves is valid nowhere, and its exception goes on") {
  test::run run{test::host::name};
  kr::fields<watched, eta, u> f{run, kr::grid{{8, 8}, kr::ghost_width{1}}, kr::extra<u>{1}};
  f.run(init{});
  CHECK_THROWS_AS(f.run(test::call<kr::writes<eta>>{}, [] { throw std::runtime_error("no"); }), std::runtime_error);
  CHECK_FALSE(f.is_valid<eta>(kr::core));
  CHECK(f.is_valid<u>());
  CHECK(refuses([&] { f.run(output{}); }, "routine output reads eta, level 0, core, valid nowhere"));
}

TEST_CASE("residency: fields that cannot be are refused in words") {
  test::run run{test::host::name};
  kr::grid const g{{8, 8}, kr::ghost_width{1}};
  CHECK(refuses([&] { kr::fields<one_memory, eta, u>{run, g}; }, "variable u has 1 dimension beyond the grid's"));
  CHECK(refuses([&] { kr::fields<one_memory, u>{run, g, kr::extra<u>{-1}}; },
                "dimension 2 of variable u has -1 elements"));
  CHECK(refuses([&] { kr::fields<one_memory, eta>{run, kr::grid{{8, 8, 8}}}; },
                "variable eta has 2 dimensions to be set, the grid 3"));
  constexpr std::int64_t huge = std::int64_t{1} << 61, most = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t const n : {huge, huge / 8, most})
    CHECK(refuses([&] { kr::fields<one_memory, u>{run, g, kr::extra<u>{n}}; },
                  "variable u cannot have 10 x 10 x " + std::to_string(n) + " elements"));
  CHECK(refuses([&] { kr::fields<one_memory, eta>{run, g, kr::components{2147483647}}; },
                "components{2147483647} are refused"));
  test::run<> elsewhere{"cuda"};
  CHECK(refuses([&] { kr::fields<one_memory, eta>{elsewhere, g}; }, "the device cuda is not in the list"));
}

TEST_CASE("residency: reading what is valid nowhere names variable, level, region and routine") {
  test::run run{test::host::name};
  kr::fields<watched, eta, u, du> f{run, kr::grid{{8, 8}, kr::ghost_width{1}}, kr::extra<u>{2}};
  CHECK(refuses([&] { f.run(rhs{}, 0.1); }, "routine rhs reads eta, level 1, core, valid nowhere"));
  f.run(init{});
  CHECK(f.is_valid<eta>());
  f.run(kr::cycle<eta, u>{});
  CHECK_FALSE(f.is_valid<eta>(kr::core));
  CHECK(f.is_valid<kr::past<eta, 1>>());
  f.run(rhs{}, 0.1);
  f.run(advance{}, 0.1);
  f.run(kr::cycle<eta, u>{});
  CHECK(refuses([&] { f.run(rhs{}, 0.1); }, "routine rhs reads eta, level 1, halo, valid nowhere"));
}

TEST_CASE("residency: a view that the application keeps is known by its address, pieces and unmanaged ones too") {
  test::run run{"simulated"};
  kr::fields<two_memories, eta, u> f{run, kr::grid{{4, 4}, kr::ghost_width{1}}, kr::extra<u>{1}};
  f.run(init{});
  Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> kept;
  f.run(test::call<kr::updates<eta>>{}, [&](auto v) { kept = v(eta{}); });
  f.run(lift{}); // on the device: what was kept is stale now
  CHECK_FALSE(f.is_valid<eta>(kr::core));
  auto const piece = Kokkos::subview(kept, std::pair(1, 2), Kokkos::ALL);
  f.require_valid_data(piece);
  CHECK(kept(1, 1) == 1);
  kept(1, 1) = 41;
  f.notify_data_modified(
      Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(&kept(1, 1), 1));
  CHECK_FALSE(f.is_valid<eta, keel::simulated>(kr::core));
  f.run(lift{});
  CHECK(f.run(add_up{}) == 42);
  // A piece where the rest is stale, what is nobody's, and what lies across a border.
  f.run(lift{});
  CHECK(refuses([&] { f.notify_data_modified(piece); }, "a piece of eta was written while the rest of its owned"));
  Kokkos::View<double*, Kokkos::HostSpace> const alien("alien", 3);
  CHECK(refuses([&] { f.require_valid_data(alien); }, "the view 'alien' shows no variable"));
  CHECK(refuses(
      [&] {
        f.require_valid_data(
            Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(&kept(5, 5), 2));
      },
      "shows no variable"));
}

TEST_CASE("residency: a view handed out keeps its data when the fields are gone") {
  Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> kept;
  {
    test::run run{test::host::name};
    kr::fields<one_memory, eta, u> f{run, kr::grid{{4, 4}, kr::ghost_width{1}}, kr::extra<u>{1}};
    f.run(init{});
    f.run(test::call<kr::updates<eta>>{}, [&](auto v) { kept = v(eta{}); });
  }
  CHECK(kept(1, 2) == 1);
}

TEST_CASE("residency: fields for which there is no memory say so, and leave nothing") {
  test::run run{"simulated"};
  std::int64_t const too_many = std::int64_t{1} << 45;
  std::string const text =
      message_of([&] { kr::fields<two_memories, eta, u>{run, kr::grid{{8, 8}}, kr::extra<u>{too_many}}; });
  CHECK(text.find("the host has no room for u") != std::string::npos);
}

} // namespace fields_cases
