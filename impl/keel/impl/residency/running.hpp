// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How a routine is performed, and how a tracked step walks a schedule as data: what an entry needs is made valid, the
/// entry runs, what it wrote is marked.

#include <keel/impl/residency/holdings.hpp>
#include <keel/impl/residency/invoke.hpp>
#include <keel/impl/residency/siblings.hpp>
#include <keel/policy/macros.hpp>
#include <keel/residency/context.hpp>

#include <cstddef>
#include <string_view>

namespace keel::residency::detail {

// Of a routine that throws nobody knows how far it came.
template <class App>
template <class R, class Tag, class Arguments>
KEEL_VANISHING void holdings<App>::perform(holdings& self, std::span<request const> asked, component_range range, Arguments const& args) {
  context<App, R, Tag> const given{{self, asked.data(), range}};
  auto const call = [&]() __attribute__((always_inline)) {
    try {
      run_and_keep<R>(given, args, self.result_);
    } catch (...) {
      self.catch_up();
      self.book_.lose(asked, range, R::about.name);
      throw;
    }
  };
  if constexpr (tracking::checks) {
    auto const before = self.digest_undeclared(asked, memory_of<Tag>, range);
    call();
    self.find_undeclared(before, self.digest_undeclared(asked, memory_of<Tag>, range), R::about.name);
  } else {
    call();
  }
}

// Work on the host's memory that may go on behind its caller is done when this returns.
template <class App>
void holdings<App>::settle_host() const {
  instances_.for_each_open([]<class Tag>(Tag, auto const& queue) {
    if constexpr (is_on_host<Tag>) queue.fence();
  });
}

template <class App>
void holdings<App>::poison(std::span<request const> asked, memory m, component_range range) {
  settle_host();
  book_.poison(asked, m, range, current_row());
}
template <class App>
void holdings<App>::tell_writes(std::span<request const> asked, memory m, std::string_view routine) {
  for (request const& r : asked)
    if (r.writes != region::none) book_.observer().write(r, 0, m, routine);
}

// The long way: copies, several components, and whatever else the row was closed for.
template <class App>
void holdings<App>::admit_closely(std::span<request const> asked, memory m, std::string_view routine, component_range range) {
  if (!book_.is_ready(asked, m, range)) acquire(asked, m, routine, range);
  if constexpr (may_poison)
    if (poisons_) poison(asked, m, range);
  book_.post_call(asked, m, range, routine);
}

template <class App>
template <class Arguments>
[[gnu::noinline, gnu::cold]] void holdings<App>::run_closely(node<App, Arguments> const& routine, component_range range, Arguments const& args) {
  admit_closely(routine.asked, routine.where, routine.about->name, range);
  ++lag_.now; // in a step by a plan: from before it to during it
  tool_region const during(book_.observer().listens(), "routine ", routine.about->name);
  routine.run(*this, routine.asked, range, args);
}

// The same for a routine that no schedule named.
template <class App>
template <class Arguments>
[[gnu::noinline, gnu::cold]] void holdings<App>::run_from_outside(node<App, Arguments> const& routine, component_range range,
                                                                  Arguments const& args) {
  require_idle(routine.about->name);
  run_closely(routine, range, args);
}

template <class App>
void holdings<App>::cycle_levels(int variable) {
  int const levels = book_.levels(variable);
  if constexpr (may_poison)
    if (poisons_ && levels > 1) {
      request const last{variable, levels - 1, region::none, region::everywhere};
      poison({&last, 1}, memory::none, {0, components()});
    }
  if (may_lag && lag_.catch_up != nullptr) book_.turn(variable);
  else book_.cycle(variable);
}

template <class App>
template <class Arguments>
void holdings<App>::walk(node<App, Arguments> const& it, component_range range, Arguments const& args) {
  entry const& about = *it.about;
  switch (about.what) {
  case entry_kind::routine:
    if (it.prepare != nullptr) it.prepare(*this, about.name);
    return run_closely(it, range, args);
  case entry_kind::cycle:
    for (request const& r : it.asked) cycle_levels(r.variable);
    return;
  case entry_kind::exchange: return (this->*it.exchange.now)(it.asked, it.where, range);
  case entry_kind::output: return it.run(*this, it.asked, range, args);
  case entry_kind::every:
    if (steps_ % about.count != 0) return;
    break;
  case entry_kind::when:
    if (!it.holds(args)) return;
    break;
  case entry_kind::repeat:
  case entry_kind::sequence:
  case entry_kind::analysis: break;
  }
  auto const land_one = [&](std::size_t i) {
    if (i != none_open) (this->*it.children[i].exchange.land)(it.children[i].asked, it.children[i].where, range);
  };
  for (int n = 0; n < (about.what == entry_kind::repeat ? about.count : 1); ++n) {
    for (std::size_t i = 0; i < about.child_count; ++i) {
      auto const& child = it.children[i];
      land_one(it.before[i]);
      if (it.during[i + 1] == i) {
        (this->*child.exchange.set_off)(child.asked, child.where, range);
        continue;
      }
      try {
        walk(child, range, args);
      } catch (...) {
        land_one(it.during[i]);
        throw;
      }
      if (child.begin_copies != nullptr) child.begin_copies(*this, range);
    }
    land_one(it.before[about.child_count]);
  }
  if (it.copy_back != nullptr) it.copy_back(*this, about, range);
}

} // namespace keel::residency::detail
