// SPDX-License-Identifier: MIT
#include <keel/residency/fields.hpp>
#include <keel/residency/loops.hpp>

#include "run.hpp"

#include <doctest/doctest.h>
#include <support/message_of.hpp>

namespace kr = keel::residency;

namespace {

template <class Layout>
using app = test::application<keel::list<test::host, keel::simulated>, kr::automatic, Layout>;

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

} // namespace

TEST_CASE_TEMPLATE("residency: a loop over owned cells visits each once", Layout, Kokkos::LayoutLeft,
                   Kokkos::LayoutRight) {
  CHECK(numbered<line, Layout>(kr::grid{{7}}) == 21);
  CHECK(numbered<plane, Layout>(kr::grid{{3, 2}}) == 3 * 2 + 10 * 3);
  CHECK(numbered<cube, Layout>(kr::grid{{2, 3, 2}}) == 6 + 10 * 12 + 100 * 6);
}

TEST_CASE("residency: a loop with another number of indices than the grid has is refused") {
  test::run<> run{"simulated"};
  kr::fields<app<Kokkos::LayoutRight>, plane> f{run, kr::grid{{3, 2}}};
  CHECK(keel::test::message_of([&] { f.run(wrong{}); }) ==
        "keel::residency: routine wrong loops with 1 indices (the grid has 2 dimensions). Take as many.");
}
