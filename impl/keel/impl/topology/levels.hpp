// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Which levels of hwloc's tree count as a step up.

#include <hwloc.h>

#include <cstddef>
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

} // namespace keel::topology::detail
