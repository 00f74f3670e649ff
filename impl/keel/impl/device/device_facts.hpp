// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What keel asks of a device to hold its knobs, without the device's type, so that the questions are compiled once.

#include <keel/device/knobs.hpp>
#include <keel/space/settings.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace keel::device {

/// What a device says of one of its knobs. No function is null: g++ with -fsanitize=undefined compares no function with
/// null in a constant expression.
struct knob_of_device {
  space::bounds (*bounds)();
  /// What really runs; if empty, what was set is taken to run.
  std::optional<std::int64_t> (*running)() = []() -> std::optional<std::int64_t> { return std::nullopt; };
};

/// A device. The functions are those of `keel::device_traits`.
struct device_facts {
  std::string_view name;
  std::array<std::optional<knob_of_device>, device_knob_count> knobs; ///< by `row_of`; empty for those that it lacks
  bool starts_itself; ///< takes its knobs by itself, also once Kokkos runs; else Kokkos' start takes them
  void (*configure)(space::settings const&);
  bool (*is_running)();
  int (*default_threads)();
  int (*max_devices)(); ///< null where it has no instances, as is the next
  std::string (*pci_id)(int instance);
  std::atomic<unsigned>* told; ///< a bit for each knob that was reported to come too late

  [[nodiscard]] constexpr bool has(knob id) const {
    auto const at = row_of(id);
    return at < device_knob_count && knobs[at].has_value();
  }
  /// A knob that it has.
  [[nodiscard]] constexpr knob_of_device const& at(knob id) const { return *knobs[row_of(id)]; }
  /// How many knobs it has before this one; of a knob of the program, how many it has.
  [[nodiscard]] constexpr std::size_t place_of(knob id) const {
    std::size_t n = 0;
    for (std::size_t i = 0; i < row_of(id); ++i) n += knobs[i].has_value();
    return n;
  }
};

namespace detail {

/// Calls `f(id)` for each knob that the device has.
template <class F>
void for_each_knob(device_facts const& device, F const& f) {
  for (auto const& row : knobs_of_devices)
    if (device.has(row.id)) f(row.id);
}

} // namespace detail

} // namespace keel::device
