// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a schedule calls, as a table of functions.

#include <keel/impl/residency/fields_base.hpp>
#include <keel/impl/residency/steps/reductions.hpp>
#include <keel/impl/residency/steps/kept_arguments.hpp>
#include <keel/impl/schedule/analysis.hpp>
#include <keel/impl/schedule/explain.hpp>
#include <keel/impl/schedule/invoke.hpp>
#include <keel/impl/schedule/refusals.hpp>
#include <keel/impl/validity/device_span.hpp>
#include <keel/policy/macros.hpp>
#include <keel/residency/context.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace keel::residency::detail {

/// Stores the time at which a queue comes to it.
struct time_mark {
  std::shared_ptr<std::atomic<std::int64_t>> time;
  void run() const {
    time->store(std::chrono::steady_clock::now().time_since_epoch().count(), std::memory_order_release);
  }
};

/// Calls `f`, and returns when the device of `queue` runs what that gives to it. Null for a device that does not say:
/// today all but keel's own.
template <class Space, class F>
std::shared_ptr<device_span> time_on_device(Space const& queue, F const& f) {
  if constexpr (requires { Space::impl_is_asynchronous; }) {
    auto const span = std::make_shared<device_span>();
    queue.impl_launch(time_mark{{span, &span->begin}});
    f();
    queue.impl_launch(time_mark{{span, &span->end}});
    return span;
  } else {
    f();
    return {};
  }
}

/// Calls a routine, or that of a reduction, on a device.
template <class App, class E, class Tag, bool IsBounded, class Arguments>
void run_routine(fields_state& fields, request const* asked, component_range range, bounds const* piece,
                 void const* arguments) {
  auto& base = static_cast<fields_base<App>&>(fields);
  auto const call = [&] {
    auto const& args = *static_cast<Arguments const*>(arguments);
    component_range of = base.arrays_.first_call(range);
    do { // no function that takes a lambda: nvcc would find no kernel of the routine
      if constexpr (E::about.what == entry_kind::reduce)
        keep_part<App, E>(base, context<App, typename E::routine_type, Tag, void, IsBounded>{{base, asked, of}}, args,
                          of.begin == range.begin);
      else
        run_and_keep<E>(context<App, E, Tag, void, IsBounded>{{base, asked, of, piece}}, args, base.executor_.result);
    } while (base.arrays_.next_call(of, range));
  };
  if constexpr (tracking_of<App>::may_time)
    if (base.book_.observer().times_routines()) {
      base.executor_.ran(time_on_device(base.template instance<Tag>(), call));
      return;
    }
  call();
}
/// Calls an output, which may ask for any variable.
template <class App, class E, class Index, class Arguments>
void run_output(fields_state& fields, request const*, component_range range, bounds const*, void const* arguments) {
  auto& base = static_cast<fields_base<App>&>(fields);
  component_range of = base.arrays_.first_call(range);
  do {
    run_with<E>(context<App, E, typename fields_base<App>::host_tag, Index>{{base, nullptr, of}},
                *static_cast<Arguments const*>(arguments));
  } while (base.arrays_.next_call(of, range));
}

/// What the condition of `E` answers to the first of the arguments, before which the values are that it reads.
template <class App, class E, class Arguments>
int decide_by(fields_state& fields, void const* arguments) {
  using condition = typename E::condition;
  auto const ask = []<class All>(All const& all) {
    if constexpr (is_choice(E::about.what))
      return chosen_of(holds_with<condition, std::int64_t, std::tuple_size_v<All>>(all), E::about.child_count,
                       spelled<condition>());
    else return int(holds_with<condition, bool, std::tuple_size_v<All>>(all));
  };
  auto const& args = *static_cast<Arguments const*>(arguments);
  if constexpr (E::about.value_count == 0) return ask(args);
  else
    return ask(
        std::tuple_cat(values_of(static_cast<fields_base<App>&>(fields), typename condition::reads::parts{}), args));
}

/// The actions of all nodes of `S`, if `Tag` is the device chosen at the start. Filled by a walk over its types.
template <class App, class Index, class S, class Tag, class Arguments>
struct action_table {
  using base = fields_base<App>;
  std::array<action, table_of<S>.max_nodes> list{};

  constexpr action_table() { walk_types<0, S>(*this); }
  template <std::size_t N, class E>
  constexpr void leaf() {
    constexpr entry_kind what = E::about.what;
    if constexpr (!bound_schedule<S, Index>::is_complete(N)) require_variables<E, Index>();
    if constexpr (calls_routine(what)) {
      using place_type = typename routine_of<E>::place_type;
      using at = typename base::template device_for<place_type, Tag>;
      constexpr bool is_named = place_type::where.what == place::kind::at_named;
      if constexpr (is_named && !policy::contains<typename base::devices, at>) {
        list[N].prepare = [](fields_state&, std::string_view) { require_device<E, at, typename base::devices>(); };
      } else {
        list[N].run = &run_routine<App, E, at, false, Arguments>;
        if constexpr (may_bound<App, at>) list[N].run_bounded = &run_routine<App, E, at, true, Arguments>;
        if constexpr (is_named) // the others are prepared at construction
          list[N].prepare = [](fields_state& f, std::string_view routine) {
            static_cast<base&>(f).template prepare<at>(routine);
          };
      }
    }
    if constexpr (what == entry_kind::all_reduce) list[N].run = &run_all_reduce<App, E>;
    if constexpr (what == entry_kind::output) list[N].run = &run_output<App, E, Index, Arguments>;
  }
  template <std::size_t N, class E, class Body>
  constexpr void group(Body const& body) {
    if constexpr (requires { typename E::condition; }) list[N].decide = &decide_by<App, E, Arguments>;
    if constexpr (E::about.what == entry_kind::graph) {
      constexpr int count = [] {
        arguments_of_group<App, Tag, Arguments> taken;
        walk_types<N, E>(taken);
        return taken.most;
      }();
      list[N].keeps = keeper<Arguments>(std::make_index_sequence<std::size_t(count)>{});
    }
    body();
  }
};
template <class App, class Index, class S, class Tag, class Arguments>
inline constexpr action_table<App, Index, S, Tag, Arguments> actions_of{};

/// Notifies the observer of fields of the graph of schedule `S`, if the application has one that wants it; else null.
template <class App, class S, class Device>
inline constexpr void (*notify_of)(any_observer&) = [] {
  constexpr bool is_wanted = []<class... Ts>(keel::list<Ts...>) {
    return (ObservesSchedules<typename Ts::observer> || ...);
  }(typename tracking_of<App>::list{});
  void (*notify)(any_observer&) = nullptr;
  if constexpr (is_wanted)
    notify = [](any_observer& observer) {
      auto const one = [&]<class O>(std::type_identity<O>) {
        if constexpr (ObservesSchedules<O>)
          if (O* const held = observer.get<O>()) tell_schedule<App, S, Device>(*held);
      };
      [&]<class... Ts>(keel::list<Ts...>) {
        (one(std::type_identity<typename Ts::observer>{}), ...);
      }(typename tracking_of<App>::list{});
    };
  return notify;
}();

/// `S` as fields with the variables of `Index` run it.
template <class App, class Index, class S, class Tag, class Arguments>
inline constexpr schedule_view view_of_schedule{
    bound_schedule<S, Index>::nodes, node_memories<App, S, memory_of<devices_of<App>, Tag>>::where.data(),
    actions_of<App, Index, S, Tag, Arguments>.list.data(), notify_of<App, S, Tag>};

/// Whether a schedule is routines one after the other, all on the devices that are at hand from the start, and without
/// scratch.
template <class S>
inline constexpr bool is_plain = [] {
  for (std::size_t v = 0; v != table_of<S>.variable_count; ++v)
    if (table_of<S>.variables[v]->is_scratch) return false;
  for (std::size_t i = 0; i < table_of<S>.size; ++i) {
    entry const& e = *table_of<S>.nodes[i].about;
    if (e.what != entry_kind::sequence && (e.what != entry_kind::routine || e.where.what == place::kind::at_named))
      return false;
  }
  return true;
}();

/// Such a schedule where no routine has to ask: it only calls them.
template <class App, class Index, class S, class Tag, class Arguments>
struct plain_calls {
  fields_base<App>& base;
  component_range range;
  Arguments const& args;
  std::size_t node = 0; ///< that which runs

  template <std::size_t N, class R>
  KEEL_FORCE_INLINE void leaf() {
    if constexpr (!bound_schedule<S, Index>::is_complete(N)) require_variables<R, Index>();
    using at = typename fields_base<App>::template device_for<typename R::place_type, Tag>;
    node = N;
    run_and_keep<R>(context<App, R, at>{{base, bound_schedule<S, Index>::nodes.asked(N).data(), range}}, args,
                    base.executor_.result);
  }
  template <std::size_t, class, class Body>
  KEEL_FORCE_INLINE void group(Body const& body) {
    body();
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
                  "(run returns it, whichever is chosen). Give it one type.");
    return std::type_identity<first>{};
  }
  using type = typename decltype(of(devices_of<App>{}))::type;
};

} // namespace keel::residency::detail
