// SPDX-License-Identifier: MIT
/// @file
/// Stale data are an error: with one memory as with two, whether a condition, a width or a wall decides.

#include <keel/machine/alone.hpp>

#include "cases.hpp"

#include <keel/machine/operations.hpp>

namespace sound_cases {

using namespace test;
using one_memory = application<keel::list<host>>;
using two_memories = application<keel::list<host, twin>>;

struct x : kr::variable<"x", double**> {};
struct u : kr::variable<"u", double**, kr::levels<2>> {};
template <class Written>
struct put : empty<"put", kr::on_device, kr::writes<Written>> {};
struct if_so {
  static bool holds(bool const& does) { return does; }
};
template <class... E>
using when = kr::when<if_so, E...>;

/// Does the same with fields of `Vars` with one memory and with two.
template <class... Vars>
void in_any_memory(kr::grid const& g, auto const& f) {
  test::run on_host{host::name}, on_twin{"twin"};
  kr::fields<one_memory, Vars...> one{on_host, g};
  f(one);
  kr::fields<two_memories, Vars...> two{on_twin, g};
  f(two);
}
kr::grid const periodic{{12, 10}, kr::ghost_width{2}, kr::periodic{true}}, walled{{12, 10}, kr::ghost_width{2}};

TEST_CASE("residency: what a condition did not exchange is refused in the step that reads it, and in no other") {
  in_any_memory<x>(periodic, [](auto& f) {
    f.run(put<x>{}), f.run(kr::exchange<x>{});
    using step = kr::schedule<when<put<x>>, see<x>>;
    f.step(step{}, false);
    CHECK(refuses([&] { f.step(step{}, true); }, "routine see reads x, level 0, halo, valid nowhere"));
    CHECK_FALSE(f.template is_valid<x>());
    using right = kr::schedule<when<put<x>>, when<kr::exchange<x>>, see<x>>; // they go together
    f.step(right{}, true), f.step(right{}, false);
  });
}

TEST_CASE("residency: a depth that there are no layers for is refused, and nothing runs") {
  in_any_memory<x>(periodic, [](auto& f) {
    f.run(put<x>{}), f.run(kr::exchange<kr::depth<1, x>>{}), f.run(see<kr::depth<1, x>>{});
    CHECK(refuses([&] { f.step(kr::schedule<put<x>, kr::exchange<x>, see<kr::depth<3, x>>>{}); },
                  "routine see reads 3 layers of ghosts of x (x has 2)"));
    CHECK(f.template is_valid<kr::depth<1, x>>());
  });
}

TEST_CASE("residency: walls are read only where something wrote them") {
  in_any_memory<u>(walled, [](auto& f) {
    using step = kr::schedule<kr::cycle<u>, put<u>, kr::exchange<u>, see<u>>;
    f.run(put<kr::everywhere<u>>{}), f.run(put<kr::everywhere<kr::past<u, 1>>>{});
    f.run(see<u>{});
    std::string const text = message_of([&] { f.step(step{}); });
    CHECK(text.find("routine see reads u, level 0, walls, valid nowhere") != text.npos);
    CHECK(text.find("mirror, outflow, fixed") != text.npos);
    f.step(kr::schedule<kr::cycle<u>, put<u>, kr::exchange<u>, see<kr::inside<u>>, see<kr::inside<kr::depth<1, u>>>>{});
    f.step(kr::schedule<kr::cycle<u>, put<u>, kr::exchange<u>, kr::mirror<u>, see<u>>{});
    // What leaves walls as they are needs them.
    using first_layer = kr::schedule<kr::cycle<u>, put<u>, kr::exchange<u>, kr::mirror<kr::depth<1, u>>, see<u>>;
    CHECK(refuses([&] { f.step(first_layer{}); }, "routine mirror reads u, level 0, walls, valid nowhere"));
    using one_side = kr::schedule<kr::cycle<u>, put<u>, kr::exchange<u>, kr::mirror<u, kr::on_side<0>>, see<u>>;
    CHECK(refuses([&] { f.step(one_side{}); }, "routine mirror reads u, level 0, walls, valid nowhere"));
    f.step(kr::schedule<kr::cycle<u>, put<u>, kr::exchange<u>, kr::mirror<u, kr::on_side<0>>,
                        kr::outflow<u, kr::on_side<1>>, see<u>>{});
  });
  // Walls that are not there need nothing.
  in_any_memory<u>({{12, 10}, kr::ghost_width{2}, kr::periodic{false, true}}, [](auto& f) {
    f.run(put<u>{});
    f.step(kr::schedule<kr::cycle<u>, put<u>, kr::exchange<u>, kr::mirror<u, kr::on_side<0>>, see<u>>{});
  });
  in_any_memory<u>({{12, 10}, kr::ghost_width{1}}, [](auto& f) {
    f.step(kr::schedule<kr::cycle<u>, put<u>, kr::exchange<u>, kr::mirror<kr::depth<1, u>>, see<u>>{});
  });
}

struct one : kr::routine<"one", kr::on_host> {
  template <class V>
  static double run(V) {
    return 1;
  }
};
struct sum : kr::reduce<"sum", keel::machine::plain_sum, one> {};
struct tell : kr::routine<"tell", kr::on_host, kr::reads<sum>> {
  template <class V>
  static void run(V v) {
    double const made = v(sum{});
    CHECK(made == 1);
  }
};

TEST_CASE("residency: the value of a reduction that a condition left out is refused while there is none") {
  in_any_memory<x>(periodic, [](auto& f) {
    using step = kr::schedule<when<sum>, tell>;
    CHECK(refuses([&] { f.step(step{}, false); }, "sum"));
    f.step(step{}, true), f.step(step{}, false);
  });
  in_any_memory<x>(periodic, [](auto& f) {
    for (int n = 0; n < 2; ++n) f.step(kr::schedule<kr::once<sum>, tell>{});
  });
}

struct failing : kr::routine<"failing", kr::on_host, kr::writes<u>> {
  template <class V>
  static void run(V, auto& f) {
    CHECK(f.template is_valid<x>(kr::region::owned)); // what ran before it in this step
    CHECK_FALSE(f.template is_valid<x>(kr::region::halo));
    throw std::runtime_error("halfway");
  }
};
struct sound : kr::schedule<test::put<x>, see<kr::owned<x>>, failing, test::put<kr::everywhere<x>>> {};

TEST_CASE("residency: a step that throws has done what ran, and a routine sees that") {
  in_any_memory<x, u>(walled, [](auto& f) {
    f.run(test::put<kr::everywhere<u>>{}), f.run(test::put<kr::everywhere<x>>{});
    for (int n = 0; n < 2; ++n) {
      CHECK_THROWS_WITH(f.step(sound{}, f), "halfway");
      CHECK(f.template is_valid<x>(kr::region::walls));
      CHECK_FALSE(f.template is_valid<x>(kr::region::halo));
      CHECK_FALSE(f.template is_valid<u>(kr::region::core));
      CHECK(f.template is_valid<u>(kr::region::walls));
    }
  });
}

template <int Rank>
struct field
    : kr::variable<"field",
                   std::conditional_t<Rank == 1, double*, std::conditional_t<Rank == 2, double**, double***>>> {};
template <int Rank>
struct made : kr::variable<"made", typename field<Rank>::data_type> {};
/// Adds an element so far away in dimension `d`.
template <int Rank, class Read>
struct far : kr::routine<"far", kr::on_device, kr::reads<Read>, kr::writes<made<Rank>>> {
  template <class V>
  static void run(V v, int d, int way) {
    auto const from = v(field<Rank>{});
    auto const to = v(made<Rank>{});
    int const s[3] = {d == 0 ? way : 0, d == 1 ? way : 0, d == 2 ? way : 0};
    int const s0 = s[0], s1 = s[1], s2 = s[2];
    if constexpr (Rank == 1) kr::for_owned(v, KOKKOS_LAMBDA(int i) { to(i) = from(i + s0); });
    else if constexpr (Rank == 2) kr::for_owned(v, KOKKOS_LAMBDA(int i, int j) { to(i, j) = from(i + s0, j + s1); });
    else kr::for_owned(v, KOKKOS_LAMBDA(int i, int j, int k) { to(i, j, k) = from(i + s0, j + s1, k + s2); });
  }
};
/// Reaches of one and of two cells into two layers of ghosts, of which the routine declares some.
template <class Layout, int Rank>
void reaches(std::string_view device) {
  test::run run{device};
  using app = application<keel::list<host, keel::simulated>, kr::checked, Layout>;
  kr::grid const g = Rank == 1   ? kr::grid{{7}, kr::ghost_width{2}}
                     : Rank == 2 ? kr::grid{{7, 6}, kr::ghost_width{2}}
                                 : kr::grid{{7, 6, 5}, kr::ghost_width{2}};
  kr::fields<app, field<Rank>, made<Rank>> f{run, g};
  f.run(call<kr::writes<kr::everywhere<field<Rank>>>>{}, [](auto v) { Kokkos::deep_copy(v(field<Rank>{}), 1.0); });
  for (int d = 0; d < Rank; ++d)
    for (int way : {-3, -2, -1, 1, 2, 3}) {
      auto const is_refused = [&]<class Read>(Read) {
        std::string const text = message_of([&] { f.run(far<Rank, Read>{}, d, way); });
        CHECK((text.empty() || text.find("residency::checked: routine far reaches element (") != std::string::npos));
        return !text.empty();
      };
      CHECK(is_refused(field<Rank>{}) == (std::abs(way) > 2));
      CHECK(is_refused(kr::depth<1, field<Rank>>{}) == (std::abs(way) > 1));
      CHECK(is_refused(kr::owned<field<Rank>>{}));
    }
  std::string const text = message_of([&] { f.run(far<Rank, field<Rank>>{}, Rank - 1, 3); });
  CHECK(text.find("field has 2 layers of ghosts") != std::string::npos);
}

TEST_CASE("residency: checked finds a reach beyond what is declared, on each side, in any layout") {
  for (std::string_view const device : {std::string_view(host::name), std::string_view("simulated")}) {
    reaches<Kokkos::LayoutRight, 1>(device), reaches<Kokkos::LayoutLeft, 1>(device);
    reaches<Kokkos::LayoutRight, 2>(device), reaches<Kokkos::LayoutLeft, 2>(device);
    reaches<Kokkos::LayoutRight, 3>(device), reaches<Kokkos::LayoutLeft, 3>(device);
  }
}

} // namespace sound_cases
