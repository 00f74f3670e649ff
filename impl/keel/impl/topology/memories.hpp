// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What kind of memory a NUMA node is, where it begins, and how fast it is; and of which kind cores are.

#include <keel/impl/topology/affinity.hpp>
#include <keel/impl/topology/hwloc.hpp>
#include <keel/topology/objects.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
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

} // namespace keel::topology::detail
