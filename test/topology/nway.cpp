// SPDX-License-Identifier: MIT
#include <keel/topology/nway.hpp>

#include "saved.hpp"

#include <support/test.hpp>

using namespace keel::nway;
using keel::test::own_machine;
using keel::topology::node;

static_assert(std::is_same_v<decltype(&get_num_mems), int (*)() noexcept>);
static_assert(std::is_same_v<decltype(&get_core_info), int (*)(int, core_info*) noexcept>);
static_assert(std::is_same_v<decltype(&get_nearby_devs), int (*)(int, dev_type_t, int, int, dev_mask_t*) noexcept>);

// The same kinds by the same numbers.
static_assert(int(MEM_TYPE_DRAM) == int(keel::topology::memory_type::dram));
static_assert(int(MEM_TYPE_DEVICE) == int(keel::topology::memory_type::device));
static_assert(int(MEM_TYPE_CACHE_SIDE) == int(keel::topology::memory_type::cache_side));
static_assert(int(CORE_TYPE_EFFICIENCY) == int(keel::topology::core_type::efficiency));
static_assert(int(DEV_TYPE_GPU) == int(keel::topology::device_type::gpu));
static_assert(int(DEV_TYPE_OTHER) == int(keel::topology::device_type::other));

namespace {

template <class T>
T filled_with(int byte) {
  T made;
  std::memset(static_cast<void*>(&made), byte, sizeof made);
  return made;
}

/// Runs `ask` on an output full of a pattern, and wants the code and the pattern.
template <class T>
void refused(int code, auto const& ask) {
  auto const before = filled_with<T>(0x5a);
  auto output = filled_with<T>(0x5a);
  CHECK(ask(&output) == code);
  CHECK(std::memcmp(&output, &before, sizeof output) == 0);
}

keel::topology::id_set as_ids(set const& found) {
  keel::topology::id_set ids;
  for (int id = 0; id < set::capacity; ++id)
    if (found.contains(id)) ids.insert(id);
  REQUIRE(int(ids.size()) == found.count());
  return ids;
}

} // namespace

TEST_CASE("nway: information is the node's, in the structs of the API, with names that are cut to fit") {
  using keel::topology::cache;
  for (auto const& name : keel::test::own_machines()) {
    CAPTURE(name);
    auto const n = node::from_xml(own_machine(name));
    use(n);
    REQUIRE(get_num_mems() == int(n.memories().size()));
    REQUIRE(get_num_cores() == int(n.cores().size()));
    REQUIRE(get_num_devs() == int(n.devices().size()));
    for (auto const& m : n.memories()) {
      auto told = filled_with<mem_info>(0x5a);
      REQUIRE(get_mem_info(m.id, &told) == NWAY_SUCCESS);
      CHECK(told.mem_id == m.id);
      CHECK(int(told.mem_type) == int(m.type));
      CHECK(std::string{told.name} == m.name.substr(0, 15));
      CHECK(told.base_addr == nullptr);
      CHECK(told.extent == m.bytes);
      CHECK(told.rel_speed == std::uint64_t(m.relative_speed));
    }
    for (auto const& c : n.cores()) {
      auto told = filled_with<core_info>(0x5a);
      REQUIRE(get_core_info(c.id, &told) == NWAY_SUCCESS);
      CHECK(told.core_id == c.id);
      CHECK(int(told.core_type) == int(c.type));
      CHECK(std::string{told.name} == c.name.substr(0, 15));
      CHECK(told.num_threads == int(c.hardware_threads.size()));
      CHECK(told.rel_speed == std::uint64_t(c.relative_speed));
      CHECK(told.page_sizes == c.page_sizes);
      CHECK(as_ids(told.shares_l1_with[0]) == n.sharing(c.id, cache::l1_instruction));
      CHECK(as_ids(told.shares_l1_with[1]) == n.sharing(c.id, cache::l1_data));
      for (int const either : {0, 1}) {
        CHECK(as_ids(told.shares_l2_with[either]) == n.sharing(c.id, cache::l2));
        CHECK(as_ids(told.shares_l3_with[either]) == n.sharing(c.id, cache::l3));
      }
    }
    for (auto const& d : n.devices()) {
      auto told = filled_with<dev_info>(0x5a);
      REQUIRE(get_dev_info(d.id, &told) == NWAY_SUCCESS);
      CHECK(told.dev_id == d.id);
      CHECK(int(told.dev_type) == int(d.type));
      CHECK(std::string{told.name} == d.name.substr(0, 15));
      CHECK(told.num_contexts == d.contexts);
      CHECK(told.rel_speed == std::uint64_t(d.relative_speed));
    }
  }
}

TEST_CASE("nway: what is near is what is near on the node, of each type and between any two distances") {
  namespace kt = keel::topology;
  for (char const* file : {"gpus8_numa4.xml", "hbm.xml", "hybrid.xml", "latencies.xml", "accelerators.xml"}) {
    CAPTURE(file);
    auto const n = node::from_xml(own_machine(file));
    use(n);
    for (int core = 0; core < get_num_cores(); core += 5)
      for (int min = 0; min < 6; ++min)
        for (int max = min; max < 7; ++max) {
          int const most = max == 6 ? -1 : max;
          set found;
          for (int type = 0; type <= int(MEM_TYPE_CACHE_SIDE); ++type) {
            REQUIRE(get_nearby_mems(core, mem_type_t(type), min, most, &found) == NWAY_SUCCESS);
            REQUIRE(as_ids(found) == n.nearby_memories(core, kt::memory_type(type), min, most));
          }
          for (int type = 0; type <= int(CORE_TYPE_EFFICIENCY); ++type) {
            REQUIRE(get_nearby_cores(core, core_type_t(type), min, most, &found) == NWAY_SUCCESS);
            REQUIRE(as_ids(found) == n.nearby_cores(core, kt::core_type(type), min, most));
          }
          for (int type = 0; type <= int(DEV_TYPE_OTHER); ++type) {
            REQUIRE(get_nearby_devs(core, dev_type_t(type), min, most, &found) == NWAY_SUCCESS);
            REQUIRE(as_ids(found) == n.nearby_devices(core, kt::device_type(type), min, most));
          }
        }
  }
}

TEST_CASE("nway: every misuse has its code and leaves the output untouched") {
  use(node::from_xml(own_machine("gpus8_numa4.xml")));
  for (int const id : {-1, 32, 4096, INT32_MAX, INT32_MIN}) {
    refused<core_info>(NWAY_NO_SUCH_ID, [&](core_info* o) { return get_core_info(id, o); });
    refused<mem_info>(NWAY_NO_SUCH_ID, [&](mem_info* o) { return get_mem_info(id, o); });
    refused<dev_info>(NWAY_NO_SUCH_ID, [&](dev_info* o) { return get_dev_info(id, o); });
    refused<set>(NWAY_NO_SUCH_ID, [&](set* o) { return get_nearby_cores(id, CORE_TYPE_ANY, 0, -1, o); });
    refused<set>(NWAY_NO_SUCH_ID, [&](set* o) { return get_nearby_mems(id, MEM_TYPE_ANY, 0, -1, o); });
    refused<set>(NWAY_NO_SUCH_ID, [&](set* o) { return get_nearby_devs(id, DEV_TYPE_ANY, 0, -1, o); });
  }
  for (auto const& range : {std::pair{-1, -1}, {-1, 3}, {2, 1}, {0, -2}, {5, INT32_MIN}})
    refused<set>(NWAY_BAD_RANGE,
                 [&](set* o) { return get_nearby_cores(0, CORE_TYPE_ANY, range.first, range.second, o); });
  refused<set>(NWAY_NO_SUCH_TYPE, [](set* o) { return get_nearby_mems(0, mem_type_t(7), 0, -1, o); });
  refused<set>(NWAY_NO_SUCH_TYPE, [](set* o) { return get_nearby_cores(0, core_type_t(3), 0, -1, o); });
  refused<set>(NWAY_NO_SUCH_TYPE, [](set* o) { return get_nearby_devs(0, dev_type_t(7), 0, -1, o); });
  set other{};
  CHECK(get_nearby_devs(0, DEV_TYPE_OTHER, 0, -1, &other) == NWAY_SUCCESS);
  static_assert(NWAY_SUCCESS == 0 && NWAY_NO_SUCH_ID == -1 && NWAY_NO_SUCH_TYPE == -2 && NWAY_BAD_RANGE == -3 &&
                NWAY_NULL_POINTER == -4 && NWAY_TOO_LARGE == -5 &&
                NWAY_NO_NODE == -6); // compiled into programs of others
  CHECK(get_core_info(0, nullptr) == NWAY_NULL_POINTER);
  CHECK(get_mem_info(0, nullptr) == NWAY_NULL_POINTER);
  CHECK(get_dev_info(0, nullptr) == NWAY_NULL_POINTER);
  CHECK(get_nearby_devs(0, DEV_TYPE_ANY, 0, -1, nullptr) == NWAY_NULL_POINTER);
}

TEST_CASE("nway: a node with more ids than a set holds is a code") {
  use(node::from_synthetic("package:2 core:2050 pu:1"));
  CHECK(get_num_cores() == 4100);
  refused<set>(NWAY_TOO_LARGE, [](set* o) { return get_nearby_cores(4099, CORE_TYPE_ANY, 0, -1, o); });
  refused<core_info>(NWAY_TOO_LARGE, [](core_info* o) { return get_core_info(0, o); });
  set found;
  CHECK(get_nearby_mems(4099, MEM_TYPE_ANY, 0, -1, &found) == NWAY_SUCCESS);
  use(node::from_synthetic("package:2 core:2048 pu:1"));
  CHECK(get_nearby_cores(4095, CORE_TYPE_ANY, 0, -1, &found) == NWAY_SUCCESS);
  CHECK(found.count() == 4096);
}
