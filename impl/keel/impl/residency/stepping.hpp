// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How fields make a step: by its plan, where what the plan relies on holds; tracked where not. And how they run one entry.

#include <keel/impl/residency/arrears.hpp>
#include <keel/residency/fields.hpp>

#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
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

template <class App, Variable... Vars>
template <Entry E, class... Args>
auto fields<App, Vars...>::run(E, Args&&... args) {
  return run_in<E>(every_component, detail::passed_all<Args...>(args...));
}
template <class App, Variable... Vars>
template <Entry E, class... Args>
auto fields<App, Vars...>::run(E, component which, Args&&... args) {
  this->check(which, every_component, E::about.name);
  return run_in<E>({which.index, which.index + 1}, detail::passed_all<Args...>(args...));
}
template <class App, Variable... Vars>
template <class E, class Arguments>
struct fields<App, Vars...>::outcome : std::type_identity<void> {};
template <class App, Variable... Vars>
template <Routine E, class Arguments>
struct fields<App, Vars...>::outcome<E, Arguments> {
  template <class Tag>
  using on = detail::result_of<E, context<App, E, typename held::template device_for<typename E::place_type, Tag>>, Arguments>;
  template <class... Tags>
  static auto of(keel::list<Tags...>) {
    using first = std::tuple_element_t<0, std::tuple<on<Tags>...>>;
    static_assert((std::is_same_v<on<Tags>, first> && ...), "keel::residency: a routine's run returns another type on another device "
                                                            "(run returns it, whichever is chosen). Give it one type?");
    return std::type_identity<first>{};
  }
  using type = typename decltype(of(devices{}))::type;
};
template <class App, Variable... Vars>
template <Entry E, class Arguments>
auto fields<App, Vars...>::run_in(component_range range, Arguments const& args) {
  auto const visit = this->users_.enter(E::about.name);
  if constexpr (!Routine<E>) this->require_idle(E::about.name); // a routine finds a closed row
  auto const play_it = [&] {
    this->template on_chosen<detail::asks_for_device(E::about)>([&]<class Tag>(Tag) __attribute__((always_inline)) {
      play<E, 0, E, Tag, detail::no_plan>(root<E, Tag, Arguments>, this->row_, range, args);
    });
  };
  using result = typename outcome<E, Arguments>::type;
  if constexpr (std::is_void_v<result>) {
    play_it();
  } else {
    std::optional<result> kept;
    struct aim { // a routine may run others
      void*& at;
      void* before;
      ~aim() { at = before; }
    } const here{this->result_, std::exchange(this->result_, &kept)};
    play_it();
    return std::move(*kept);
  }
}

} // namespace keel::residency
