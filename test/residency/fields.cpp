// SPDX-License-Identifier: MIT
#include <keel/residency/fields.hpp>

#include "cases.hpp"

#include <limits>

namespace fields_cases {

using namespace test;

using one_memory = application<keel::list<host>>;
using watched = application<keel::list<host>, kr::checked>;
using two_memories = application<keel::list<host, keel::simulated>>;

struct eta : kr::variable<"eta", double**, kr::levels<3>> {};
struct u : kr::variable<"u", double***, kr::levels<3>> {};

/// Everywhere another number: of an element (i, j), 100 i + j as it lies in the grid.
struct init : kr::routine<"init", kr::on_host, kr::writes<kr::everywhere<eta>, kr::everywhere<u>>> {
  template <class V>
  static void run(V v) {
    auto const e = v(eta{});
    auto const own = v.owned(), all = v.everywhere();
    for (auto i = all.begin[0]; i < all.end[0]; ++i)
      for (auto j = all.begin[1]; j < all.end[1]; ++j) e(i, j) = double(100 * (i - own.begin[0]) + j - own.begin[1]);
    Kokkos::deep_copy(v(u{}), 1.0);
  }
};
struct forget : empty<"forget", kr::on_device, kr::writes<eta>> {};
struct output : kr::routine<"output", kr::on_host, kr::reads<kr::owned<eta>>> {
  template <class V>
  static double run(V v) {
    return v(eta{})(1, 1);
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
TEST_CASE(
    "residency: what a routine does not write, though it said so, is poison on a device, checked also on the host") {
  auto const left = []<class App>(App, std::string_view device) {
    test::run run{device};
    kr::fields<App, eta, u> f{run, kr::grid{{8, 8}, kr::ghost_width{1}}, kr::extra<u>{1}};
    f.run(init{});
    CHECK(f.run(output{}) == 0);
    f.run(forget{});
    return f.run(output{});
  };
  CHECK(std::isnan(left(two_memories{}, "simulated")));
  CHECK(std::isnan(left(watched{}, host::name)));
}

TEST_CASE("residency: fields that cannot be are refused in words") {
  test::run run{host::name};
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

TEST_CASE("residency: a view that the application keeps is known by its address, pieces and unmanaged ones too") {
  test::run run{"simulated"};
  kr::fields<two_memories, eta, u> f{run, kr::grid{{4, 4}, kr::ghost_width{1}}, kr::extra<u>{1}};
  f.run(init{});
  Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> kept;
  f.run(call<kr::updates<eta>>{}, [&](auto v) { kept = v(eta{}); });
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
    test::run run{host::name};
    kr::fields<one_memory, eta, u> f{run, kr::grid{{4, 4}, kr::ghost_width{1}}, kr::extra<u>{1}};
    f.run(init{});
    f.run(call<kr::updates<eta>>{}, [&](auto v) { kept = v(eta{}); });
  }
  CHECK(kept(1, 2) == 1);
}

} // namespace fields_cases
