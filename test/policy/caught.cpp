// SPDX-License-Identifier: MIT
#include <keel/policy/caught.hpp>

#include <support/test.hpp>

TEST_CASE("policy: what is done when an exception is caught is nothing, until a destructor sets it") {
  static std::string told;
  CHECK(keel::policy::when_caught() == nullptr);
  keel::policy::when_caught() = [](char const* what) { told = what; };
  keel::policy::when_caught().load()("the disk is gone");
  CHECK(told == "the disk is gone");
  keel::policy::when_caught() = nullptr;
}
