// SPDX-License-Identifier: MIT
#include <keel/residency/fields.hpp>
#include <keel/residency/loops.hpp>

#include "routines.hpp"
#include "run.hpp"

#include <doctest/doctest.h>
#include <support/message_of.hpp>

#include <vector>

namespace kr = keel::residency;

namespace {

template <class Layout, class Devices = keel::list<test::host, keel::simulated>>
using app = test::application<Devices, kr::automatic, Layout>;
using every_device =
    keel::where_supported<keel::list<keel::serial, keel::openmp, keel::threads, keel::tbb, keel::simulated>>;

struct line : kr::variable<"line", double*> {};
struct plane : kr::variable<"plane", double**> {};
struct cube : kr::variable<"cube", double***> {};
struct length : kr::variable<"length", double*, kr::along<1>> {};

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
struct number_along : kr::routine<"number_along", kr::on_device, kr::writes<length>> {
  template <class V>
  static void run(V v) {
    auto const a = v(length{});
    kr::for_each_cell(v, v.owned(length{}), KOKKOS_LAMBDA(int i) { a(i) = i; });
  }
};
template <class X>
struct sum : kr::routine<"sum", kr::on_host, kr::reads<kr::owned<X>>> {
  template <class V>
  static double run(V v) {
    double all = 0;
    auto const a = v(X{});
    for (std::size_t i = 0; i < a.span(); ++i) all += a.data()[i];
    return all;
  }
};
// A sum whose bits depend on the order: of numbers of all sizes.
template <class X>
struct add_up : kr::routine<"add_up", kr::on_device, kr::reads<kr::owned<X>>> {
  template <class V>
  static double run(V v) {
    auto const a = v(X{});
    if constexpr (a.rank == 1) return kr::sum_owned(v, KOKKOS_LAMBDA(int i) { return 1 / (1 + a(i)); });
    else if constexpr (a.rank == 2) return kr::sum_owned(v, KOKKOS_LAMBDA(int i, int j) { return 1 / (1 + a(i, j)); });
    else return kr::sum_owned(v, KOKKOS_LAMBDA(int i, int j, int k) { return 1 / (1 + a(i, j, k)); });
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
struct clear : kr::routine<"clear", kr::on_device, kr::writes<kr::everywhere<plane>>> {
  template <class V>
  static void run(V v) {
    auto const a = v(plane{});
    kr::for_all(v, kr::region::everywhere, KOKKOS_LAMBDA(int i, int j) { a(i, j) = 0; });
  }
};
struct wrong : kr::routine<"wrong", kr::on_host, kr::writes<plane>> {
  template <class V>
  static void run(V v) {
    kr::for_owned(v, KOKKOS_LAMBDA(int){});
  }
};

template <class X, class Layout>
double numbered(kr::grid const& g) {
  test::run<> run{"simulated"};
  kr::fields<app<Layout>, X> f{run, g};
  f.run(number<X>{});
  return f.run(sum<X>{});
}

template <class X, class Layout>
std::vector<double> sums(kr::grid const& g) {
  std::vector<double> all;
  keel::for_each_device<every_device>([&]<class Tag>(Tag) {
    test::run<> run{Tag::name};
    kr::fields<app<Layout, every_device>, X> f{run, g};
    f.run(number<X>{});
    all.push_back(f.run(add_up<X>{}));
  });
  return all;
}

template <kr::region Where>
std::vector<double> touched() {
  test::run<> run{"simulated"};
  kr::fields<app<Kokkos::LayoutRight>, plane> f{run, kr::grid{{4, 3}, kr::ghost_width{1}, kr::periodic{true, false}}};
  f.run(clear{});
  f.run(touch<Where>{});
  std::vector<double> cells;
  f.run(test::call<kr::reads<plane>>{}, [&](auto v) {
    auto const a = v(plane{});
    for (int i = 0; i < int(a.extent(0)); ++i)
      for (int j = 0; j < int(a.extent(1)); ++j) cells.push_back(a(i, j));
  });
  return cells;
}

} // namespace

TEST_CASE_TEMPLATE("residency: a sum has the same bits on every device of the host", Layout, Kokkos::LayoutLeft,
                   Kokkos::LayoutRight) {
  auto const same = [](std::vector<double> const& all, double about) {
    for (double one : all) CHECK(one == all[0]);
    CHECK(all[0] == doctest::Approx(about));
  };
  double line_sum = 0, plane_sum = 0, cube_sum = 0;
  for (int i = 0; i < 5000; ++i) line_sum += 1. / (1 + i);
  for (int i = 0; i < 203; ++i)
    for (int j = 0; j < 101; ++j) plane_sum += 1. / (1 + i + 10 * j);
  for (int i = 0; i < 31; ++i)
    for (int j = 0; j < 5; ++j)
      for (int k = 0; k < 23; ++k) cube_sum += 1. / (1 + i + 10 * j + 100 * k);
  same(sums<line, Layout>(kr::grid{{5000}}), line_sum);
  same(sums<plane, Layout>(kr::grid{{203, 101}}), plane_sum);
  same(sums<cube, Layout>(kr::grid{{31, 5, 23}}), cube_sum);
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

TEST_CASE_TEMPLATE("residency: a loop over owned cells visits each once", Layout, Kokkos::LayoutLeft,
                   Kokkos::LayoutRight) {
  CHECK(numbered<line, Layout>(kr::grid{{7}}) == 21);
  CHECK(numbered<plane, Layout>(kr::grid{{3, 2}}) == 3 * 2 + 10 * 3);
  CHECK(numbered<cube, Layout>(kr::grid{{2, 3, 2}}) == 6 + 10 * 12 + 100 * 6);
}

TEST_CASE("residency: a loop over a variable along one dimension takes one index") {
  test::run<> run{"simulated"};
  kr::fields<app<Kokkos::LayoutRight>, length> f{run, kr::grid{{3, 7}}};
  f.run(number_along{});
  CHECK(f.run(sum<length>{}) == 21);
}

TEST_CASE("residency: a loop beyond the indices that int has is refused") {
  test::run<> run{"simulated"};
  kr::fields<app<Kokkos::LayoutRight>, line> f{run, kr::grid{{3}}};
  constexpr std::int64_t end = std::int64_t{1} << 31;
  std::string const wanted = "keel::residency: routine call loops from or to index 2147483648 (the indices of a loop "
                             "are int). Take more ranks or blocks, or a kernel of your own.";
  auto const asks = [&](kr::bounds const& cells) {
    return keel::test::message_of(
        [&] { f.run(test::call<kr::writes<line>>{}, [&](auto v) { kr::for_each_cell(v, cells, [](int) {}); }); });
  };
  CHECK(asks({{{5}}, {{end}}}) == wanted);
  CHECK(asks({{{end}}, {{5}}}) == wanted);
  CHECK(keel::test::message_of([&] {
          f.run(test::call<kr::writes<line>>{},
                [&](auto v) { kr::for_each_element(v, kr::element_range{0, end}, [](int) {}); });
        }) == wanted);
  std::int64_t last = 0;
  f.run(test::call<kr::writes<line>>{}, [&](auto v) {
    kr::for_each_cell(v, {{{end - 2}}, {{end - 1}}}, [&last](int i) { last = i; });
    CHECK(kr::detail::sum_over(v, {{{end - 3}}, {{end - 1}}}, [](int i) { return double(i); }) == 2.0 * end - 5);
  });
  CHECK(last == end - 2);
}

TEST_CASE("residency: a loop with another number of indices than the grid has is refused") {
  test::run<> run{"simulated"};
  kr::fields<app<Kokkos::LayoutRight>, plane> f{run, kr::grid{{3, 2}}};
  CHECK(keel::test::message_of([&] { f.run(wrong{}); }) ==
        "keel::residency: routine wrong loops with 1 index (the grid has 2 dimensions). Take as many.");
}
