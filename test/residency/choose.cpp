// SPDX-License-Identifier: MIT
// One of several entries, chosen at run time, on any number of ranks.
#include <keel/schedule/schedule.hpp>

#include "cases.hpp"

namespace choose_cases {

using namespace test;

using app = application<keel::list<host, twin>, kr::automatic, Kokkos::LayoutRight, km::mpi>;

struct x : kr::variable<"x", double*, kr::levels<2>> {};
struct r : kr::variable<"r", double*> {};

struct begin : empty<"begin", kr::on_device, kr::writes<x>> {};
struct measure : kr::routine<"measure", kr::on_host, kr::reads<kr::owned<x>>> {
  template <class V>
  static double run(V v) {
    return v(x{})(v.owned().begin[0]);
  }
};
struct largest : kr::reduce<"largest", km::maximum, measure> {};
struct scale : empty<"scale", kr::on_device, kr::updates<x>, kr::reads<largest>> {};

enum class solvers { cg, jacobi };
struct solver {
  static solvers holds(solvers which) { return which; }
};
struct by_size {
  using reads = kr::reads<largest>;
  static bool holds(double size) { return size > 4; }
};
struct by_number {
  static int holds(int number) { return number; }
};

TEST_CASE("residency: to choose an entry that is not there is an error") {
  test::run<km::mpi> run{"twin"};
  kr::fields<app, x> f{run, kr::grid{{40}}};
  using two = kr::schedule<kr::choose<by_number, begin, kr::schedule<begin, kr::cycle<x>>>>;
  for (int const wrong : {-1, 2, 1'000'000})
    CHECK(message_of([&] { f.step(two{}, wrong); }) ==
          "keel::residency::choose: there is no entry " + std::to_string(wrong) +
              " (choose_cases::by_number chose it, and the entries are 0 to 1). Return the number of one of them.");
  f.step(two{}, 1);
  CHECK(f.is_valid<kr::past<x, 1>, twin>(kr::region::owned));
}

struct show : kr::routine<"show", kr::on_host, kr::reads<kr::owned<x>>> {};
struct refill : kr::routine<"refill", kr::on_host, kr::writes<r>> {};
struct reads_r : kr::routine<"reads_r", kr::on_device, kr::reads<r>> {};
template <class... Alternatives>
using chosen = kr::schedule<kr::choose<solver, Alternatives...>, reads_r>;

// What is valid after it is what is valid after each: ghosts, what a rotation freed, values.
using filled = kr::schedule<refill, kr::exchange<r>>;
template <class S>
constexpr bool is_refused = kr::detail::lost_read<S>.request != kr::detail::no_request;
static_assert(!is_refused<chosen<filled, filled>> && !is_refused<chosen<filled, begin>>);
struct cg : empty<"cg", kr::on_device, kr::updates<x>> {};
struct jacobi : empty<"jacobi", kr::on_device, kr::updates<x>> {};
struct step
    : kr::schedule<begin, kr::exchange<x>, kr::choose<solver, cg, kr::schedule<jacobi, kr::exchange<x>, jacobi>>,
                   largest, kr::choose<by_size, kr::schedule<>, scale>> {};
static_assert(!is_refused<step>);
static_assert(is_refused<chosen<filled, refill>> && is_refused<chosen<refill, filled>>);
static_assert(is_refused<chosen<filled, filled, refill>> && is_refused<chosen<refill, refill>>);
static_assert(is_refused<chosen<filled, kr::choose<by_size, refill, filled>>>);
static_assert(!is_refused<kr::schedule<kr::choose<solver, filled, refill>, kr::exchange<r>, reads_r>>);
static_assert(!is_refused<chosen<filled, kr::schedule<refill, kr::when<by_size, kr::exchange<r>>>>>);
static_assert(!is_refused<kr::schedule<kr::cycle<x>, kr::choose<solver, begin, begin>, show>>);
static_assert(is_refused<kr::schedule<kr::cycle<x>, kr::choose<solver, begin, refill>, show>>);
template <class S>
constexpr auto why_refused = kr::detail::lost_read<S>.why;
static_assert(why_refused<kr::schedule<kr::cycle<x>, kr::choose<solver, begin, refill>, show>> ==
              kr::detail::loss::by_choice);
// Of layers, too: what all entries leave too few of is no matter of the choice.
template <int N>
using layers_filled = kr::schedule<refill, kr::exchange<kr::depth<N, r>>>;
template <int N>
struct reads_layers : kr::routine<"reads_layers", kr::on_host, kr::reads<kr::depth<N, r>>> {};
template <class Filling, int Read>
constexpr auto why_layers_refused = why_refused<kr::schedule<Filling, reads_layers<Read>>>;
using some_filled = kr::choose<solver, layers_filled<1>, layers_filled<2>>;
static_assert(!is_refused<kr::schedule<some_filled, reads_layers<1>>>);
static_assert(why_layers_refused<some_filled, 2> == kr::detail::loss::by_choice);
static_assert(why_layers_refused<some_filled, 3> == kr::detail::loss::of_layers);
static_assert(why_layers_refused<layers_filled<1>, 2> == kr::detail::loss::of_layers);
static_assert(why_layers_refused<kr::schedule<layers_filled<1>, refill>, 2> == kr::detail::loss::of_ghosts);

template <class... Entries>
constexpr auto unmade = kr::detail::table_of<kr::schedule<Entries...>>.unmade;
static_assert(unmade<kr::choose<solver, largest, largest>, scale> == kr::detail::no_node);
static_assert(unmade<kr::choose<solver, largest, kr::schedule<begin, largest>>, scale> == kr::detail::no_node);
static_assert(unmade<kr::choose<solver, kr::schedule<largest, scale>, begin>> == kr::detail::no_node);
static_assert(unmade<scale> == kr::detail::no_node); // the value comes from outside
static_assert(unmade<kr::choose<solver, largest, begin>, scale> == 4);
static_assert(unmade<kr::choose<solver, largest, scale>> == 3);
static_assert(unmade<kr::choose<by_size, largest, begin>> == 1);

// Copies that are possible; those that all entries make, once each.
using on_twin = kr::plan<app, kr::schedule<begin, kr::choose<solver, show, show>, show>, twin>;
static_assert(on_twin::copies(kr::device, kr::host) == 4);
using always_on_twin = kr::plan<app, kr::schedule<begin, kr::choose<solver, show, begin>, show>, twin>;
static_assert(always_on_twin::copies(kr::device, kr::host) == 4);

} // namespace choose_cases
