// SPDX-License-Identifier: MIT
#include <keel/space/pinned.hpp>

#include <doctest/doctest.h>
#include <laws/memory_space.hpp>

TEST_CASE_TEMPLATE_INVOKE(memory_space, keel::space::pinned);

TEST_CASE("space: pinned memory is host memory") {
  CHECK(Kokkos::SpaceAccessibility<Kokkos::HostSpace, keel::space::pinned>::accessible);
  Kokkos::View<int*, keel::space::pinned> const v("v", 3);
  v(2) = 7;
  Kokkos::View<int*, Kokkos::HostSpace> const h("h", 3);
  Kokkos::deep_copy(h, v);
  CHECK(h(2) == 7);
}
