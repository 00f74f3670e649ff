// SPDX-License-Identifier: MIT
// Reductions as entries of a schedule, on any number of ranks.
#include <keel/schedule/reduce.hpp>

#include "cases.hpp"

#include <keel/machine/exact.hpp>
#include <keel/impl/residency/join.hpp>

namespace reduce_cases {

using namespace test;

template <class Tracking, class Ranks = km::mpi, class Devices = keel::list<host, twin>>
using with = application<Devices, Tracking, Kokkos::LayoutRight, Ranks>;
using app = with<kr::automatic>;

struct x : kr::variable<"x", double*> {};
struct y : kr::variable<"y", double*> {};

/// The value of a cell of the grid.
KEEL_FUNCTION double at(std::int64_t i, double scale) { return scale * (1 + double(i * i % 7)) + 1e-16 * double(i); }

struct fill : kr::routine<"fill", kr::on_device, kr::writes<x, y>> {
  template <class V>
  static void run(V v, double scale) {
    auto const a = v(x{}), b = v(y{});
    auto const begin = v.global_begin()[0] - v.owned().begin[0];
    kr::for_owned(v, KOKKOS_LAMBDA(int i) { a(i) = at(begin + i, scale), b(i) = 0; });
  }
};
struct least : kr::routine<"least", kr::on_device, kr::reads<kr::owned<x>>> {
  template <class V>
  static double run(V v) {
    auto const a = v(x{});
    double found = 1e300;
    Kokkos::parallel_reduce(
        "least", Kokkos::RangePolicy<typename V::space>(v.execution_space(), v.owned().begin[0], v.owned().end[0]),
        KOKKOS_LAMBDA(int i, double& so_far) { so_far = a(i) < so_far ? a(i) : so_far; }, Kokkos::Min<double>(found));
    return found;
  }
};
struct dt : kr::reduce<"dt", km::minimum, least> {};

struct weigh : kr::routine<"weigh", kr::on_host, kr::reads<kr::owned<x>>> {
  using value_type = km::exact_sum;
  template <class V>
  static km::exact_sum run(V v) {
    km::exact_sum all;
    for (auto i = v.owned().begin[0]; i < v.owned().end[0]; ++i) all += v(x{})(i);
    return all;
  }
};
struct mass : kr::reduce<"mass", km::ordered_sum, weigh> {};

struct count : kr::routine<"count", kr::on_host> {
  using value_type = std::array<int, 2>;
  template <class V>
  static value_type run(V v) {
    int const n = int(v.owned().end[0] - v.owned().begin[0]);
    return {n, -n};
  }
};
struct counted : kr::reduce<"counted", km::plain_sum, count> {};
struct large : kr::routine<"large", kr::on_host> {
  using value_type = int;
  template <class V>
  static int run(V) {
    return 2000000000;
  }
};
struct halves : kr::routine<"halves", kr::on_host, kr::reads<kr::owned<x>>> {
  using value_type = std::array<double, 2>;
  template <class V>
  static value_type run(V v) {
    return {v(x{})(v.owned().begin[0]), 0.5};
  }
};
struct halved : kr::reduce<"halved", km::ordered_sum, halves> {};
struct farthest {
  std::int64_t where;
  double is;
};
struct larger {
  farthest operator()(farthest const& a, farthest const& b) const { return b.is > a.is ? b : a; }
};
struct reach : kr::routine<"reach", kr::on_host> {
  using value_type = farthest;
  template <class V>
  static farthest run(V v, double) {
    return {v.global_begin()[0], -double(v.global_begin()[0])};
  }
};
struct far : kr::reduce<"far", larger, reach> {};

/// What happens on this rank, in order.
std::string happened;
#if KEEL_WITH_MPI
struct logged : km::mpi {
  template <class T, class Op>
  class pending : km::mpi::pending<T, Op> {
    using base = km::mpi::pending<T, Op>;

  public:
    pending(communicator const& c, T* at, std::size_t n) : base(c, at, n) { happened += "begin "; }
    void wait() { happened += "wait ", base::wait(); }
  };
};
#endif

struct other : kr::routine<"other", kr::on_device, kr::updates<x>> {
  template <class V>
  static void run(V v) {
    happened += "other ";
    auto const a = v(x{});
    kr::for_owned(v, KOKKOS_LAMBDA(int i) { a(i) *= 2; });
  }
};
struct use : kr::routine<"use", kr::on_device, kr::updates<y>, kr::reads<dt>> {
  template <class V>
  static void run(V v) {
    happened += "use ";
    auto const b = v(y{});
    double const step = v(dt{});
    kr::for_owned(v, KOKKOS_LAMBDA(int i) { b(i) += step; });
  }
};
struct is_large {
  using reads = kr::reads<dt>;
  static bool holds(double step, double, double limit) { return step > limit; }
};
struct fails : kr::routine<"fails", kr::on_host> {
  template <class V>
  static double run(V) {
    throw 1;
  }
};
struct failing : kr::reduce<"failing", km::minimum, fails> {};

/// NaN of the share, or block, that has this cell.
struct spoil : kr::routine<"spoil", kr::on_host> {
  template <class V>
  static double run(V v, std::int64_t cell) {
    auto const begin = v.global_begin()[0], size = v.owned().end[0] - v.owned().begin[0];
    return begin <= cell && cell < begin + size ? std::nan("") : double(begin);
  }
};
struct low : kr::reduce<"low", km::minimum, spoil> {};
struct high : kr::reduce<"high", km::maximum, spoil> {};

struct step : kr::schedule<fill, dt, other, use, kr::repeat<2, dt, kr::when<is_large, use>>, mass, kr::exchange<x>,
                           counted, halved, far> {};
struct hidden : kr::schedule<fill, kr::exchange<x>, dt, other, use, mass> {};

constexpr std::int64_t cells = 40;

// The values of a step, whatever the memories, the tracking and the number of ranks and blocks.
template <class App>
void check_values(std::string_view device, int blocks = 1) {
  test::run<typename App::ranks> run{device};
  kr::fields<App, x, y> f{run, kr::grid{{cells}, kr::ghost_width{1}, kr::periodic{true}, kr::blocks{blocks}}};
  for (double const scale : {1.0, 1.5}) {
    f.step(step{}, scale, 2.5);
    double smallest = 1e300;
    km::exact_sum sum;
    for (std::int64_t i = 0; i < cells; ++i) {
      smallest = std::min(smallest, at(i, scale));
      sum += 2 * at(i, scale);
    }
    CHECK(f.value(dt{}) == 2 * smallest);
    CHECK(f.value(mass{}) == sum.value());
    int const parts = run.environment().size() * blocks;
    CHECK(f.value(counted{}) == std::array{cells, -cells});
    CHECK(f.run(kr::reduce<"wide", km::plain_sum, large>{}) == 2000000000 * std::int64_t{parts});
    CHECK(f.run(kr::reduce<"exact", km::ordered_sum, large>{}) == 2000000000 * std::int64_t{parts});
    CHECK(f.value(halved{})[1] == 0.5 * parts);
    CHECK(f.value(far{}).where == 0);
    double const added = smallest + (2 * smallest > 2.5 ? 2 * (2 * smallest) : 0);
    CHECK(f.run(call<kr::reads<kr::owned<y>, mass>>{}, kr::component{0},
                [](auto v) { return v(y{})(v.owned().begin[0]) + 1000 * v(mass{}); }) == added + 1000 * sum.value());
    CHECK(f.run(dt{}) == 2 * smallest);
  }
}

TEST_CASE("residency: a reduction gives routines, conditions and the host the value of all ranks") {
  SUBCASE("two memories") { check_values<app>("twin"); }
  SUBCASE("blocks") { check_values<app>("twin", 3); }
  SUBCASE("two memories, on the host") { check_values<app>(host::name); }
  SUBCASE("checked") { check_values<with<kr::checked, km::mpi, keel::list<host, keel::simulated>>>("simulated"); }
  SUBCASE("off") { check_values<with<kr::off, km::mpi, keel::list<host>>>(host::name); }
}

TEST_CASE("residency: a NaN of any rank or block is the least and the greatest of a reduction") {
  test::run<km::mpi> run{"twin"};
  for (int const blocks : {1, 3}) {
    kr::fields<app, x, y> f{run, kr::grid{{cells}, kr::blocks{blocks}}};
    for (std::int64_t cell = 0; cell < cells; ++cell) {
      f.step(kr::schedule<low, high>{}, cell);
      CHECK(std::isnan(f.value(low{})));
      CHECK(std::isnan(f.value(high{})));
    }
    CHECK(f.run(low{}, cells) == 0);
    CHECK(f.run(high{}, cells) >= 0);
  }
}

#if KEEL_WITH_MPI
TEST_CASE("residency: a reduction is under way until the first entry reads its value, or the step ends") {
  test::run<logged> run{"twin"};
  kr::fields<with<kr::automatic, logged>, x, y> f{run, kr::grid{{cells}, kr::ghost_width{1}, kr::periodic{true}}};
  happened.clear();
  f.step(hidden{}, 1.0);
  CHECK(happened == (run.environment().size() > 1 ? "begin other wait use begin wait " : "other use "));
  happened.clear();
  f.step(kr::schedule<fill, dt, kr::repeat<2, other, dt>>{}, 1.0);
  CHECK(happened == (run.environment().size() > 1 ? "begin other wait begin other wait begin wait " : "other other "));
}
#endif

TEST_CASE("residency: a value that was not made is not given") {
  test::run<km::mpi> run{"twin"};
  kr::fields<app, x, y> f{run, kr::grid{{cells}}};
  auto const asks = [&] { return message_of([&] { (void)f.value(dt{}); }); };
  CHECK(asks().find("keel::residency: reduction dt has no value (no step or run has made it, or least failed). "
                    "Run it before it is read.") != std::string::npos);
  f.run(fill{}, 1.0);
  CHECK_THROWS_AS(f.run(use{}), keel::error);
  f.run(fill{}, 1.0); // what `use` may have written is lost
  f.run(dt{});
  f.run(use{});
  CHECK_THROWS_AS(f.run(failing{}), int);
  CHECK_THROWS_AS((void)f.value(failing{}), keel::error);
}

TEST_CASE("residency: explain shows reductions, and who waits for them") {
  auto const told = []<class S>(S) {
    std::ostringstream out;
    kr::explain<app, S, twin>(out);
    return out.str();
  };
  std::string const text = told(hidden{});
  CHECK_MESSAGE(text.find("dt        twin  x[0]  owned   reads    never") != text.npos, text);
  CHECK_MESSAGE(text.ends_with("reduced from least, waited for before use: dt\n"
                               "reduced from weigh, waited for at the end of the step: mass\n"),
                text);
  CHECK(told(kr::schedule<fill, dt, kr::when<is_large, other>>{}).find("waited for before when") != std::string::npos);
}

TEST_CASE("residency: messages travel while a reduction's routine runs that does not need them") {
  constexpr auto const& table = kr::detail::table_of<hidden>;
  CHECK(table.nodes[2].only_begins);
  CHECK(table.nodes[3].overlaps == 2);
  static_assert(table.unmade == kr::detail::no_node);
  static_assert(kr::detail::table_of<kr::schedule<use, dt>>.unmade == 1);
}

} // namespace reduce_cases
