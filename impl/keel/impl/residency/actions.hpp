// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a tracked step does at each node of a schedule, as data.

#include <keel/impl/residency/checks.hpp>
#include <keel/impl/residency/fields_base.hpp>
#include <keel/impl/residency/invoke.hpp>
#include <keel/impl/residency/prefetch.hpp>
#include <keel/residency/context.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <tuple>

namespace keel::residency::detail {

/// What is done at a node, as data. What no entry of the schedule does is not named, so it is not compiled. No pointers
/// to members: nvcc with --expt-relaxed-constexpr looks for those on the device.
template <class App, class Arguments>
struct action {
  using base = fields_base<App>;
  using exchange_half = void (*)(base&, std::span<request const>, memory, component_range);

  entry const* about = nullptr;
  std::span<request const> asked = {}; ///< of an analysis: what its body asks
  memory where = host;
  void (*prepare)(base&, std::string_view) = nullptr; ///< of a device that is not at hand from the start
  void (*run)(base&, std::span<request const>, component_range, Arguments const&) = nullptr;
  bool (*holds)(Arguments const&) = nullptr;
  exchange_half begin_exchange = nullptr, finish_exchange = nullptr;
  void (*copy_back)(base&, std::span<request const>, component_range) = nullptr;
  void (*begin_prefetch)(base&, std::span<prefetch const>, request const*, component_range) = nullptr;
  std::span<prefetch const> prefetches = {};
  request const* prefetched = nullptr;
};

/// Copies for `output` that declares nothing, then its call.
template <class E, class App, class Index, class Arguments>
void run_output(fields_base<App>& base, std::span<request const>, component_range range, Arguments const& args) {
  base.copy_back_for(E::about.name, range);
  run_with<E>(context<App, E, typename fields_base<App>::host_tag, Index>{{base, nullptr, range}}, args);
}

/// The copies that begin early in `S`, in the numbers of the fields.
template <class App, class S, class Index, class Tag>
inline constexpr auto prefetches_of = [] {
  using table_type = std::remove_cvref_t<decltype(table_of<S>)>;
  prefetch_table<table_type::max_nodes, table_type::max_requests*(lanes_of<devices_of<App>>::size + 1)> made(
      table_of<S>, node_memories<App, S, Tag>::where.data());
  for (std::size_t i = 0; i < made.size; ++i)
    made.requests[i].variable = bound_schedule<S, Index>::numbers[std::size_t(made.requests[i].variable)];
  return made;
}();

/// The actions of all nodes of `S`. Filled by a walk over its types.
template <class App, class Index, class S, class Tag, class Arguments>
struct action_table {
  using base = fields_base<App>;
  static constexpr steps walked = steps::any;
  std::array<action<App, Arguments>, table_of<S>.max_nodes> list{};

  constexpr action_table() { walk_types<0, S>(*this); }
  template <std::size_t N, class E>
  constexpr void leaf() {
    constexpr entry_kind what = E::about.what;
    action<App, Arguments>& a = list[N];
    a.about = &E::about;
    a.asked = bound_schedule<S, Index>::asked(N);
    a.where = node_memories<App, S, Tag>::where[N];
    if constexpr (what == entry_kind::routine) {
      using at = typename base::template device_for<typename E::place_type, Tag>;
      a.run = &base::template perform<E, at, Arguments>;
      if constexpr (E::place_type::where.what == place::kind::at_named)
        a.prepare = [](base& b, std::string_view routine) { b.template prepare<at>(routine); };
    }
    if constexpr (what == entry_kind::output) a.run = &run_output<E, App, Index, Arguments>;
    if constexpr (what == entry_kind::exchange) {
      a.begin_exchange = [](base& b, auto... given) { b.begin_exchange(given...); };
      a.finish_exchange = [](base& b, auto... given) { b.finish_exchange(given...); };
    }
    if constexpr (base::keeps_ledger)
      if constexpr (auto const& table = prefetches_of<App, S, Index, Tag>; table.of(N).size() != 0) {
        a.begin_prefetch = [](base& b, auto... given) { b.begin_prefetch(given...); };
        a.prefetches = table.of(N), a.prefetched = table.requests;
      }
  }
  template <std::size_t N, class E, class Body>
  constexpr void group(Body const& body) {
    if constexpr (E::about.what == entry_kind::when)
      list[N].holds = &holds_with<typename E::condition, std::tuple_size_v<Arguments>, Arguments>;
    if constexpr (E::about.what == entry_kind::analysis && base::keeps_ledger) {
      list[N].copy_back = [](base& b, auto... given) { b.copy_back_written(given...); };
      list[N].asked = bound_schedule<S, Index>::asked_within(N);
    }
    body();
  }
};
template <class App, class Index, class S, class Tag, class Arguments>
inline constexpr action_table<App, Index, S, Tag, Arguments> actions_of{};

} // namespace keel::residency::detail
