// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A step whose entries are types: what is known while compiling is tested and recorded with constants. And what fields
/// know of the step that they are in.

#include <keel/impl/residency/tracked_step.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace keel::residency::detail {

/// Stands in the compiler's message for routine `R` that reads ghosts of `X` which were not filled.
template <class R, class X>
inline constexpr bool finds_its_ghosts = false;

/// Runs schedule `S`, or one entry, where `Tag` is the device chosen at the start. `Analysis` is what is known of the
/// schedule, or `no_analysis`; `row` are the cells that the fast path tests.
template <class App, class Index, class S, class Tag, class Analysis, class Arguments>
struct typed_step {
  using base_type = fields_base<App>;
  using bound = bound_schedule<S, Index>;
  using tracking = typename base_type::tracking;
  static constexpr bool keeps_ledger = base_type::keeps_ledger,
                        defers_updates = base_type::defers_updates && is_planned<Analysis>;

  /// A first step that differs is tracked.
  static constexpr steps walked = keeps_ledger && is_planned<Analysis> ? steps::later : steps::any;

  base_type& base;
  cell* row;
  component_range range;
  Arguments const& args;

  KEEL_FORCE_INLINE void run() { walk_types<0, S>(*this); }

  template <std::size_t N, class E>
  KEEL_FORCE_INLINE void leaf() {
    constexpr schedule_node node = table_of<S>.nodes[N];
    constexpr bool is_plain = E::about.what == entry_kind::routine && node.finishes == no_node;
    if constexpr (!bound::is_complete(N)) require_variables<E, Index>();
    reach<before(N), !is_plain>();
    finish<node.finishes>();
    if constexpr (node.overlaps == no_node) enter<N, E>();
    else by_data().overlapping(node.overlaps, [&]() __attribute__((always_inline)) { enter<N, E>(); });
    finish<node.finishes_last>();
  }
  template <std::size_t N, class E, class Body>
  KEEL_FORCE_INLINE void group(Body const& body) {
    constexpr entry_kind what = E::about.what;
    constexpr schedule_node node = table_of<S>.nodes[N];
    reach<before(N), true>();
    finish<node.finishes>();
    for (int n = rounds(E::about, base.steps_, actions().list[N].holds, args); n > 0; --n) {
      body();
      if constexpr (what != entry_kind::sequence) reach<behind(N), true>();
    }
    if constexpr (what == entry_kind::analysis && keeps_ledger) base.copy_back_written(bound::asked_within(N), range);
  }

  /// A position of the step: flushes what has to be in the ledger there. `Marks`: also where nothing has to.
  template <position When, bool Marks>
  KEEL_FORCE_INLINE void reach() {
    if constexpr (defers_updates) {
      constexpr auto list = Analysis::flushed.at(When);
      if constexpr (Marks || list.first != list.last) base.progress_.now = When;
      if constexpr (list.first != list.last) {
        auto const& updates = flushed_in<Analysis, bound>;
        flush(row, updates.data() + list.first, updates.data() + list.last);
      }
    }
  }

private:
  static constexpr auto const& actions() { return actions_of<App, Index, S, Tag, Arguments>; }
  [[nodiscard]] tracked_step<App, Arguments> by_data() const {
    return {base, table_of<S>.nodes, actions().list.data(), range, args};
  }

  template <std::uint32_t Exchange>
  KEEL_FORCE_INLINE void finish() {
    if constexpr (Exchange != no_node) by_data().finish(Exchange);
  }
  template <std::size_t N, class E>
  KEEL_FORCE_INLINE void enter() {
    if constexpr (E::about.what == entry_kind::routine) run_routine<N, E>();
    else by_data().enter(N);
    reach<behind(N), table_of<S>.nodes[N].finishes_last != no_node>();
    if constexpr (actions().list[N].begin_prefetch != nullptr) by_data().prefetch_behind(N);
  }

  template <std::size_t N, class R>
  KEEL_FORCE_INLINE void run_routine() {
    using at = typename base_type::template device_for<typename R::place_type, Tag>;
    if constexpr (is_planned<Analysis>)
      if constexpr (Analysis::lacks_exchange(N) && bound::is_complete(N))
        static_assert(
            finds_its_ghosts<
                R, typename Index::template variable<bound::requests[Analysis::steady.lost_request].variable>>,
            "keel::residency: a routine of this schedule reads ghosts that no exchange has filled since their owners wrote "
            "(every step would fail; routine and variable are in the message). Put an exchange before it, or read owned alone?");
    if constexpr (R::place_type::where.what == place::kind::at_named) { // the others were prepared at construction
      static_assert(policy::contains<typename base_type::devices, at>,
                    "keel::residency: a routine runs on a device that is not in the "
                    "application's list. Add it there?");
      base.template prepare<at>(R::about.name);
    }
    if constexpr (!keeps_ledger) {
      run_and_keep<R>(context<App, R, at>{{base, bound::asked(N).data(), range}}, args, base.result_);
    } else {
      using checks = routine_checks<bound, node_memories<App, S, Tag>, Analysis, base_type::lanes::size != 0>;
      action<App, Arguments> const& a = actions().list[N];
      if (!checks::is_ready(N, row, base.ledger_)) [[unlikely]] {
        if constexpr (is_planned<Analysis>) base.progress_.now = before(N);
        else base.require_idle(R::about.name);
        return run_slowly(base, a, range, args);
      }
      if constexpr (base_type::may_poison)
        if (base.poisons_) [[unlikely]] {
          if constexpr (is_planned<Analysis>) base.progress_.now = before(N);
          base.poison(a.asked, a.where, range);
        }
      if constexpr (!defers_updates) {
        checks::record_writes(N, row);
        if constexpr (tracking::observer::is_told)
          for (request const& r : a.asked)
            if (r.writes != region::none) base.ledger_.observer().write(r, 0, a.where, R::about.name);
      }
      if constexpr (is_planned<Analysis>) base.progress_.now = inside(N);
      perform<App, R, at>(base, bound::asked(N), range, args);
    }
  }
};

/// What `run` returns for an entry: of a routine what its `run` returns, on every device the same; of others nothing.
template <class App, class E, class Arguments>
struct outcome : std::type_identity<void> {};
template <class App, Routine E, class Arguments>
struct outcome<App, E, Arguments> {
  template <class Tag>
  using on = result_of<E, context<App, E, typename fields_base<App>::template device_for<typename E::place_type, Tag>>,
                       Arguments>;
  template <class... Tags>
  static auto of(keel::list<Tags...>) {
    using first = std::tuple_element_t<0, std::tuple<on<Tags>...>>;
    static_assert((std::is_same_v<on<Tags>, first> && ...),
                  "keel::residency: a routine's run returns another type on another device "
                  "(run returns it, whichever is chosen). Give it one type?");
    return std::type_identity<first>{};
  }
  using type = typename decltype(of(devices_of<App>{}))::type;
};

// As long as it lives, a call from outside the step finds a row on which every test fails, so it takes the slow path,
// which refuses it.
template <class App>
struct step_scope {
  explicit step_scope(fields_base<App>& b) : base(b), row(b.row_) {
    base.progress_ = {{}, nullptr, true};
    base.row_ = base.slow_row_.data();
  }
  ~step_scope() { // the step may have ended early
    base.apply_pending();
    base.progress_ = {};
    base.row_ = row;
  }
  step_scope(step_scope const&) = delete;
  step_scope& operator=(step_scope const&) = delete;

  fields_base<App>& base;
  cell* row;
};

} // namespace keel::residency::detail
