// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Calling what takes some of a step's arguments: as many of the first ones as it can.

#include <keel/policy/macros.hpp>

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace keel::residency::detail {

/// An argument of `step` or `run` on its way to routines: what the caller keeps may be changed by
/// them, what the caller made for the call may not.
template <class Arg>
[[nodiscard]] constexpr std::conditional_t<std::is_lvalue_reference_v<Arg>, Arg, Arg const&> passed(std::remove_reference_t<Arg>& arg) {
  return arg;
}
/// All of them: a tuple of references.
template <class... Args>
using passed_all = std::tuple<std::conditional_t<std::is_lvalue_reference_v<Args>, Args, std::remove_reference_t<Args> const&>...>;

template <class R, class V, class... Args>
concept Runs = requires(V v, Args... each) { R::run(v, each...); };
template <class C, class... Args>
concept Holds = requires(Args... each) {
  { C::holds(each...) } -> std::convertible_to<bool>;
};

/// Calls `R::run(v, …)` with the first `N` of `args`, references all, or with fewer.
template <class R, std::size_t N, class V, class Arguments>
KEEL_VANISHING void run_with(V const& v, Arguments const& args) {
  [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
    if constexpr (Runs<R, V, std::tuple_element_t<I, Arguments>...>) {
      R::run(v, std::get<I>(args)...);
    } else {
      static_assert(sizeof...(I) > 0, "keel::residency: a routine's run(v, ...) takes neither these arguments nor fewer of them (they are "
                                      "those of step or run, in order). Make it a public static function of them?");
      if constexpr (sizeof...(I) > 0) run_with<R, N - 1>(v, args);
    }
  }(std::make_index_sequence<N>{});
}
/// With all of them, or with fewer. A routine that takes none where there are none, as most, costs no more than its call.
template <class R, class V, class Arguments>
KEEL_VANISHING void run_with(V const& v, Arguments const& args) {
  if constexpr (std::tuple_size_v<Arguments> == 0 && Runs<R, V>) R::run(v);
  else run_with<R, std::tuple_size_v<Arguments>>(v, args);
}

/// What `C::holds(…)` says to the first `N` of `args`, or to fewer.
template <class C, std::size_t N, class Arguments>
bool holds_with(Arguments const& args) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) -> bool {
    if constexpr (Holds<C, std::tuple_element_t<I, Arguments>...>) {
      return C::holds(std::get<I>(args)...);
    } else {
      static_assert(sizeof...(I) > 0, "keel::residency::when: the condition's holds(...) takes neither these arguments nor fewer of "
                                      "them (they are those of step, in order). Make it a public static function of them?");
      if constexpr (sizeof...(I) > 0) return holds_with<C, N - 1>(args);
      return false;
    }
  }(std::make_index_sequence<N>{});
}

} // namespace keel::residency::detail
