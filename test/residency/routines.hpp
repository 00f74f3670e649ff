// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Routines that say in one line what a test wants of them.

#include <keel/schedule/routine.hpp>

#include <type_traits>

namespace test {

/// Declares, and does nothing.
template <keel::residency::text Name, class Place, class... Clauses>
struct empty : keel::residency::routine<Name, Place, Clauses...> {
  template <class V>
  static void run(V) {}
};

/// Declare a write, or a read, of `Part`.
template <class Part, class Place = keel::residency::on_host>
struct put : empty<"put", Place, keel::residency::writes<Part>> {};
template <class Part, class Place = keel::residency::on_host>
struct see : empty<"see", Place, keel::residency::reads<Part>> {};

/// Calls what it is given on the host, with the view if it takes one, and returns what that returns:
/// `f.run(test::call<kr::reads<x>>{}, [](auto v) { return v(x{})(0); })`.
template <class... Clauses>
struct call : keel::residency::routine<"call", keel::residency::on_host, Clauses...> {
  template <class V, class F>
  static auto run(V v, F& f) {
    if constexpr (std::is_invocable_v<F&>) return f();
    else return f(v);
  }
};

} // namespace test
