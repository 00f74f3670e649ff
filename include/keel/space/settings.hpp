// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What can be told to Kokkos before it starts. Rests on the standard library alone.

#include <optional>

namespace keel::space {

/// What is wanted of a device; empty where nobody chose, and the device decides.
struct settings {
  std::optional<int> threads = {};         ///< in total, over all NUMA regions
  std::optional<int> numa_regions = {};    ///< where this Kokkos has such a knob
  std::optional<int> device_instance = {}; ///< counted among the visible ones
  std::optional<int> num_devices = {};     ///< ranks share so many; only where no instance is chosen
};

/// Takes over from `other` what is set there.
constexpr void merge(settings& into, settings const& other) {
  if (other.threads) into.threads = other.threads;
  if (other.numa_regions) into.numa_regions = other.numa_regions;
  if (other.device_instance) into.device_instance = other.device_instance;
  if (other.num_devices) into.num_devices = other.num_devices;
}

} // namespace keel::space
