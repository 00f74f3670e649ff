// SPDX-License-Identifier: MIT
#include <keel/space/cyclic_reduction.hpp>

#include <keel/space/simulated.hpp>

#include <doctest/doctest.h>
#include <support/message_of.hpp>

#include <cmath>
#include <limits>

namespace {

namespace kb = keel::block;

/// The largest difference between cyclic reduction and Thomas' elimination, both on `Space`.
template <class Space, class Layout>
double difference(int columns, int levels) {
  using constant = Kokkos::View<double*, Layout, Space>;
  using deep = Kokkos::View<double***, Layout, Space>;
  constant const lower("lower", levels), upper("upper", levels);
  deep const diagonal("diagonal", 2, columns, levels), x("x", 2, columns, levels), y("y", 2, columns, levels);
  auto const l = Kokkos::create_mirror(lower), u = Kokkos::create_mirror(upper);
  auto const d = Kokkos::create_mirror(diagonal), r = Kokkos::create_mirror(x);
  for (int k = 0; k < levels; ++k) l(k) = k == 0 ? std::numeric_limits<double>::quiet_NaN() : -0.75 - 0.01 * k;
  for (int k = 0; k < levels; ++k) u(k) = k + 1 == levels ? std::numeric_limits<double>::quiet_NaN() : -0.5 + 0.01 * k;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < columns; ++j)
      for (int k = 0; k < levels; ++k)
        d(i, j, k) = 3 + 0.1 * ((i + j + k) % 7), r(i, j, k) = ((i * 31 + j * 17 + k * 5) % 11) - 5;
  Kokkos::deep_copy(lower, l);
  Kokkos::deep_copy(upper, u);
  Kokkos::deep_copy(diagonal, d);
  Kokkos::deep_copy(x, r);
  Kokkos::deep_copy(y, r);
  Space const space;
  kb::solve_tridiagonal("teams", space, kb::cyclic_reduction{lower, diagonal, upper}, x);
  kb::solve_tridiagonal<8>("packs", space, kb::tridiagonal{lower, diagonal, upper}, y);
  space.fence();
  auto const by_teams = Kokkos::create_mirror(x), by_packs = Kokkos::create_mirror(y);
  Kokkos::deep_copy(by_teams, x);
  Kokkos::deep_copy(by_packs, y);
  double most = 0, residual = 0;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < columns; ++j)
      for (int k = 0; k < levels; ++k) {
        most = std::fmax(most,
                         std::isfinite(by_teams(i, j, k)) ? std::fabs(by_teams(i, j, k) - by_packs(i, j, k)) : 1e300);
        double left = d(i, j, k) * by_packs(i, j, k) - r(i, j, k);
        if (k > 0) left += l(k) * by_packs(i, j, k - 1);
        if (k + 1 < levels) left += u(k) * by_packs(i, j, k + 1);
        residual = std::fmax(residual, std::isfinite(left) ? std::fabs(left) : 1e300);
      }
  CHECK(residual < 1e-13);
  return most;
}

} // namespace

TEST_CASE("block: cyclic reduction refuses each coefficient of another shape by its name") {
  using levels = Kokkos::View<double*, Kokkos::HostSpace>;
  Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> const x("x", 3, 8);
  levels const right("right", 8), wrong("wrong", 7);
  auto const refusal = [&](levels const& lower, levels const& diagonal, levels const& upper) {
    kb::cyclic_reduction const m{lower, diagonal, upper};
    return keel::test::message_of([&] { kb::solve_tridiagonal("teams", Kokkos::DefaultHostExecutionSpace(), m, x); });
  };
  CHECK(refusal(wrong, right, right).starts_with("keel::block: the coefficient 'lower' of "));
  CHECK(refusal(right, wrong, right).starts_with("keel::block: the coefficient 'diagonal' of "));
  CHECK(refusal(right, right, wrong).starts_with("keel::block: the coefficient 'upper' of "));
}

TEST_CASE("block: a team a column finds what elimination finds") {
  using host = Kokkos::DefaultHostExecutionSpace;
  for (int levels : {1, 2, 3, 8, 61, 64}) {
    CAPTURE(levels);
    CHECK(difference<host, Kokkos::LayoutRight>(5, levels) < 1e-13);
    CHECK(difference<keel::space::simulated, Kokkos::LayoutRight>(3, levels) < 1e-13);
    CHECK(difference<keel::space::simulated, Kokkos::LayoutLeft>(11, levels) < 1e-13);
  }
  CHECK(difference<host, Kokkos::LayoutRight>(0, 3) == 0);
}
