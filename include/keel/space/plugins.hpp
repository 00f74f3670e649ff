// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Lists of plug-ins: types that start, end, fence and print with Kokkos.

#include <keel/policy/error.hpp>
#include <keel/policy/list.hpp>
#include <keel/space/concepts.hpp>
#include <keel/space/kokkos.hpp>

#include <keel/impl/space/enroll.hpp>

#include <concepts>
#include <string>
#include <string_view>

namespace keel::space {

/// A list of plug-ins, registered together.
///
/// `plugins<A, B>::enroll()` before Kokkos starts is all that is needed, also if the application
/// starts Kokkos. They start in the order of their `order`, among Kokkos' own
/// spaces, and end in reverse before those. If one throws in `initialize`,
/// those that started before it are ended in reverse and the exception passes on.
template <class... Ts>
struct plugins {
  static_assert((requires {
                  { Ts::name } -> std::convertible_to<std::string_view>;
                } && ...), "keel::space::plugins: a plug-in has no name (it is shown and sorted by). "
                           "Add static constexpr std::string_view name.");
  static_assert((requires {
                  { Ts::order } -> std::convertible_to<int>;
                } && ...), "keel::space::plugins: a plug-in has no order (it says when to start). "
                           "Add static constexpr int order.");
  static_assert((requires(settings const& s) { Ts::initialize(s); } && ...),
                "keel::space::plugins: a plug-in has no initialize (it starts with Kokkos). "
                "Add static void initialize(keel::space::settings const&).");
  static_assert((requires { Ts::finalize(); } && ...),
                "keel::space::plugins: a plug-in has no finalize (it ends with Kokkos). "
                "Add static void finalize().");
  static_assert((requires(std::string const& label) { Ts::fence(label); } && ...),
                "keel::space::plugins: a plug-in has no fence (Kokkos::fence waits for all). "
                "Add static void fence(std::string const& label).");
  static_assert((requires(std::ostream& out) { Ts::print_configuration(out, true); } && ...),
                "keel::space::plugins: a plug-in has no print_configuration (Kokkos prints all). "
                "Add static void print_configuration(std::ostream&, bool detail).");
  static_assert(policy::is_unique<list<Ts...>>,
                "keel::space::plugins: a plug-in stands in the list twice (it starts once). Remove one.");

  /// Registers all, or none and throws: one of them is registered already, or Kokkos has started.
  static void enroll() {
    if (Kokkos::is_initialized())
      throw error("space", "plug-ins cannot be registered now", "Kokkos has started", "Register them before");
    (refuse_second<Ts>(), ...);
    (detail::enroll<Ts>(), ...);
  }

private:
  template <class P>
  static void refuse_second() {
    if (detail::events_of<P>.is_enrolled)
      throw error("space", "plug-in '" + std::string(std::string_view(P::name)) + "' is registered already",
                  "each starts once", "Leave it out of one list");
  }
};

} // namespace keel::space
