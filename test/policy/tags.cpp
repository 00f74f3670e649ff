// SPDX-License-Identifier: MIT
#include <keel/policy/tags.hpp>

#include <support/test.hpp>

TEST_CASE("policy: a tag is an empty type that knows its name") {
  CHECK(keel::policy::DeviceTag<keel::serial>);
  CHECK(keel::policy::DeviceTag<keel::simulated>);
  CHECK_FALSE(keel::policy::DeviceTag<int>);
  CHECK(std::is_empty_v<keel::sycl>);
  CHECK(keel::threads::name == "threads");
}
