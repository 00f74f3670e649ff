// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Kokkos' start and end, as keel needs them: late, with settings, and never twice.

#include <keel/policy/choose.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/list.hpp>
#include <keel/policy/log.hpp>
#include <keel/space/defaults.hpp>
#include <keel/space/devices.hpp>
#include <keel/space/kokkos.hpp>
#include <keel/space/plugins.hpp>
#include <keel/space/settings.hpp>

#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace keel::space {

namespace detail {

/// Whether keel started the Kokkos that runs, and whether it is notified of its end.
struct life {
  bool started_here = false;
  bool watched = false;
};
inline life& kokkos_life() {
  static life state;
  return state;
}

/// Whether a device of this build has a plug-in.
template <class Tag>
inline constexpr bool has_plugin = [] {
  if constexpr (supported<Tag>) return requires { typename device_traits<Tag>::execution_space::plugin; };
  else return false;
}();

/// The command line that Kokkos starts with: the program's name, these settings, then what was given. Refuses a number
/// that Kokkos refuses without a name, ends the program for, or takes for another one.
[[nodiscard]] std::vector<std::string> command_line(std::vector<std::string> const& settings,
                                                    std::vector<std::string> const& given);

/// Throws if a Kokkos that was built for the cards of a device sees none, because it does not start then.
void require_cards(std::string_view device, bool is_there, std::string_view visible_by);
template <class Tag>
using has_cards = std::bool_constant<supported<Tag>&& requires { device_traits<Tag>::visible_by; }>;

/// Settings in the words of this Kokkos' command line. Words, because Kokkos lets the last one win, so that the user's
/// own may follow.
[[nodiscard]] std::vector<std::string> kokkos_words(settings const& wanted);

/// Whether Kokkos reports that it ended. From 3.7 on it starts once in a process.
inline bool has_ended() {
#if KOKKOS_VERSION < 30700
  return false;
#else
  return Kokkos::is_finalized();
#endif
}

/// What `start` does whatever the devices are.
void start_kokkos(std::vector<std::string> const& kokkos_arguments);

} // namespace detail

/// Whether Kokkos runs, started by keel or by the application.
[[nodiscard]] inline bool is_started() { return Kokkos::is_initialized(); }

/// Starts Kokkos for the devices of `List`, unless it runs already.
///
/// Settings are those that `device_traits<Tag>::configure` was given since the
/// last start; `kokkos_arguments` (`--kokkos-…`) come after them and win. Throws
/// if the number in an argument is none, if Kokkos refuses an argument, or if it has ended and cannot
/// start again. Warns of an argument that this Kokkos does not have. Kokkos then prints the four
/// of `Defaults` with its configuration, if the list has a device that Kokkos was not built with.
template <policy::TypeList List, class Defaults = space::defaults>
void start(std::vector<std::string> const& kokkos_arguments = {}) {
  static_assert(require_defaults<Defaults>());
  for_each_device<List>([]<class Tag>(Tag) {
    if constexpr (detail::has_plugin<Tag>) {
      shown_defaults::show<Defaults>();
      detail::enroll<shown_defaults>();
      detail::enroll<typename device_traits<Tag>::execution_space::plugin>();
    }
  });
  detail::start_kokkos(kokkos_arguments);
}

/// Ends Kokkos if `start` started it; else does nothing.
inline void stop() {
  if (is_started() && detail::kokkos_life().started_here) Kokkos::finalize();
}

} // namespace keel::space

#if !KEEL_COMPILED
#include <keel/impl/space/start.ipp>
#endif
