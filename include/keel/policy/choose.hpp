// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Calling a function for every device of a list, or for the one with a given name.

#include <keel/policy/list.hpp>
#include <keel/policy/tags.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace keel {

/// Calls `f(tag)` for each device of `List`, in order. Unrolled: no table, no loop.
template <policy::TypeList List, class F>
constexpr void for_each_device(F&& f) {
  [&]<policy::DeviceTag... Tags>(list<Tags...>) { ((void)f(Tags{}), ...); }(policy::to_list<List>{});
}

namespace policy {

/// A letter of ASCII as a small one, as names of devices are made of.
[[nodiscard]] constexpr char in_small(char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; }

/// Whether two names are the same, whole, in whatever case they are written.
[[nodiscard]] constexpr bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return in_small(x) == in_small(y); });
}

} // namespace policy

/// Calls `f(tag)` for the device of `List` called `name`, in any case; false, and no call, if
/// there is none. The first of two wins.
template <policy::TypeList List, class F>
constexpr bool with_device(std::string_view name, F&& f) {
  return [&]<policy::DeviceTag... Tags>(list<Tags...>) {
    return ((policy::same_name(name, Tags::name) ? ((void)f(Tags{}), true) : false) || ...);
  }(policy::to_list<List>{});
}

namespace policy {

/// The names of the devices of `List` as one text, `"serial, cuda"`, for messages.
template <TypeList List>
[[nodiscard]] constexpr std::string names(std::string_view separator = ", ") {
  std::string text;
  for_each_device<List>([&]<class Tag>(Tag) {
    if (!text.empty()) text += separator;
    text += std::string_view{Tag::name};
  });
  return text;
}

} // namespace policy
} // namespace keel
