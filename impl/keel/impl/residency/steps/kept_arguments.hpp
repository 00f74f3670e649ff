// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The arguments of a step with which the entries of a graph were recorded.

#include <keel/impl/residency/fields_base.hpp>
#include <keel/impl/schedule/analysis.hpp>
#include <keel/impl/schedule/invoke.hpp>
#include <keel/residency/context.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace keel::residency::detail {

/// Whether two arguments of one type are alike: to the bit, where that is what they are.
template <class T>
bool are_alike(T const& a, T const& b) {
  constexpr bool is_bits = std::is_trivially_copyable_v<T> && (std::is_arithmetic_v<T> || !std::equality_comparable<T>);
  static_assert(
      is_bits || std::equality_comparable<T>,
      "keel::residency::graph: an argument of step or run that a routine of a graph takes cannot be compared (it "
      "is in the message; what is recorded with others is recorded anew). Give it an operator==.");
  if constexpr (is_bits) return std::memcmp(&a, &b, sizeof a) == 0;
  else if constexpr (std::equality_comparable<T>) return a == b;
  else return false;
}
/// See `action::keeps`; for the first `I` of the arguments.
template <class Arguments, std::size_t... I>
bool keep_arguments(std::shared_ptr<void const>& kept, void const* arguments) {
  [[maybe_unused]] auto const& now = *static_cast<Arguments const*>(arguments);
  using copies = std::tuple<std::remove_cvref_t<std::tuple_element_t<I, Arguments>>...>;
  if (kept == nullptr) {
    kept = std::make_shared<copies const>(std::get<I>(now)...);
    return true;
  }
  [[maybe_unused]] auto const& before = *static_cast<copies const*>(kept.get());
  return (are_alike(std::get<I>(before), std::get<I>(now)) && ...);
}
template <class Arguments, std::size_t... I>
constexpr auto keeper(std::index_sequence<I...>) {
  return &keep_arguments<Arguments, I...>;
}
/// How many of the arguments the routines of a group take at most.
template <class App, class Tag, class Arguments>
struct arguments_of_group {
  int most = 0;
  template <std::size_t, class E>
  constexpr void leaf() {
    if constexpr (calls_routine(E::about.what)) {
      using at = typename fields_base<App>::template device_for<typename routine_of<E>::place_type, Tag>;
      most = std::max(most, arguments_taken<routine_of<E>, context<App, routine_of<E>, at>, Arguments>());
    }
  }
  template <std::size_t, class, class Body>
  constexpr void group(Body const& body) {
    body();
  }
};

} // namespace keel::residency::detail
