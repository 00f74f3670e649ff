// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How one entry is run, and how a tracked step walks a schedule: what an entry needs is made valid, the entry runs,
/// what it wrote is recorded. A tracked step finds as data what there is to do at each node.

#include <keel/impl/residency/checks.hpp>
#include <keel/impl/residency/device_clock.hpp>
#include <keel/impl/residency/fields_base.hpp>
#include <keel/impl/residency/invoke.hpp>
#include <keel/impl/residency/prefetch.hpp>
#include <keel/policy/macros.hpp>
#include <keel/residency/context.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

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

/// How often the body of a group runs in step `step`.
template <class Arguments>
KEEL_FORCE_INLINE int rounds(entry const& group, std::int64_t step, bool (*holds)(Arguments const&),
                             Arguments const& args) {
  switch (group.what) {
  case entry_kind::every: return step % group.count == 0 ? 1 : 0;
  case entry_kind::when: return holds(args) ? 1 : 0;
  case entry_kind::once: return step <= 1 ? 1 : 0;
  case entry_kind::repeat: return group.count;
  default: return 1;
  }
}

/// Calls routine `R`. What it may have written is lost where it throws, because nothing says how far it came.
template <class App, class R, class Tag, class Arguments>
KEEL_FORCE_INLINE void perform(fields_base<App>& base, std::span<request const> asked, component_range range,
                               Arguments const& args) {
  constexpr memory m = fields_base<App>::template memory_of<Tag>;
  context<App, R, Tag> const given{{base, asked.data(), range}};
  auto const call = [&]() __attribute__((always_inline)) {
    try {
      if constexpr (TimesRoutines<typename fields_base<App>::tracking::observer>) {
        auto const begun = base.ledger_.observer().begin_routine();
        auto ran =
            time_on_device(*base.instances_.template get<Tag>(), [&] { run_and_keep<R>(given, args, base.result_); });
        base.ledger_.observer().end_routine(begun, R::about.name, m, std::move(ran));
      } else {
        run_and_keep<R>(given, args, base.result_);
      }
    } catch (...) {
      base.lose(asked, range, R::about.name);
      throw;
    }
  };
  if constexpr (fields_base<App>::tracking::checks) {
    auto const digests = [&] {
      base.settle_host();
      return digest_undeclared(base.ledger_, base.provider_, asked, m, range.of(base.components()));
    };
    auto const before = digests();
    call();
    refuse_undeclared(base.ledger_, before, digests(), memory_names(devices_of<App>{}), R::about.name);
  } else {
    call();
  }
}

/// The slow path of a routine: copies, several components, and whatever else the fast path's row was replaced for.
template <class App, class Arguments>
[[gnu::noinline, gnu::cold]] void run_slowly(fields_base<App>& base, action<App, Arguments> const& routine,
                                             component_range range, Arguments const& args) {
  base.admit(routine.asked, routine.where, routine.about->name, range);
  profiling_region const region(base.tool(), "routine ", routine.about->name);
  routine.run(base, routine.asked, range, args);
}

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
      a.run = &perform<App, E, at, Arguments>;
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

/// A step in which each entry asks the ledger, and records what it writes.
template <class App, class Arguments>
struct tracked_step {
  fields_base<App>& base;
  schedule_node const* nodes;
  action<App, Arguments> const* actions;
  component_range range;
  Arguments const& args;

  void leaf(std::size_t i) {
    finish(nodes[i].finishes);
    overlapping(nodes[i].overlaps, [&] {
      enter(i);
      prefetch_behind(i);
    });
    finish(nodes[i].finishes_last);
  }
  template <class Body>
  void group(std::size_t i, Body const& body) {
    finish(nodes[i].finishes);
    for (int n = rounds(*nodes[i].about, base.steps_, actions[i].holds, args); n > 0; --n) body();
    if (actions[i].copy_back != nullptr) actions[i].copy_back(base, actions[i].asked, range);
  }
  /// The entry alone.
  void enter(std::size_t i) {
    entry const& about = *nodes[i].about;
    action<App, Arguments> const& a = actions[i];
    if (rotates(about.what)) {
      for (request const& r : a.asked) base.rotate(r.variable, rotation_of(about.what));
      return;
    }
    switch (about.what) {
    case entry_kind::routine:
      if (a.prepare != nullptr) a.prepare(base, about.name);
      return run_slowly(base, a, range, args);
    case entry_kind::exchange: {
      profiling_region const region(base.tool(), nodes[i].only_begins ? "exchange, its beginning" : "exchange", {});
      a.begin_exchange(base, a.asked, a.where, range);
      if (!nodes[i].only_begins) a.finish_exchange(base, a.asked, a.where, range);
      return;
    }
    default: return a.run(base, a.asked, range, args); // output
    }
  }
  void prefetch_behind(std::size_t i) {
    if (actions[i].begin_prefetch != nullptr)
      actions[i].begin_prefetch(base, actions[i].prefetches, actions[i].prefetched, range);
  }
  /// Runs an entry while an exchange is under way, which is finished where the entry throws.
  KEEL_FORCE_INLINE void overlapping(std::uint32_t exchange, auto const& run) {
    try {
      run();
    } catch (...) {
      finish(exchange);
      throw;
    }
  }
  void finish(std::uint32_t exchange) {
    if (exchange == no_node) return;
    profiling_region const region(base.tool(), "exchange, its end", {});
    actions[exchange].finish_exchange(base, actions[exchange].asked, actions[exchange].where, range);
  }
};

} // namespace keel::residency::detail
