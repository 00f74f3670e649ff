// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The numbers and cells of a list of variables, as constants.

#include <keel/residency/routine.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

namespace keel::residency::detail {

/// A list of variables: each has a number, and its levels stand one behind the other.
template <class... Vars>
struct variable_index {
  static constexpr std::size_t size = sizeof...(Vars);
  static constexpr variable_info const* list[sizeof...(Vars) + 1] = {&Vars::about..., nullptr};

  template <int N>
  using variable = std::tuple_element_t<std::size_t(N), std::tuple<Vars...>>;
  /// The variable's number; -1 where the list lacks it.
  static constexpr int find(variable_info const* v) {
    std::size_t first = 0;
    for (std::size_t left = sizeof...(Vars); left > 0;) {
      std::size_t const half = left / 2;
      if (by_key[first + half].first < v->key) first += half + 1, left -= half + 1;
      else left = half;
    }
    for (; first < sizeof...(Vars) && by_key[first].first == v->key; ++first)
      if (*list[std::size_t(by_key[first].second)] == *v) return by_key[first].second;
    return -1;
  }
  /// Keys and numbers, in the order of keys: a compiler searches often.
  static constexpr auto by_key = [] {
    std::array<std::pair<std::uint64_t, int>, sizeof...(Vars) + 1> made{};
    for (std::size_t i = 0; i < sizeof...(Vars); ++i) made[i] = {list[i]->key, int(i)};
    std::sort(made.begin(), made.end() - 1);
    return made;
  }();
  static constexpr std::array<std::uint32_t, sizeof...(Vars) + 1> first_cell = [] {
    std::array<std::uint32_t, sizeof...(Vars) + 1> first{};
    for (std::size_t i = 0; i < sizeof...(Vars); ++i) first[i + 1] = first[i] + std::uint32_t(list[i]->levels);
    return first;
  }();
  static constexpr std::size_t cell_count = first_cell[sizeof...(Vars)];
  static constexpr bool is_unique = [] {
    for (std::size_t i = 0; i < sizeof...(Vars); ++i)
      for (std::size_t j = i; j > 0 && by_key[j - 1].first == by_key[i].first; --j)
        if (*list[std::size_t(by_key[j - 1].second)] == *list[std::size_t(by_key[i].second)]) return false;
    return true;
  }();
};

template <class X, class Index>
inline constexpr bool is_in_fields = Index::find(&item<X>::variable::about) >= 0;
template <class Index, class X>
consteval void require_variable() {
  static_assert(is_in_fields<X, Index>,
                "keel::residency: a routine or an exchange names a variable that these fields do not have (see the "
                "variable and the entry in the message). Add it to fields<App, ...>?");
}
/// Stops the compiler where the fields with this index lack a variable that `E` names.
template <class E, class Index>
consteval void require_variables() {
  auto const of = []<class... Xs>(keel::list<Xs...>) { (require_variable<Index, Xs>(), ...); };
  if constexpr (E::about.what == entry_kind::routine)
    [&]<class... Clauses>(keel::list<Clauses...>) { (of(typename Clauses::parts{}), ...); }(typename E::clause_types{});
  else of(typename E::parts{});
}

} // namespace keel::residency::detail
