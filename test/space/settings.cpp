// SPDX-License-Identifier: MIT
#include <keel/space/settings.hpp>

#include <doctest/doctest.h>

TEST_CASE("space: merging takes what is set and leaves the rest") {
  keel::space::settings a{.threads = 4, .device_instance = 1};
  keel::space::merge(a, {.threads = 2, .numa_regions = 2});
  CHECK(a.threads == 2);
  CHECK(a.numa_regions == 2);
  CHECK(a.device_instance == 1);
  CHECK_FALSE(a.num_devices.has_value());
}
