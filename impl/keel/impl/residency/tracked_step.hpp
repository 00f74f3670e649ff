// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How one entry is run, and how a tracked step walks a schedule: what an entry needs is made valid, the entry runs,
/// what it wrote is recorded.

#include <keel/impl/residency/actions.hpp>
#include <keel/impl/residency/fields_base.hpp>
#include <keel/impl/residency/invoke.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/macros.hpp>
#include <keel/residency/context.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace keel::residency::detail {

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
    try {
      enter(i);
      prefetch_behind(i);
    } catch (...) {
      finish(nodes[i].overlaps);
      throw;
    }
    finish(nodes[i].finishes_last);
  }
  template <class Body>
  void group(std::size_t i, Body const& body) {
    finish(nodes[i].finishes);
    for (int n = base.rounds(*nodes[i].about, actions[i].holds, args); n > 0; --n) body();
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
      return base.run_slowly(a, range, args);
    case entry_kind::exchange: {
      profiling_region const region(base.listens(), nodes[i].only_begins ? "exchange, its beginning" : "exchange", {});
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
  void finish(std::uint32_t exchange) {
    if (exchange == no_node) return;
    profiling_region const region(base.listens(), "exchange, its end", {});
    actions[exchange].finish_exchange(base, actions[exchange].asked, actions[exchange].where, range);
  }
};

/// How often the body of a group runs now.
template <class App>
template <class Arguments>
KEEL_FORCE_INLINE int fields_base<App>::rounds(entry const& group, bool (*holds)(Arguments const&),
                                               Arguments const& args) const {
  switch (group.what) {
  case entry_kind::every: return steps_ % group.count == 0 ? 1 : 0;
  case entry_kind::when: return holds(args) ? 1 : 0;
  case entry_kind::once: return steps_ <= 1 ? 1 : 0;
  case entry_kind::repeat: return group.count;
  default: return 1;
  }
}

template <class App>
void fields_base<App>::check(component which, component_range of, std::string_view routine) const {
  if (which.index < 0 || which.index >= components())
    throw error("residency", "routine " + std::string(routine) + " wants component " + std::to_string(which.index),
                "there are " + std::to_string(components()), "Ask for an existing one");
  if (which.index < of.begin || which.index >= of.end)
    throw error("residency", "routine " + std::string(routine) + " wants component " + std::to_string(which.index),
                "it runs for component " + std::to_string(of.begin) + " alone, so the others are neither copied nor marked",
                "Run it for all components");
}

// How far a routine came that throws is not known.
template <class App>
template <class R, class Tag, class Arguments>
KEEL_FORCE_INLINE void fields_base<App>::perform(fields_base& self, std::span<request const> asked,
                                                 component_range range, Arguments const& args) {
  context<App, R, Tag> const given{{self, asked.data(), range}};
  auto const call = [&]() __attribute__((always_inline)) {
    try {
      timed(self.ledger_.observer(), R::about.name, memory_of<Tag>,
            [&]() __attribute__((always_inline)) { run_and_keep<R>(given, args, self.result_); });
    } catch (...) {
      self.lose(asked, range, R::about.name);
      throw;
    }
  };
  if constexpr (tracking::checks) {
    auto const digests = [&] {
      self.settle_host();
      return digest_undeclared(self.ledger_, self.provider_, asked, memory_of<Tag>, range.of(self.components()));
    };
    auto const before = digests();
    call();
    refuse_undeclared(self.ledger_, before, digests(), memory_names(devices{}), R::about.name);
  } else {
    call();
  }
}

template <class App>
void fields_base<App>::lose(std::span<request const> asked, component_range range, std::string_view who) {
  apply_pending();
  ledger_.lose(asked, range, who);
}

// The slow path: copies, several components, and whatever else the fast path's row was replaced for.
template <class App>
void fields_base<App>::admit(std::span<request const> asked, memory m, std::string_view routine,
                             component_range range) {
  if (!ledger_.is_ready(asked, m, range)) acquire(asked, m, routine, range);
  if constexpr (may_poison)
    if (poisons_) poison(asked, m, range);
  ledger_.post_call(asked, m, range, routine);
  progress_.now = inside(progress_.now.node());
}

template <class App>
template <class Arguments>
[[gnu::noinline, gnu::cold]] void fields_base<App>::run_slowly(action<App, Arguments> const& routine,
                                                               component_range range, Arguments const& args) {
  admit(routine.asked, routine.where, routine.about->name, range);
  profiling_region const region(listens(), "routine ", routine.about->name);
  routine.run(*this, routine.asked, range, args);
}

template <class App>
void fields_base<App>::poison(std::span<request const> asked, memory m, component_range range) {
  settle_host();
  ledger_.poison(asked, m, range, current_row());
}

template <class App>
void fields_base<App>::rotate(int variable, rotation how) {
  int const levels = ledger_.levels(variable);
  if constexpr (may_poison)
    if (poisons_ && levels > 1) {
      request const freed{variable, how == rotation::cycle ? levels - 1 : 0, region::none, region::everywhere};
      poison({&freed, 1}, memory::none, {0, components()});
    }
  if (defers_updates && progress_.apply_pending != nullptr) ledger_.rotate_buffers(variable, how);
  else ledger_.rotate(variable, how);
}

} // namespace keel::residency::detail
