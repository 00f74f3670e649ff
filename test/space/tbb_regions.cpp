// SPDX-License-Identifier: MIT
/// @file
/// oneTBB's threads on NUMA regions. hwloc is told that each of the first two hardware threads is a NUMA node of its
/// own, and that this is so on this machine: then binding threads is real, whatever the machine has.
#include <keel/space/tbb.hpp>

#include <keel/space/start.hpp>
#include <keel/topology/affinity.hpp>

#include <support/test.hpp>
#include <space/in_child.hpp>

#if KEEL_WITH_TBB

#include <oneapi/tbb/global_control.h>

#include <chrono>
#include <iostream>
#include <thread>

#include <sched.h>

namespace {

namespace ks = keel::space;
using keel::test::check_child;
using keel::topology::id_set;
using devices = keel::list<keel::tbb>;

/// The hardware threads that the thread of each of the `count` chunks of a kernel may run on.
std::vector<id_set> places(ks::tbb const& space, int count) {
  auto found = std::vector<id_set>(std::size_t(count));
  auto* const at = found.data();
  Kokkos::parallel_for("places", Kokkos::RangePolicy<ks::tbb>(space, 0, count), [=](int i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20)); // so that every thread comes
    at[i] = keel::topology::bound_hardware_threads();
  });
  return found;
}

/// Whether a sum over 1,001 items has each of them.
bool sums(ks::tbb const& space) {
  long sum = 0;
  Kokkos::parallel_reduce("sum", Kokkos::RangePolicy<ks::tbb>(space, 0, 1001), [](long i, long& s) { s += i; }, sum);
  return sum == 500500;
}

/// Runs `f` where there are two NUMA nodes of one hardware thread each; skips where this process may not use them.
template <class F>
void on_two_regions(F const& f) {
  if (!(id_set{0, 1} - keel::topology::bound_hardware_threads()).empty())
    return keel::test::skip("no hardware threads 0 and 1");
  auto const child = keel::test::in_child([&] {
    cpu_set_t two; // hwloc would take the others for absent, and never give them back
    CPU_ZERO(&two);
    CPU_SET(0, &two);
    CPU_SET(1, &two);
    if (sched_setaffinity(0, sizeof two, &two) != 0) return 98;
    setenv("HWLOC_SYNTHETIC", "numa:2 core:1 pu:1", 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
    if (ks::tbb::max_numa_regions() == 1) return 99; // oneTBB came without its binding library
    int const status = f();
    ks::stop();
    return status;
  });
  if (child.status == 99) return keel::test::skip("no binding library of oneTBB");
  CAPTURE(child.said);
  CHECK(child.status == 0);
}

} // namespace

TEST_CASE("space: tbb's threads are cut over the NUMA regions that were asked for, and bound there") {
  on_two_regions([] {
    keel::device_traits<keel::tbb>::configure({.threads = 2, .numa_regions = 2});
    ks::start<devices>();
    ks::tbb const space;
    std::ostringstream said;
    space.print_configuration(said);
    if (said.str().find("2 threads on 2 NUMA regions") == std::string::npos) return 1;
    if (space.threads() != 2 || space.numa_regions() != 2) return 2;
    auto const before = keel::topology::bound_hardware_threads();
    for (int turn = 0; turn < 10; ++turn)
      if (places(space, 2) != std::vector<id_set>{{0}, {1}}) return 3; // the same half in the same place, each time
    if (places(space, 1) != std::vector<id_set>{{0}}) return 4;
    return keel::topology::bound_hardware_threads() == before ? 0 : 5; // the caller is bound in kernels only
  });
}

TEST_CASE("space: an odd number of threads, more than cores, is cut over the regions all the same") {
  on_two_regions([] {
    ks::start<devices>();
    ks::tbb const space(ks::settings{.threads = 5, .numa_regions = 2});
    if (space.threads() != 5) return 1;
    if (places(space, 5) != std::vector<id_set>{{0}, {0}, {0}, {1}, {1}}) return 2;
    Kokkos::View<int*, Kokkos::HostSpace> const number("number", 5);
    Kokkos::parallel_for(Kokkos::RangePolicy<ks::tbb>(space, 0, 5),
                         [=](int i) { number(i) = int(ks::tbb::impl_hardware_thread_id()); });
    for (int i = 0; i < 5; ++i) // those of a region follow those of the one before
      if (number(i) < (i < 3 ? 0 : 3) || number(i) >= (i < 3 ? 3 : 5)) return 6;
    if (!sums(space)) return 3;
    Kokkos::View<long*, Kokkos::HostSpace> const v("v", 1001);
    auto const dynamic = Kokkos::RangePolicy<ks::tbb, Kokkos::Schedule<Kokkos::Dynamic>>(space, 0, 1001);
    Kokkos::parallel_for(dynamic, KOKKOS_LAMBDA(long i) { v(i) += i; });
    long total = -1;
    Kokkos::parallel_scan(
        Kokkos::RangePolicy<ks::tbb>(space, 0, 1001),
        KOKKOS_LAMBDA(long i, long& s, bool final) {
          if (final && s != i * (i - 1) / 2) v(i) = -1;
          s += v(i);
        },
        total);
    if (total != 500500) return 4;
    return ks::tbb(ks::settings{.threads = 1, .numa_regions = 2}).numa_regions() == 1 ? 0 : 5;
  });
}

TEST_CASE("space: an instance of tbb on one region has that region's cores") {
  on_two_regions([] {
    ks::start<devices>();
    ks::tbb const second(3, ks::numa_region{1});
    if (places(second, 3) != std::vector<id_set>{{1}, {1}, {1}}) return 1;
    if (places(ks::tbb(1, ks::numa_region{1}), 1) != std::vector<id_set>{{1}}) return 2;
    if (ks::tbb().numa_regions() != 1 || places(ks::tbb(2), 2)[0].size() < 2)
      return 3; // without a setting no thread is bound
    auto const said = keel::test::message_of([] { ks::tbb const third(1, ks::numa_region{2}); });
    return said.find("no NUMA region 2") == std::string::npos ? 4 : 0;
  });
}

TEST_CASE("space: what a kernel throws on another region reaches the caller") {
  on_two_regions([] {
    ks::start<devices>();
    ks::tbb const space(ks::settings{.threads = 2, .numa_regions = 2});
    for (int where : {0, 1}) try {
        Kokkos::parallel_for(Kokkos::RangePolicy<ks::tbb>(space, 0, 2), [=](int i) {
          if (i == where) throw 7;
        });
        return 1 + where;
      } catch (int) {
      }
    return places(space, 2) == std::vector<id_set>{{0}, {1}} ? 0 : 3;
  });
}

TEST_CASE("space: tbb has one region before Kokkos starts, and oneTBB's own sizes again when it has ended") {
  check_child([] {
    if (ks::tbb().numa_regions() != 1) return 1;
    using control = ::tbb::global_control;
    auto const before = control::active_value(control::thread_stack_size);
    keel::device_traits<keel::tbb>::configure({.threads = 2, .stack_size = std::int64_t{3} << 20});
    ks::start<devices>();
    if (control::active_value(control::thread_stack_size) != std::size_t{3} << 20) return 2;
    ks::stop();
    return control::active_value(control::thread_stack_size) == before ? 0 : 3;
  });
}

#else

TEST_CASE("space: tbb has NUMA regions") { keel::test::skip("no oneTBB"); }

#endif
