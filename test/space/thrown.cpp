// SPDX-License-Identifier: MIT
#include <keel/space/simulated.hpp>

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

// What a kernel on the simulated device throws, as its caller sees it.

namespace {

using keel::space::simulated;
using range = Kokkos::RangePolicy<simulated>;

void throw_behind(simulated const& space, char const* text) {
  Kokkos::parallel_for("throws", range(space, 0, 3), [=](int i) {
    if (i == 1) throw std::out_of_range(text);
  });
}

template <class Wait>
std::string thrown_by(Wait const& wait) {
  try {
    wait();
  } catch (std::out_of_range const& e) {
    return e.what();
  }
  return "nothing";
}

} // namespace

TEST_CASE("space: what a simulated kernel throws, the next fence throws, with type and text, and once") {
  simulated const space = simulated::new_instance();
  throw_behind(space, "index 1");
  CHECK(thrown_by([&] { space.fence(); }) == "index 1");
  CHECK(thrown_by([&] { space.fence(); }) == "nothing");
  throw_behind(space, "again");
  CHECK(thrown_by([] { Kokkos::fence(); }) == "again");
}

TEST_CASE("space: a reduction and a copy that the host waits for throw what a kernel before them threw") {
  simulated const space;
  throw_behind(space, "index 1");
  int sum = 0;
  auto const reduce = [&] { Kokkos::parallel_reduce("sum", range(space, 0, 3), [](int i, int& s) { s += i; }, sum); };
  CHECK(thrown_by(reduce) == "index 1");
  CHECK(thrown_by(reduce) == "nothing");
  CHECK(sum == 3);
  Kokkos::View<int*, simulated> const v("v", 3);
  throw_behind(space, "before a copy");
  CHECK(thrown_by([&] { Kokkos::deep_copy(v, 0), Kokkos::fence(); }) == "before a copy");
}

TEST_CASE("space: what was launched between a kernel that throws and the fence is dropped") {
  simulated const space;
  bool was_run = false;
  throw_behind(space, "index 1");
  Kokkos::parallel_for("dropped", range(space, 0, 1), [&](int) { was_run = true; });
  CHECK(thrown_by([&] { space.fence(); }) == "index 1");
  CHECK_FALSE(was_run);
  Kokkos::parallel_for("run", range(space, 0, 1), [&](int) { was_run = true; });
  space.fence();
  CHECK(was_run);
}

TEST_CASE("space: memory is given back while an exception of a kernel waits for its caller") {
  simulated const space;
  {
    Kokkos::View<int*, simulated> const v("v", 3);
    throw_behind(space, "kept");
  }
  CHECK(thrown_by([&] { space.fence(); }) == "kept");
}
