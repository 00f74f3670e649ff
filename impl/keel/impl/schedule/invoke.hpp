// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Calls f with the longest prefix of the arguments that it accepts.

#include <keel/policy/macros.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace keel::residency::detail {

/// The arguments of `step` or `run` on their way to routines, as a tuple of references: what the caller keeps may be
/// changed by them, what the caller made for the call may not.
template <class... Args>
using passed_all =
    std::tuple<std::conditional_t<std::is_lvalue_reference_v<Args>, Args, std::remove_reference_t<Args> const&>...>;

template <class R, class V, class... Args>
concept Runs = requires(V v, Args... each) { R::run(v, each...); };
/// What a condition returns: `when` wants a `bool`, `choose` a number, which an enumeration is, too.
template <class T, class As>
concept Answers = (std::is_same_v<As, bool> ? std::convertible_to<T, bool> : std::integral<T> || std::is_enum_v<T>);
template <class C, class As, class... Args>
concept Holds = requires(Args... each) {
  { C::holds(each...) } -> Answers<As>;
};

template <class R, class V, class Arguments, std::size_t... I>
constexpr bool runs_with(std::index_sequence<I...>) {
  return Runs<R, V, std::tuple_element_t<I, Arguments>...>;
}
/// How many of the arguments, the first ones, `R::run(v, …)` takes: as many as it can, up to `N`; -1 if it takes
/// none of these.
template <class R, class V, class Arguments, std::size_t N = std::tuple_size_v<Arguments>>
constexpr int arguments_taken() {
  if constexpr (runs_with<R, V, Arguments>(std::make_index_sequence<N>{})) return int(N);
  else if constexpr (N == 0) return -1;
  else return arguments_taken<R, V, Arguments, N - 1>();
}

// A class with two members called run has none that can be named.
struct has_run {
  void run();
};
template <class R>
struct has_two_runs : R, has_run {};
template <class R>
inline constexpr bool names_run = std::is_final_v<R> || !requires { &has_two_runs<R>::run; };
template <class R, class V, class Arguments, std::size_t... I>
constexpr bool runs_on_object(std::index_sequence<I...>) {
  return requires(R routine, V v, std::tuple_element_t<I, Arguments>... each) { routine.run(v, each...); };
}
template <class R, class V, class Arguments, std::size_t N = std::tuple_size_v<Arguments>>
constexpr bool wants_object() {
  if constexpr (runs_on_object<R, V, Arguments>(std::make_index_sequence<N>{})) return true;
  else if constexpr (N == 0) return false;
  else return wants_object<R, V, Arguments, N - 1>();
}

/// Stands in the compiler's message for routine `R`.
template <class R, class Arguments>
inline constexpr bool run_takes = false;
template <class R, class Arguments, bool WantsObject>
consteval void refuse_run() {
  if constexpr (!names_run<R>)
    static_assert(names_run<R>, "keel::residency: a routine has no run (the routine is in the message). "
                                "Add `template <class V> static void run(V v, ...)` to it.");
  else if constexpr (WantsObject)
    static_assert(run_takes<R, Arguments>,
                  "keel::residency: a routine's run is not static (no object of the routine is made; "
                  "the routine is in the message). Make it a static function.");
  else
    static_assert(run_takes<R, Arguments>,
                  "keel::residency: a routine's run(v, ...) takes neither these arguments nor fewer of them (they are "
                  "those of step or run, in order). Make it a public static function of them; its result is not "
                  "auto if its body is in another source.");
}
template <class R, bool ReturnsNothing>
consteval void require_no_result() {
  static_assert(
      ReturnsNothing || !R::about.in_pieces,
      "keel::residency::in_pieces: a routine's run returns a value (it is called several times, and one result "
      "is not kept of several). Return nothing, or leave in_pieces out.");
}

/// Calls `R::run(v, …)` with the first of `args`, references all, as many as it takes, and returns what it returns.
template <class R, class V, class Arguments>
KEEL_FORCE_INLINE decltype(auto) run_with(V const& v, [[maybe_unused]] Arguments const& args) {
  constexpr int taken = arguments_taken<R, V, Arguments>();
  if constexpr (taken == 0) {
    return R::run(v);
  } else if constexpr (taken > 0) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) -> decltype(auto) {
      return R::run(v, std::get<I>(args)...);
    }(std::make_index_sequence<std::size_t(taken)>{});
  } else {
    refuse_run<R, Arguments, names_run<R> && wants_object<R, V, Arguments>()>(); // once, not for each device
  }
}
/// What a routine returns with such a context and arguments, by value.
template <class R, class V, class Arguments>
using result_of =
    std::remove_cvref_t<decltype(run_with<R>(std::declval<V const&>(), std::declval<Arguments const&>()))>;
/// Runs a routine and keeps the result in the `std::optional` at `result`, if there is one.
template <class R, class V, class Arguments>
KEEL_FORCE_INLINE void run_and_keep(V const& v, Arguments const& args, [[maybe_unused]] void* result) {
  using type = result_of<R, V, Arguments>;
  require_no_result<R, std::is_void_v<type>>();
  if constexpr (std::is_void_v<type>) run_with<R>(v, args);
  else if (result == nullptr) (void)run_with<R>(v, args);
  else static_cast<std::optional<type>*>(result)->emplace(run_with<R>(v, args));
}

/// What `C::holds(…)` returns for the first `N` of `args`, or for fewer.
template <class C, class As, std::size_t N, class Arguments>
As holds_with(Arguments const& args) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) -> As {
    if constexpr (Holds<C, As, std::tuple_element_t<I, Arguments>...>) {
      return static_cast<As>(C::holds(std::get<I>(args)...));
    } else {
      static_assert(
          sizeof...(I) > 0,
          "keel::residency: the condition's holds(...) takes neither these arguments nor fewer of them (they "
          "are those of step, in order). Make it a public static function of them; it returns a bool for when, "
          "a number for choose.");
      if constexpr (sizeof...(I) > 0) return holds_with<C, As, N - 1>(args);
      return {};
    }
  }(std::make_index_sequence<N>{});
}

} // namespace keel::residency::detail
