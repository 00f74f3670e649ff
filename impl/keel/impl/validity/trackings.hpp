// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The trackings of an application's policy, and which of them a run takes.

#include <keel/policy/error.hpp>
#include <keel/policy/list.hpp>
#include <keel/validity/settings.hpp>
#include <keel/validity/tracking.hpp>

#include <string>
#include <string_view>
#include <type_traits>

namespace keel::residency::detail {

template <class T>
inline constexpr bool is_tracking = Tracking<T>; // a concept would bring its own errors along
template <class T>
consteval bool require_tracking() {
  static_assert(is_tracking<T>,
                "keel::residency: the tracking of the application's policy is no tracking (the policy is "
                "in the message). Say keel::residency::off, automatic, checked, or traced "
                "and include keel/validity/trace.hpp.");
  return is_tracking<T>;
}
template <class T>
using checked_tracking = std::bool_constant<require_tracking<T>()>;
template <class T>
struct tracking_list : std::type_identity<keel::list<T>> {};
template <class... Ts>
struct tracking_list<keel::list<Ts...>> : std::type_identity<keel::list<Ts...>> {};

/// How a run of the application is tracked: one of the policy's `tracking`, chosen at the start.
struct tracking_choice {
  std::string_view name;
  bool tracks, checks;
};
/// The policy's trackings, the first of which is the default; `automatic` if it has none, so that no error follows the
/// first.
template <class App>
struct tracking_of {
  using known = policy::filter<typename tracking_list<typename App::tracking>::type, checked_tracking>;
  using list = std::conditional_t<known::size == 0, keel::list<automatic>, known>;
  template <class T>
  static constexpr tracking_choice choice_of = [] {
    std::string_view name;
    if constexpr (requires { T::name; }) name = T::name;
    return tracking_choice{name, T::tracks, T::checks};
  }();
  static constexpr bool may_track = []<class... Ts>(keel::list<Ts...>) { return (Ts::tracks || ...); }(list{});
  static constexpr bool may_time = []<class... Ts>(keel::list<Ts...>) {
    return (TimesRoutines<typename Ts::observer> || ...);
  }(list{});
  static constexpr bool may_check = []<class... Ts>(keel::list<Ts...>) { return (Ts::checks || ...); }(list{});

  template <class Run>
  static tracking_choice chosen(Run const& run) {
    tracking_choice found{};
    choose(run, [&]<class T>(std::type_identity<T>) { found = choice_of<T>; });
    return found;
  }
  /// Calls `f(std::type_identity<T>)` for the tracking that the runtime's settings name.
  template <class Run>
  static void choose([[maybe_unused]] Run const& run, auto const& f) {
    settings how;
    if constexpr (requires { run.residency_settings(); }) how = run.residency_settings();
    [&]<class First, class... Ts>(keel::list<First, Ts...>) {
      auto const is_it = [&]<class T>(std::type_identity<T> it) {
        bool const found = choice_of<T>.name == how.tracking;
        if (found) f(it);
        return found;
      };
      if (how.tracking.empty()) return f(std::type_identity<First>{});
      if (is_it(std::type_identity<First>{}) || (is_it(std::type_identity<Ts>{}) || ...)) return;
      std::string names{choice_of<First>.name};
      ((names += ", " + std::string(choice_of<Ts>.name)), ...);
      throw error("residency", how.tracking_name + " names '" + how.tracking + "'",
                  "no tracking of this program is called so: its policy was compiled with " + names,
                  "Choose one of them, or add it to `using tracking`");
    }(list{});
  }
};

} // namespace keel::residency::detail
