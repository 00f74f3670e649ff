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
  CHECK_THROWS_AS((binding{node::here(), placement{}, 0}), keel::error);
  CHECK(running_on() == before);
}

TEST_CASE("topology: a binding takes every thread of the process along, and ends with its scope") {
  auto const here = node::here();
  auto const before = running_on();
  auto const target = last_core(here);
  std::atomic<int> step{0};
  id_set during, after;
  std::thread other{[&] {
    while (step != 1) std::this_thread::yield();
    during = running_on();
    step = 2;
    while (step != 3) std::this_thread::yield();
    after = running_on();
  }};
  {
    binding const bound{here, target};
    CHECK(running_on() == target.hardware_threads);
    step = 1;
    while (step != 2) std::this_thread::yield();
  }
  step = 3;
  other.join();
  CHECK(during == target.hardware_threads);
  CHECK(after == before);
  CHECK(running_on() == before);
}

TEST_CASE("topology: at the end of a rank's binding each thread has its own again, one born meanwhile too") {
  auto const here = node::here();
  auto const before = running_on();
  auto const target = last_core(here);
  if (target.hardware_threads == before) return; // one core: there is nothing to tell apart
  std::atomic<int> step{0};
  auto const wait_for = [&](int wanted) {
    while (step != wanted) std::this_thread::yield();
  };
  id_set own, own_after, born_after;
  std::thread older{[&] {
    binding const first{here, everything(here), 0}; // on its own first core
    own = running_on();
    step = 1;
    wait_for(3);
    own_after = running_on();
  }};
  wait_for(1);
  std::thread younger;
  {
    binding const bound{here, target};
    younger = std::thread{[&] {
      step = 2;
      wait_for(3);
      born_after = running_on();
    }};
    wait_for(2);
  }
  step = 3;
  older.join();
  younger.join();
  CHECK(own != before);
  CHECK(own_after == own);
  CHECK(born_after == before);
  CHECK(running_on() == before);
}

TEST_CASE("topology: a thread's binding is its own, and bindings nest") {
  auto const here = node::here();
  auto const before = running_on();
  auto const all = everything(here);
  {
    binding const outer{here, all};
    {
      binding const inner{here, all, int(all.cores.size())}; // round and round: the first core again
      CHECK(running_on() == (here.cores()[std::size_t(*all.cores.begin())].hardware_threads & all.hardware_threads));
      id_set other;
      std::thread{[&] { other = running_on(); }}.join();
      CHECK(other == running_on()); // born inside, it inherits
    }
    CHECK(running_on() == all.hardware_threads);
  }
  CHECK(running_on() == before);
  CHECK_THROWS_AS((binding{here, all, -1}), keel::error);
  if (all.cores.size() < 2) return;
  int const second = *++all.cores.begin();
  {
    binding const next{here, all, 1 + int(all.cores.size())};
    CHECK(bound_cores(here) == id_set{second});
  }
  placement const one_threads{.cores = all.cores,
                              .hardware_threads = here.cores()[std::size_t(second)].hardware_threads};
  CHECK_THROWS_AS((binding{here, one_threads, 0}), keel::error); // its first core, of which nothing is its own
}

TEST_CASE("topology: a process may run where one of its threads may") {
  auto const here = node::here();
  auto const before = running_on();
  CHECK(process_hardware_threads() == before);
  auto const last = last_core(here);
  std::atomic<bool> ends = false;
  std::thread other([&] {
    while (!ends) std::this_thread::yield();
  });
  {
    binding const mine{here, last, 0};
    CHECK(bound_hardware_threads() == last.hardware_threads);
    CHECK(process_hardware_threads() == before); // where the other one may
  }
  ends = true;
  other.join();
  binding const all{here, last};
  CHECK(process_hardware_threads() == last.hardware_threads);
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
    try {
      binding const refused{here, target};
    } catch (keel::error const& e) {
      why = e.what();
    }
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
    try {
      found = bound_hardware_threads();
    } catch (keel::error const&) {
      found = {};
    }
  });
  if (!filtered) return keel::test::skip("no seccomp filters");
  CHECK(found == expected);
}
