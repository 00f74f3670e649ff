// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What kind of memory a NUMA node is, where it begins, and how fast it is.

#include <keel/impl/topology/hwloc.hpp>
#include <keel/topology/objects.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <dirent.h>
#include <unistd.h>

namespace keel::topology::detail {

/// Calls `f` with each name in a folder; not at all if it cannot be read. The standard library's iterator ends the
/// program if memory runs out; this throws `std::bad_alloc`.
inline void for_each_name(std::string const& folder, auto const& f) {
  struct closer {
    void operator()(DIR* d) const noexcept { closedir(d); }
  };
  errno = 0;
  std::unique_ptr<DIR, closer> const opened{opendir(folder.c_str())};
  if (!opened && errno == ENOMEM) throw std::bad_alloc{};
  if (!opened) return;
  while (dirent const* const entry = readdir(opened.get())) f(std::string_view{entry->d_name});
}

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

} // namespace keel::topology::detail
