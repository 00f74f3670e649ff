// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The devices that keel knows by name, as empty types, and the one trait by
/// which any type becomes a device.

#include <keel/policy/list.hpp>

#include <concepts>
#include <string_view>

namespace keel {

struct serial {
  static constexpr std::string_view name = "serial";
};
struct openmp {
  static constexpr std::string_view name = "openmp";
};
struct threads {
  static constexpr std::string_view name = "threads";
};
struct tbb {
  static constexpr std::string_view name = "tbb";
};
struct cuda {
  static constexpr std::string_view name = "cuda";
  static constexpr bool is_accelerator = true;
};
struct hip {
  static constexpr std::string_view name = "hip";
  static constexpr bool is_accelerator = true;
};
struct sycl {
  static constexpr std::string_view name = "sycl";
  static constexpr bool is_accelerator = true;
};
/// A device on the host with memory of its own, so that residency mistakes show on a laptop.
struct simulated {
  static constexpr std::string_view name = "simulated";
};

/// Every device that keel knows by name, in the order of messages and of the default list. Builds and scripts read this
/// line.
using all_devices = list<serial, openmp, threads, tbb, cuda, hip, sycl, simulated>;

/// What is known of a device. Specialise it, in namespace `keel`, to make a tag
/// of your own a device; `keel/space/devices.hpp` does so for the tags above.
///
/// | member | | meaning |
/// |---|---|---|
/// | `supported` | `static constexpr bool` | compiled in; the members below are optional if it is false |
/// | `preference` | `static constexpr int` | the larger is the default: accelerators 300, host parallel 200, serial 100, simulated devices 0 |
/// | `has_threads`, `has_numa_regions`, `has_instances` | `static constexpr bool` | the knobs this device has |
/// | `execution_space` | type | the Kokkos execution space that runs its kernels |
/// | `available()` | `static bool` | here, now |
/// | `configure(settings)` | `static void` | takes `keel::space::settings`; called before the start, and again when a knob is set |
/// | `is_running()` | `static bool` | optional: whether it is too late to configure; else once Kokkos runs |
/// | `threads()`, `default_threads()`, `max_threads()` | `static int` | with `has_threads`: what runs, what the device takes by itself, what it has places for |
/// | `most_threads()` | `static int` | optional: the most that it takes, with a warning beyond `max_threads()`; else that is the most |
/// | `max_numa_regions()` | `static int` | with `has_numa_regions`: the most that threads can be divided over |
/// | `max_devices()` | `static int` | with `has_instances`: how many are visible |
/// | `device_instance()` | `static int` | with `has_instances`: which one runs |
/// | `own_knobs` | `static constexpr std::array` of `keel::space::own_knob` | optional: other knobs that this device has, by option, with their bounds |
/// | `pci_id(instance)` | `static std::string` | with `has_instances`: `"0000:1b:00.0"`, empty if unknown |
template <class Tag>
struct device_traits {};

namespace policy {

/// Whether `Tag` says of itself that it is an accelerator, with many more threads than a
/// host has cores; a tag that says nothing is none.
template <class Tag>
inline constexpr bool is_accelerator = false;
template <class Tag>
  requires requires { Tag::is_accelerator; }
inline constexpr bool is_accelerator<Tag> = Tag::is_accelerator;

/// A type that can stand in a list of devices: an empty type with a name.
template <class Tag>
concept DeviceTag = requires {
  { Tag::name } -> std::convertible_to<std::string_view>;
};

} // namespace policy
} // namespace keel
