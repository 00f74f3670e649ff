// SPDX-License-Identifier: MIT
#include <keel/topology/nway.hpp>

#include <laws/topology.hpp>

#include "saved.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

using namespace keel::nway;
using keel::test::own_machine;
using keel::topology::node;

static_assert(std::is_same_v<decltype(&get_num_mems), int (*)() noexcept>);
static_assert(std::is_same_v<decltype(&get_core_info), int (*)(int, core_info*) noexcept>);
static_assert(std::is_same_v<decltype(&get_nearby_devs), int (*)(int, dev_type_t, int, int, dev_mask_t*) noexcept>);

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
  CHECK(int(ids.size()) == found.count());
  return ids;
}

} // namespace

TEST_CASE("nway: information is the node's, in the structs of the API") {
  auto const machine = node::from_xml(own_machine("hybrid.xml"));
  use(machine);
  CHECK(get_num_mems() == 1);
  CHECK(get_num_cores() == 16);
  CHECK(get_num_devs() == 0);
  auto m = filled_with<mem_info>(0x5a);
  REQUIRE(get_mem_info(0, &m) == NWAY_SUCCESS);
  CHECK(m.mem_id == 0);
  CHECK(m.mem_type == MEM_TYPE_DRAM);
  CHECK(std::string{m.name} == "numa 0");
  CHECK(m.base_addr == nullptr);
  CHECK(m.extent == std::size_t{32} << 30);
  CHECK(m.rel_speed == 100);
  auto c = filled_with<core_info>(0x5a);
  REQUIRE(get_core_info(9, &c) == NWAY_SUCCESS);
  CHECK(c.core_id == 9);
  CHECK(c.core_type == CORE_TYPE_EFFICIENCY);
  CHECK(std::string{c.name} == machine.cores()[9].name);
  CHECK(c.name[0] != '\0');
  CHECK(c.num_threads == 1);
  CHECK(c.rel_speed == 75);
  CHECK(c.page_sizes == machine.cores()[std::size_t(c.core_id)].page_sizes);
  CHECK(as_ids(c.shares_l1_with[0]).empty());
  CHECK(as_ids(c.shares_l2_with[0]) == keel::topology::id_set{8, 9, 10, 11});
  CHECK(as_ids(c.shares_l2_with[1]) == keel::topology::id_set{8, 9, 10, 11});
  CHECK(as_ids(c.shares_l3_with[1]).size() == 16);
  auto const cached = node::from_xml(own_machine("gpus8_numa4.xml"));
  use(cached);
  REQUIRE(get_core_info(5, &c) == NWAY_SUCCESS);
  CHECK(as_ids(c.shares_l1_with[0]) == cached.sharing(5, keel::topology::cache::l1_instruction));
  CHECK(as_ids(c.shares_l1_with[1]) == cached.sharing(5, keel::topology::cache::l1_data));
  use(node::from_xml(own_machine("interfaces.xml")));
  auto d = filled_with<dev_info>(0x5a);
  REQUIRE(get_dev_info(1, &d) == NWAY_SUCCESS);
  CHECK(d.dev_id == 1);
  CHECK(d.dev_type == DEV_TYPE_GPU);
  CHECK(std::string{d.name} == "card1");
  CHECK(d.rel_speed == 100);
}

TEST_CASE("nway: names are cut to fit and always end") {
  use(node::from_xml(own_machine("gpus8_numa4.xml")));
  for (int d = 0; d < get_num_devs(); ++d) {
    auto info = filled_with<dev_info>(0x5a);
    REQUIRE(get_dev_info(d, &info) == NWAY_SUCCESS);
    CHECK(std::strlen(info.name) < sizeof info.name);
  }
}

TEST_CASE("nway: nearness keeps its laws, through the API") {
  for (char const* file : {"gpus8_numa4.xml", "hbm.xml", "hybrid.xml", "no_core_level.xml"}) {
    use(node::from_xml(own_machine(file)));
    keel::laws::nearness(get_num_cores(), std::size_t(get_num_cores()),
                         std::vector{CORE_TYPE_PERFORMANCE, CORE_TYPE_EFFICIENCY}, CORE_TYPE_ANY,
                         [](int core, core_type_t type, int min, int max) {
                           core_set_t found;
                           REQUIRE(get_nearby_cores(core, type, min, max, &found) == NWAY_SUCCESS);
                           return as_ids(found);
                         });
  }
}

TEST_CASE("nway: latencies refine the ranges of memories, and leave alone what has no matrix") {
  auto const rings = [](int core) {
    std::string text; // ids of each distance
    for (int distance = 0; distance < 7; ++distance) {
      mem_set_t found;
      REQUIRE(get_nearby_mems(core, MEM_TYPE_ANY, distance, distance, &found) == NWAY_SUCCESS);
      text += to_string(as_ids(found)) + ';';
    }
    return text;
  };
  use(node::from_xml(own_machine("latencies.xml")));
  CHECK(rings(0) == ";0;1-2;;3;4;;");
  CHECK(rings(4) == ";;1-2;0;3;4;;");
  mem_info gpu;
  REQUIRE(get_mem_info(4, &gpu) == NWAY_SUCCESS);
  CHECK(gpu.mem_type == MEM_TYPE_DEVICE);
  use(node::from_xml(own_machine("gpus8_numa4.xml")));
  CHECK(rings(0) == ";0;1;2-3;;;;");
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
  // Compiled into programs of others.
  CHECK(NWAY_SUCCESS == 0);
  CHECK(NWAY_NO_SUCH_ID == -1);
  CHECK(NWAY_NO_SUCH_TYPE == -2);
  CHECK(NWAY_BAD_RANGE == -3);
  CHECK(NWAY_NULL_POINTER == -4);
  CHECK(NWAY_TOO_LARGE == -5);
  CHECK(NWAY_NO_NODE == -6);
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
