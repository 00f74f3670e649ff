// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A device of the tests' own that has every knob, and a program on it.

#include <keel/device/runtime.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace keel::test {

/// A device with every knob that devices have.
struct every_knob {
  static constexpr std::string_view name = "every-knob";
};

} // namespace keel::test

namespace keel {

template <>
struct device_traits<test::every_knob> : space::detail::no_knobs {
  static constexpr int preference = 500;
  static constexpr bool has_threads = true, has_numa_regions = true, has_instances = true;
  using execution_space = Kokkos::DefaultHostExecutionSpace;
  static int threads() { return 2; }
  static int default_threads() { return 2; }
  static int max_threads() { return 8; }
  static int max_numa_regions() { return 4; }
  static int max_devices() { return 4; }
  static int device_instance() { return 0; }
  static std::string pci_id(int i) { return "0000:0" + std::to_string(i) + ":00.0"; }
  static constexpr std::array own_knobs{
      space::own_knob{"stack-size", [] { return space::bounds{65536, std::int64_t{1} << 30}; }},
      space::own_knob{"hugepages", [] { return space::bounds{0, 1}; }}};
};

} // namespace keel

namespace keel::test {

/// A program on it.
struct app_of_every_knob : keel::defaults {
  using devices = keel::list<every_knob>;
  using ranks = keel::machine::alone;
  static constexpr bool uses_ledger = true;
  static constexpr std::string_view prefix = "tab";
};

} // namespace keel::test
