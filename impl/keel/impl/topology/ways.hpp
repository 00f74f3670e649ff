// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Reading latencies and bandwidths: memory attributes and the system's matrix of NUMA nodes.

#include <keel/impl/topology/hwloc.hpp>
#include <keel/impl/topology/latencies.hpp>
#include <keel/impl/topology/memories.hpp>
#include <keel/topology/objects.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace keel::topology::detail {

inline constexpr std::size_t ways_max = std::size_t{1} << 22; ///< pairs of a core and a memory; beyond, none are read

/// By a memory attribute, from the hardware threads of each core.
inline numbers_to_memories read_attribute(hwloc_topology_t hwloc, hwloc_memattr_id_t attribute,
                                          std::vector<hwloc_obj_t> const& cores,
                                          std::vector<hwloc_obj_t> const& nodes) {
  numbers_to_memories made{nodes.size()};
  hwloc_location best{};
  hwloc_uint64_t value = 0;
  if (std::none_of(nodes.begin(), nodes.end(), [&](hwloc_obj_t n) {
        return hwloc_memattr_get_best_initiator(hwloc, attribute, n, 0, &best, &value) == 0;
      }))
    return {};
  for (auto const core : cores) {
    std::vector<std::uint64_t> row;
    row.reserve(nodes.size());
    hwloc_location from{};
    from.type = HWLOC_LOCATION_TYPE_CPUSET;
    from.location.cpuset = core->cpuset;
    for (auto const node : nodes)
      row.push_back(hwloc_memattr_get_value(hwloc, attribute, node, &from, 0, &value) == 0 ? value : 0);
    made.add(row);
  }
  return made;
}

/// By the matrix. A core has the row of the node that it belongs to: the smallest one around it, an ordinary one before
/// others, because high-bandwidth memory and the like have no cores of their own. hwloc gives a node without cores no
/// hardware threads, or those of the whole machine, or those of the node beside it. If several nodes fit equally, what
/// their rows differ in is unknown.
inline numbers_to_memories read_matrix(hwloc_topology_t hwloc, std::vector<hwloc_obj_t> const& cores,
                                       std::vector<hwloc_obj_t> const& nodes) {
  unsigned matrices = 1;
  hwloc_distances_s* found = nullptr;
  if (hwloc_distances_get_by_type(hwloc, HWLOC_OBJ_NUMANODE, &matrices, &found, HWLOC_DISTANCES_KIND_MEANS_LATENCY,
                                  0) != 0 ||
      matrices == 0)
    return {};
  auto const release = [&](hwloc_distances_s* matrix) { hwloc_distances_release(hwloc, matrix); };
  std::unique_ptr<hwloc_distances_s, decltype(release)> const matrix{found, release};
  auto const index = [&](hwloc_obj_t node) {
    return std::size_t(std::find(matrix->objs, matrix->objs + matrix->nbobjs, node) - matrix->objs);
  };
  std::vector<std::size_t> columns;
  columns.reserve(nodes.size());
  for (auto const node : nodes) columns.push_back(index(node));

  numbers_to_memories made{nodes.size()};
  for (auto const core : cores) {
    using rank = std::pair<int, bool>;
    auto best = rank{std::numeric_limits<int>::max(), true};
    std::vector<std::uint64_t> row(nodes.size(), 0);
    for (unsigned i = 0; i < matrix->nbobjs; ++i) {
      auto const node = matrix->objs[i];
      if (node == nullptr || hwloc_bitmap_isincluded(core->cpuset, node->cpuset) == 0) continue;
      auto const type = memory_of(node, false).type;
      auto const own =
          rank{hwloc_bitmap_weight(node->cpuset), type != memory_type::dram && type != memory_type::cache_side};
      if (own > best) continue;
      for (std::size_t m = 0; m < nodes.size(); ++m) {
        auto const value =
            columns[m] >= matrix->nbobjs ? 0 : matrix->values[std::size_t{i} * matrix->nbobjs + columns[m]];
        row[m] = own < best || row[m] == value ? value : 0;
      }
      best = own;
    }
    made.add(row);
  }
  return made;
}

/// Latencies are of one unit: nanoseconds if attributes give them for every pair, else the matrix, else those
/// attributes that are there.
inline memory_ways read_ways(hwloc_topology_t hwloc, std::vector<hwloc_obj_t> const& cores,
                             std::vector<hwloc_obj_t> const& nodes) {
  memory_ways made;
  if (nodes.empty() || cores.size() > ways_max / nodes.size()) return made;
  made.bandwidths = read_attribute(hwloc, HWLOC_MEMATTR_ID_BANDWIDTH, cores, nodes);
  auto attribute = read_attribute(hwloc, HWLOC_MEMATTR_ID_LATENCY, cores, nodes);
  auto matrix = attribute.all() ? numbers_to_memories{} : read_matrix(hwloc, cores, nodes);
  bool const use_matrix = matrix.any();
  made.latencies = std::move(use_matrix ? matrix : attribute);
  if (made.latencies.any()) made.unit = use_matrix ? latency_unit::relative : latency_unit::nanoseconds;
  return made;
}

} // namespace keel::topology::detail
