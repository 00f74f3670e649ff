// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The calls of fields: construction, a step, one routine, what is valid.

#include <keel/impl/residency/explain.hpp>
#include <keel/impl/residency/planned_step.hpp>
#include <keel/impl/residency/setup.hpp>
#include <keel/residency/fields.hpp>

#include <new>
#include <optional>
#include <type_traits>
#include <utility>

namespace keel::residency {

template <class App, Variable... Vars>
template <Runtime<App> Run, class... Options>
fields<App, Vars...>::fields(Run& run, grid const& whole, Options const&... options) try
    : base(run, detail::shares_in(run, whole, options...), detail::components_in(options...)) {
  static constexpr typename base::addition all[] = {{&Vars::about, &base::template add<typename Vars::data_type>}...};
  for (auto const& v : all) (this->*v.add)(*v.about, {detail::lengths_in(options, *v.about)...});
  this->open_for(run);
} catch (std::bad_alloc const&) {
  throw error("residency::fields", "the fields are not made", "there is not enough memory",
              "Take smaller arrays, or more ranks");
}

template <class App, Variable... Vars>
template <Entry S, class... Args>
void fields<App, Vars...>::step(S, Args&&... args) {
  using arguments = detail::passed_all<Args...>;
  using bound = detail::bound_schedule<S, index>;
  arguments const all(args...);
  auto const visit = this->users_.enter("step");
  this->require_idle("a step");
  ++this->steps_;
  if constexpr (CountsSteps<typename tracking::observer>) this->ledger_.observer().begin_step(this->steps_);
  cell* const row = this->row_;
  detail::step_scope<App> const scope{*this};
  this->template on_chosen<bound::table.asks_for_device()>([&]<class Tag>(Tag) {
    if constexpr (!tracking::tracks) {
      detail::typed_step<App, index, S, Tag, detail::no_analysis, arguments>{*this, row, every_component, all}.run();
    } else {
      using analysis = detail::analysis<App, S, Tag>;
      if constexpr (HearsSchedules<typename tracking::observer>)
        detail::tell_schedule<App, S, Tag>(this->ledger_.observer());
      if constexpr (keeps_ledger)
        if ((bound::table.differs_in_first_step() && this->steps_ <= 1) ||
            !detail::step_checks<analysis, bound>::hold(row, this->ledger_)) {
          detail::tracked_step<App, arguments> tracked{*this, bound::table.nodes,
                                                       detail::actions_of<App, index, S, Tag, arguments>.list.data(),
                                                       every_component, all};
          return detail::walk(bound::table.nodes, 0, bound::table.size, tracked);
        }
      ++this->planned_steps_;
      detail::typed_step<App, index, S, Tag, analysis, arguments> planned{*this, row, every_component, all};
      if constexpr (base::defers_updates) this->progress_.apply_pending = &detail::apply_pending<analysis, bound>;
      planned.run();
      planned.template reach<detail::before(bound::table.size), true>();
      this->progress_.apply_pending = nullptr;
    }
  });
}

template <class App, Variable... Vars>
template <Entry E, class... Args>
KEEL_FORCE_INLINE auto fields<App, Vars...>::run(E, Args&&... args) {
  return run_in<E>(every_component, detail::passed_all<Args...>(args...));
}
template <class App, Variable... Vars>
template <Entry E, class... Args>
auto fields<App, Vars...>::run(E, component which, Args&&... args) {
  this->check(which, every_component, E::about.name);
  return run_in<E>({which.index, which.index + 1}, detail::passed_all<Args...>(args...));
}
template <class App, Variable... Vars>
template <Entry E, class Arguments>
KEEL_FORCE_INLINE auto fields<App, Vars...>::run_in(component_range range, Arguments const& args) {
  auto const visit = this->users_.enter(E::about.name);
  if constexpr (!Routine<E>) this->require_idle(E::about.name); // a routine finds a row on which every test fails
  auto const run_it = [&]() __attribute__((always_inline)) {
    this->template on_chosen<detail::table_of<E>.asks_for_device()>([&]<class Tag>(Tag) __attribute__((always_inline)) {
      detail::typed_step<App, index, E, Tag, detail::no_analysis, Arguments>{*this, this->row_, range, args}.run();
    });
  };
  using result = typename detail::outcome<App, E, Arguments>::type;
  if constexpr (std::is_void_v<result>) {
    run_it();
  } else {
    std::optional<result> kept;
    struct aim { // a routine may run others
      void*& at;
      void* before;
      ~aim() { at = before; }
    } const here{this->result_, std::exchange(this->result_, &kept)};
    run_it();
    return std::move(*kept);
  }
}

template <class App, Variable... Vars>
template <Part X, class Tag>
bool fields<App, Vars...>::is_valid(region where, component which) const {
  using item = detail::item<X>;
  if constexpr (!keeps_ledger) return true;
  memory m = host;
  if constexpr (!std::is_void_v<Tag>) m = base::template memory_of<Tag>;
  return base::is_valid(number<typename item::variable>, item::level, where, m, which.index);
}

template <class App, Variable... Vars>
template <Variable... Vs>
void fields<App, Vars...>::copy_from_past() {
  static_assert(((Vs::about.levels > 1) && ...),
                "keel::residency: copy_from_past of a variable that has one level alone (there is no level "
                "of the past). Declare it with levels<2>?");
  auto const visit = this->users_.enter("copy_from_past");
  this->require_idle("copy_from_past");
  this->settle_host();
  if constexpr (keeps_ledger) (this->ledger_.copy_from_past(number<Vs>), ...);
  else
    for (int c = 0; c < components(); ++c) ((void)this->provider_.copy_from_past(number<Vs>, c, host), ...);
}

} // namespace keel::residency
