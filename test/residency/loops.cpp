// SPDX-License-Identifier: MIT
#include <keel/residency/fields.hpp>

#include "cases.hpp"

#include <space/in_child.hpp>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <limits>

namespace loops_cases {

using namespace test;

template <class Layout, class Devices = keel::list<host, keel::simulated>>
using app = application<Devices, kr::automatic, Layout>;
using every_device =
    keel::where_supported<keel::list<keel::serial, keel::openmp, keel::threads, keel::tbb, keel::simulated>>;

struct line : kr::variable<"line", double*> {};
struct plane : kr::variable<"plane", double**> {};
struct cube : kr::variable<"cube", double***> {};

template <class X>
struct number : kr::routine<"number", kr::on_device, kr::writes<X>> {
  template <class V>
  static void run(V v) {
    auto const a = v(X{});
    if constexpr (a.rank == 1) kr::for_owned(v, KOKKOS_LAMBDA(int i) { a(i) = i; });
    else if constexpr (a.rank == 2) kr::for_owned(v, KOKKOS_LAMBDA(int i, int j) { a(i, j) = i + 10 * j; });
    else kr::for_owned(v, KOKKOS_LAMBDA(int i, int j, int k) { a(i, j, k) = i + 10 * j + 100 * k; });
  }
};
/// As many times `T(-1)` as there are cells.
template <class T>
struct count : kr::routine<"count", kr::on_device, kr::reads<kr::owned<plane>>> {
  template <class V>
  static std::int64_t run(V v) {
    auto const a = v(plane{});
    return std::int64_t(kr::sum_owned(v, KOKKOS_LAMBDA(int i, int j) { return T(a(i, j) - 1); }));
  }
};
/// Adds 1 to each cell of a region.
template <kr::region Where>
struct touch : kr::routine<"touch", kr::on_device, kr::updates<kr::everywhere<plane>>> {
  template <class V>
  static void run(V v) {
    auto const a = v(plane{});
    kr::for_all(v, Where, KOKKOS_LAMBDA(int i, int j) { a(i, j) += 1; });
  }
};
void clear(auto& f) {
  f.run(call<kr::writes<kr::everywhere<plane>>>{}, [](auto v) { Kokkos::deep_copy(v(plane{}), 0.0); });
}

template <kr::region Where>
std::vector<double> touched() {
  test::run<> run{"simulated"};
  kr::fields<app<Kokkos::LayoutRight>, plane> f{run, kr::grid{{4, 3}, kr::ghost_width{1}, kr::periodic{true, false}}};
  clear(f);
  f.run(touch<Where>{});
  std::vector<double> cells;
  f.run(call<kr::reads<plane>>{}, [&](auto v) {
    auto const a = v(plane{});
    for (int i = 0; i < int(a.extent(0)); ++i)
      for (int j = 0; j < int(a.extent(1)); ++j) cells.push_back(a(i, j));
  });
  return cells;
}

TEST_CASE_TEMPLATE("residency: a sum of integers, or of bool, is formed in 64 bits", Device, host, keel::simulated) {
  test::run<> run{Device::name};
  kr::fields<app<Kokkos::LayoutRight>, plane> f{run, kr::grid{{40, 25}}};
  clear(f);
  CHECK(f.run(count<unsigned char>{}) == 1000 * 255);
  CHECK(f.run(count<short>{}) == -1000);
  CHECK(f.run(count<bool>{}) == 1000);
  CHECK(f.run(count<int>{}) == -1000);
  CHECK(f.run(count<unsigned>{}) == 1000 * std::int64_t{4294967295});
}

TEST_CASE("residency: a loop over a region visits each of its cells once, and no other") {
  using cells = std::vector<double>; // six rows of five, walls first and last in a row
  CHECK(touched<kr::region::everywhere>() == cells(30, 1));
  CHECK(touched<kr::region::owned>() ==
        cells{0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0});
  CHECK(touched<kr::region::halo>() ==
        cells{0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0});
  CHECK(touched<kr::region::walls>() ==
        cells{1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1});
  CHECK(touched<kr::region::rim>() ==
        cells{0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0});
}

/// What a profiler is told.
std::vector<std::string> heard_kernels;
void hear(char const* name, std::uint32_t, std::uint64_t*) { heard_kernels.emplace_back(name); }

struct named : kr::routine<"named", kr::on_device, kr::writes<plane>> {
  template <class V>
  static void run(V v) {
    auto const a = v(plane{});
    kr::for_owned(v, KOKKOS_LAMBDA(int i, int j) { a(i, j) = i + j; });
    kr::for_owned(v, "first", KOKKOS_LAMBDA(int i, int j) { a(i, j) += 1; });
    kr::for_all(v, kr::core, "second", KOKKOS_LAMBDA(int i, int j) { a(i, j) += 1; });
    CHECK(kr::sum_owned(v, "third", KOKKOS_LAMBDA(int, int) { return true; }) == 12);
    CHECK(kr::reduce_owned(v, "fourth", km::maximum{}, KOKKOS_LAMBDA(int i, int j) { return i + 10 * j; }) == 23);
  }
};

/// Combines two values and has a neutral one.
struct longest {
  static constexpr double neutral = 0;
  KOKKOS_FUNCTION double operator()(double a, double b) const { return a * a < b * b ? b : a; }
};
/// All that `reduce_owned` gives, as numbers, and a sum whose bits depend on the order: of values of all sizes, some of
/// them equal, and a NaN where `hole` is.
template <class X>
struct reductions : kr::routine<"reductions", kr::on_device, kr::reads<kr::owned<X>>> {
  template <class V>
  static std::vector<double> run(V v, int hole) {
    auto const a = v(X{});
    auto const values = [=](auto... i) -> double {
      double const x = a(i...);
      return x == hole ? std::numeric_limits<double>::quiet_NaN() : int(x * 37) % 101 - 50.0 + 0.1 * (int(x) % 7);
    };
    auto const several = [=](auto... i) { return std::array<double, 2>{values(i...), 1 / (1 + a(i...))}; };
    std::vector<double> all;
    auto const keep = [&](kr::placed<double> const& p) {
      all.push_back(p.value);
      for (int d = 0; d < 3; ++d) all.push_back(double(p.place[d]));
    };
    auto const each = [&](auto const& one, auto const& two) {
      all.push_back(kr::reduce_owned(v, km::minimum{}, one));
      all.push_back(kr::reduce_owned(v, km::maximum{}, one));
      all.push_back(kr::reduce_owned(v, longest{}, one));
      for (double const x : kr::reduce_owned(v, km::plain_sum{}, two)) all.push_back(x);
      for (double const x : kr::reduce_owned(v, km::minimum{}, two)) all.push_back(x);
      keep(kr::reduce_owned(v, kr::place_of<km::minimum>{}, one));
      keep(kr::reduce_owned(v, kr::place_of<km::maximum>{}, one));
      all.push_back(kr::sum_owned(v, one));
    };
    constexpr int rank = int(a.rank);
    if constexpr (rank == 1) each([=](int i) { return values(i); }, [=](int i) { return several(i); });
    else if constexpr (rank == 2)
      each([=](int i, int j) { return values(i, j); }, [=](int i, int j) { return several(i, j); });
    else
      each([=](int i, int j, int k) { return values(i, j, k); }, [=](int i, int j, int k) { return several(i, j, k); });
    return all;
  }
};
template <class X, class Layout>
std::vector<std::vector<double>> reduced_on_devices(kr::grid const& g, int hole) {
  std::vector<std::vector<double>> all;
  keel::for_each_device<every_device>([&]<class Tag>(Tag) {
    test::run<> run{Tag::name};
    kr::fields<app<Layout, every_device>, X> f{run, g};
    f.run(number<X>{});
    all.push_back(f.run(reductions<X>{}, hole));
  });
  return all;
}
bool have_same_bits(std::vector<double> const& a, std::vector<double> const& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

TEST_CASE("residency: each kernel of a routine may have a name of its own") {
  test::run<> run{host::name};
  kr::fields<app<Kokkos::LayoutRight>, plane> f{run, kr::grid{{4, 3}}};
  auto const before = Kokkos::Tools::Experimental::get_callbacks();
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(hear);
  heard_kernels.clear();
  f.run(named{});
  Kokkos::Tools::Experimental::set_callbacks(before);
  CHECK(heard_kernels == std::vector<std::string>{"named", "first", "second", "third", "third", "fourth", "fourth"});
}

TEST_CASE("residency: a reduction of the owned cells is the same on every device of the host") {
  auto const check = [](auto const& devices, bool has_nan, double sum_of_inverses) {
    REQUIRE(!devices.empty());
    for (auto const& one : devices) CHECK(have_same_bits(one, devices.front()));
    std::vector<double> const& r = devices.front();
    CHECK(std::isnan(r[0]) == has_nan);
    CHECK(std::isnan(r[1]) == has_nan);
    CHECK(std::isnan(r[7]) == has_nan); // with its place, which follows
    CHECK(std::isnan(r[11]) == has_nan);
    if (has_nan) CHECK((r[8] == r[12] && r[9] == r[13] && r[10] == r[14]));
    else CHECK((r[0] == r[7] && r[1] == r[11] && std::abs(r[2]) == std::max(-r[0], r[1])));
    CHECK(r[4] == doctest::Approx(sum_of_inverses));
    if (!has_nan) CHECK(r.back() == doctest::Approx(r[3]));
  };
  for (int const hole : {-1, 40}) {
    check(reduced_on_devices<line, Kokkos::LayoutRight>(kr::grid{{3000}}, hole), hole >= 0, 8.58375);
    check(reduced_on_devices<plane, Kokkos::LayoutLeft>(kr::grid{{50, 21}, kr::ghost_width{1}}, hole), hole >= 0,
          10.797603);
    check(reduced_on_devices<cube, Kokkos::LayoutRight>(kr::grid{{5, 6, 9}}, hole), hole >= 0, 3.968545);
  }
}

TEST_CASE("residency: of equal values the place is the first, whatever the layout, and a rank without cells has none") {
  test::run<> run{host::name};
  kr::fields<app<Kokkos::LayoutLeft>, plane> f{run, kr::grid{{6, 5}, kr::ghost_width{2}, kr::periodic{true}}};
  f.run(call<kr::writes<plane>>{}, [](auto v) {
    int const i0 = int(v.owned().begin[0]), j0 = int(v.owned().begin[1]);
    auto const least =
        kr::reduce_owned(v, kr::place_of<km::minimum>{}, [=](int i, int j) { return i - i0 + j - j0 == 4 ? -1 : 1; });
    CHECK(least.value == -1);
    CHECK((least.place == kr::indices{{0, 4}}));
    kr::bounds const none{{{2, 2}}, {{2, 5}}};
    auto const value = [](int, int) { return 1.0; };
    CHECK(kr::detail::reduced(v, none, "none", km::minimum{}, value) == std::numeric_limits<double>::infinity());
    CHECK(kr::detail::reduced(v, none, "none", km::maximum{}, [](int, int) { return 1; }) ==
          std::numeric_limits<int>::lowest());
    CHECK(kr::detail::reduced(v, none, "none", longest{}, value) == 0);
  });
  // The same over ranks: a rank without cells changes nothing.
  using place = kr::place_of<km::minimum>;
  using nothing = kr::detail::neutral_of<place, kr::placed<double>>;
  kr::placed<double> const some{std::numeric_limits<double>::infinity(), {{3, 4}}};
  CHECK((place{}(some, nothing::value()).place == some.place && place{}(nothing::value(), some).place == some.place));
}

TEST_CASE("residency: a loop beyond the indices that int has is refused") {
  test::run<> run{"simulated"};
  kr::fields<app<Kokkos::LayoutRight>, line> f{run, kr::grid{{3}}};
  constexpr std::int64_t end = std::int64_t{1} << 31;
  std::string const wanted = "keel::residency: routine call loops from or to index 2147483648 (the indices of a loop "
                             "are int). Take more ranks or blocks, or a kernel of your own.";
  auto const asks = [&](kr::bounds const& cells) {
    return message_of(
        [&] { f.run(call<kr::writes<line>>{}, [&](auto v) { kr::for_each_cell(v, cells, [](int) {}); }); });
  };
  CHECK(asks({{{5}}, {{end}}}) == wanted);
  CHECK(asks({{{end}}, {{5}}}) == wanted);
  CHECK(message_of([&] {
          f.run(call<kr::writes<line>>{},
                [&](auto v) { kr::for_each_element(v, kr::element_range{0, end}, [](int) {}); });
        }) == wanted);
  std::int64_t last = 0;
  f.run(call<kr::writes<line>>{}, [&](auto v) {
    kr::for_each_cell(v, {{{end - 2}}, {{end - 1}}}, [&last](int i) { last = i; });
    CHECK(kr::detail::reduced(v, {{{end - 3}}, {{end - 1}}}, "sum", std::plus<>{}, [](int i) { return double(i); }) ==
          2.0 * end - 5);
  });
  CHECK(last == end - 2);
}

TEST_CASE("residency: a loop with another number of indices than the grid has is refused") {
  test::run<> run{"simulated"};
  kr::fields<app<Kokkos::LayoutRight>, plane> f{run, kr::grid{{3, 2}}};
  CHECK(message_of([&] { f.run(call<kr::writes<plane>>{}, [](auto v) { kr::for_owned(v, [](int) {}); }); }) ==
        "keel::residency: routine call loops with 1 index (the grid has 2 dimensions). Take as many.");
}

TEST_CASE("residency: a process that a kernel on a card ends says which routine, rank and card") {
  auto const ends = [](bool fails) {
    return keel::test::in_child([=] {
      std::signal(SIGABRT, [](int) { std::fputs("MPI's own handler\n", stderr); });
      kr::detail::faults::watch(
          "keel::residency: a kernel failed on rank 3, on card 0000:1b:00.0 of cuda. The routine "
          "launched last is ",
          fails ? +[] { return true; } : +[] { return false; });
      kr::detail::faults::routine = "strikes";
      std::abort();
      return 0;
    });
  };
  auto const fault = ends(true);
  CHECK(fault.aborted);
  CHECK(fault.said.find(
            "on rank 3, on card 0000:1b:00.0 of cuda. The routine launched last is strikes.\nMPI's own handler\n") !=
        std::string::npos);
  CHECK(ends(false).aborted);
  CHECK(ends(false).said.find("kernel") == std::string::npos);
}

} // namespace loops_cases
