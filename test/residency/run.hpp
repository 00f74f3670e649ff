// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The test's own runtime: an environment, the name of a device and what a user says, and Kokkos running; and a device
/// of the test's own.

#include <keel/machine/environment.hpp>
#include <keel/machine/selection.hpp>
#include <keel/policy/list.hpp>
#include <keel/schedule/routine.hpp>
#include <keel/space/devices.hpp>
#include <keel/space/kokkos.hpp>
#include <keel/validity/settings.hpp>
#include <keel/validity/tracking.hpp>

#include <string_view>
#include <utility>

namespace test {

/// The simulated device without its poison: as a real one, it leaves alone what nobody asked it to write.
struct twin {
  static constexpr std::string_view name = "twin";
};

} // namespace test

template <>
struct keel::device_traits<test::twin> : keel::device_traits<keel::simulated> {
  static constexpr int preference = 300;
};

namespace test {

template <class Tag, class... Tags>
Tag first_of(keel::list<Tag, Tags...>);
/// A device of this build that works on the host's memory.
using host = decltype(first_of(keel::where_supported<keel::list<keel::serial, keel::openmp>>{}));

template <class Ranks = keel::machine::alone>
struct run {
  explicit run(std::string_view device, keel::residency::settings settings = {})
      : how(std::move(settings)), device_(device) {}
  /// On so many ranks of the world.
  run(std::string_view device, int ranks)
      : environment_(keel::machine::basic_environment<Ranks>(), keel::machine::first{ranks}), device_(device) {}

  keel::machine::basic_environment<Ranks>& environment() { return environment_; }
  [[nodiscard]] std::string_view device_name() const { return device_; }
  [[nodiscard]] keel::residency::settings const& residency_settings() const { return how; }
  template <class Tag>
  [[nodiscard]] auto execution_space() {
    return typename keel::device_traits<Tag>::execution_space{};
  }

  keel::residency::settings how;

private:
  keel::machine::basic_environment<Ranks> environment_;
  std::string_view device_;
};

template <class Devices, class Tracking = keel::residency::automatic, class Layout = Kokkos::LayoutRight,
          class Ranks = keel::machine::alone, class Exchange = keel::residency::on_host>
struct application {
  using devices = Devices;
  using ranks = Ranks;
  using tracking = Tracking;
  using layout = Layout;
  using exchange = Exchange;
};

} // namespace test
