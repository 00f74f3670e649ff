// SPDX-License-Identifier: MIT
#include <keel/space/settings.hpp>

#include <support/test.hpp>

TEST_CASE("space: merging takes what is set, all or nothing, and leaves the rest") {
  keel::space::settings const all{
      .threads = 4, .numa_regions = 2, .device_instance = 1, .stack_size = std::int64_t{1} << 20, .huge_pages = true};
  keel::space::settings a{.threads = 4, .device_instance = 1};
  keel::space::merge(a, {.threads = 2, .numa_regions = 2});
  CHECK(a == keel::space::settings{.threads = 2, .numa_regions = 2, .device_instance = 1});
  keel::space::merge(a, all);
  CHECK(a == all);
  keel::space::merge(a, {});
  CHECK(a == all);
}
