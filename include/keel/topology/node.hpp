// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A node: what it is made of, and what is near what.

#include <keel/policy/macros.hpp>
#include <keel/topology/objects.hpp>
#include <keel/topology/placement.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::topology {

namespace detail {

struct inventory;

} // namespace detail

/// Memories, cores and devices of one machine and the distances between them.
///
/// A value, read once; it asks the system nothing later and holds no resource of hwloc's. What it
/// hands out by reference lives as long as the node does.
/// What this process's system withholds (cpusets, cgroups) is not among the cores and
/// memories, but listed apart. Ids count from 0 in each of the three lists.
///
/// Distance from a core is the number of steps up the tree of localities until the other thing is inside; 0 is the
/// core's own place. Steps count levels of the whole machine: a level is left out only if each object of it is equal
/// to one of the next, so equal places are equally far from every core. A memory that is near no core, as far as the
/// system says, is a step beyond the whole machine. If the system reports latencies, memories
/// that are equally many steps away are distinguished: every further latency seen at so many steps counts one more.
class node {
public:
  /// This machine. `HWLOC_SYNTHETIC`, `HWLOC_XMLFILE` and hwloc's other variables put another in
  /// its stead, as they do for every program that uses hwloc; a bad one throws `keel::error`.
  [[nodiscard]] static node here();

  /// The machine saved in a file that lstopo wrote. Hostile files throw `keel::error` before hwloc sees them.
  [[nodiscard]] static node from_xml(std::string const& path);

  /// The machine saved in a text; `name` stands in messages.
  [[nodiscard]] static node from_xml_text(std::string_view text, std::string const& name = "the XML");

  /// A machine described in hwloc's synthetic language: `"package:2 numa:1 core:8 pu:2"`.
  [[nodiscard]] static node from_synthetic(std::string_view text);

  /// In hwloc's order, in the order of the tree, and in the order of the buses; an object's id is its place.
  [[nodiscard]] std::span<memory const> memories() const noexcept;
  [[nodiscard]] std::span<core const> cores() const noexcept;
  [[nodiscard]] std::span<device const> devices() const noexcept;

  /// The system's numbers of hardware threads and of NUMA nodes that exist and may not be used.
  [[nodiscard]] id_set const& withheld_hardware_threads() const noexcept;
  [[nodiscard]] id_set const& withheld_memories() const noexcept;

  [[nodiscard]] std::string const& source() const noexcept; ///< for people
  /// Whether its hardware threads are those that this process can be bound to.
  [[nodiscard]] bool is_this_machine() const noexcept;

  /// What lies between the distances `min` and `max` from a core, both included; `max` -1 is unbounded.
  /// Throws `keel::error` for a core that is not there and for any other range without steps.
  [[nodiscard]] id_set nearby_memories(int core, memory_type type = memory_type::any, int min = 0, int max = -1) const;
  /// The memories with a known latency from a core that is no longer than this one, however many steps away.
  [[nodiscard]] id_set nearby_memories(int core, memory_type type, within at_most) const;
  [[nodiscard]] id_set nearby_cores(int core, core_type type = core_type::any, int min = 0, int max = -1) const;
  [[nodiscard]] id_set nearby_devices(int core, device_type type = device_type::any, int min = 0, int max = -1) const;

  /// From a core to one thing. Throws `keel::error` for an id that is not there.
  [[nodiscard]] int distance_to_memory(int core, int memory) const;
  [[nodiscard]] int distance_to_core(int core, int other) const;
  [[nodiscard]] int distance_to_device(int core, int device) const;

  /// Only the steps, without latencies: comparable with those to cores and devices.
  [[nodiscard]] int steps_to_memory(int core, int memory) const;

  /// What the system reports of the way from a core to a memory: the latency in `unit_of_latencies()`, nanoseconds if
  /// firmware reports them for every pair, and the bandwidth in MiB/s. Empty if it reports none, and on nodes with
  /// more than four million pairs.
  [[nodiscard]] std::optional<std::uint64_t> latency(int core, int memory) const;
  [[nodiscard]] std::optional<std::uint64_t> bandwidth(int core, int memory) const;
  [[nodiscard]] latency_unit unit_of_latencies() const noexcept;

  /// The cores that share a cache with a core, itself among them; empty if it has none of that kind.
  [[nodiscard]] id_set sharing(int core, cache which) const;

  /// A place for each of `ranks` ranks. Throws `keel::error` for fewer than one, and for a rule that
  /// leaves no core, or that wants devices if there are none or too few contexts.
  [[nodiscard]] std::vector<placement> place(int ranks, placing const& rule = {}) const;

private:
  explicit node(detail::inventory all);

  std::shared_ptr<detail::inventory const> all_; ///< never changed once made, so that copies share it
};

} // namespace keel::topology

#if !KEEL_COMPILED
#include <keel/impl/topology/node.ipp>
#endif
