// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a node is made of: memories, cores and devices. Depends only on the standard library.

#include <keel/topology/id_set.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace keel::topology {

/// Kinds of memory; `any` is only for asking. `cache_side` is ordinary memory
/// behind a memory-side cache (Knights Landing's cache mode).
enum class memory_type { any, dram, high_bandwidth, device, persistent, cxl, cache_side };
/// Kinds of core; `any` is only for asking.
enum class core_type { any, performance, efficiency };
/// Kinds of device; `any` is only for asking.
enum class device_type { any, network, gpu, fpga, coprocessor, storage, other };
/// The caches that cores share. If level 2 or 3 is unified it serves both.
enum class cache { l1_instruction, l1_data, l2, l3 };

/// What latencies are counted in. `relative` is the system's own measure (ACPI's SLIT): 10 is a node's own memory.
enum class latency_unit { unknown, nanoseconds, relative };

[[nodiscard]] constexpr std::string_view to_string(memory_type type) noexcept {
  constexpr std::string_view names[]{"any", "dram", "high_bandwidth", "device", "persistent", "cxl", "cache_side"};
  return names[int(type)];
}
[[nodiscard]] constexpr std::string_view to_string(core_type type) noexcept {
  constexpr std::string_view names[]{"any", "performance", "efficiency"};
  return names[int(type)];
}
[[nodiscard]] constexpr std::string_view to_string(latency_unit unit) noexcept {
  constexpr std::string_view names[]{"unknown", "nanoseconds", "relative"};
  return names[int(unit)];
}
[[nodiscard]] constexpr std::string_view to_string(device_type type) noexcept {
  constexpr std::string_view names[]{"any", "network", "gpu", "fpga", "coprocessor", "storage", "other"};
  return names[int(type)];
}

/// A latency, the largest that is near enough; in the node's unit.
struct within {
  std::uint64_t latency;
};

/// Memory with one locality: a NUMA node. Its id is its place in `node::memories()`.
struct memory {
  int id = 0;
  memory_type type = memory_type::dram;
  std::string name;                          ///< `"numa 0"`, with the system's number
  int os_index = 0;                          ///< the system's number
  std::uint64_t bytes = 0;                   ///< 0 if the system does not report it
  std::uint64_t cache_bytes = 0;             ///< size of the memory-side cache before it; 0 is none
  std::optional<std::uint64_t> base_address; ///< lowest physical address, if the system reports it
  int relative_speed = 100;                  ///< by bandwidth, else by latency; 100 is the first memory's, and unknown
};

/// A core, or, if the system knows no cores, a hardware thread in its stead.
/// Its id is its place in `node::cores()`: neighbours in the tree have neighbouring ids.
struct core {
  int id = 0;
  core_type type = core_type::performance;
  std::string name;             ///< `"core 0"`, with the system's number
  int os_index = 0;             ///< the system's number; cores of two packages may share it
  id_set hardware_threads;      ///< the system's numbers of those this process's system allows
  int relative_speed = 100;     ///< 100 is the fastest core's; 100 too if unknown
  std::uint64_t page_sizes = 0; ///< bit b is set if pages of 2^b bytes exist; 0 is unknown
};

/// One card, whatever number of functions and interfaces the system lists for it.
/// Its id is its place in `node::devices()`, in the order of the buses.
struct device {
  int id = 0;
  device_type type = device_type::other;
  std::string name;         ///< the system's first name for it (`"mlx5_0"`), else its PCI id
  std::string pci_id;       ///< `"0000:1b:00.0"`, of its first function; empty if it is not on PCI
  std::string model;        ///< vendor and product, if the system knows them
  std::string uuid;         ///< if the driver knows it
  int contexts = 0;         ///< how many ranks it can serve at once, by a fact `Contexts` in the XML; 0 is unknown
  int relative_speed = 100; ///< of the link to it, 100 is the fastest of its type; 100 too if unknown
};

} // namespace keel::topology
