// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A device and its knobs, without its type: what keel asks of it, and what `configuration<Tag>` does, so that it is
/// compiled once for all devices.

#include <keel/device/knobs.hpp>
#include <keel/policy/macros.hpp>
#include <keel/space/settings.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
  std::array<std::optional<knob_of_device>, space::knobs.size()> knobs; ///< by `knob`; empty for those that it lacks
  std::atomic<unsigned>* told; ///< a bit for each knob that was reported to come too late
  bool starts_itself = false;  ///< takes its knobs by itself, also once Kokkos runs; else Kokkos' start takes them
  void (*configure)(space::settings const&) = [](space::settings const&) {};
  bool (*is_running)() = [] { return false; };
  int (*default_threads)() = nullptr;
  int (*max_devices)() = nullptr; ///< null where it has no instances, as is the next
  std::string (*pci_id)(int instance) = nullptr;

  [[nodiscard]] constexpr bool has(knob id) const { return knobs[std::size_t(id)].has_value(); }
  /// A knob that it has.
  [[nodiscard]] constexpr knob_of_device const& at(knob id) const { return *knobs[std::size_t(id)]; }
  /// How many knobs it has, and how many before this one.
  [[nodiscard]] constexpr std::size_t count() const { return place_of(knob(knobs.size())); }
  [[nodiscard]] constexpr std::size_t place_of(knob id) const {
    std::size_t n = 0;
    for (std::size_t i = 0; i < std::size_t(id); ++i) n += knobs[i].has_value();
    return n;
  }
};

namespace detail {

/// Calls `f(id)` for each knob that the device has.
template <class F>
void for_each_knob(device_facts const& device, F const& f) {
  for (auto const& row : space::knobs)
    if (device.has(row.id)) f(row.id);
}

} // namespace detail

using held_value = setting<std::optional<std::int64_t>>;

/// Refers to the values of a device, which stand in the order of its knobs; cheap to copy.
class device_knobs {
public:
  device_knobs(device_facts const& device, held_value const* values) : device_(&device), values_(values) {}

  [[nodiscard]] device_facts const& device() const { return *device_; }

  /// What was set or proposed; once the device runs, what really runs.
  [[nodiscard]] std::optional<std::int64_t> value(knob id) const;
  /// What was set or proposed.
  [[nodiscard]] std::optional<std::int64_t> set_value(knob id) const;
  [[nodiscard]] device::source source(knob id) const;
  [[nodiscard]] std::optional<space::bounds> bounds_of(knob id) const;
  /// Says once for each knob that it came too late.
  void tell_too_late(knob id) const;
  /// Says that a value is more than this machine has, where it is.
  void tell_of_excess(knob id) const;
  /// The knobs that were set, in words, where something else runs.
  [[nodiscard]] std::vector<std::string> lost() const;
  /// What the device gets before the start; or only the part of it that was set.
  [[nodiscard]] space::settings told(bool only_set = false) const;

private:
  [[nodiscard]] held_value const& held(knob id) const { return values_[device_->place_of(id)]; }

  device_facts const* device_;
  held_value const* values_;
};

/// The knobs of a device, to be changed.
struct changeable_knobs {
  device_facts const* device;
  held_value* values;

  [[nodiscard]] device_knobs read() const { return {*device, values}; }
  /// Takes a value, unless the device runs or cannot take it.
  outcome assign(knob id, std::int64_t value, source from) const;
  /// Takes a value from code once the runtime has started, and logs what there is to say about it.
  outcome set(knob id, std::int64_t value) const;
  /// What keel takes where the knob is not set.
  void propose(knob id, std::int64_t value) const;
};

/// Tells each device its values before Kokkos starts, or names, where `kokkos_runs` already, each knob that was set and
/// that Kokkos did not take, and each of the arguments kept for it. One of keel's own takes them later, too.
void configure_devices(std::span<device_knobs const> devices, bool kokkos_runs,
                       std::span<std::string const> for_kokkos);

/// Keel's settings in the variables where Kokkos looks when the application starts it, for as long as this lives. A
/// variable that the user set stays, unless a knob says otherwise; at the end every variable is as it was.
class kokkos_variables {
public:
  kokkos_variables();
  kokkos_variables(kokkos_variables const&) = delete;
  kokkos_variables& operator=(kokkos_variables const&) = delete;
  ~kokkos_variables();

  /// The knobs of the devices that Kokkos starts; those that start by themselves get theirs.
  void set(std::span<device_knobs const> devices);

private:
  struct variable {
    char const* name;
    std::optional<std::string> value;
  };
  void set(char const* name, std::optional<int> proposed, std::optional<int> said);

  std::vector<variable> before_;
};

} // namespace keel::device

#if !KEEL_COMPILED
#include <keel/impl/device/device_knobs.ipp>
#endif
