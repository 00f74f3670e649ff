// SPDX-License-Identifier: MIT
#include <keel/impl/device/device_knobs.hpp>
#include <keel/impl/device/table.hpp>

#include <cstddef>
#include <cstdlib>

namespace keel::device {

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
    if (held(id).value && (held(id).is_set() || !only_set)) space::knobs[std::size_t(id)].set(all, *held(id).value);
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

KEEL_INLINE kokkos_variables::kokkos_variables() = default;
KEEL_INLINE kokkos_variables::~kokkos_variables() {
  for (auto at = before_.rbegin(); at != before_.rend(); ++at) {
    if (at->value) setenv(at->name, at->value->c_str(), 1);
    else unsetenv(at->name);
  }
}

KEEL_INLINE void kokkos_variables::set(std::span<device_knobs const> devices) {
  space::settings proposed, said;
  for (auto const& d : devices) {
    if (d.device().starts_itself) {
      d.device().configure(d.told());
      continue;
    }
    space::merge(proposed, d.told());
    space::merge(said, d.told(true));
  }
  set("KOKKOS_NUM_THREADS", proposed.threads, said.threads);
  set("KOKKOS_NUMA", proposed.numa_regions, said.numa_regions);
  set("KOKKOS_DEVICE_ID", proposed.device_instance, said.device_instance);
}

KEEL_INLINE void kokkos_variables::set(char const* name, std::optional<int> proposed, std::optional<int> said) {
  char const* const old = std::getenv(name);
  if (!(said || (proposed && old == nullptr))) return;
  before_.push_back({name, old == nullptr ? std::nullopt : std::optional<std::string>{old}});
  setenv(name, std::to_string(said ? *said : *proposed).c_str(), 1);
}

} // namespace keel::device
