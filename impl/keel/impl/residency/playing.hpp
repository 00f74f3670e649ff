// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How fields play a schedule whose entries are types: what is known while compiling is tested and marked with constants.

#include <keel/impl/residency/siblings.hpp>
#include <keel/residency/fields.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace keel::residency {

namespace detail {

/// Stands in the compiler's message for routine `R` that reads ghosts of `X` which were not filled.
template <class R, class X>
inline constexpr bool finds_its_ghosts = false;

} // namespace detail

template <class App, Variable... Vars>
template <class S, std::size_t N, class E, class Tag, class P, class Arguments>
KEEL_VANISHING void fields<App, Vars...>::play_routine([[maybe_unused]] detail::node<App, Arguments> const& closely, cell* row,
                                                       component_range range, Arguments const& args) {
  using script = detail::script<S, directory>;
  using at = typename held::template device_for<typename E::place_type, Tag>;
  if constexpr (!script::is_complete(N)) detail::require_variables<E, directory>();
  if constexpr (P::lacks_exchange(N))
    static_assert(detail::finds_its_ghosts<E, detail::nth<std::size_t(directory::find(P::lost_variable())), keel::list<Vars...>>>,
                  "keel::residency: a routine of this schedule reads ghosts that nobody has filled since their owners wrote "
                  "(every step would fail; routine and variable are in the message). Put an exchange before it, or read owned alone?");
  if constexpr (E::place_type::where.what == place::kind::at_named) { // the others were prepared at construction
    static_assert(policy::contains<devices, at>, "keel::residency: a routine runs on a device that is not in the "
                                                 "application's list. Add it there?");
    this->template prepare<at>(E::about.name);
  }
  if constexpr (keeps_book) {
    using duties = detail::duties<script, P, detail::memory_at<App, devices, Tag>, lanes::size != 0>;
    if (!duties::is_ready(N, row, this->book_)) [[unlikely]] {
      if constexpr (!detail::is_plan<P>) return this->run_from_outside(closely, range, args);
      this->lag_.now = detail::before(N);
      return this->run_closely(closely, range, args);
    }
    if constexpr (held::may_poison)
      if (this->poisons_) [[unlikely]] {
        if constexpr (detail::is_plan<P>) this->lag_.now = detail::before(N);
        this->poison(closely.asked, closely.where, range);
      }
    if constexpr (!detail::is_plan<P> || !held::may_lag) {
      duties::mark_in(N, row);
      if constexpr (tracking::observer::is_told) this->tell_writes(closely.asked, closely.where, E::about.name);
    }
    if constexpr (detail::is_plan<P>) this->lag_.now = detail::during(N);
    held::template perform<E, at>(*this, script::asked(N), range, args);
  } else {
    detail::run_and_keep<E>(context<App, E, at>{{*this, script::asked(N).data(), range}}, args, this->result_);
  }
}

template <class App, Variable... Vars>
template <class S, std::size_t N, class E, class Tag, class P, class Arguments>
KEEL_VANISHING void fields<App, Vars...>::play([[maybe_unused]] detail::node<App, Arguments> const& closely, cell* row,
                                               component_range range, Arguments const& args) {
  using script = detail::script<S, directory>;
  constexpr entry_kind what = E::about.what;
  if constexpr (what == entry_kind::routine) {
    play_routine<S, N, E, Tag, P>(closely, row, range, args);
  } else if constexpr (what == entry_kind::cycle) {
    if constexpr (!script::is_complete(N)) detail::require_variables<E, directory>();
    for (request const& r : script::asked(N)) this->cycle_levels(r.variable);
  } else if constexpr (what == entry_kind::exchange) {
    if constexpr (!script::is_complete(N)) detail::require_variables<E, directory>();
    this->exchange_now(script::asked(N), exchange_memory<Tag>, range);
  } else if constexpr (what == entry_kind::output) {
    perform_output<E>(*this, {}, range, args);
  } else {
    if constexpr (what == entry_kind::every)
      if (this->steps_ % E::about.count != 0) return;
    if constexpr (what == entry_kind::when)
      if (!detail::holds_with<typename E::condition, std::tuple_size_v<Arguments>>(args)) return;
    for (int n = 0; n < (what == entry_kind::repeat ? E::about.count : 1); ++n)
      [&]<class... Es, std::size_t... I>(keel::list<Es...>, std::index_sequence<I...>) __attribute__((always_inline)) {
        (play_child<S, E, N, I, Es, Tag, P>(row, range, args), ...);
        play_child<S, E, N, sizeof...(I), void, Tag, P>(row, range, args);
        if constexpr (what != entry_kind::sequence) reach<P>(detail::behind(N), row);
      }(typename E::entries{}, std::make_index_sequence<E::entries::size>{});
    if constexpr (keeps_book && what == entry_kind::analysis) copy_back_written(*this, E::about, range);
  }
}

template <class App, Variable... Vars>
template <class S, class G, std::size_t InG, std::size_t I, class E, class Tag, class P, class Arguments>
KEEL_VANISHING void fields<App, Vars...>::play_child(cell* row, component_range range, Arguments const& args) {
  using script = detail::script<S, directory>;
  constexpr auto const& exchanges = detail::exchanges_in<G>;
  constexpr auto const& numbers = detail::numbers_in<G, InG>;
  constexpr std::size_t n = numbers[I], ends = exchanges.before[I], under_way = exchanges.during[I];
  if constexpr (std::is_void_v<E>) { // behind the last one
    if constexpr (ends != detail::none_open) {
      this->lag_.now = detail::behind(numbers[I - 1]);
      this->land(script::asked(numbers[ends]), exchange_memory<Tag>, range);
    }
  } else {
    constexpr bool is_plain = E::about.what == entry_kind::routine && ends == detail::none_open;
    if constexpr (!is_plain || P::pays(detail::before(n))) reach<P>(detail::before(n), row);
    if constexpr (ends != detail::none_open) this->land(script::asked(numbers[ends]), exchange_memory<Tag>, range);
    if constexpr (exchanges.during[I + 1] == I) {
      if constexpr (!script::is_complete(n)) detail::require_variables<E, directory>();
      this->set_off(script::asked(n), exchange_memory<Tag>, range);
    } else if constexpr (under_way != detail::none_open) {
      try {
        play<S, n, E, Tag, P>(nodes_in<S, G, InG, Tag, Arguments>[I], row, range, args);
      } catch (...) {
        this->land(script::asked(numbers[under_way]), exchange_memory<Tag>, range);
        throw;
      }
    } else if constexpr (E::about.what == entry_kind::routine) {
      play_routine<S, n, E, Tag, P>(nodes_in<S, G, InG, Tag, Arguments>[I], row, range, args);
    } else {
      play<S, n, E, Tag, P>(nodes_in<S, G, InG, Tag, Arguments>[I], row, range, args);
    }
    if constexpr (E::about.child_count == 0 && P::pays(detail::behind(n))) reach<P>(detail::behind(n), row);
    if constexpr (keeps_book && exchanges.during[I + 1] != I && begins_copies<G, Tag>[I] != 0) begin_certain_copies<G, I, Tag>(*this, range);
  }
}

// Copies that later entries of the group are certain to want, behind the ones in between.
template <class App, Variable... Vars>
template <class G, std::size_t I, class Tag>
void fields<App, Vars...>::begin_certain_copies(held& self, component_range range) {
  [&]<std::size_t... D>(std::index_sequence<D...>) {
    auto const to = [&]<memory M>(std::integral_constant<memory, M>) {
      if constexpr ((begins_copies<G, Tag>[I] >> unsigned(M) & 1U) != 0) {
        static constexpr auto certain = detail::certain_copies<directory, detail::count_accesses(*G::children[I])>(
            G::about, I, M, detail::memory_at<App, devices, Tag>);
        if (self.book_.is_open(M))
          certain.for_each_reader([&](std::span<request const> part, std::string_view reader) {
            if constexpr (M == host) self.begin_to_host(part, reader, range);
            else self.acquire(part, M, reader, range);
          });
      }
    };
    (to(std::integral_constant<memory, memory(D)>{}), ...);
  }(std::make_index_sequence<lanes::size + 1>{});
}

template <class App, Variable... Vars>
template <class E, class Arguments>
void fields<App, Vars...>::perform_output(held& self, std::span<request const>, component_range range, Arguments const& args) {
  self.copy_back_for(E::about.name, range);
  detail::run_with<E>(context<App, E, typename held::host_tag, directory>{{self, nullptr, range}}, args);
}

template <class App, Variable... Vars>
void fields<App, Vars...>::copy_back_written(held& self, entry const& analysis, component_range range) {
  if (self.settings_.copy_back_written_in_analysis) self.copy_back(detail::written_by<directory>(analysis), "analysis", range);
}

template <class App, Variable... Vars>
template <class S, class G, std::size_t I, std::size_t N, class E, class Tag, class Arguments>
consteval detail::node<App, Arguments> fields<App, Vars...>::node_of() {
  constexpr entry_kind what = E::about.what;
  detail::node<App, Arguments> made{&E::about, detail::script<S, directory>::asked(N), detail::memory_at<App, devices, Tag>(E::about.where)};
  if constexpr (what == entry_kind::routine) {
    using at = typename held::template device_for<typename E::place_type, Tag>;
    made.run = &held::template perform<E, at, Arguments>;
    if constexpr (E::place_type::where.what == place::kind::at_named)
      made.prepare = [](held& self, std::string_view routine) { self.template prepare<at>(routine); };
  } else if constexpr (what == entry_kind::output) {
    made.run = &perform_output<E, Arguments>;
  } else if constexpr (what == entry_kind::exchange) {
    made.exchange = {&held::exchange_now, &held::set_off, &held::land};
  } else if constexpr (what != entry_kind::cycle) {
    if constexpr (what == entry_kind::when) made.holds = &detail::holds_with<typename E::condition, std::tuple_size_v<Arguments>, Arguments>;
    if constexpr (what == entry_kind::analysis) made.copy_back = &copy_back_written;
    made.children = nodes_in<S, E, N, Tag, Arguments>.data();
    made.during = detail::exchanges_in<E>.during;
    made.before = detail::exchanges_in<E>.before;
  }
  if constexpr (!std::is_void_v<G>)
    if constexpr (begins_copies<G, Tag>[I] != 0) made.begin_copies = &begin_certain_copies<G, I, Tag>;
  return made;
}

template <class App, Variable... Vars>
template <Runtime<App> Run, class... Options>
fields<App, Vars...>::fields(Run& run, grid const& whole, Options const&... options)
    : held(run, detail::shares_in(run, whole, options...), detail::components_in(options...)) {
  static constexpr typename held::newcomer all[] = {{&Vars::about, &held::template add<typename Vars::data_type>}...};
  for (auto const& v : all) (this->*v.add)(*v.about, {detail::lengths_in(options, *v.about)...});
  this->open_for(run);
}

template <class App, Variable... Vars>
template <Part X, class Tag>
bool fields<App, Vars...>::is_valid(region where, component which) const {
  using item = detail::item<X>;
  if constexpr (!keeps_book) return true;
  memory m = host;
  if constexpr (!std::is_void_v<Tag>) m = held::template memory_of<Tag>;
  return held::is_valid(number<typename item::variable>, item::level, where, m, which.index);
}

template <class App, Variable... Vars>
template <Variable... Vs>
void fields<App, Vars...>::copy_from_past() {
  static_assert(((Vs::about.levels > 1) && ...), "keel::residency: copy_from_past of a variable that has one level alone (there is no level "
                                                 "of the past). Declare it with levels<2>?");
  auto const visit = this->users_.enter("copy_from_past");
  this->require_idle("copy_from_past");
  this->settle_host();
  if constexpr (keeps_book) (this->book_.copy_from_past(number<Vs>), ...);
  else
    for (int c = 0; c < components(); ++c) ((void)this->provider_.copy_from_past(number<Vs>, c, host), ...);
}

} // namespace keel::residency
