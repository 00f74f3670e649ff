// SPDX-License-Identifier: MIT
#include <keel/impl/device/mapping.hpp>

#include <support/test.hpp>

namespace {

std::array<std::string, 4> const cards{"0000:07:00.0", "0000:0b:00.0", "0000:48:00.0", "0000:4c:00.0"};
using keel::device::device_mapping;
using keel::device::map_device;
using keel::device::mapping_facts;

} // namespace

TEST_CASE("device: ranks of a node are dealt round robin") {
  for (int rank = 0; rank < 8; ++rank)
    CHECK(map_device(device_mapping::rank, {.node_rank = rank, .visible = cards}) == rank % 4);
  CHECK(map_device(device_mapping::rank, {.node_rank = 3, .visible = cards, .limit = 2}) == 1);
  CHECK(map_device(device_mapping::rank, {.node_rank = 3, .visible = cards, .limit = 64}) == 3);
}

TEST_CASE("device: nearest takes the card that placement gave, by PCI id") {
  mapping_facts facts{.node_rank = 0, .visible = cards, .nearest = cards[2]};
  CHECK(map_device(device_mapping::nearest, facts) == 2);
  CHECK(map_device(device_mapping::rank, facts) == 0);
}

TEST_CASE("device: a list that the launcher has cut is respected") {
  std::array<std::string, 1> const own{cards[3]};
  mapping_facts facts{.node_rank = 2, .visible = own, .nearest = cards[2]};
  CHECK(map_device(device_mapping::nearest, facts) == 0);
  facts.visible = std::span{cards}.first(2);
  CHECK(map_device(device_mapping::nearest, facts) == 0);
  facts.node_rank = 3;
  CHECK(map_device(device_mapping::nearest, facts) == 1);
}

TEST_CASE("device: ranks that are bound take near cards, and every card before they double one") {
  auto const node = keel::topology::node::from_xml(KEEL_TEST_DATA "/gpus8_numa4.xml");
  auto const taken = [&](std::vector<int> const& threads) {
    std::vector<int> all;
    for (std::size_t rank = 0; rank < threads.size(); ++rank)
      all.push_back(keel::device::nearest_gpu(node, threads, rank));
    return all;
  };
  auto const thread_of = [&](std::size_t core) { return *node.cores()[core].hardware_threads.begin(); };
  auto const placed = node.place(8);
  std::vector<int> threads, wanted;
  for (auto const& p : placed) {
    threads.push_back(*p.hardware_threads.begin());
    wanted.push_back(p.device);
  }
  CHECK(taken(threads) == wanted);
  std::swap(threads[0], threads[7]);
  std::swap(threads[2], threads[5]);
  auto const swapped = taken(threads);
  CHECK(node.nearby_devices(31, keel::topology::device_type::gpu, 0, node.distance_to_device(31, wanted[7]))
            .contains(swapped[0]));
  std::sort(wanted.begin(), wanted.end());
  auto sorted = swapped;
  std::sort(sorted.begin(), sorted.end());
  CHECK(sorted == wanted);
  std::vector<int> crowded(8, thread_of(0));
  auto all = taken(crowded);
  CHECK(node.nearby_devices(0, keel::topology::device_type::gpu, 0, node.distance_to_device(0, wanted[0]))
            .contains(all[1]));
  std::sort(all.begin(), all.end());
  CHECK(all == wanted);
  CHECK(taken({-1}).size() == 1);
  auto const contexts = keel::topology::node::from_xml(KEEL_TEST_DATA "/contexts.xml"); // GPUs of 4, 2 and unknown
  std::vector<int> const near_two(8, 0);
  std::vector<int> shared;
  for (std::size_t rank = 0; rank < near_two.size(); ++rank)
    shared.push_back(keel::device::nearest_gpu(contexts, near_two, rank));
  CHECK(shared == std::vector{0, 1, 0, 1, 0, 0, 2, 2});
  CHECK(keel::device::nearest_gpu(keel::topology::node::from_synthetic("core:2 pu:1"), std::vector{0}, 0) == -1);
}

TEST_CASE("device: none chooses nothing, and nothing can be chosen where nothing is") {
  CHECK_FALSE(map_device(device_mapping::none, {.visible = cards}).has_value());
  CHECK_FALSE(map_device(device_mapping::nearest, {.nearest = cards[0]}).has_value());
  CHECK_FALSE(map_device(device_mapping::rank, {.visible = cards, .limit = 0}).has_value());
}

TEST_CASE("device: ranks that share hardware threads divide them") {
  CHECK(keel::device::share_of_threads(16, 1) == 16);
  CHECK(keel::device::share_of_threads(16, 4) == 4);
  CHECK(keel::device::share_of_threads(2, 4) == 1);
  CHECK(keel::device::share_of_threads(0, 0) == 1);
}
