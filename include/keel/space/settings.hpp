// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What can be set for a device before it starts. Depends only on the standard library.

#include <cstdint>
#include <optional>
#include <string_view>

namespace keel::space {

/// What is wanted of a device; if no value is set, it is empty and the device decides.
struct settings {
  std::optional<int> threads = {};             ///< in total, over all NUMA regions
  std::optional<int> numa_regions = {};        ///< if this Kokkos has such a knob
  std::optional<int> device_instance = {};     ///< counted among the visible ones
  std::optional<std::int64_t> stack_size = {}; ///< bytes of the stack of each thread that the device starts
  std::optional<bool> huge_pages = {};         ///< whether keel's host memories ask for huge pages

  friend constexpr bool operator==(settings const&, settings const&) = default;
};

/// The values that a device takes of one setting; more than `advised` only with a warning.
struct bounds {
  std::int64_t least = 0, most = 0, advised = most;
};

/// A knob that a device has, by the name of its option, and the values that it takes.
struct own_knob {
  std::string_view option;
  bounds (*values)();
};

/// Takes over from `other` what is set there; every member, as the table of knobs checks.
constexpr void merge(settings& into, settings const& other) {
  if (other.threads) into.threads = other.threads;
  if (other.numa_regions) into.numa_regions = other.numa_regions;
  if (other.device_instance) into.device_instance = other.device_instance;
  if (other.stack_size) into.stack_size = other.stack_size;
  if (other.huge_pages) into.huge_pages = other.huge_pages;
}

} // namespace keel::space
