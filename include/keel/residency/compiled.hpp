// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A routine in a source of its own, so that the source which steps holds no kernel of it.

#include <keel/impl/residency/steps/reductions.hpp>
#include <keel/policy/list.hpp>
#include <keel/residency/context.hpp>

#include <tuple>

namespace keel::residency {

namespace detail {

template <class R, bool IsOne>
consteval void require_one_run() {
  static_assert(IsOne, "keel::residency::compiled: a routine's run is not one template of one type (its address is "
                       "taken for each device; the routine is in the message). Make it "
                       "`template <class V> static void run(V v, ...)`, or leave it in the source that steps.");
}
template <class R, class V>
constexpr auto address_of_run() {
#ifdef __CUDACC__
  constexpr bool is_one = true; // nvcc does not take it for an expression
#else
  constexpr bool is_one = requires { &R::template run<V>; };
#endif
  require_one_run<R, is_one>(); // once, not for each device
  if constexpr (is_one) return std::tuple{&R::template run<V>};
  else return std::tuple{};
}
/// The functions that a step calls of a routine if `Tag` is the device chosen at the start.
template <class App, class R, class Tag>
constexpr auto addresses_on() {
  using at = typename fields_base<App>::template device_for<typename R::place_type, Tag>;
  if constexpr (R::about.where.what == place::kind::at_named && !policy::contains<devices_of<App>, at>)
    return std::tuple{}; // a step with it is refused
  else if constexpr (may_bound<App, at>)
    return std::tuple_cat(address_of_run<R, context<App, R, at>>(),
                          address_of_run<R, context<App, R, at, void, true>>());
  else return address_of_run<R, context<App, R, at>>();
}
template <class App, class R, class... Tags>
constexpr auto addresses_of(keel::list<Tags...>) {
  return std::tuple_cat(addresses_on<App, R, Tags>()...);
}

} // namespace detail

/// Compiles routine `R` for every device of the application's list: `template struct kr::compiled<app, advance>;` in
/// the source that has the body of `advance::run`. Other sources need the declaration only. The routine and `App` have
/// names that other sources can say, and `run` does not return `auto`: neither can be split.
template <class App, Routine R>
struct compiled {
  /// An object that takes the addresses keeps the functions; calls would be inlined.
  static constexpr auto functions = detail::addresses_of<App, R>(detail::devices_of<App>{});
};

} // namespace keel::residency
