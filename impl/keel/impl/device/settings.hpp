// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// All knobs of one program, those of its devices and its own.

#include <keel/impl/device/common_settings.hpp>
#include <keel/device/configuration.hpp>
#include <keel/policy/list.hpp>
#include <keel/policy/tuple.hpp>

#include <array>

namespace keel::device {

/// A Hana tuple with one configuration for each device of `Devices`, and the program's own knobs.
template <class Devices>
class settings {
public:
  using devices = policy::to_list<Devices>;

  common_settings common;

  template <class Tag>
  [[nodiscard]] configuration<Tag>& of() {
    return slots_.template get<Tag>().value;
  }
  template <class Tag>
  [[nodiscard]] configuration<Tag> const& of() const {
    return slots_.template get<Tag>().value;
  }

  /// The devices' knobs, in the order of the list.
  [[nodiscard]] auto all() {
    return [this]<class... Tags>(list<Tags...>) {
      return std::array<changeable_knobs, sizeof...(Tags)>{this->template of<Tags>().change()...};
    }(devices{});
  }
  [[nodiscard]] auto all() const {
    return [this]<class... Tags>(list<Tags...>) {
      return std::array<device_knobs, sizeof...(Tags)>{this->template of<Tags>().read()...};
    }(devices{});
  }

private:
  policy::tuple_of<devices, slot> slots_;
};

} // namespace keel::device
