// SPDX-License-Identifier: MIT
#include <keel/topology/objects.hpp>

#include <support/test.hpp>

using namespace keel::topology;

TEST_CASE("topology: every kind has a name of its own") {
  std::set<std::string> names;
  for (int kind = 0; kind <= int(memory_type::cache_side); ++kind) names.emplace(to_string(memory_type(kind)));
  CHECK(names.size() == 7);
  names.clear();
  for (int kind = 0; kind <= int(device_type::other); ++kind) names.emplace(to_string(device_type(kind)));
  CHECK(names.size() == 7);
  CHECK(to_string(core_type::any) == "any");
  CHECK(to_string(core_type::efficiency) == "efficiency");
  CHECK(to_string(memory_type::cache_side) == "cache_side");
  CHECK(to_string(device_type::gpu) == "gpu");
}

TEST_CASE("topology: what is unknown has an honest default") {
  CHECK(memory{}.relative_speed == 100);
  CHECK(memory{}.bytes == 0);
  CHECK_FALSE(memory{}.base_address.has_value());
  CHECK(core{}.page_sizes == 0);
  CHECK(device{}.contexts == 0);
  CHECK(device{}.id == 0);
}
