// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The knobs of one device, whichever it is: what `configuration<Tag>` does, compiled once for all devices.

#include <keel/impl/device/device_facts.hpp>
#include <keel/device/knobs.hpp>
#include <keel/policy/macros.hpp>
#include <keel/space/settings.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace keel::device {

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

} // namespace keel::device

#if KEEL_BODIES

#include <keel/device/log.hpp>
#include <keel/impl/device/table.hpp>

#include <cstddef>

namespace keel::device {

namespace detail {

/// Calls `f(id)` for each knob that the device has.
template <class F>
void for_each_knob(device_facts const& device, F const& f) {
  for (auto const& row : knobs_of_devices)
    if (device.has(row.id)) f(row.id);
}

} // namespace detail

KEEL_INLINE std::optional<std::int64_t> device_knobs::value(knob id) const {
  if (!device_->has(id)) return std::nullopt;
  if (device_->is_running())
    if (auto const real = device_->at(id).running()) return real;
  return held(id).value;
}
KEEL_INLINE std::optional<std::int64_t> device_knobs::set_value(knob id) const {
  return device_->has(id) ? held(id).value : std::nullopt;
}
KEEL_INLINE device::source device_knobs::source(knob id) const {
  return device_->has(id) ? held(id).from : device::source::unset;
}
KEEL_INLINE std::optional<space::bounds> device_knobs::bounds_of(knob id) const {
  if (!device_->has(id)) return std::nullopt;
  return device_->at(id).bounds();
}

KEEL_INLINE void device_knobs::tell_too_late(knob id) const {
  unsigned const bit = 1U << unsigned(id);
  if ((device_->told->fetch_or(bit) & bit) != 0) return;
  log(log_level::warning, "setting " + std::string{facts(id).option} + " of " + std::string{device_->name} +
                              " has no effect, because Kokkos runs already. Set it before the first kernel.");
}
KEEL_INLINE void device_knobs::tell_of_excess(knob id) const {
  if (source(id) == device::source::unset) return;
  auto const value = *held(id).value, here = bounds_of(id)->advised;
  auto const& row = facts(id);
  if (value > here)
    log(log_level::warning, std::string{row.option} + " of " + std::string{device_->name} + " is " +
                                row.of_device->show(value) + ", more than the " + row.of_device->show(here) +
                                " that this process may use, so some wait for others");
}

KEEL_INLINE std::vector<std::string> device_knobs::lost() const {
  std::vector<std::string> names;
  detail::for_each_knob(*device_, [&](knob id) {
    auto const& row = facts(id);
    if (held(id).is_set() && device_->is_running() && value(id) != held(id).value)
      names.push_back(std::string{row.option} + "=" + row.of_device->show(*held(id).value) + " of " +
                      std::string{device_->name});
  });
  return names;
}

KEEL_INLINE space::settings device_knobs::told(bool only_set) const {
  space::settings all;
  detail::for_each_knob(*device_, [&](knob id) {
    if (held(id).value && (held(id).is_set() || !only_set)) facts(id).of_device->tell(all, *held(id).value);
  });
  return all;
}

KEEL_INLINE outcome changeable_knobs::assign(knob id, std::int64_t value, source from) const {
  if (!device->has(id)) return outcome::invalid_for_device;
  auto const allowed = *read().bounds_of(id);
  if (value < 0 || (value == 0 && allowed.least > 0)) return outcome::invalid_value;
  if (device->is_running()) return outcome::not_applied;
  if (value < allowed.least || value > allowed.most) return outcome::out_of_bounds;
  values[device->place_of(id)].set(value, from);
  return outcome::success;
}
KEEL_INLINE outcome changeable_knobs::set(knob id, std::int64_t value) const {
  outcome const result = assign(id, value, source::code);
  if (result == outcome::success) {
    read().tell_of_excess(id);
    if (device->starts_itself) device->configure(read().told());
  }
  if (result == outcome::not_applied) read().tell_too_late(id);
  return result;
}
KEEL_INLINE void changeable_knobs::propose(knob id, std::int64_t value) const {
  if (!device->has(id)) return;
  if (auto& held = values[device->place_of(id)]; !held.is_set()) held.value = value;
}

KEEL_INLINE void configure_devices(std::span<device_knobs const> devices, bool kokkos_runs,
                                   std::span<std::string const> for_kokkos) {
  auto const late = [](std::string const& what) {
    log(log_level::warning,
        what + " has no effect, because the application has started Kokkos. Use a device of keel's before.");
  };
  if (kokkos_runs) {
    for (auto const& d : devices)
      for (auto const& name : d.lost()) late(name);
    for (auto const& word : for_kokkos) late(word);
  }
  for (auto const& d : devices)
    if (!d.device().is_running()) d.device().configure(d.told());
}

} // namespace keel::device

#endif
