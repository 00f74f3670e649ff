// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How fields answer what is valid, and, with checked tracking, find what a routine wrote undeclared.

#include <keel/impl/residency/digest.hpp>
#include <keel/policy/error.hpp>
#include <keel/residency/fields.hpp>

#include <string>
#include <vector>

namespace keel::residency {

template <class App, Variable... Vars>
template <Part X, class Tag>
bool fields<App, Vars...>::is_valid(region where, component which) const {
  using item = detail::item<X>;
  if constexpr (!keeps_book) return true;
  memory m = host;
  if constexpr (!std::is_void_v<Tag>) m = memory_of<Tag>;
  return book_.is_valid(number<typename item::variable>, item::level, where, m, which.index);
}

template <class App, Variable... Vars>
void fields<App, Vars...>::check(component which, std::string_view routine) const {
  if (which.index < 0 || which.index >= components())
    throw error("residency", "routine " + std::string(routine) + " wants component " + std::to_string(which.index),
                "there are " + std::to_string(components()), "Ask for an existing one");
}

// What lies in the arrays, less what `E` may change in memory `M`. Waits for all that is under way.
template <class App, Variable... Vars>
template <class E, memory M>
std::vector<detail::digested> fields<App, Vars...>::digest_undeclared(component_range range) {
  settle_host();
  for (int m = 1; m < book_.memories(); ++m)
    if (book_.is_open(memory(m))) provider_.wait(memory(m));
  return detail::digest_all(book_, provider_, duties_of<E, M>::asked.all(), M, range.of(components()));
}

// Nobody knows what the data are that a routine wrote undeclared, so they are lost.
template <class App, Variable... Vars>
void fields<App, Vars...>::find_undeclared(std::vector<detail::digested> const& before, std::vector<detail::digested> const& after,
                                           std::string_view routine) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i].digest == after[i].digest) continue;
    transfer const& t = before[i].what;
    request const lost{t.variable, t.level, region::none, t.where};
    book_.lose({&lost, 1}, {t.component, t.component + 1}, routine);
    throw error("residency::checked", "routine " + std::string(routine) + " changed " + std::string(book_.name(t.variable)) + ", level " +
                std::to_string(t.level) + ", " + std::string(name_of(t.where)) + (components() > 1 ? ", component " + std::to_string(t.component) : "") +
                ", in the memory of " + detail::memory_names(devices{})[std::size_t(t.to)] + ", which it does not declare",
                "by a raw pointer, a cast, or beyond its region", "Add it to its writes or updates");
  }
}

} // namespace keel::residency
