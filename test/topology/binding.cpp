// SPDX-License-Identifier: MIT
#include <keel/topology/binding.hpp>

#include <keel/topology/affinity.hpp>

#include <support/refused_call.hpp>
#include <support/test.hpp>

#include <atomic>
#include <cerrno>
#include <thread>

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace keel::topology;

namespace {

id_set running_on() { // asked of the system, without keel
  cpu_set_t mask;
  id_set threads;
  REQUIRE(sched_getaffinity(0, sizeof mask, &mask) == 0);
  for (int t = 0; t < CPU_SETSIZE; ++t)
    if (CPU_ISSET(t, &mask)) threads.insert(t);
  return threads;
}

/// Leaves the calling thread one hardware thread, without keel.
void alone_on(int thread) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(thread, &mask);
  REQUIRE(sched_setaffinity(0, sizeof mask, &mask) == 0);
}

/// The whole of what this process may use, as a placement, and its last core.
placement everything(node const& here) {
  placement all{.cores = bound_cores(here), .hardware_threads = {}};
  for (int const c : all.cores) all.hardware_threads |= here.cores()[std::size_t(c)].hardware_threads & running_on();
  return all;
}
placement last_core(node const& here) {
  auto const all = everything(here);
  int last = 0;
  for (int const c : all.cores) last = c;
  return {.cores = {last}, .hardware_threads = here.cores()[std::size_t(last)].hardware_threads & all.hardware_threads};
}

} // namespace

TEST_CASE("topology: the cores this process may run on are those the system left it") {
  auto const before = running_on();
  CHECK(bound_hardware_threads() == before);
  auto const here = node::here();
  auto const all = bound_cores(here);
  CHECK_FALSE(all.empty());
  for (int const c : all) CHECK(std::size_t(c) < here.cores().size());
  {
    binding const bound{here, last_core(here)};
    CHECK(bound_cores(here) == last_core(here).cores);
  }
  CHECK(bound_cores(here) == all);
  CHECK(running_on() == before);
}

TEST_CASE("topology: on another machine's node nothing is bound") {
  auto const other = node::from_synthetic("core:6 pu:2");
  CHECK(bound_cores(other) == id_set::range(0, 6));
  auto const before = running_on();
  CHECK_THROWS_AS((binding{other, other.place(1)[0]}), keel::error);
  CHECK_THROWS_AS((binding{node::here(), placement{}}), keel::error);
  CHECK(running_on() == before);
}

TEST_CASE(
    "topology: a binding takes every thread along, and at its end each has its own again, one born meanwhile too") {
  auto const here = node::here();
  auto const before = running_on();
  auto const target = last_core(here);
  std::atomic<int> step{0};
  auto const wait_for = [&](int wanted) {
    while (step != wanted) std::this_thread::yield();
  };
  id_set own, during, own_after, born_after;
  std::thread older{[&] {
    alone_on(*before.begin());
    own = running_on();
    step = 1;
    wait_for(2);
    during = running_on();
    step = 3;
    wait_for(5);
    own_after = running_on();
  }};
  wait_for(1);
  std::thread younger;
  {
    binding const bound{here, target};
    CHECK(running_on() == target.hardware_threads);
    step = 2;
    wait_for(3);
    younger = std::thread{[&] {
      step = 4;
      wait_for(5);
      born_after = running_on();
    }};
    wait_for(4);
  }
  step = 5;
  older.join();
  younger.join();
  CHECK(during == target.hardware_threads);
  CHECK(own == id_set{*before.begin()});
  CHECK(own_after == own);
  CHECK(born_after == before);
  CHECK(running_on() == before);
}

TEST_CASE("topology: a process may run where one of its threads may, and bindings nest") {
  auto const here = node::here();
  auto const before = running_on();
  CHECK(process_hardware_threads() == before);
  id_set own, of_process;
  std::thread{[&] {
    alone_on(*before.begin());
    own = bound_hardware_threads();
    of_process = process_hardware_threads();
  }}.join();
  CHECK(own == id_set{*before.begin()});
  CHECK(of_process == before); // where the one that waits for it may
  {
    binding const outer{here, everything(here)};
    {
      binding const inner{here, last_core(here)};
      CHECK(process_hardware_threads() == last_core(here).hardware_threads);
    }
    CHECK(running_on() == everything(here).hardware_threads);
  }
  CHECK(running_on() == before);
}

TEST_CASE("topology: what the system refuses is an error, and nothing is bound") {
  auto const here = node::here();
  auto const before = running_on();
  placement const nowhere{.cores = {0}, .hardware_threads = {100000}};
  CHECK_THROWS_AS((binding{here, nowhere}), keel::error);
  CHECK(running_on() == before);
}

TEST_CASE("topology: a binding that the system refuses to one thread binds no other") {
  auto const here = node::here();
  auto const before = running_on();
  auto const target = last_core(here);
  if (target.hardware_threads == before) return; // one core: there is nothing to tell apart
  std::atomic<unsigned> number{0};
  std::atomic<bool> ends{false};
  std::thread later([&] { // than this one, which is bound before it is refused
    number = unsigned(syscall(SYS_gettid));
    while (!ends) std::this_thread::yield();
  });
  while (number == 0) std::this_thread::yield();
  std::string why;
  bool const filtered = keel::test::with_refused_argument(SYS_sched_setaffinity, 0, number, number + 1, EPERM, [&] {
    why = keel::test::message_of([&] { binding const refused{here, target}; });
  });
  ends = true;
  later.join();
  CHECK(running_on() == before);
  if (!filtered) return keel::test::skip("no seccomp filters");
  CHECK(why.find("Operation not permitted") != std::string::npos);
}

TEST_CASE("topology: hardware threads are read from a kernel whose mask is longer than the C library's") {
  auto const expected = running_on();
  id_set found;
  auto const too_short = unsigned(4 * sizeof(cpu_set_t));
  bool const filtered = keel::test::with_refused_argument(SYS_sched_getaffinity, 1, 0, too_short, EINVAL, [&] {
    keel::test::message_of([&] { found = bound_hardware_threads(); });
  });
  if (!filtered) return keel::test::skip("no seccomp filters");
  CHECK(found == expected);
}
