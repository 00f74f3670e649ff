// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How fields are made: the grid's share, the arrays in each memory, the devices, and which of them carries the fields.

#include <keel/impl/exchange/kokkos_copy_queue.hpp>
#include <keel/impl/residency/faults.hpp>
#include <keel/impl/residency/fields_base.hpp>
#include <keel/impl/residency/options.hpp>
#include <keel/machine/collectives.hpp>
#include <keel/machine/concepts.hpp>
#include <keel/policy/choose.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/list.hpp>
#include <keel/policy/log.hpp>
#include <keel/space/pinned.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace keel::residency::detail {

template <class View, class Made, class Options>
void arrays::make(int variable, memory m, Options const& options) {
  order const wanted = ordered(variable, m);
  auto* const made = new View[std::size_t(wanted.count)];
  array_views all(made, [](void* them) { delete[] static_cast<View*>(them); });
  std::vector<void*> data;
  std::byte* room = wanted.room;
  for (int i = 0; i < wanted.count; ++i) {
    typename View::array_layout lengths;
    auto const [label, extents] = described(variable, i);
    for (int d = 0; d < int(View::rank_dynamic); ++d) lengths.dimension[d] = extents[d];
    if (room != nullptr) {
      made[i] = View(reinterpret_cast<typename View::value_type*>(room), lengths);
      room += scratch_size_of(variable, i);
    } else if (int const c = wanted.kept == nullptr ? -1 : wanted.kept[i / wanted.levels]; c >= 0) {
      made[i] = static_cast<View const*>(wanted.former)[c * wanted.levels + i % wanted.levels];
    } else {
      made[i] = Made(options(label), lengths);
    }
    check_size(variable, i, made[i].span());
    data.push_back(made[i].data());
  }
  place(variable, m, std::move(data), std::move(all));
}

/// Kokkos' tools.
inline constexpr region_listener kokkos_tools{[](std::string const& name) { Kokkos::Profiling::pushRegion(name); },
                                              [] { Kokkos::Profiling::popRegion(); }};

/// Sends an observer the knobs of a runtime that has some, and how the ranks cut the grids and their shares.
template <class O, class Run>
void notify_of_knobs([[maybe_unused]] O& observer, [[maybe_unused]] Run const& run,
                     [[maybe_unused]] fields_state const& fields) {
  if constexpr (requires(std::string_view text) { observer.knob(text, text, text, text); }) {
    if constexpr (requires { run.knobs(); })
      for (auto const& k : run.knobs()) observer.knob(k.option, k.device, k.value, name(k.from));
    if (auto const cut = fields.arrays_.cut(&share::processes); !cut.empty())
      observer.knob("ranks_in", "", cut, "fields");
    if (fields.arrays_.has_blocks()) observer.knob("blocks", "", fields.arrays_.cut(&share::blocks), "fields");
  }
}

template <class List>
struct transports_from;

template <class App>
template <class Run>
fields_base<App>::fields_base(Run& run, grid const& whole, std::span<grid const> further, int component_count)
    : fields_state(whole, further, run.environment().size(), run.environment().rank(), queue_spaces::size + 1,
                   component_count, tracking::chosen(run)),
      instances_(run) {
  this->close_if(book_.checks());
  book_.print_as(run.environment().rank() == 0);
  arrays_.settle_with({[](void const* all) {
                         static_cast<decltype(instances_) const*>(all)->for_each_open(
                             []<class Tag>(Tag, auto const& queue) {
                               if constexpr (is_on_host<Tag>) space::detail::wait_for(queue);
                             });
                       },
                       &instances_});
  machine::agreement const ranks(run.environment());
  ranks.all_alike(making_fields, [&] {
    bool const is_known = with_device<devices>(run.device_name(), [&]<class Tag>(Tag) {
      chosen_ = policy::index_of<devices, Tag>;
      instances_.template open<Tag>(); // Kokkos runs from here on
    });
    if (!is_known)
      throw error("residency::fields", "the device " + std::string(run.device_name()) + " is not in the list",
                  "the list has " + policy::names<devices>(), "Choose one of them");
    instances_.template open<host_tag>();
  });
  for_each_device<devices>([&]<class Tag>(Tag) { faults::watch_cards<Tag>(run.environment().rank()); });
  if (Kokkos::Profiling::profileLibraryLoaded()) book_.observer().listen_to(&kokkos_tools);
  std::string trace_file = book_.settings().trace_file;
  if constexpr (requires { run.residency_settings(); }) trace_file = run.residency_settings().trace_file;
  tracking::choose(run, [&]<class T>(std::type_identity<T>) {
    using observer = typename T::observer;
    if constexpr (observer::is_told) {
      book_.observe_by(std::make_unique<observer_of<observer>>());
      if constexpr (WritesFile<observer>) {
        observer& held = *book_.observer().template get<observer>();
        auto const mine = observer::next(run.environment().size());
        auto agreed = mine;
        machine::broadcast(run.environment(), agreed, 0);
        int const rank = run.environment().rank();
        ranks.all_alike(making_fields, [&] {
          held.open(observer::path_of(trace_file, rank, mine.part), rank, memory_names(devices{}), agreed);
          notify_of_knobs(held, run, *this);
        });
      }
    }
  });
  book_.name_memories(memory_names(devices{}));
  if constexpr (requires { run.program().print_configuration; }) {
    auto const form = run.program().print_configuration;
    if (form == decltype(run.program().print_configuration)::text && run.environment().is_master()) arrays_.print_cut();
  }
}

// Once all variables are there.
template <class App>
template <class Run>
void fields_base<App>::open_for(Run& run, bool has_output) {
  machine::agreement const ranks(run.environment());
  ranks.all_alike(making_fields, [&] {
    book_.open(host);
    open_first_of_chain(run);
    settings how;
    if constexpr (requires { run.residency_settings(); }) how = run.residency_settings();
    if (!has_output) how.copy_back_vars.clear();
    book_.set(how);
  });
  constexpr bool are_policys =
      std::is_same_v<std::remove_cvref_t<decltype(run.environment())>, machine::basic_environment<typename App::ranks>>;
  join(run.environment(), are_policys);
  if constexpr (exchanges_on_device<App>) on_chosen<true>([&]<class Tag>(Tag) { exchanges_in_ = memory_of<Tag>; });
  if constexpr (requires { typename App::transports; })
    own_transports_ = &transports_from<typename App::transports>::make;
  ranks.all_alike(making_fields, [&] { prepare_to_connect(); });
  ranks.all_alike(making_fields, [&] { connect(); });
}

// Kernels and copies may still be at work on the arrays.
template <class App>
fields_base<App>::~fields_base() {
  instances_.for_each_open([](auto, auto const& queue) { space::detail::wait_for(queue); });
}

template <class App>
template <class Data>
void fields_base<App>::add(variable_info const& about, std::initializer_list<lengths_given> given) {
  static constexpr array_kind kind =
      array_kind::of<array_type<Data, Kokkos::HostSpace>>(std::is_same_v<layout, Kokkos::LayoutLeft>);
  fields_state::add(about, kind, given, &fields_base::template allocate<Data>, this);
}

// What the provider calls to create. What a device copies from and to is pinned, if it has such memory.
template <class App>
template <class Data>
void fields_base<App>::allocate(void* self, int variable, memory m) {
  auto& held = *static_cast<fields_base*>(self);
  using host_memory = std::conditional_t<queue_spaces::size != 0, keel::space::pinned, Kokkos::HostSpace>;
  if (m == host)
    return held.arrays_.template make<array_type<Data, Kokkos::HostSpace>, array_type<Data, host_memory>>(
        variable, m, [](std::string const& label) { return label; });
  with_index<queue_spaces::size>(std::size_t(m) - 1, [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
    using type = array_type<Data, typename nth_of<I, queue_spaces>::type::memory_space>;
    held.arrays_.template make<type, type>(
        variable, m, [](std::string const& label) { return Kokkos::view_alloc(label, Kokkos::WithoutInitializing); });
  });
}

// Calls f with the tag of the device chosen at the start; if nothing asks for it, with any.
template <class App>
template <bool Asks, class F>
KEEL_FORCE_INLINE void fields_base<App>::on_chosen(F&& f) {
  with_index<Asks ? devices::size : 1>(chosen_,
                                       [&]<std::size_t I>(std::integral_constant<std::size_t, I>)
                                           __attribute__((always_inline)) { f(typename nth_of<I, devices>::type{}); });
}

// The device's queue and memory, once; a device that no routine uses costs neither.
template <class App>
template <class Tag>
void fields_base<App>::prepare(std::string_view routine) {
  if (instances_.template get<Tag>() && book_.is_open(memory_of<Tag>)) [[likely]]
    return;
  auto const& queue = instances_.template open<Tag>();
  if constexpr (memory_of<Tag> != host) arrays_.connect(memory_of<Tag>, kokkos_copy_queue(queue));
  if constexpr (is_simulated<Tag>) book_.poison_from_now();
  book_.open(memory_of<Tag>, routine);
}

// Opens the memory of the first device of the run's chain that has room. One that has none is reported to the run's
// tracker.
template <class App>
template <class Run>
void fields_base<App>::open_first_of_chain(Run& run) {
  if constexpr (devices::size == 1 || !requires {
                  run.device_chain();
                  run.tracker();
                }) {
    on_chosen<true>([&]<class Tag>(Tag) { prepare<Tag>(); });
  } else {
    auto const chain = run.device_chain();
    std::string failed;
    for (auto const name : chain) {
      bool is_open = false;
      with_device<devices>(name, [&]<class Tag>(Tag tag) {
        chosen_ = policy::index_of<devices, Tag>;
        try {
          prepare<Tag>();
          is_open = true;
        } catch (error const& e) {
          if (chain.size() == 1) throw;
          failed.append(failed.empty() ? "" : "; ").append(e.brief());
          run.tracker().report_failure(tag, std::string(e.brief()));
        }
      });
      if (!is_open) continue;
      if (failed.empty()) return;
      chosen_device<App> = name;
      return policy::log(policy::log_level::warning,
                         "residency: routines on_device run on " + std::string(name) + ", because " + failed);
    }
    throw error("residency::fields", "no device has room for the variables", failed,
                "Take smaller arrays, or more ranks");
  }
}

template <class App>
std::string_view fields_base<App>::device_name() const {
  std::string_view name;
  for_each_device<devices>([&, at = std::size_t{0}]<class Tag>(Tag) mutable {
    if (at++ == chosen_) name = Tag::name;
  });
  return name;
}

} // namespace keel::residency::detail
