// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a device's traits say of its knobs.

#include <keel/impl/device/device_knobs.hpp>
#include <keel/policy/tags.hpp>
#include <keel/space/start.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace keel::device {

namespace detail {

/// The bounds of each knob of the devices that have it, and what runs; by `knob`.
template <class Traits>
constexpr std::array<std::optional<knob_of_device>, space::knobs.size()> knobs_of_device() {
  std::array<std::optional<knob_of_device>, space::knobs.size()> all{};
  auto const at = [&](knob id) -> std::optional<knob_of_device>& { return all[std::size_t(id)]; };
  if constexpr (Traits::has_threads)
    at(knob::threads) = knob_of_device{[] {
                                         std::int64_t const here = Traits::max_threads();
                                         if constexpr (requires { Traits::most_threads(); })
                                           return space::bounds{1, Traits::most_threads(), here};
                                         else return space::bounds{1, here};
                                       },
                                       []() -> std::optional<std::int64_t> { return Traits::threads(); }};
  if constexpr (Traits::has_numa_regions)
    at(knob::numa_regions) = knob_of_device{[] { return space::bounds{1, Traits::max_numa_regions()}; }};
  if constexpr (Traits::has_instances)
    at(knob::device_instance) = knob_of_device{[] { return space::bounds{0, Traits::max_devices() - 1}; },
                                               []() -> std::optional<std::int64_t> {
                                                 if (Traits::max_devices() == 0) return std::nullopt;
                                                 return Traits::device_instance();
                                               }};
  if constexpr (requires { Traits::own_knobs; })
    for (space::own_knob const& own : Traits::own_knobs) {
      std::size_t row = 0;
      while (space::knobs[row].option != own.option) ++row; // a name that no row has does not compile
      all[row] = knob_of_device{own.values};
    }
  return all;
}

template <class Tag>
inline constinit std::atomic<unsigned> told_of{0};

template <class Tag>
constexpr device_facts make_facts() {
  using traits = device_traits<Tag>;
  constexpr bool starts_itself = requires { traits::is_running(); };
  device_facts made{.name = Tag::name,
                    .knobs = knobs_of_device<traits>(),
                    .told = &told_of<Tag>,
                    .starts_itself = starts_itself,
                    .configure = [](space::settings const& s) { traits::configure(s); },
                    .is_running = &space::is_started};
  if constexpr (starts_itself) made.is_running = [] { return bool{traits::is_running()}; };
  if constexpr (traits::has_threads) made.default_threads = [] { return int{traits::default_threads()}; };
  if constexpr (traits::has_instances) {
    made.max_devices = [] { return int{traits::max_devices()}; };
    made.pci_id = [](int instance) { return std::string{traits::pci_id(instance)}; };
  }
  return made;
}

} // namespace detail

template <class Tag>
inline constexpr device_facts facts_of = detail::make_facts<Tag>();

} // namespace keel::device
