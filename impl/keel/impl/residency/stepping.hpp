// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How fields make a step: by its plan, where what the plan relies on holds; tracked where not.

#include <keel/impl/residency/arrears.hpp>
#include <keel/residency/fields.hpp>

#include <cstddef>
#include <utility>

namespace keel::residency {

// Whether what the plan relies on holds now: a test of a few cells against constants.
template <class App, Variable... Vars>
template <class P>
bool fields<App, Vars...>::allows_plan(cell const* row) const {
  constexpr auto& list = detail::needs<P, directory>::list;
  return list.set_in(row, std::make_index_sequence<list.size>{}) == 0;
}

// What the host writes without a test overtakes no copy: those that began before the step have arrived.
template <class App, Variable... Vars>
template <class P>
void fields<App, Vars...>::settle_leavers() {
  constexpr auto& list = detail::needs<P, directory>::leaving;
  if (list.set_in(this->book_.leaving(), std::make_index_sequence<list.size>{}) != 0) [[unlikely]] this->book_.wait_for_flights();
}

// A moment of a step by a plan, a constant of the caller: what has to be in the book then.
template <class App, Variable... Vars>
template <class P>
KEEL_VANISHING void fields<App, Vars...>::reach([[maybe_unused]] detail::moment when, [[maybe_unused]] cell* row) {
  if constexpr (held::may_lag && detail::is_plan<P>) {
    auto const& list = detail::paid_in<P, directory>::list;
    auto const& [first, last] = P::paid.at[when];
    this->lag_.now = when;
    if (first != last) detail::pay(row, list.data() + first, list.data() + last);
  }
}

template <class App, Variable... Vars>
template <Entry S, class... Args>
void fields<App, Vars...>::step(S, Args&&... args) {
  using arguments = detail::passed_all<Args...>;
  arguments const all(args...);
  auto const visit = this->users_.enter("step");
  this->require_idle("a step");
  ++this->steps_;
  if constexpr (CountsSteps<typename tracking::observer>) this->book_.observer().begin_step(this->steps_);
  cell* const row = this->row_;
  typename held::step_in_progress const in_progress{*this};
  this->template on_chosen<detail::asks_for_device(S::about)>([&]<class Tag>(Tag) {
    if constexpr (!tracking::tracks) {
      play<S, 0, S, Tag, detail::no_plan>(root<S, Tag, arguments>, row, every_component, all);
    } else {
      using plan_type = plan<App, S, Tag>;
      if constexpr (keeps_book)
        if (!allows_plan<plan_type>(row)) return this->walk(root<S, Tag, arguments>, every_component, all);
      ++this->planned_steps_;
      if constexpr (held::may_lag) {
        settle_leavers<plan_type>();
        this->lag_.catch_up = &detail::paid_in<plan_type, directory>::catch_up;
        reach<plan_type>(detail::before(0), row);
      }
      play<S, 0, S, Tag, plan_type>(root<S, Tag, arguments>, row, every_component, all);
      if constexpr (held::may_lag) {
        if constexpr (S::about.child_count == 0) reach<plan_type>(detail::behind(0), row);
        reach<plan_type>(plan_type::end_of_step, row);
        this->lag_.catch_up = nullptr;
      }
    }
  });
}

} // namespace keel::residency
