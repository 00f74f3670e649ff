// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Which devices of a list may run, the best first.

#include <keel/impl/device/runtime_core.hpp>
#include <keel/policy/list.hpp>
#include <keel/space/defaults.hpp>
#include <keel/space/devices.hpp>

#include <array>
#include <concepts>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace keel::device {

namespace detail {

template <class Space, class... Tags>
consteval bool has_space(list<Tags...>) {
  return (std::same_as<typename device_traits<Tags>::execution_space, Space> || ...);
}

/// How much a device is preferred: one that the policy names as its default above all others, unless keel itself
/// prefers that.
template <class Tag, class Default>
inline constexpr int preference = std::same_as<typename device_traits<Tag>::execution_space, Default> &&
                                          !std::same_as<Default, space::detail::preferred_space>
                                      ? std::numeric_limits<int>::max()
                                      : device_traits<Tag>::preference;

template <class Tag>
inline constexpr std::string_view visible_by{};
template <class Tag>
  requires requires { device_traits<Tag>::visible_by; }
inline constexpr std::string_view visible_by<Tag> = device_traits<Tag>::visible_by;

} // namespace detail

/// The default execution space of an application if a device of the list has it; else `void`.
template <class Devices, class App>
using default_in = std::conditional_t<detail::has_space<typename App::default_execution_space>(Devices{}),
                                      typename App::default_execution_space, void>;

/// The devices of a list, of which the one whose space is `Default` is preferred.
template <class Devices, class Default>
inline constexpr auto candidates = []<class... Tags>(list<Tags...>) {
  return std::array<candidate, sizeof...(Tags)>{
      candidate{Tags::name, &available<Tags>, detail::preference<Tags, Default>, detail::visible_by<Tags>}...};
}(policy::to_list<Devices>{});

/// Those of a list, see keel/impl/device/runtime_core.hpp.
template <class Devices, class Default = space::detail::preferred_space>
[[nodiscard]] std::vector<std::string_view> choose_devices(std::string_view asked, std::string const& said = {}) {
  return choose_devices(candidates<Devices, Default>, asked, said);
}

} // namespace keel::device
