// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What the parts of the bench share: a runtime, applications, and a device that stands for one with memory of its own.

#include <keel/machine/alone.hpp>
#include <keel/residency.hpp>
#include <keel/space/start.hpp>

#include <string>
#include <string_view>

namespace bench {

/// The simulated device without its poison, so that what is timed is what a real one would cost.
struct twin {
  static constexpr std::string_view name = "twin";
};

} // namespace bench

template <>
struct keel::device_traits<bench::twin> : keel::device_traits<keel::simulated> {
  static constexpr int preference = 300;
};

namespace bench {

namespace kr = keel::residency;

using devices = keel::where_supported<keel::list<keel::serial, keel::openmp, keel::cuda, keel::hip, keel::simulated>>;
template <class Tag, class... Tags>
Tag first_of(keel::list<Tag, Tags...>);
/// A device of this build that works on the host's memory.
using host = decltype(first_of(devices{}));

template <class Devices, class Tracking = kr::automatic>
struct application {
  using devices = Devices;
  using ranks = keel::machine::alone;
  using tracking = Tracking;
  using layout = Kokkos::LayoutRight;
};
using two_memories = application<keel::list<host, twin>>;

/// As much of a runtime as fields need.
struct run {
  std::string_view device;
  keel::machine::basic_environment<keel::machine::alone> world = {};
  auto& environment() { return world; }
  [[nodiscard]] std::string_view device_name() const { return device; }
  template <class Tag>
  auto execution_space() {
    return typename keel::device_traits<Tag>::execution_space{};
  }
};

} // namespace bench
