// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What kind of memory a NUMA node is, where it begins, and how fast it is; latencies and bandwidths, by memory
/// attributes and the system's matrix of NUMA nodes; and of which kind cores are.

#include <keel/impl/topology/affinity.hpp>
#include <keel/impl/topology/hwloc.hpp>
#include <keel/impl/topology/inventory.hpp>
#include <keel/topology/objects.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

namespace keel::topology::detail {

/// Linux lists the blocks of a node as `memory<number>`; the lowest times the size of a block is where
/// it begins.
inline std::optional<std::uint64_t> base_address(int os_index) {
  std::filesystem::path const system = "/sys/devices/system";
  std::uint64_t block_bytes = 0;
  if (!(std::ifstream{system / "memory/block_size_bytes"} >> std::hex >> block_bytes)) return std::nullopt;
  std::optional<std::uint64_t> lowest;
  for_each_name(system / ("node/node" + std::to_string(os_index)), [&](std::string_view name) {
    std::uint64_t number = 0;
    if (name.starts_with("memory") &&
        std::from_chars(name.data() + 6, name.data() + name.size(), number).ec == std::errc{})
      lowest = std::min(lowest.value_or(~std::uint64_t{0}), number * block_bytes);
  });
  return lowest;
}

/// Sizes of pages are powers of two, so that together they are the bits wanted. hwloc 3 does not report them any
/// more: there the system is asked, and of a saved machine they are unknown, 0.
inline std::uint64_t page_sizes(hwloc_obj_t node, [[maybe_unused]] bool here) {
  std::uint64_t pages = 0;
#if HWLOC_API_VERSION >= 0x00030000
  if (!here) return pages;
  pages = std::uint64_t(sysconf(_SC_PAGESIZE));
  auto const folder = "/sys/devices/system/node/node" + std::to_string(node->os_index) + "/hugepages";
  for_each_name(folder, [&](std::string_view name) { // hugepages-2048kB
    std::uint64_t kilobytes = 0;
    if (name.starts_with("hugepages-") &&
        std::from_chars(name.data() + 10, name.data() + name.size(), kilobytes).ec == std::errc{})
      pages |= kilobytes << 10;
  });
#else
  for (unsigned i = 0; i < node->attr->numanode.page_types_len; ++i) pages |= node->attr->numanode.page_types[i].size;
#endif
  return pages;
}

/// What one NUMA node reports of itself. Its kind is hwloc's subtype, which drivers and firmware fill; if
/// that is empty it is ordinary memory, behind a cache of its own or not.
inline memory memory_of(hwloc_obj_t node, bool here) {
  memory m;
  m.os_index = int(node->os_index);
  m.name = "numa " + std::to_string(m.os_index);
  m.bytes = node->attr->numanode.local_memory;
  if (here) m.base_address = base_address(m.os_index);
  for (auto above = node->parent; hwloc_obj_type_is_normal(above->type) == 0; above = above->parent)
    if (above->type == HWLOC_OBJ_MEMCACHE) m.cache_bytes += above->attr->cache.size;
  std::string_view const kind = node->subtype == nullptr ? "" : node->subtype;
  if (kind == "MCDRAM" || kind == "HBM" || kind == "SPM") m.type = memory_type::high_bandwidth;
  else if (kind == "GPUMemory") m.type = memory_type::device;
  else if (kind == "NVM" || kind == "NVDIMM") m.type = memory_type::persistent;
  else if (kind.starts_with("CXL")) m.type = memory_type::cxl;
  else if (m.cache_bytes != 0) m.type = memory_type::cache_side;
  return m;
}

/// The speed of each memory beside the first, in per cent, by the best bandwidth that any core sees; empty if none is
/// known.
inline std::vector<int> speeds_by_bandwidth(hwloc_topology_t hwloc, std::vector<hwloc_obj_t> const& nodes) {
  std::vector<double> speeds;
  for (auto const node : nodes) {
    hwloc_location from;
    hwloc_uint64_t bandwidth = 0;
    bool const is_known =
        hwloc_memattr_get_best_initiator(hwloc, HWLOC_MEMATTR_ID_BANDWIDTH, node, 0, &from, &bandwidth) == 0;
    speeds.push_back(is_known ? double(bandwidth) : 0);
  }
  if (std::all_of(speeds.begin(), speeds.end(), [](double s) { return s == 0; })) return {};
  std::vector<int> relative(nodes.size(), 100);
  for (std::size_t m = 0; m < nodes.size(); ++m)
    if (speeds[m] > 0 && speeds[0] > 0) relative[m] = int(std::min(100 * speeds[m] / speeds[0] + 0.5, 1e9));
  return relative;
}

struct core_kind {
  bool efficient = false;
  long megahertz = 0; ///< 0 is unknown
};

/// The kind's own name decides; if it has none, hwloc's ranking: all but the last are efficient.
inline core_kind read_kind(hwloc_topology_t hwloc, int kind, int kinds, bitmap& threads) {
  int ranking = -1;
  unsigned count = 0;
  hwloc_info_s* facts = nullptr;
#if HWLOC_API_VERSION >= 0x00030000
  hwloc_infos_s* infos = nullptr;
  if (hwloc_cpukinds_get_info(hwloc, unsigned(kind), threads.bits, &ranking, &infos, 0) != 0) return {};
  facts = infos->array;
  count = infos->count;
#else
  if (hwloc_cpukinds_get_info(hwloc, unsigned(kind), threads.bits, &ranking, &count, &facts, 0) != 0) return {};
#endif
  core_kind read;
  read.efficient = ranking >= 0 && ranking < kinds - 1;
  for (unsigned i = 0; i < count; ++i) {
    std::string_view const name = facts[i].name, value = facts[i].value;
    if (name == "CoreType" && (value == "IntelAtom" || value == "IntelCore")) read.efficient = value == "IntelAtom";
    if (name == "FrequencyMaxMHz" && value.size() < 8) read.megahertz = std::atol(facts[i].value);
  }
  return read;
}

/// Fills in type and relative speed. Hardware threads of one core may be of two kinds: the later wins.
inline void read_core_kinds(hwloc_topology_t hwloc, std::vector<core>& cores) {
  int const kinds = std::max(0, hwloc_cpukinds_get_nr(hwloc, 0));
  std::vector<long> megahertz(cores.size(), 0);
  bitmap threads;
  for (int k = 0; k < kinds; ++k) {
    auto const kind = read_kind(hwloc, k, kinds, threads);
    for (auto& c : cores)
      for (int const t : c.hardware_threads)
        if (hwloc_bitmap_isset(threads.bits, unsigned(t)) != 0) {
          c.type = kind.efficient ? core_type::efficiency : core_type::performance;
          megahertz[std::size_t(c.id)] = kind.megahertz;
        }
  }
  auto const fastest = *std::max_element(megahertz.begin(), megahertz.end());
  for (auto& c : cores)
    if (auto const own = megahertz[std::size_t(c.id)]; own > 0) c.relative_speed = int(100 * own / fastest);
}

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
