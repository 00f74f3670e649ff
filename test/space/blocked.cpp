// SPDX-License-Identifier: MIT
#include <keel/space/blocked.hpp>

#include <keel/space/simulated.hpp>

#include <doctest/doctest.h>

#include <cstddef>

namespace {

/// Adds one to every index of a block, and sums what was there.
template <class Space>
struct visit {
  Kokkos::View<int*, Space> v;
  template <class Block>
  KOKKOS_FUNCTION void operator()(Block const& b) const {
    for (auto i = b.begin(); i != b.end(); ++i) v(i) += 1;
  }
  template <class Block>
  KOKKOS_FUNCTION void operator()(Block const& b, long& sum) const {
    for (auto i = b.begin(); i != b.end(); ++i) sum += i * v(i);
  }
};

/// Each team adds its number to the entries of one row.
template <class Space>
struct rows {
  Kokkos::View<double**, Kokkos::LayoutRight, Space> v;

  struct body {
    double* row;
    double number;
    template <class Block>
    KOKKOS_FUNCTION void operator()(Block const& b) const { b.store(row, b.load(row) + number); }
  };
  template <class Team>
  KOKKOS_FUNCTION void operator()(Team const& team) const {
    int const i = team.league_rank();
    keel::block::for_each_block<8, keel::block::tail::masked>(team, 0, int(v.extent(1)), body{&v(i, 0), double(i + 1)});
  }
};

/// Twice the field of three indices, plus that of two.
template <class Deep, class Flat>
struct on_columns {
  Deep deep;
  Flat flat;
  template <class Block>
  KOKKOS_FUNCTION void operator()(Block const& b) const {
    auto const below = b.load(flat);
    for (std::size_t k = 0; k < deep.extent(2); ++k) b.store(deep, 2.0 * b.load(deep, k) + below, k);
  }
};

template <class Space, class Layout, std::size_t Length>
void check_columns() {
  using deep = Kokkos::View<double***, Layout, Space>;
  using flat = Kokkos::View<double**, Layout, Space>;
  deep const d("d", 5, 19, 3);
  flat const f("f", 5, 19);
  auto const on_host = Kokkos::create_mirror_view(d);
  auto const below = Kokkos::create_mirror_view(f);
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 19; ++j) {
      below(i, j) = 0.5 * i + j;
      for (int k = 0; k < 3; ++k) on_host(i, j, k) = i * 100 + j + 0.25 * k;
    }
  Kokkos::deep_copy(d, on_host);
  Kokkos::deep_copy(f, below);
  keel::block::for_each_block<Length, keel::block::tail::masked>(
      "columns", Space(), keel::block::columns_of(d, {1, 2}, {5, 19}), on_columns<deep, flat>{d, f});
  Space().fence();
  Kokkos::deep_copy(on_host, d);
  int wrong = 0;
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 19; ++j)
      for (int k = 0; k < 3; ++k) {
        double const before = i * 100 + j + 0.25 * k;
        wrong += on_host(i, j, k) != (i >= 1 && j >= 2 ? 2 * before + below(i, j) : before);
      }
  CHECK(wrong == 0);
}

template <class Space>
void check_rows() {
  Kokkos::View<double**, Kokkos::LayoutRight, Space> const v("v", 7, 29);
  Kokkos::parallel_for("rows", Kokkos::TeamPolicy<Space>(Space(), 7, Kokkos::AUTO), rows<Space>{v});
  Space().fence();
  auto const host = Kokkos::create_mirror_view(v);
  Kokkos::deep_copy(host, v);
  int wrong = 0;
  for (int i = 0; i < 7; ++i)
    for (int j = 0; j < 29; ++j) wrong += host(i, j) != i + 1;
  CHECK(wrong == 0);
}

template <class Space, std::size_t Length>
void check_all_lengths() {
  namespace kb = keel::block;
  for (int n : {0, 1, 7, 8, 9, 64, 1000}) {
    visit<Space> const f{Kokkos::View<int*, Space>("v", n)};
    kb::for_each_block<Length>("visit", Space(), 0, n, f);
    long sum = -1;
    kb::reduce_blocks<Length>("sum", Space(), 0, n, f, sum);
    CHECK(sum == long(n) * (n - 1) / 2);
    long again = -1;
    kb::reduce_blocks<Length>("sum", Space(), 0, n, f, Kokkos::Sum<long>(again));
    CHECK(again == sum);
  }
}

} // namespace

TEST_CASE("space: a kernel over blocks visits every index once, for every length") {
  check_all_lengths<Kokkos::DefaultHostExecutionSpace, 1>();
  check_all_lengths<Kokkos::DefaultHostExecutionSpace, 8>();
  check_all_lengths<keel::space::simulated, 8>();
  check_all_lengths<keel::space::simulated, 1024>();
}

TEST_CASE("space: the threads of a team share the blocks") {
  check_rows<Kokkos::DefaultHostExecutionSpace>();
  check_rows<keel::space::simulated>();
}

TEST_CASE("space: blocks of columns run on a device in either layout") {
  check_columns<Kokkos::DefaultHostExecutionSpace, Kokkos::LayoutRight, 8>();
  check_columns<keel::space::simulated, Kokkos::LayoutRight, 1>();
  check_columns<keel::space::simulated, Kokkos::LayoutLeft, 4>();
  check_columns<keel::space::simulated, Kokkos::LayoutLeft, 1>();
}
