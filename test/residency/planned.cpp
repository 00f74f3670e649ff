// SPDX-License-Identifier: MIT
// Steps that go by their plan, where nothing is tested and nothing is marked that the plan knows.
#include "run.hpp"

#include <keel/machine/alone.hpp>
#include <keel/residency/fields.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace kr = keel::residency;

namespace {

using app = test::application<keel::list<test::host, test::twin>>;

struct x : kr::variable<"x", double*> {};
struct y : kr::variable<"y", double*> {};

// A kernel that waits for the host; it gives up after a while, so that a mistake is a failure.
std::atomic<bool> released{false}, gave_up{false};
struct hold : kr::routine<"hold", kr::on_device, kr::writes<y>> {
  template <class V>
  static void run(V v) {
    auto to = v(y{});
    auto *go = &released, *late = &gave_up;
    Kokkos::parallel_for("hold", Kokkos::RangePolicy<typename V::space>(v.execution_space(), 0, 1), KOKKOS_LAMBDA(int i) {
      auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (!go->load() && !late->load()) late->store(std::chrono::steady_clock::now() > end);
      to(i) = 1;
    });
  }
};
struct put : kr::routine<"put", kr::on_host, kr::writes<x>> {
  template <class V>
  static void run(V v, double value) {
    auto to = v(x{}); // by hand, because Kokkos' own fill waits for all devices
    for (std::size_t i = 0; i < to.extent(0); ++i) to(i) = value;
  }
};
struct take : kr::routine<"take", kr::on_device, kr::reads<x>, kr::writes<y>> {
  template <class V>
  static void run(V v) {
    auto from = v(x{});
    auto to = v(y{});
    Kokkos::parallel_for("take", Kokkos::RangePolicy<typename V::space>(v.execution_space(), 0, 4), KOKKOS_LAMBDA(int i) { to(i) = from(i); });
  }
};
double found = 0;
struct look : kr::routine<"look", kr::on_host, kr::reads<y>> {
  template <class V>
  static void run(V v) {
    found = v(y{})(1);
  }
};

} // namespace

TEST_CASE("residency: a planned step overtakes no copy that left before it, though its writes are not tested") {
  using plan = kr::plan<app, kr::schedule<put>, test::twin>;
  static_assert(!plan::may_leave(1, 0));
  static_assert(kr::plan<app, kr::schedule<put, take>, test::twin>::may_leave(1, 0));
  static_assert(!kr::plan<app, kr::schedule<put, take>, test::host>::may_leave(1, 0));
  test::run run{"twin"};
  kr::fields<app, x, y> f{run, kr::grid{{4}}};
  released = gave_up = false;
  f.run(put{}, 1.0);
  f.run(hold{});
  f.run(take{}); // the copy waits behind the kernel
  std::thread later([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    released = true;
  });
  f.step(kr::schedule<put>{}, 2.0);
  later.join();
  CHECK(f.planned_steps() == 1);
  CHECK_FALSE(gave_up);
  f.run(look{});
  CHECK(found == 1);
}
