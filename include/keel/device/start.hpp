// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// All knobs of one program; and those that the code sets before the runtime starts.

#include <keel/device/defaults.hpp>
#include <keel/device/configuration.hpp>
#include <keel/impl/device/common_settings.hpp>
#include <keel/impl/device/table.hpp>
#include <keel/machine.hpp>
#include <keel/policy/list.hpp>
#include <keel/policy/tuple.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace keel::device {

/// A Hana tuple with one configuration for each device of `Devices`, and the program's own knobs.
template <class Devices>
class settings {
public:
  using devices = policy::to_list<Devices>;

  common_settings common;

  template <class Tag>
  [[nodiscard]] configuration<Tag>& of() {
    return slots_.template get<Tag>().value;
  }
  template <class Tag>
  [[nodiscard]] configuration<Tag> const& of() const {
    return slots_.template get<Tag>().value;
  }

  /// The devices' knobs, in the order of the list.
  [[nodiscard]] auto all() {
    return [this]<class... Tags>(list<Tags...>) {
      return std::array<changeable_knobs, sizeof...(Tags)>{this->template of<Tags>().change()...};
    }(devices{});
  }
  [[nodiscard]] auto all() const {
    return [this]<class... Tags>(list<Tags...>) {
      return std::array<device_knobs, sizeof...(Tags)>{this->template of<Tags>().read()...};
    }(devices{});
  }

private:
  policy::tuple_of<devices, slot> slots_;
};

} // namespace keel::device

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
  device::outcome set_threads(int count) {
    return set<Tag>(device::knob::threads, count);
  }
  template <class Tag>
  device::outcome set_numa_regions(int count) {
    return set<Tag>(device::knob::numa_regions, count);
  }
  template <class Tag>
  device::outcome set_device_instance(int index) {
    return set<Tag>(device::knob::device_instance, index);
  }
  /// Any knob of a device.
  template <class Tag>
  device::outcome set(device::knob id, std::int64_t value) {
    if constexpr (policy::contains<devices, Tag>) {
      return settings_.template of<Tag>().assign(id, value);
    } else {
      static_assert(!supported<Tag>, "keel::start: this device is not in the policy's list (the program was not "
                                     "written for it). Add it to the list.");
      return device::outcome::invalid_for_device;
    }
  }

  /// The device that routines `on_device` run on, or several with commas between them; whether there is one, is checked
  /// at the start.
  void set_device(std::string_view name) { set(&device::program_settings::device, std::string{name}); }
  /// How the ranks of a node share its accelerators.
  void set_map_device_by(device::device_mapping how) { set(&device::program_settings::map_device_by, how); }
  /// Accelerators of each node that may be used, from 1 on.
  device::outcome set_num_devices(int count) { return set(&device::program_settings::num_devices, count); }
  /// Whether each rank is bound to its place, and how.
  void set_bind(device::bind_rule rule) { set(&device::program_settings::bind, rule); }
  /// A file with knobs, which beat the code's; read at the start.
  void set_config(std::string file) { set(&device::program_settings::config, std::move(file)); }
  /// How many threads of a process are going to call MPI; what MPI grants, the runtime's `thread_level()` returns.
  void set_thread_level(machine::thread_level wanted) { thread_level_ = wanted; }
  void set_log_level(device::log_level level) { set(&device::program_settings::log_level, level); }

  /// Any knob by its name and text, as on the command line: `set("num-threads", "4")`. Throws `keel::error` if there is
  /// no such knob, or the text is wrong.
  void set(std::string_view name, std::string_view text) {
    settings_.common.take(device::option_names_of<typename device::checked_policy<App>::type>(), name, text,
                          settings_.all());
  }

  /// Any knob of the program: a member of `device::program_settings`, or of `residency::settings` for what is copied
  /// back for output that declares nothing. `set(&residency::settings::copy_back_every, 10)`.
  template <class T, class Owner>
  device::outcome set(T Owner::* member, std::type_identity_t<T> value) {
    if constexpr (std::is_same_v<T, std::optional<int>>)
      if (value && *value < 1) return device::outcome::invalid_value;
    if constexpr (std::is_same_v<T Owner::*, bool residency::settings::*>) {
      if (value && member == &residency::settings::verbose) set_log_level(device::log_level::information);
      if (value && member == &residency::settings::veryverbose) set_log_level(device::log_level::details);
    }
    settings_.common.program.set(member, std::move(value), device::source::code);
    return device::outcome::success;
  }

  [[nodiscard]] device::settings<devices> const& settings() const { return settings_; }
  [[nodiscard]] machine::thread_level thread_level() const { return thread_level_; }

private:
  device::settings<devices> settings_;
  machine::thread_level thread_level_ = machine::thread_level::funneled;
};

} // namespace keel
