// SPDX-License-Identifier: MIT
#include <keel/space/settings.hpp>

#include <doctest/doctest.h>

#include <cstdint>

TEST_CASE("space: merging takes what is set and leaves the rest") {
  keel::space::settings a{.threads = 4, .device_instance = 1};
  keel::space::merge(a, {.threads = 2, .numa_regions = 2});
  CHECK(a.threads == 2);
  CHECK(a.numa_regions == 2);
  CHECK(a.device_instance == 1);
  CHECK_FALSE(a.stack_size.has_value());
}

TEST_CASE("space: merging nothing changes nothing, and merging everything takes everything") {
  keel::space::settings const all{
      .threads = 4, .numa_regions = 2, .device_instance = 1, .stack_size = std::int64_t{1} << 20, .huge_pages = true};
  keel::space::settings changed = all;
  keel::space::merge(changed, {});
  CHECK(changed == all);
  keel::space::settings none;
  keel::space::merge(none, {});
  CHECK(none == keel::space::settings{});
  keel::space::merge(none, all);
  CHECK(none == all);
}

TEST_CASE("space: bounds that nothing is said of hold nothing but 0") {
  keel::space::bounds const none;
  CHECK(none.least == 0);
  CHECK(none.most == 0);
  CHECK(none.advised == 0);
}
