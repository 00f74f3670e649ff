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

/// A topology as hwloc loads it by default, with devices.
class walk {
public:
  explicit walk(std::filesystem::path const& file) {
    hwloc_topology_init(&all_);
    hwloc_topology_set_io_types_filter(all_, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    good_ = hwloc_topology_set_xml(all_, file.c_str()) == 0 && hwloc_topology_load(all_) == 0;
    auto const type = hwloc_get_nbobjs_by_type(all_, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
    for (hwloc_obj_t at = nullptr; (at = hwloc_get_next_obj_by_type(all_, type, at)) != nullptr;) cores_.push_back(at);
    for (hwloc_obj_t at = nullptr; (at = hwloc_get_next_obj_by_type(all_, HWLOC_OBJ_NUMANODE, at)) != nullptr;)
      memories_.push_back(at);
  }
  walk(walk const&) = delete;
  ~walk() { hwloc_topology_destroy(all_); }

  bool good() const { return good_; }
  std::vector<hwloc_obj_t> const& cores() const { return cores_; }
  std::vector<hwloc_obj_t> const& memories() const { return memories_; }

  /// The interface with this name; where it has none, the function with this PCI id.
  hwloc_obj_t device(std::string const& pci_id, std::string const& name) const {
    for (hwloc_obj_t at = nullptr; (at = hwloc_get_next_osdev(all_, at)) != nullptr;)
      if (name == at->name) return at;
    return hwloc_get_pcidev_by_busidstring(all_, pci_id.c_str());
  }

  std::set<int> threads(hwloc_obj_t object) const {
    std::set<int> found;
    for (int t = hwloc_bitmap_first(object->cpuset); t >= 0; t = hwloc_bitmap_next(object->cpuset, t)) found.insert(t);
    return found;
  }

  /// Different cpusets passed on the way up from a core until one holds the target's whole locality.
  int distance(hwloc_obj_t core, hwloc_obj_t target) const {
    while (target->depth < 0) target = target->parent;
    int steps = 0;
    for (auto at = core; hwloc_bitmap_isincluded(target->cpuset, at->cpuset) == 0;) {
      auto const before = at;
      while (hwloc_bitmap_isequal(at->cpuset, before->cpuset) != 0) at = at->parent;
      ++steps;
    }
    return steps;
  }

private:
  hwloc_topology_t all_ = nullptr;
  bool good_ = false;
  std::vector<hwloc_obj_t> cores_, memories_;
};

} // namespace keel::test
