// SPDX-License-Identifier: MIT
#include "../../impl/info/child.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <string>

#include <unistd.h>

namespace {

std::string death_of(auto const& work, keel::info::child_limits const& limits = {}) {
  try {
    keel::info::in_child("that.xml", "Make one with lstopo", work, limits);
  } catch (keel::error const& e) {
    return e.what();
  }
  return "nothing was thrown";
}

} // namespace

TEST_CASE("info: what dies in the child is a message, and this process goes on") {
  std::string const died = "keel::info: that.xml is not read (hwloc died of it, or of a lack of memory: ";
  CHECK(death_of([]() -> int {
          std::raise(SIGKILL);
          return 0;
        }) == "keel::info: that.xml is not read (it took too much time or memory: Killed). Make one with lstopo.");
  CHECK(death_of([]() -> int {
          std::signal(SIGSEGV, SIG_DFL); // doctest listens to it
          std::raise(SIGSEGV);
          return 0;
        }).starts_with(died + "Segmentation fault)"));
}

TEST_CASE("info: a child that ends says how, and changes nothing here") {
  int here = 1;
  CHECK(keel::info::in_child("it", "", [&] { return here = 7; }) == 7);
  CHECK(here == 1);
}

TEST_CASE("info: a child that waits for its input is ended, one that has read it is not") {
  keel::info::child_limits const one_second{.waiting_seconds = 1};
  auto const forever = []() -> int {
    for (;;) pause();
  };
  CHECK(death_of(forever, one_second) ==
        "keel::info: that.xml is not read (that took more than 1 seconds). Make one with lstopo.");
  CHECK(keel::info::in_child(
            "it", "",
            [] {
              keel::info::input_is_read();
              usleep(1200000);
              return 5;
            },
            one_second) == 5);
}

TEST_CASE("info: reading takes processor time, not that of the clock, so a loaded node does not end it") {
  keel::info::child_limits const one_second{.reading_seconds = 1};
  auto const work = [](bool is_read) {
    return [is_read]() -> int {
      if (is_read) keel::info::input_is_read();
      while (std::clock() < 3 * CLOCKS_PER_SEC / 2) {
      }
      return 5;
    };
  };
  CHECK(death_of(work(false), one_second).find("it took too much time or memory: ") != std::string::npos);
  CHECK(keel::info::in_child("it", "", work(true), one_second) == 5);
  CHECK(keel::info::in_child("it", "", [] { return usleep(1200000) == 0 ? 5 : 6; }, one_second) == 5);
}

TEST_CASE("info: a child that the system's loader ends is told") {
  CHECK(death_of([]() -> int { _exit(127); }) ==
        "keel::info: that.xml is not read (the system ended it). Make one with lstopo.");
}
