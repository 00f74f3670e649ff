// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How fields know whose data a view shows.

#include <keel/impl/residency/fields_base.hpp>
#include <keel/policy/error.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace keel::residency::detail {

/// Whose elements a caller's view shows; empty for a view without elements. Throws where a routine runs.
template <class App>
template <class View>
std::optional<owner> fields_base<App>::owner_of(View const& v, std::string_view call) const {
  require_idle(call);
  if (v.size() == 0) return std::nullopt;
  std::size_t const bytes = v.span() * sizeof(typename View::value_type);
  if (std::optional<owner> const found = provider_.owner_of(v.data(), bytes)) return found;
  throw error("residency", "the view '" + v.label() + "' shows no variable of these fields",
              "its " + std::to_string(bytes) + " bytes do not lie in one of their arrays",
              "Take it from v in a routine, or a piece of such a view");
}

// The caller works on the array without a queue of keel's, so all that is queued for it has to be done.
template <class App>
void fields_base<App>::acquire_from_outside(request const& one, owner const& o) {
  settle_host();
  if constexpr (keeps_ledger) {
    acquire({&one, 1}, o.where, "the caller", {o.component, o.component + 1});
    if (o.where != host) provider_.wait(o.where);
  }
}

template <class App>
template <class View>
void fields_base<App>::require_valid_data(View const& v, region where) {
  bool const may_write = std::is_same_v<typename View::value_type, typename View::non_const_value_type>;
  if (auto const o = owner_of(v, "require_valid_data"))
    acquire_from_outside({o->variable, o->level, where, may_write ? where & region::everywhere : region::none}, *o);
}

template <class App>
template <class View>
void fields_base<App>::require_invalid_data(View const& v, region where) {
  static_assert(std::is_same_v<typename View::value_type, typename View::non_const_value_type>,
                "keel::residency: data cannot be overwritten through a view of const elements. Ask with the other one?");
  if (auto const o = owner_of(v, "require_invalid_data"))
    acquire_from_outside({o->variable, o->level, region::none, where & region::everywhere}, *o);
}

template <class App>
template <class View>
void fields_base<App>::notify_data_modified(View const& v, region where) {
  static_assert(std::is_same_v<typename View::value_type, typename View::non_const_value_type>,
                "keel::residency: data cannot have been modified through a view of const elements. Say so of the other one?");
  auto const o = owner_of(v, "notify_data_modified");
  if (!o) return;
  if constexpr (keeps_ledger) {
    if (!o->is_whole && !ledger_.is_valid(o->variable, o->level, where, o->where, o->component))
      throw error("residency",
                  "a piece of " + std::string(ledger_.name(o->variable)) + " was written where the rest of its " +
                      std::string(name_of(where)) + " is not valid",
                  "what it holds beside the piece is stale", "Ask for it by require_valid_data before");
    ledger_.notify_data_modified(o->variable, o->level, where, o->where, {o->component, o->component + 1});
  }
}

} // namespace keel::residency::detail
