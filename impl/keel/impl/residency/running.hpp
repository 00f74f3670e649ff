// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How fields run entries: what an entry needs is made valid, the entry runs, what it wrote is marked.
/// Long because the ways that an entry can take belong side by side.

#include <keel/policy/error.hpp>
#include <keel/residency/fields.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <tuple>
#include <utility>

namespace keel::residency {

namespace detail {

/// Whether, by plan `P`, all ghosts that routine `R` reads were filled; false stops the compiler.
template <class R, class P, std::size_t At>
inline constexpr bool finds_its_ghosts = !P::lacks_exchange(At);

/// The number of each child of `E`, which is number `At` itself.
template <class E, std::size_t At>
struct placed {
  static constexpr auto at = [] {
    std::array<std::size_t, E::entries::size + 1> made{At + 1};
    for (std::size_t i = 0; i < E::entries::size; ++i) made[i + 1] = made[i] + count_entries(*E::children[i]);
    return made;
  }();
};

} // namespace detail

template <class App, Variable... Vars>
template <class V, class Tag>
auto const& fields<App, Vars...>::view(int level, int which) const {
  auto const& rack = storage_.template in<V, detail::memory_space_of<Tag>>();
  return rack.views[std::size_t(which * V::about.levels + provider_.slot(number<V>, level))];
}

// Whether what the plan relies on holds now: a test of a few cells against constants.
template <class App, Variable... Vars>
template <class P>
bool fields<App, Vars...>::allows_plan() const {
  constexpr auto& list = detail::needs<P, directory>::list;
  return list.set_in(row_, std::make_index_sequence<list.size>{}) == 0;
}

// What the host writes without a test overtakes no copy: those that began before the step have arrived.
template <class App, Variable... Vars>
template <class P>
void fields<App, Vars...>::settle_leavers() {
  constexpr auto& list = detail::needs<P, directory>::leaving;
  if (list.set_in(book_.leaving(), std::make_index_sequence<list.size>{}) != 0) [[unlikely]] book_.wait_for_flights();
}

// One pass over constants: whether what is needed is valid; then what will be written is marked.
template <class App, Variable... Vars>
template <class E, memory M, class P, std::size_t At>
[[gnu::always_inline]] inline bool fields<App, Vars...>::admit(cell* row, [[maybe_unused]] component_range range) {
  constexpr auto& asked = detail::asked_by<E, directory>;
  if constexpr (std::is_same_v<P, detail::off_course>) {
    return false;
  } else {
    using duties = duties_of<E, M, P, At>;
    if (!duties::is_ready(row, book_)) [[unlikely]] return false;
    if constexpr (may_poison)
      if (poisons_) {
        settle_host();
        book_.poison(asked.all(), M, range);
      }
    duties::mark_in(row);
    if constexpr (tracking::observer::is_told)
      for (request const& r : asked.all())
        if (r.writes != region::none) book_.observer().write(r, 0, M, E::about.name);
    return true;
  }
}

// The long way: copies, several components, and whatever else the row was closed for.
template <class App, Variable... Vars>
template <class E, memory M>
void fields<App, Vars...>::admit_closely(component_range range) {
  constexpr auto& asked = detail::asked_by<E, directory>;
  if (!book_.is_ready(asked.all(), M, range)) acquire(asked.all(), M, E::about.name, range);
  if constexpr (may_poison)
    if (poisons_) {
      settle_host();
      book_.poison(asked.all(), M, range);
    }
  book_.post_call(asked.all(), M, range, E::about.name);
}

// For a routine that threw: nobody knows how far it came.
template <class App, Variable... Vars>
template <class E>
void fields<App, Vars...>::lose(component_range range) {
  book_.lose(detail::asked_by<E, directory>.all(), range, E::about.name);
}

template <class App, Variable... Vars>
template <class R, class Tag, class P, std::size_t At, class... Args>
[[gnu::always_inline]] inline void fields<App, Vars...>::run_routine(cell* row, component_range range, Args&... args) {
  detail::require_variables<R, directory>();
  static_assert(detail::finds_its_ghosts<R, P, At>,
                "keel::residency: a routine of this schedule reads ghosts that nobody has filled since their owners wrote "
                "(every step would fail; the routine is in the message). Put an exchange before it?");
  if constexpr (R::place_type::where.what == place::kind::at_named) prepare<Tag>(R::about.name); // the others were at construction
  if constexpr (keeps_book)
    if (!admit<R, memory_of<Tag>, P, At>(row, range)) [[unlikely]] return run_closely<R, Tag>(range, args...);
  call<R, Tag>(range, args...);
}

template <class App, Variable... Vars>
template <class R, class Tag, class... Args>
[[gnu::noinline]] void fields<App, Vars...>::run_closely(component_range range, Args&... args) {
  admit_closely<R, memory_of<Tag>>(range);
  detail::tool_region const during(book_.observer().listens(), "routine ", R::about.name);
  call<R, Tag>(range, args...);
}

template <class App, Variable... Vars>
template <class R, class Tag, class... Args>
[[gnu::always_inline]] inline void fields<App, Vars...>::call(component_range range, Args&... args) {
  [[maybe_unused]] auto const before = [&] {
    if constexpr (tracking::checks) return digest_undeclared<R, memory_of<Tag>>(range);
    else return 0;
  }();
  try {
    detail::run_with<R, sizeof...(Args)>(context<fields, R, Tag>(*this, range.begin), std::tuple<Args&...>(args...));
  } catch (...) {
    if constexpr (keeps_book) lose<R>(range);
    throw;
  }
  if constexpr (tracking::checks) find_undeclared(before, digest_undeclared<R, memory_of<Tag>>(range), R::about.name);
}

template <class App, Variable... Vars>
template <class V>
void fields<App, Vars...>::cycle_levels() {
  static_assert(number<V> >= 0, "keel::residency::cycle: a variable that these fields do not have. Add it to fields<App, ...>?");
  if constexpr (may_poison && V::about.levels > 1)
    if (poisons_) {
      settle_host();
      request const last{number<V>, V::about.levels - 1, region::none, region::everywhere};
      book_.poison({&last, 1}, memory::none, {0, components()});
    }
  book_.cycle(number<V>);
}

// Calls f with the tag of the device chosen at the start.
template <class App, Variable... Vars>
template <bool Asks, class F>
void fields<App, Vars...>::on_chosen(F&& f) {
  [&]<class... Tags>(keel::list<Tags...>) {
    constexpr std::size_t last = Asks ? sizeof...(Tags) - 1 : 0; // where nobody asks, any of them will do
    std::size_t at = 0;
    (void)((at == last || at == chosen_ ? (f(Tags{}), true) : (++at, false)) || ...);
  }(devices{});
}

// One entry; a routine runs where its declaration says or where was chosen at the start.
template <class App, Variable... Vars>
template <class E, class Tag, class P, std::size_t At, class... Args>
[[gnu::always_inline]] inline void fields<App, Vars...>::enter(cell* row, component_range range, Args&... args) {
  if constexpr (!Routine<E>) {
    walk<E, Tag, P, At>(row, range, args...);
  } else if constexpr (std::is_same_v<typename E::place_type, on_device>) {
    run_routine<E, Tag, P, At>(row, range, args...);
  } else if constexpr (std::is_same_v<typename E::place_type, on_host>) {
    run_routine<E, host_tag, P, At>(row, range, args...);
  } else {
    using fixed = typename E::place_type::tag;
    static_assert(policy::contains<devices, fixed>, "keel::residency: a routine runs on a device that is not in the "
                                                    "application's list. Add it there?");
    run_routine<E, fixed, P, At>(row, range, args...);
  }
}

template <class App, Variable... Vars>
template <class E, class Tag, class P, std::size_t At, class... Args>
void fields<App, Vars...>::walk(cell* row, component_range range, Args&... args) {
  constexpr entry_kind what = E::about.what;
  if constexpr (what == entry_kind::cycle) {
    [&]<class... Vs>(keel::list<Vs...>) { (cycle_levels<Vs>(), ...); }(typename E::variables{});
  } else if constexpr (what == entry_kind::exchange) {
    detail::tool_region const during(keeps_book && book_.observer().listens(), "exchange", {});
    begin_exchange<E, exchange_memory<Tag>, P, At>(row, range);
    finish_exchange<E, exchange_memory<Tag>>(range);
  } else if constexpr (what == entry_kind::output) {
    run_output<E>(range, args...);
  } else {
    if constexpr (what == entry_kind::every)
      if (steps_ % E::about.count != 0) return;
    if constexpr (what == entry_kind::when)
      if (!detail::holds_with<typename E::condition, sizeof...(Args)>(std::tuple<Args&...>(args...))) return;
    using children = detail::placed<E, At>;
    for (int n = 0; n < (what == entry_kind::repeat ? E::about.count : 1); ++n)
      [&]<class... Es, std::size_t... I>(keel::list<Es...>, std::index_sequence<I...>) __attribute__((always_inline)) {
        [[maybe_unused]] int const in_order[] = {(walk_child<E, I, Es, Tag, P, detail::is_plan<P> ? children::at[I] : 0>(row, range, args...), 0)..., 0};
        land<E, sizeof...(I), Tag, true>(range);
      }(typename E::entries{}, std::make_index_sequence<E::entries::size>{});
    if constexpr (keeps_book && what == entry_kind::analysis)
      if (settings_.copy_back_written_in_analysis) copy_back(detail::written_by<directory>(E::about), "analysis", range);
  }
}

template <class App, Variable... Vars>
template <Entry S, class... Args>
void fields<App, Vars...>::step(S, Args&&... args) {
  ++steps_;
  if constexpr (CountsSteps<typename tracking::observer>) book_.observer().begin_step(steps_);
  on_chosen<detail::asks_for_device(S::about)>([&]<class Tag>(Tag) {
    if constexpr (!tracking::tracks) {
      enter<S, Tag, detail::no_plan, 0>(row_, every_component, detail::passed<Args>(args)...);
    } else {
      using plan_type = plan<App, S, Tag>;
      if (!keeps_book || allows_plan<plan_type>()) {
        ++planned_steps_;
        if constexpr (keeps_book && lanes::size != 0) settle_leavers<plan_type>();
        enter<S, Tag, plan_type, 0>(row_, every_component, detail::passed<Args>(args)...);
      } else {
        enter<S, Tag, detail::off_course, 0>(row_, every_component, detail::passed<Args>(args)...);
      }
    }
  });
}

template <class App, Variable... Vars>
template <Entry E, class... Args>
void fields<App, Vars...>::run(E, Args&&... args) {
  on_chosen<detail::asks_for_device(E::about)>([&]<class Tag>(Tag) {
    enter<E, Tag, detail::no_plan, 0>(row_, every_component, detail::passed<Args>(args)...);
  });
}

template <class App, Variable... Vars>
template <Entry E, class... Args>
void fields<App, Vars...>::run(E, component which, Args&&... args) {
  check(which, E::about.name);
  on_chosen<detail::asks_for_device(E::about)>([&]<class Tag>(Tag) {
    enter<E, Tag, detail::no_plan, 0>(row_, component_range{which.index, which.index + 1}, detail::passed<Args>(args)...);
  });
}

template <class App, Variable... Vars>
template <Variable... Vs>
void fields<App, Vars...>::copy_from_past() {
  settle_host();
  (book_.copy_from_past(number<Vs>), ...);
}

} // namespace keel::residency
