// SPDX-License-Identifier: MIT
#include <keel/schedule/schedule.hpp>

#include <keel/impl/schedule/prefetch.hpp>
#include <keel/impl/schedule/schedule_table.hpp>
#include <keel/impl/schedule/steady.hpp>
#include <keel/policy/list.hpp>
#include <keel/schedule.hpp>

#include <support/test.hpp>

namespace kr = keel::residency;
namespace kd = keel::residency::detail;

namespace {

struct eta : kr::variable<"eta", double**, kr::levels<3>> {};
struct mean : kr::variable<"mean", double> {};
struct profile : kr::variable<"profile", double*, kr::off_grid> {};

struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<kr::past<eta, 1>, kr::owned<kr::past<eta, 2>>>,
                         kr::writes<eta, mean>, kr::updates<profile>> {};
struct walls : kr::routine<"walls", kr::on<keel::simulated>, kr::reads<kr::rim<eta>>,
                           kr::updates<kr::part<eta, kr::region::ghosts>>> {};
struct inner : kr::routine<"inner", kr::on_host, kr::updates<kr::part<eta, kr::core>>> {};
struct step : kr::schedule<kr::cycle<eta>, rhs, kr::exchange<eta>, kr::every<10, walls, kr::repeat<3, inner>>> {};

/// What `e` declares for a level of `v`; no regions where it declares nothing.
constexpr kr::declaration of(kr::entry const& e, kr::variable_info const& v, int level = 0) {
  for (kr::declaration const& one : e.declared())
    if (one.level == level && *one.variable == v) return one;
  return {&v, std::uint8_t(level)};
}

struct other : kr::variable<"other", double**, kr::levels<2>> {};
struct aside : kr::routine<"aside", kr::on_device, kr::reads<kr::everywhere<other>, kr::past<eta, 1>>> {};
struct make : kr::routine<"make", kr::on_device, kr::writes<eta>> {};
struct show : kr::routine<"show", kr::on_host, kr::reads<kr::owned<eta>>> {};
struct storm {
  static bool holds();
};
struct perhaps : kr::schedule<make, kr::when<storm, show>, show> {};
struct seldom : kr::schedule<kr::every<1'000'000'000, make>, kr::every<999'999'999, show>> {};

template <class... Clauses>
struct cut : kr::routine<"cut", kr::on_device, kr::in_pieces, Clauses...> {};
using eta_cut = cut<kr::writes<eta>>;

/// The table of a schedule, as it is made while a program runs.
template <class S>
using table = std::remove_cvref_t<decltype(kd::table_of<S>)>;

/// The device's memory is number 1.
template <class S>
std::vector<kr::memory> memories_of(table<S> const& all) {
  std::vector<kr::memory> where;
  for (std::size_t i = 0; i < all.size; ++i)
    where.push_back(all.nodes[i].about->where.what == kr::place::kind::at_chosen ? kr::memory(1) : kr::host);
  return where;
}
template <class S>
auto steady_of() {
  table<S> const all{S::about};
  return kd::steady_search<table<S>, kd::table_of<S>.states()>(all, memories_of<S>(all).data()).find();
}

// A set of states has a bit for each set of memories.
static_assert(8 * sizeof(kd::place_set) == std::size_t{1} << kd::max_planned_memories);
// A name may be found by a constant expression, of any length.
constexpr std::string_view directions[] = {"x", "north"};
constexpr char const* kind_of(int n) { return n == 0 ? "none" : "some"; }
template <int D>
struct flux : kr::variable<D == 0 ? "flux" : "flux_of_another", double*, kr::in_group<directions[D]>> {};
template <int N>
struct find_flux : kr::routine<kind_of(N), kr::on_device, kr::writes<flux<N>>> {};
static_assert(flux<0>::about.name == "flux" && flux<1>::about.name == "flux_of_another");
static_assert(flux<0>::about.group == "x" && flux<1>::about.group == "north" && find_flux<1>::about.name == "some");
static_assert(sizeof(kr::text("flux")) == 5);

static_assert(kd::children_of<step, 0> == std::array<std::size_t, 5>{1, 2, 3, 4, 8});
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

TEST_CASE("residency: a schedule is a table of entries, with what they ask for") {
  table<step> const all{step::about};
  REQUIRE(all.size == 8);
  CHECK(all.request_count == 9);
  std::uint32_t const ends[]{8, 2, 3, 4, 8, 6, 8, 8}, firsts[]{0, 0, 1, 6, 7, 7, 8, 8};
  for (std::size_t i = 0; i < all.size; ++i) {
    CAPTURE(i);
    CHECK(all.nodes[i].end == ends[i]);
    CHECK(all.nodes[i].first == firsts[i]);
    CHECK(all.nodes[i].last == (i + 1 < all.size ? firsts[i + 1] : 9));
  }
  CHECK(all.variable_count == 3);
  CHECK(all.states() == 5);
  table<rhs> const one{rhs::about};
  CHECK(one.view().asks_for_device());
  CHECK(all.view().asks_for_device());
  CHECK_FALSE(table<show>{show::about}.view().asks_for_device());
}

TEST_CASE("residency: an exchange begins within the routine in pieces right before it, unless that uses its ghosts") {
  auto const begins = []<class... Es>(Es...) {
    return table<kr::schedule<Es...>>{kr::schedule<Es...>::about}.nodes[1].begins;
  };
  using kr::exchange;
  CHECK(begins(eta_cut{}, exchange<eta>{}) == 2);
  CHECK(begins(eta_cut{}, exchange<eta, other>{}) == 2);
  CHECK(begins(cut<kr::writes<eta>, kr::reads<kr::past<eta, 1>>>{}, exchange<eta>{}) == 2);
  CHECK(begins(cut<kr::writes<eta>, kr::reads<other>>{}, exchange<eta>{}) == 2);
  CHECK(begins(cut<kr::writes<eta>, kr::reads<other>>{}, exchange<eta, other>{}) == kd::no_node);
  CHECK(begins(make{}, exchange<eta>{}) == kd::no_node);
  CHECK(begins(eta_cut{}, aside{}, exchange<eta>{}) == kd::no_node);
  CHECK(begins(eta_cut{}, kr::cycle<other>{}, exchange<eta>{}) == kd::no_node);
  CHECK(begins(eta_cut{}, kr::repeat<2, exchange<eta>>{}) == kd::no_node);
  struct inside : kr::schedule<kr::every<2, eta_cut>, exchange<eta>> {};
  CHECK(table<inside>{inside::about}.nodes[2].begins == kd::no_node);
  struct within : kr::schedule<kr::every<2, eta_cut, exchange<eta>, aside>> {};
  table<within> const grouped{within::about};
  CHECK(grouped.nodes[2].begins == 3);
  CHECK(grouped.nodes[3].only_begins);
  CHECK(grouped.nodes[4].finishes_last == 3);
}

TEST_CASE("residency: variables whose keys fall together have numbers of their own") {
  std::vector<std::string> names;
  for (int n = 0; names.size() < 4; ++n)
    if (kr::variable_info{std::to_string(n), 1, true}.key % 10 == 7) names.push_back(std::to_string(n));
  std::vector<kr::variable_info> variables;
  for (auto const& name : names) variables.emplace_back(name, 2, true);
  kd::variable_numbers<4> numbers;
  for (int n = 0; n < 4; ++n) CHECK(numbers.find(variables[std::size_t(n)]) == -1);
  for (int again = 0; again < 2; ++again)
    for (int n = 0; n < 4; ++n) CHECK(numbers.add(variables[std::size_t(n)]) == n);
  for (int n = 0; n < 4; ++n) CHECK(numbers.find(variables[std::size_t(n)]) == n);
  CHECK(numbers.states() == 8);
  CHECK(variables[0].padding == 1);
}

TEST_CASE("residency: a search finds the steady state of what has no period, or a long one") {
  auto const maybe = steady_of<perhaps>();
  CHECK(maybe.period_copies.copies[1][0][0] == 2); // by one reader or the other
  auto const rare = steady_of<seldom>();           // as though by conditions, because their common multiple is too long
  CHECK(rare.period == 1);
}
