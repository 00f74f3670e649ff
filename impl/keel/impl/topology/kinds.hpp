// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Which cores are made for performance and which for efficiency, and how fast they are.

#include <keel/impl/topology/hwloc.hpp>
#include <keel/topology/objects.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace keel::topology::detail {

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
