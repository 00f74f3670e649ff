// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What holds for nests of loops on every execution space. See execution_space.hpp.

#include "execution_space.hpp"

namespace keel::laws {

struct marked {};

/// Chooses by tag, in a nest.
template <class Space>
struct tagged_nest {
  Kokkos::View<int**, Space> v;
  KOKKOS_FUNCTION void operator()(marked, int i, int j) const { v(i, j) = i - j; }
  KOKKOS_FUNCTION void operator()(summed, int i, int j, long& sum) const { sum += v(i, j); }
};

/// Adds 1 to every point of a nest of `Rank` dimensions.
template <class Space, int Rank, Kokkos::Iterate Outer, Kokkos::Iterate Inner>
struct nest {
  using policy = Kokkos::MDRangePolicy<Space, Kokkos::Rank<Rank, Outer, Inner>, Kokkos::IndexType<int>>;
  Kokkos::View<int*, Space> visits;
  int extent;

  template <class... I>
  KOKKOS_FUNCTION int place(I... i) const {
    int at = 0;
    ((at = at * extent + int(i)), ...);
    return at;
  }
  template <class... I>
  KOKKOS_FUNCTION void operator()(I... i) const {
    visits(place(i...)) += 1;
  }
};

/// Whether a nest of `Rank` dimensions, whole and in tiles that do not divide it, visits each point once a loop.
template <class Space, int Rank, Kokkos::Iterate Outer = Kokkos::Iterate::Default,
          Kokkos::Iterate Inner = Kokkos::Iterate::Default>
bool visits_every_point() {
  using nest_type = nest<Space, Rank, Outer, Inner>;
  using policy = typename nest_type::policy;
  int const extent = Rank == 2 ? 37 : Rank == 3 ? 11 : Rank == 4 ? 6 : 4;
  long points = 1;
  Kokkos::Array<long, Rank> lower, upper, tile;
  for (std::size_t r = 0; r < Rank; ++r) {
    points *= extent;
    lower[r] = 0;
    upper[r] = extent;
    tile[r] = r % 2 == 0 ? 3 : 2;
  }
  nest_type const body{Kokkos::View<int*, Space>("visits", std::size_t(points)), extent};
  Kokkos::parallel_for("whole", policy(lower, upper), body);
  Kokkos::parallel_for("tiled", policy(lower, upper, tile), body);
  return holds(body.visits, [](int) { return 2; });
}

} // namespace keel::laws

TEST_CASE_TEMPLATE_DEFINE("space: an execution space keeps the laws of one, its nests", Space, execution_nests) {
  namespace laws = keel::laws;
  using nest = Kokkos::MDRangePolicy<Space, Kokkos::Rank<2>>;

  SUBCASE("a nest of two to six dimensions visits every point once, in tiles or not") {
    CHECK(laws::visits_every_point<Space, 2>());
    CHECK(laws::visits_every_point<Space, 3>());
    CHECK(laws::visits_every_point<Space, 4>());
    CHECK(laws::visits_every_point<Space, 5>());
    CHECK(laws::visits_every_point<Space, 6>());
  }
  SUBCASE("bounds and tiles stand in one pair of braces or in two") {
    Kokkos::View<int**, Space> const visits("visits", 4, 5);
    auto const visit = KOKKOS_LAMBDA(int i, int j) { visits(i, j) += 1; };
    Kokkos::parallel_for(nest({0, 0}, {4, 5}, {3, 3}), visit);
    Kokkos::parallel_for(nest({{0, 0}}, {{4, 5}}, {{3, 3}}), visit);
    CHECK(laws::on_host(visits)(3, 4) == 2);
  }
  SUBCASE("a nest runs its inner loop where it is told") {
    CHECK(laws::visits_every_point<Space, 3, Kokkos::Iterate::Left, Kokkos::Iterate::Left>());
    CHECK(laws::visits_every_point<Space, 3, Kokkos::Iterate::Right, Kokkos::Iterate::Right>());
    CHECK(laws::visits_every_point<Space, 2, Kokkos::Iterate::Left, Kokkos::Iterate::Right>());
  }
  SUBCASE("a nest may begin anywhere, be empty, and have a tag") {
    Kokkos::View<int**, Space> const v("v", 37, 53);
    Kokkos::parallel_for(
        "inside", nest({1, 2}, {36, 50}, {4, 7}), KOKKOS_LAMBDA(int i, int j) { v(i, j) += 100 * i + j; });
    CHECK(laws::holds(v, [](int i, int j) { return i >= 1 && i < 36 && j >= 2 && j < 50 ? 100 * i + j : 0; }));
    long none = -1;
    Kokkos::parallel_reduce("none", nest({0, 0}, {0, 53}), KOKKOS_LAMBDA(int, int, long& s) { ++s; }, none);
    CHECK(none == 0);
    laws::tagged_nest<Space> const functor{v};
    Kokkos::parallel_for(Kokkos::MDRangePolicy<Space, Kokkos::Rank<2>, laws::marked>({0, 0}, {37, 53}), functor);
    long sum = 0;
    Kokkos::parallel_reduce(Kokkos::MDRangePolicy<Space, Kokkos::Rank<2>, laws::summed>({0, 0}, {37, 53}), functor,
                            sum);
    CHECK(sum == 53L * 37 * 36 / 2 - 37L * 53 * 52 / 2);
  }
}
