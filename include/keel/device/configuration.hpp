// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The knobs of one device: set, read back, and asked where a value came from.

#include <keel/device/log.hpp>
#include <keel/device/table.hpp>
#include <keel/policy/tags.hpp>
#include <keel/space/start.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace keel {
template <class App>
class runtime;
template <class App>
class start;
} // namespace keel

namespace keel::device {

/// Whether Kokkos' start takes the knobs of the device; else the device does so by itself, later too.
template <class Tag>
inline constexpr bool is_started_by_kokkos = !requires { device_traits<Tag>::is_running(); };

namespace detail {

/// The values of the knobs that a device has; nothing where it has none.
template <std::size_t N>
struct values {
  std::array<setting<std::optional<std::int64_t>>, N> held{};
};
template <>
struct values<0> {};

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
  outcome set(knob id, std::int64_t value) {
    outcome const result = assign(id, value, device::source::code);
    if (result == outcome::success) {
      tell_of_excess(id);
      if constexpr (!is_started_by_kokkos<Tag>) traits::configure(values());
    }
    if (result == outcome::not_applied) tell_too_late(id);
    return result;
  }
  /// What was set, else what keel proposes; once the device runs, what really runs. Empty where it has no such knob,
  /// and where there is nothing to choose from.
  [[nodiscard]] std::optional<std::int64_t> value(knob id) const {
    std::optional<std::int64_t> found;
    visit(*this, id, [&](auto const& row, auto const& held) {
      found = held.value;
      if constexpr (!std::is_null_pointer_v<decltype(row.running)>)
        if (is_running())
          if (auto const real = row.running(of<traits>{})) found = real;
    });
    return found;
  }

  /// Host threads altogether, divided over the NUMA regions; from 1 on, with a warning beyond `max_threads()`.
  outcome set_threads(int count) { return set(knob::threads, count); }
  /// NUMA regions that the threads span.
  outcome set_numa_regions(int count) { return set(knob::numa_regions, count); }
  /// Which of the visible accelerators; 0 to `max_devices()` - 1.
  outcome set_device_instance(int index) { return set(knob::device_instance, index); }

  [[nodiscard]] std::optional<int> threads() const { return as_int(value(knob::threads)); }
  /// The hardware threads that this process may use.
  [[nodiscard]] std::optional<int> max_threads() const {
    if constexpr (traits::has_threads) return traits::max_threads();
    return std::nullopt;
  }
  [[nodiscard]] std::optional<int> numa_regions() const { return as_int(value(knob::numa_regions)); }
  [[nodiscard]] std::optional<int> device_instance() const { return as_int(value(knob::device_instance)); }
  /// The accelerators that are visible to this process.
  [[nodiscard]] std::optional<int> max_devices() const {
    if constexpr (traits::has_instances) return traits::max_devices();
    return std::nullopt;
  }

  /// Who set the knob; `unset` also where the device does not have it.
  [[nodiscard]] device::source source(knob id) const {
    device::source from = device::source::unset;
    visit(*this, id, [&](auto const&, auto const& held) { from = held.from; });
    return from;
  }

  /// The values that the knob can take; empty where the device does not have it.
  [[nodiscard]] static std::optional<space::bounds> bounds_of(knob id) {
    std::optional<space::bounds> found;
    for_each_device_row([&]<class Row>(Row const& row) {
      if constexpr (KnobOf<Row, Tag>)
        if (row.id == id) found = row.bounds(of<traits>{});
    });
    return found;
  }

private:
  friend struct slot<Tag>;
  template <class>
  friend class settings;
  template <class>
  friend class keel::runtime;
  template <class>
  friend class keel::start;

  configuration() = default;
  static constexpr std::size_t own_knobs = [] {
    std::size_t n = 0;
    for_each_device_row([&]<class Row>(Row const&) { n += KnobOf<Row, Tag>; });
    return n;
  }();
  static std::optional<int> as_int(std::optional<std::int64_t> value) {
    return value ? std::optional{static_cast<int>(*value)} : std::nullopt;
  }

  /// Calls `f(row, held)` for each knob that this device has.
  template <class Self, class F>
  static constexpr void visit_all([[maybe_unused]] Self& self, [[maybe_unused]] F&& f) {
    [[maybe_unused]] std::size_t at = 0;
    if constexpr (own_knobs > 0)
      for_each_device_row([&]<class Row>(Row const& row) {
        if constexpr (KnobOf<Row, Tag>) f(row, self.values_.held[at++]);
      });
  }
  /// The same for one; nothing where the device lacks it.
  template <class Self, class F>
  static constexpr void visit(Self& self, knob id, F&& f) {
    visit_all(self, [&](auto const& row, auto& held) {
      if (row.id == id) f(row, held);
    });
  }

  /// Whether this device runs; one of keel's own may start after Kokkos.
  [[nodiscard]] static bool is_running() {
    if constexpr (is_started_by_kokkos<Tag>) return space::is_started();
    else return traits::is_running();
  }

  outcome assign(knob id, std::int64_t value, device::source from) {
    outcome result = outcome::invalid_for_device;
    visit(*this, id, [&](auto const& row, auto& held) {
      auto const allowed = row.bounds(of<traits>{});
      if (value < 0 || (value == 0 && allowed.least > 0)) {
        result = outcome::invalid_value;
      } else if (is_running()) {
        result = outcome::not_applied;
      } else if (value < allowed.least || value > allowed.most) {
        result = outcome::out_of_bounds;
      } else {
        held.set(value, from);
        result = outcome::success;
      }
    });
    return result;
  }

  /// Says once for each knob that it came too late.
  static void tell_too_late(knob id) {
    if (std::exchange(told_[static_cast<std::size_t>(id)], true)) return;
    log(log_level::warning, "setting " + std::string{facts(id).option} + " of " + std::string{Tag::name} +
                                " has no effect, because Kokkos runs already. Set it before the first kernel?");
  }
  /// Says that a value is more than this machine has, where it is.
  void tell_of_excess(knob id) const {
    visit(*this, id, [&](auto const& row, auto const& held) {
      if (auto const here = row.bounds(of<traits>{}).advised; held.value && *held.value > here)
        log(log_level::warning, std::string{row.option} + " of " + std::string{Tag::name} + " is " +
                                    row.kind.show(*held.value) + ", more than the " + row.kind.show(here) +
                                    " that this process may use, so some wait for others");
    });
  }

  /// The knobs that were set, in words, where something else runs.
  [[nodiscard]] std::vector<std::string> lost() const {
    std::vector<std::string> names;
    visit_all(*this, [&](auto const& row, auto const& held) {
      if (held.is_set() && is_running() && value(row.id) != held.value)
        names.push_back(std::string{row.option} + "=" + row.kind.show(*held.value) + " of " + std::string{Tag::name});
    });
    return names;
  }

  /// What keel takes where the knob is not set.
  void propose(knob id, std::int64_t value) {
    visit(*this, id, [&](auto const&, auto& held) {
      if (!held.is_set()) held.value = value;
    });
  }

  /// What the device is told before the start; or only the part of it that was set.
  [[nodiscard]] space::settings values(bool only_set = false) const {
    space::settings told;
    visit_all(*this, [&](auto const& row, auto const& held) {
      using number = typename std::remove_cvref_t<decltype(told.*row.place)>::value_type;
      if (held.value && (held.is_set() || !only_set)) told.*row.place = static_cast<number>(*held.value);
    });
    return told;
  }

  [[no_unique_address]] detail::values<own_knobs> values_;
  static inline std::array<bool, knob_count> told_{};
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
