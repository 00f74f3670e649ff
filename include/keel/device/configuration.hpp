// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The knobs of one device: set, read back, and asked where a value came from.

#include <keel/device/knobs.hpp>
#include <keel/device/log.hpp>
#include <keel/policy/tags.hpp>
#include <keel/space/start.hpp>

#include <optional>
#include <string>

namespace keel {
template <class App>
class runtime;
} // namespace keel

namespace keel::device {

namespace detail {

/// One knob of one device; empty where the device has no such knob.
template <knob Id, bool Has>
struct kept {
  setting<std::optional<int>> held;
};
template <knob Id>
struct kept<Id, false> {};

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

  /// Host threads altogether, divided over the NUMA regions; 1 to `max_threads()`.
  outcome set_threads(int count) { return assign(knob::threads, count, device::source::code); }
  /// NUMA regions that the threads span.
  outcome set_numa_regions(int count) { return assign(knob::numa_regions, count, device::source::code); }
  /// Which of the visible accelerators; 0 to `max_devices()` - 1.
  outcome set_device_instance(int index) { return assign(knob::device_instance, index, device::source::code); }

  /// What really runs once Kokkos runs; before that what was set, else what keel proposes. Empty where
  /// the device has no threads to count.
  [[nodiscard]] std::optional<int> threads() const {
    if constexpr (traits::has_threads) return space::is_started() ? traits::threads() : threads_.held.value;
    return std::nullopt;
  }
  /// The most that `set_threads` takes: several for each hardware thread that this process may use.
  [[nodiscard]] std::optional<int> max_threads() const {
    if constexpr (traits::has_threads) return traits::max_threads();
    return std::nullopt;
  }
  /// What was set, else 1.
  [[nodiscard]] std::optional<int> numa_regions() const {
    if constexpr (traits::has_numa_regions) return numa_regions_.held.value;
    return std::nullopt;
  }
  /// As `threads()`: which one runs, or will. Empty also where there is none to choose from.
  [[nodiscard]] std::optional<int> device_instance() const {
    if constexpr (traits::has_instances) {
      if (space::is_started() && traits::max_devices() > 0) return traits::device_instance();
      return device_instance_.held.value;
    }
    return std::nullopt;
  }
  /// The accelerators that are visible to this process.
  [[nodiscard]] std::optional<int> max_devices() const {
    if constexpr (traits::has_instances) return traits::max_devices();
    return std::nullopt;
  }

  /// Who set the knob; `unset` also where the device does not have it.
  [[nodiscard]] device::source source(knob id) const {
    device::source from = device::source::unset;
    visit(*this, id, [&](auto& held) { from = held.from; });
    return from;
  }

private:
  friend struct slot<Tag>;
  template <class>
  friend class settings;
  template <class>
  friend class keel::runtime;

  configuration() = default;

  /// Calls `f` with the knob's place, where this device has the knob.
  template <class Self, class F>
  static void visit(Self& self, knob id, F f) {
    if constexpr (traits::has_threads)
      if (id == knob::threads) f(self.threads_.held);
    if constexpr (traits::has_numa_regions)
      if (id == knob::numa_regions) f(self.numa_regions_.held);
    if constexpr (traits::has_instances)
      if (id == knob::device_instance) f(self.device_instance_.held);
  }

  /// The largest value that the knob can take here.
  [[nodiscard]] static int bound(knob id) {
    if constexpr (traits::has_threads)
      if (id == knob::threads) return traits::max_threads();
    if constexpr (traits::has_numa_regions)
      if (id == knob::numa_regions) return traits::max_numa_regions();
    if constexpr (traits::has_instances)
      if (id == knob::device_instance) return traits::max_devices() - 1;
    return 0;
  }

  outcome assign(knob id, int value, device::source from) {
    outcome result = outcome::invalid_for_device;
    visit(*this, id, [&](auto& held) {
      if (value < (facts(id).kind == value_kind::count ? 1 : 0)) {
        result = outcome::invalid_value;
      } else if (space::is_started()) {
        result = outcome::not_applied;
        if (!warned_) log(log_level::warning, "setting " + std::string{facts(id).option} + " of " + std::string{Tag::name} +
                                                  " has no effect, because Kokkos runs already. Set it before the first kernel?");
        warned_ = true;
      } else if (value > bound(id)) {
        result = outcome::out_of_bounds;
      } else {
        held.set(value, from);
        result = outcome::success;
      }
    });
    return result;
  }

  /// What keel would take where nobody sets the knob.
  void propose(knob id, int value) {
    visit(*this, id, [&](auto& held) {
      if (!held.is_set()) held.value = value;
    });
  }

  /// What the device is told before the start.
  [[nodiscard]] space::settings values() const {
    space::settings s;
    visit(*this, knob::threads, [&](auto& held) { s.threads = held.value; });
    visit(*this, knob::numa_regions, [&](auto& held) { s.numa_regions = held.value; });
    visit(*this, knob::device_instance, [&](auto& held) { s.device_instance = held.value; });
    return s;
  }

  [[no_unique_address]] detail::kept<knob::threads, traits::has_threads> threads_;
  [[no_unique_address]] detail::kept<knob::numa_regions, traits::has_numa_regions> numa_regions_;
  [[no_unique_address]] detail::kept<knob::device_instance, traits::has_instances> device_instance_;
  static inline bool warned_ = false;
};

/// Where the runtime keeps a configuration: what makes one, so that users cannot.
template <class Tag>
struct slot {
  [[no_unique_address]] configuration<Tag> value{};
};

/// Stands in for the configuration of a device that this build lacks, so that a program written
/// for many devices compiles for few. Sets nothing and knows nothing.
struct absent_configuration {
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
