// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Knobs that the code sets before the runtime starts.

#include <keel/device/defaults.hpp>
#include <keel/device/settings.hpp>
#include <keel/machine.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace keel {

/// What the code wants where neither environment nor command line says otherwise: the weakest source.
/// Handed to the runtime, which copies the values. A device that this build lacks answers
/// `invalid_for_device`; one that the policy does not list does not compile.
template <class App>
class start {
  using devices = typename device::checked_policy<App>::devices;

public:
  start() = default;
  start(start const&) = delete;
  start& operator=(start const&) = delete;

  template <class Tag>
  device::outcome set_threads(int count) { return of<Tag>().set_threads(count); }
  template <class Tag>
  device::outcome set_numa_regions(int count) { return of<Tag>().set_numa_regions(count); }
  template <class Tag>
  device::outcome set_device_instance(int index) { return of<Tag>().set_device_instance(index); }

  /// The device that routines `on_device` run on; whether there is one, is checked at the start.
  void set_device(std::string_view name) { settings_.program.device.set(std::string{name}, device::source::code); }
  /// How the ranks of a node share its accelerators.
  void set_map_device_by(device::device_mapping how) { settings_.program.map_device_by.set(how, device::source::code); }
  /// Accelerators of each node that may be used, from 1 on.
  device::outcome set_num_devices(int count) {
    if (count < 1) return device::outcome::invalid_value;
    settings_.program.num_devices.set(count, device::source::code);
    return device::outcome::success;
  }
  /// A folder in which the node is kept from one start to the next; one that others may write is refused when the
  /// node is asked for.
  void set_topology_cache(std::string folder) { settings_.program.topology_cache.set(std::move(folder), device::source::code); }
  /// How many threads of a process are going to call MPI; what MPI grants, the runtime's `thread_level()` tells.
  void set_thread_level(machine::thread_level wanted) { thread_level_ = wanted; }
  void set_log_level(device::log_level level) { settings_.program.log_level.set(level, device::source::code); }

  /// What is copied back for output that declares nothing, and what is told of it: one of the members
  /// of `residency::settings`, each its own knob. `set(&residency::settings::copy_back_every, 10)`.
  template <class T>
  device::outcome set(T residency::settings::* member, std::type_identity_t<T> value) {
    if constexpr (std::is_same_v<T, std::optional<int>>)
      if (value && *value < 1) return device::outcome::invalid_value;
    settings_.program.set(member, std::move(value), device::source::code);
    return device::outcome::success;
  }

  [[nodiscard]] device::settings<devices> const& settings() const { return settings_; }
  [[nodiscard]] machine::thread_level thread_level() const { return thread_level_; }

private:
  template <class Tag>
  [[nodiscard]] decltype(auto) of() {
    if constexpr (policy::contains<devices, Tag>) {
      return (settings_.template of<Tag>());
    } else {
      static_assert(!supported<Tag>, "keel::start: this device is not in the policy's list (the program was not "
                                     "written for it). Add it to the list?");
      return device::absent_configuration{};
    }
  }

  device::settings<devices> settings_;
  machine::thread_level thread_level_ = machine::thread_level::funneled;
};

} // namespace keel
