// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Reading memories, cores and devices out of a loaded hwloc topology, and which levels of its tree count as a step up.

#include <keel/impl/topology/cards.hpp>
#include <keel/impl/topology/hwloc.hpp>
#include <keel/impl/topology/inventory.hpp>
#include <keel/impl/topology/memories.hpp>
#include <keel/topology/objects.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace keel::topology::detail {

/// A core, or a hardware thread that is in none.
inline bool stands_for_core(hwloc_obj_t object) {
  if (object->type == HWLOC_OBJ_CORE) return true;
  if (object->type != HWLOC_OBJ_PU) return false;
  for (auto above = object->parent; above != nullptr; above = above->parent)
    if (above->type == HWLOC_OBJ_CORE) return false;
  return true;
}

/// The level of each normal object outside of cores, and of the cores themselves, which is 0.
///
/// Objects of one depth of hwloc's tree are of one level. Two depths are of the same level only if each object of
/// the lower one has the same hardware threads as one of the next depth, on the whole machine, whether this process
/// may use them or not. So the steps between levels are the same from every core.
class levels {
public:
  explicit levels(hwloc_topology_t hwloc) : depths_(std::size_t(hwloc_topology_get_depth(hwloc)) + 1) {
    look_at(hwloc_get_root_obj(hwloc));
    auto lower = depths_.size() - 1; // that of cores
    for (auto d = lower; d-- > 0;) {
      if (!depths_[d].is_there) continue;
      bool const is_equal = depths_[lower].copied_from == int(d);
      depths_[d].level = depths_[lower].level + (is_equal || !depths_[d].has_threads ? 0 : 1);
      if (depths_[d].has_threads) lower = d;
    }
  }
  [[nodiscard]] int of(hwloc_obj_t object) const { return depths_[index(object)].level; }

private:
  static constexpr int unseen = -1, different = -2;

  struct depth {
    bool is_there = false, has_threads = false;
    int level = 0;
    int copied_from = unseen; ///< the depth whose objects all of these are equal to
  };

  [[nodiscard]] std::size_t index(hwloc_obj_t object) const {
    return stands_for_core(object) ? depths_.size() - 1 : std::size_t(object->depth);
  }

  void look_at(hwloc_obj_t object) {
    auto& own = depths_[index(object)];
    own.is_there = true;
    if (auto const above = object->parent; above != nullptr && hwloc_bitmap_iszero(object->cpuset) == 0) {
      bool const is_equal = hwloc_bitmap_isequal(object->cpuset, above->cpuset) != 0;
      int const from = is_equal ? above->depth : different;
      own.copied_from = own.copied_from == unseen || own.copied_from == from ? from : different;
    }
    own.has_threads = own.has_threads || hwloc_bitmap_iszero(object->cpuset) == 0;
    if (stands_for_core(object)) return;
    for (auto child = object->first_child; child != nullptr; child = child->next_sibling) look_at(child);
  }

  std::vector<depth> depths_;
};

inline void inventory::make_tables() {
  memory_distances = refined_distances{int(cores.size()), int(memories.size()), ways.latencies,
                                       [&](int core, int memory) { return steps_to_memory(core, memory); }};
}

/// One walk over hwloc's tree, with what is withheld still in it: so that this can be reported, and distances
/// do not depend on it. Objects remember their locality in `userdata`, which hwloc leaves to its users.
class discovery {
public:
  explicit discovery(loaded const& from) : hwloc_(from.tree.get()), levels_(hwloc_) {
    made_.source = from.source;
    made_.here = hwloc_topology_is_thissystem(hwloc_) != 0;
    threads_ = hwloc_topology_get_allowed_cpuset(hwloc_);
    nodes_ = hwloc_topology_get_allowed_nodeset(hwloc_);
    visit(hwloc_get_root_obj(hwloc_), nullptr);
    if (made_.cores.empty())
      throw error("topology", from.source + " has no core to run on", "every hardware thread is withheld", {}, ENODEV);
    read_caches();
    read_core_kinds(hwloc_, made_.cores);
    read_memories();
    for (auto& card : cards(hwloc_)) {
      made_.device_places.push_back(place(card.above));
      made_.devices.push_back(std::move(card.shown));
    }
    made_.make_tables();
  }
  inventory take() { return std::move(made_); }

private:
  static int place(hwloc_obj_t object) { // of anything: the locality of the first normal object above
    while (!hwloc_obj_type_is_normal(object->type)) object = object->parent;
    return int(reinterpret_cast<std::uintptr_t>(object->userdata));
  }

  /// An object of its parent's level lies at its parent's place, and what lies in a core at the core's.
  void visit(hwloc_obj_t object, hwloc_obj_t core_above) {
    auto const above = object->parent;
    int const parent = above != nullptr ? place(above) : 0;
    int const level = core_above != nullptr ? 0 : levels_.of(object);
    bool const same = above != nullptr && level == made_.tree[parent].level;
    int const at = same ? parent : made_.tree.begin(parent, int(made_.cores.size()), level);
    object->userdata = reinterpret_cast<void*>(std::uintptr_t(at));

    bitmap own;
    hwloc_bitmap_and(own.bits, object->cpuset, threads_);
    bool const is_core = core_above == nullptr && (object->type == HWLOC_OBJ_CORE || object->type == HWLOC_OBJ_PU);
    if (is_core && hwloc_bitmap_iszero(own.bits) == 0) add_core(object, own.bits);
    if (object->type == HWLOC_OBJ_PU && hwloc_bitmap_iszero(own.bits) != 0)
      made_.withheld_threads.insert(int(object->os_index));
    for (auto child = object->first_child; child != nullptr; child = child->next_sibling)
      visit(child, is_core ? object : core_above);
    if (!same) made_.tree.end(at, int(made_.cores.size()));
  }

  /// In the order of the walk, so that neighbours in the tree have neighbouring ids.
  void add_core(hwloc_obj_t object, hwloc_const_bitmap_t threads) {
    core c;
    c.id = int(made_.cores.size());
    c.os_index = object->os_index == HWLOC_UNKNOWN_INDEX ? c.id : int(object->os_index);
    c.name = (object->type == HWLOC_OBJ_PU ? "thread " : "core ") + std::to_string(c.os_index);
    for (int bit = hwloc_bitmap_first(threads); bit != -1; bit = hwloc_bitmap_next(threads, bit))
      c.hardware_threads.insert(bit);
    made_.cores.push_back(std::move(c));
    made_.core_places.push_back(place(object));
    core_objects_.push_back(object);
  }

  /// Where each core's caches are; only after the walk, because caches may lie below their core.
  void read_caches() {
    for (auto at : core_objects_) {
      auto& found = made_.caches.emplace_back();
      found.fill(-1);
      auto const keep = [&](cache which, hwloc_obj_t holder) {
        if (auto& slot = found[std::size_t(which)]; slot == -1) slot = place(holder);
      };
      while (at->first_child != nullptr) at = at->first_child;
      for (; at != nullptr; at = at->parent) {
        if (at->type == HWLOC_OBJ_L1ICACHE) keep(cache::l1_instruction, at);
        if (at->type == HWLOC_OBJ_L1CACHE) keep(cache::l1_data, at);
        if (at->type == HWLOC_OBJ_L2CACHE) keep(cache::l2, at);
        if (at->type == HWLOC_OBJ_L3CACHE) keep(cache::l3, at);
      }
    }
  }

  /// In hwloc's order; also gives cores the page sizes of the memories around them.
  void read_memories() {
    std::vector<hwloc_obj_t> objects;
    for (hwloc_obj_t at = nullptr; (at = hwloc_get_next_obj_by_type(hwloc_, HWLOC_OBJ_NUMANODE, at)) != nullptr;) {
      if (hwloc_bitmap_isset(nodes_, at->os_index) == 0) {
        made_.withheld_memories.insert(int(at->os_index));
        continue;
      }
      made_.memories.push_back(memory_of(at, made_.here));
      made_.memories.back().id = int(made_.memories.size()) - 1;
      int const found = place(at);
      made_.memory_places.push_back(hwloc_bitmap_iszero(at->cpuset) != 0 ? localities::nowhere : found);
      objects.push_back(at);

      auto const pages = page_sizes(at, made_.here);
      auto const& inside = made_.tree[found];
      for (int c = inside.first_core; c < inside.end_core; ++c) made_.cores[std::size_t(c)].page_sizes |= pages;
    }
    made_.ways = read_ways(hwloc_, core_objects_, objects);
    auto speeds = speeds_by_bandwidth(hwloc_, objects);
    if (speeds.empty()) speeds = speeds_by_latency(made_.ways.latencies, int(made_.cores.size()), int(objects.size()));
    for (std::size_t m = 0; m < speeds.size(); ++m) made_.memories[m].relative_speed = speeds[m];
  }

  hwloc_topology_t hwloc_;
  levels levels_;
  hwloc_const_bitmap_t threads_ = nullptr, nodes_ = nullptr;
  std::vector<hwloc_obj_t> core_objects_;
  inventory made_;
};

} // namespace keel::topology::detail
