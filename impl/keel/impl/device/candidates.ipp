// SPDX-License-Identifier: MIT
#include <keel/impl/device/candidates.hpp>
#include <keel/impl/device/table.hpp>
#include <keel/policy/choose.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/nearest.hpp>

#include <algorithm>

namespace keel::device {

namespace detail {

[[nodiscard]] inline std::string names_of(std::span<candidate const> all) {
  std::string text;
  for (auto const& c : all) text.append(text.empty() ? "" : ", ").append(c.name);
  return text;
}

/// The candidate called `name`. Refuses what is none.
[[nodiscard]] inline candidate const& named(std::span<candidate const> all, std::string const& name,
                                            std::string const& said) {
  for (auto const& c : all)
    if (policy::same_name(name, c.name)) return c;
  std::string const list = "its list of devices, less those that this build lacks, is " + names_of(all);
  for (auto const known : known_devices)
    if (policy::same_name(known, name))
      throw error("device", said + "this program was built without the device '" + name + "'", list,
                  "Take one of them");
  auto const near = policy::nearest(name, all, [](candidate const& c) { return c.name; });
  bool const is_near = policy::edit_distance(name, near) * 2 < near.size();
  throw error("device", said + "there is no device '" + name + "'", list,
              is_near ? "Did you mean " + std::string{near} : "Take one of them");
}

} // namespace detail

KEEL_INLINE std::vector<std::string_view> choose_devices(std::span<candidate const> all, std::string_view asked,
                                                         std::string const& said) {
  std::vector<std::string_view> chain;
  auto const add = [&](candidate const& c) {
    if (c.is_available() && std::find(chain.begin(), chain.end(), c.name) == chain.end()) chain.push_back(c.name);
  };
  if (policy::same_name(asked, "any")) {
    for (auto const& c : all) add(c);
  } else if (!asked.empty()) {
    for (std::size_t at = 0; at <= asked.size();) {
      std::size_t const end = std::min(asked.find(',', at), asked.size());
      add(detail::named(all, std::string{asked.substr(at, end - at)}, said));
      at = end + 1;
    }
  } else {
    candidate const* best = nullptr;
    for (auto const& c : all)
      if (c.is_available() && (best == nullptr || c.preference > best->preference)) best = &c;
    if (best != nullptr) add(*best);
    for (auto const& c : all) add(c);
  }
  if (!chain.empty()) return chain;
  auto const hint = [&](std::string const& other) { // a Kokkos that was built for cards does not start without one
    for (auto const& c : all)
      if (!c.visible_by.empty())
        return "Set " + std::string{c.visible_by} + " to the cards that this process may use, or unset it";
    return other;
  };
  if (asked.empty())
    throw error("device", "no device is available", "the list of devices is '" + detail::names_of(all) + "'",
                hint("Add keel::serial to it"));
  throw error("device", said + "the device '" + std::string{asked} + "' is not available",
              "it is compiled in, but none is here", hint("Take one of " + detail::names_of(all)));
}

} // namespace keel::device
