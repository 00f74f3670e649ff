// SPDX-License-Identifier: MIT
#include "../../impl/info/child.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>
#include <string>

namespace {

std::string death_of(auto const& work) {
  try {
    keel::info::in_child("that.xml", work);
  } catch (keel::error const& e) {
    return e.what();
  }
  return "nothing was thrown";
}

} // namespace

TEST_CASE("info: what dies in the child is a message, and this process goes on") {
  std::string const died = "keel::info: that.xml is not read (hwloc died of it: ";
  CHECK(death_of([]() -> int { std::raise(SIGKILL); return 0; }).starts_with(died + "Killed)"));
  CHECK(death_of([]() -> int {
          std::signal(SIGSEGV, SIG_DFL); // doctest listens to it
          std::raise(SIGSEGV);
          return 0;
        }).starts_with(died + "Segmentation fault)"));
}

TEST_CASE("info: a child that ends says how, and changes nothing here") {
  int here = 1;
  CHECK(keel::info::in_child("it", [&] { return here = 7; }) == 7);
  CHECK(here == 1);
}
