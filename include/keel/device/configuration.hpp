// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The knobs of one device: set, read back, and asked where a value came from.

#include <keel/impl/device/device_knobs.hpp>
#include <keel/impl/device/facts_of.hpp>
#include <keel/policy/tags.hpp>
#include <keel/space/settings.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace keel {
template <class App>
class start;
} // namespace keel

namespace keel::device {

namespace detail {

/// The values of the knobs that a device has; nothing where it has none.
template <std::size_t N>
struct values {
  std::array<held_value, N> held{};
  [[nodiscard]] held_value* data() { return held.data(); }
  [[nodiscard]] held_value const* data() const { return held.data(); }
};
template <>
struct values<0> {
  static constexpr held_value* data() { return nullptr; }
};

} // namespace detail

template <class Tag>
struct slot;

/// The knobs of the device `Tag`. Made and owned by the runtime, one for each device of the
/// policy's list; handed out by reference, never copied. A knob that the device lacks costs
/// no storage. Nothing here communicates: values may differ between ranks.
template <policy::DeviceTag Tag>
class configuration {
  using traits = device_traits<Tag>;

public:
  configuration(configuration const&) = delete;
  configuration& operator=(configuration const&) = delete;

  /// Sets any knob of the table. A value is taken until keel starts the device.
  outcome set(knob id, std::int64_t value) { return change().set(id, value); }
  /// What was set, else what keel proposes; once the device runs, what really runs. Empty if it has no such knob,
  /// and if there is nothing to choose from.
  [[nodiscard]] std::optional<std::int64_t> value(knob id) const { return read().value(id); }

  /// Host threads altogether, divided over the NUMA regions; from 1 on, with a warning beyond `max_threads()`.
  outcome set_threads(int count) { return set(knob::threads, count); }
  /// NUMA regions that the threads span.
  outcome set_numa_regions(int count) { return set(knob::numa_regions, count); }
  /// Which of the visible accelerators; 0 to `max_devices()` - 1.
  outcome set_device_instance(int index) { return set(knob::device_instance, index); }

  [[nodiscard]] std::optional<int> threads() const { return value(knob::threads); }
  /// The hardware threads that this process may use.
  [[nodiscard]] std::optional<int> max_threads() const {
    if constexpr (traits::has_threads) return traits::max_threads();
    return std::nullopt;
  }
  [[nodiscard]] std::optional<int> numa_regions() const { return value(knob::numa_regions); }
  [[nodiscard]] std::optional<int> device_instance() const { return value(knob::device_instance); }
  /// The accelerators that are visible to this process.
  [[nodiscard]] std::optional<int> max_devices() const {
    if constexpr (traits::has_instances) return traits::max_devices();
    return std::nullopt;
  }

  /// Who set the knob; `unset` also if the device does not have it.
  [[nodiscard]] device::source source(knob id) const { return read().source(id); }

  /// The values that the knob can take; empty if the device does not have it.
  [[nodiscard]] static std::optional<space::bounds> bounds_of(knob id) {
    return device_knobs{facts_of<Tag>, nullptr}.bounds_of(id);
  }

private:
  friend struct slot<Tag>;
  template <class>
  friend class settings;

  configuration() = default;

  template <class>
  friend class keel::start;
  outcome assign(knob id, std::int64_t value) { return change().assign(id, value, device::source::code); }
  [[nodiscard]] device_knobs read() const { return {facts_of<Tag>, values_.data()}; }
  [[nodiscard]] changeable_knobs change() { return {&facts_of<Tag>, values_.data()}; }

  [[no_unique_address]] detail::values<facts_of<Tag>.count()> values_;
};

/// Where the runtime keeps a configuration: what makes one, so that users cannot.
template <class Tag>
struct slot {
  [[no_unique_address]] configuration<Tag> value{};
};

/// Stands in for a device that this build lacks, so that a program for many devices compiles for few.
struct absent_configuration {
  static constexpr outcome set(knob, std::int64_t) { return outcome::invalid_for_device; }
  static constexpr std::optional<std::int64_t> value(knob) { return std::nullopt; }
  static constexpr outcome set_threads(int) { return outcome::invalid_for_device; }
  static constexpr outcome set_numa_regions(int) { return outcome::invalid_for_device; }
  static constexpr outcome set_device_instance(int) { return outcome::invalid_for_device; }
  static constexpr std::optional<int> threads() { return std::nullopt; }
  static constexpr std::optional<int> max_threads() { return std::nullopt; }
  static constexpr std::optional<int> numa_regions() { return std::nullopt; }
  static constexpr std::optional<int> device_instance() { return std::nullopt; }
  static constexpr std::optional<int> max_devices() { return std::nullopt; }
  static constexpr device::source source(knob) { return device::source::unset; }
};

} // namespace keel::device
