// SPDX-License-Identifier: MIT
#include <keel/residency/schedule.hpp>

#include <doctest/doctest.h>

#include <string_view>

namespace kr = keel::residency;

namespace {

struct eta : kr::variable<"eta", double**, kr::levels<3>> {};
struct mean : kr::variable<"mean", double> {};
struct profile : kr::variable<"profile", double*, kr::off_grid> {};

struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<kr::past<eta, 1>, kr::owned<kr::past<eta, 2>>>,
                         kr::writes<eta, mean>, kr::updates<profile>> {};
struct walls : kr::routine<"walls", kr::on<keel::simulated>, kr::reads<kr::rim<eta>>, kr::updates<kr::ghosts<eta>>> {};
struct inner : kr::routine<"inner", kr::on_host, kr::updates<kr::part<eta, kr::core>>> {};
struct step : kr::schedule<kr::cycle<eta>, rhs, kr::exchange<eta>, kr::every<10, walls, kr::repeat<3, inner>>> {};

/// What `e` declares for a level of `v`; no regions where it declares nothing.
constexpr kr::declaration of(kr::entry const& e, kr::variable_info const& v, int level = 0) {
  for (kr::declaration const& one : e.declared())
    if (one.level == level && *one.variable == v) return one;
  return {&v, std::uint8_t(level)};
}

static_assert(kr::Entry<step> && kr::Routine<rhs> && !kr::Routine<step> && kr::Variable<eta> && !kr::Variable<rhs>);

} // namespace

TEST_CASE("residency: a read means everywhere, a write and an update what is owned") {
  CHECK(of(rhs::about, eta::about, 1).reads == kr::region::everywhere);
  CHECK(of(rhs::about, eta::about, 2).reads == kr::region::owned);
  CHECK(of(rhs::about, eta::about).reads == kr::region::none);
  CHECK(of(rhs::about, eta::about).writes == kr::region::owned);
  CHECK(of(inner::about, eta::about).reads == kr::core);
  CHECK(of(inner::about, eta::about).writes == kr::core);
  CHECK(of(inner::about, mean::about).reads == kr::region::none);
  CHECK(of(inner::about, mean::about).writes == kr::region::none);
}

TEST_CASE("residency: all declarations of one level are joined") {
  CHECK(of(walls::about, eta::about).reads == (kr::region::rim | kr::region::ghosts));
  CHECK(of(walls::about, eta::about).writes == kr::region::ghosts);
  CHECK(walls::about.declaration_count == 1);
}

TEST_CASE("residency: what does not lie on the grid has no ghosts to become stale") {
  CHECK_FALSE(mean::about.lies_on_grid);
  CHECK_FALSE(profile::about.lies_on_grid);
  CHECK(of(rhs::about, mean::about).writes == kr::region::everywhere);
  CHECK(of(rhs::about, profile::about).reads == kr::region::everywhere);
}

TEST_CASE("residency: an exchange reads rims and writes ghosts, where the application says") {
  kr::entry const& e = kr::exchange<eta, kr::past<eta, 1>>::about;
  CHECK(e.where.what == kr::place::kind::at_exchange);
  CHECK(of(e, eta::about, 1).reads == kr::region::rim);
  CHECK(of(e, eta::about, 1).writes == kr::region::halo);
}

TEST_CASE("residency: a schedule is a tree of data") {
  kr::entry const& e = step::about;
  REQUIRE(e.child_count == 4);
  CHECK(e.children[1]->name == "rhs");
  CHECK(e.children[1]->where.what == kr::place::kind::at_chosen);
  CHECK(e.children[3]->count == 10);
  CHECK(e.children[3]->children[0]->where.device == "simulated");
  CHECK(e.children[3]->children[1]->children[0]->name == "inner");
}
