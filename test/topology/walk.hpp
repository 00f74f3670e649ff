// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The oracle: a walk over hwloc's own objects that shares nothing with keel. Slow and plain.

#include <hwloc.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace keel::test {

/// A topology with devices and with what may not be used, which is left out of the lists of cores and memories.
class walk {
public:
  explicit walk(std::filesystem::path const& file) {
    hwloc_topology_init(&all_);
    hwloc_topology_set_io_types_filter(all_, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    hwloc_topology_set_icache_types_filter(all_, HWLOC_TYPE_FILTER_KEEP_ALL);
    hwloc_topology_set_flags(all_, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    good_ = hwloc_topology_set_xml(all_, file.c_str()) == 0 && hwloc_topology_load(all_) == 0;
    if (!good_) return;
    core_type_ = hwloc_get_nbobjs_by_type(all_, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
    for (hwloc_obj_t at = nullptr; (at = hwloc_get_next_obj_by_type(all_, core_type_, at)) != nullptr;)
      if (!threads(at).empty()) cores_.push_back(at);
    for (hwloc_obj_t at = nullptr; (at = hwloc_get_next_obj_by_type(all_, HWLOC_OBJ_NUMANODE, at)) != nullptr;)
      if (hwloc_bitmap_isset(hwloc_topology_get_allowed_nodeset(all_), at->os_index) != 0) memories_.push_back(at);
    for (int depth = 0; depth < hwloc_topology_get_depth(all_); ++depth) counts_.push_back(counts(depth));
  }
  walk(walk const&) = delete;
  ~walk() { hwloc_topology_destroy(all_); }

  bool good() const { return good_; }
  hwloc_topology_t all() const { return all_; }
  std::vector<hwloc_obj_t> const& cores() const { return cores_; }
  std::vector<hwloc_obj_t> const& memories() const { return memories_; }

  /// The interface with this name; where it has none, the function with this PCI id.
  hwloc_obj_t device(std::string const& pci_id, std::string const& name) const {
    for (hwloc_obj_t at = nullptr; (at = hwloc_get_next_osdev(all_, at)) != nullptr;)
      if (name == at->name) return at;
    return hwloc_get_pcidev_by_busidstring(all_, pci_id.c_str());
  }

  /// Those that may be used.
  std::set<int> threads(hwloc_obj_t object) const {
    std::set<int> found;
    for (int t = hwloc_bitmap_first(object->cpuset); t >= 0; t = hwloc_bitmap_next(object->cpuset, t))
      if (hwloc_bitmap_isset(hwloc_topology_get_allowed_cpuset(all_), unsigned(t)) != 0) found.insert(t);
    return found;
  }

  /// The depth of the lowest object around a core that is also around the target.
  static int common_depth(hwloc_obj_t core, hwloc_obj_t target) {
    while (target->depth < 0) target = target->parent;
    for (auto at = core;; at = at->parent)
      for (auto above = target; above != nullptr; above = above->parent)
        if (above == at) return at->depth;
  }

  /// Whether no hardware thread is near a memory, as far as the system says.
  static bool is_nowhere(hwloc_obj_t target) {
    return target->type == HWLOC_OBJ_NUMANODE && hwloc_bitmap_iszero(target->cpuset) != 0;
  }

  /// Depths passed on the way up from a core until the target is inside, without those that say nothing of their own;
  /// all of them and one more to a memory that is nowhere.
  int distance(hwloc_obj_t core, hwloc_obj_t target) const {
    int steps = is_nowhere(target) ? 1 : 0;
    for (int depth = is_nowhere(target) ? 0 : common_depth(core, target); depth < core->depth; ++depth)
      steps += counts_[std::size_t(depth)];
    return steps;
  }

private:
  /// Whether some object of the next depth that has hardware threads has not the same ones as its parent at this one.
  bool counts(int depth) const {
    auto const used = [&](int at) { // by cores, and not inside of them
      auto const object = hwloc_get_obj_by_depth(all_, at, 0);
      return object->type == core_type_ || at < hwloc_get_type_depth(all_, core_type_);
    };
    auto const has_threads = [](hwloc_obj_t object) { return hwloc_bitmap_iszero(object->cpuset) == 0; };
    auto const objects = [&](int at) {
      std::vector<hwloc_obj_t> found;
      for (hwloc_obj_t o = nullptr; (o = hwloc_get_next_obj_by_depth(all_, at, o)) != nullptr;)
        if (has_threads(o)) found.push_back(o);
      return found;
    };
    if (objects(depth).empty()) return false;
    for (int lower = depth + 1; lower < hwloc_topology_get_depth(all_) && used(lower); ++lower) {
      auto const all = objects(lower);
      for (auto const o : all)
        if (o->parent->depth != depth || hwloc_bitmap_isequal(o->cpuset, o->parent->cpuset) == 0) return true;
      if (!all.empty()) return false;
    }
    return false;
  }

  hwloc_topology_t all_ = nullptr;
  bool good_ = false;
  hwloc_obj_type_t core_type_ = HWLOC_OBJ_CORE;
  std::vector<hwloc_obj_t> cores_, memories_;
  std::vector<int> counts_;
};

} // namespace keel::test
