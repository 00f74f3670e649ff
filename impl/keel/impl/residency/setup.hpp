// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How fields are made: the grid's share, the arrays in each memory, the devices.
/// Long because what is made on a memory without room is undone beside it.

#include <keel/impl/residency/fields_base.hpp>
#include <keel/impl/residency/kokkos_lane.hpp>
#include <keel/impl/residency/traced_program.hpp>
#include <keel/machine/collectives.hpp>
#include <keel/machine/device_memory.hpp>
#include <keel/policy/choose.hpp>
#include <keel/policy/error.hpp>
#include <keel/space/pinned.hpp>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace keel::residency::detail {

/// The components asked for among the options of the fields.
template <class... Options>
int components_in(Options const&... options) {
  int count = 1;
  [[maybe_unused]] auto const look = [&](auto const& option) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(option)>, components>) count = option.count;
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(option)>, further_grids>)
      count = 1 + int(option.grids.size());
  };
  (look(options), ...);
  if (count < 1)
    throw error("residency::fields", "components{" + std::to_string(count) + "} are refused",
                "a variable has at least one", "Give 1 or more");
  return count;
}

/// A rank's shares of the grids of all components; one where they are alike.
template <class Run, class... Options>
std::vector<share> shares_in(Run& run, grid const& whole, Options const&... options) {
  int const size = run.environment().size(), rank = run.environment().rank();
  std::vector<share> shares{share_of(whole, size, rank)};
  [[maybe_unused]] auto const look = [&](auto const& option) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(option)>, further_grids>) { // nvcc 13 needs the braces
      for (grid const& g : option.grids) {
        if (g.rank() != whole.rank())
          throw error("residency::fields", "component " + std::to_string(shares.size()) + " lies on a grid of " +
                      std::to_string(g.rank()) + " dimensions, the first on one of " + std::to_string(whole.rank()),
                      "their arrays have one type", "Give all grids as many");
        shares.push_back(share_of(g, size, rank));
      }
    }
  };
  (look(options), ...);
  return shares;
}

/// What an option says of the lengths of a variable.
template <class Option>
lengths_given lengths_in(Option const&, variable_info const&) {
  return {};
}
template <class... Vs>
lengths_given lengths_in(extra<Vs...> const& option, [[maybe_unused]] variable_info const& v) {
  return {option.lengths.data(), option.given, ((Vs::about == v) || ...)};
}

template <class App>
template <class Run>
fields_base<App>::fields_base(Run& run, std::vector<share> shares, int component_count)
    : shares_(std::move(shares)), provider_(shares_), ledger_(provider_, lanes::size + 1, component_count),
      instances_(run), own_(run.environment().comm()) {
  bool const is_known = with_device<devices>(run.device_name(), [&]<class Tag>(Tag) {
    chosen_ = policy::index_of<devices, Tag>;
    instances_.template open<Tag>(); // Kokkos runs from here on
  });
  if (!is_known)
    throw error("residency::fields", "the device " + std::string(run.device_name()) + " is not in the list",
                "the list has " + policy::names<devices>(), "Choose one of them");
  instances_.template open<host_tag>();
  if (Kokkos::Profiling::profileLibraryLoaded()) ledger_.observer().listen_to(kokkos_tools);
  ledger_.observer().name_memories(memory_names(devices{}));
  ledger_.name_memories(memory_names(devices{}));
  if constexpr (WritesFile<typename tracking::observer>) {
    std::string name = settings_.trace_file;
    if constexpr (requires { run.residency_settings(); }) name = run.residency_settings().trace_file;
    int const rank = run.environment().rank();
    auto const mine = trace::next(run.environment().size());
    auto agreed = mine;
    machine::broadcast(own_, agreed, 0);
    ledger_.observer().open(trace::path_of(name, rank, mine.part), rank, memory_names(devices{}), agreed);
    tell_knobs(ledger_.observer(), run);
    tell_cuts(ledger_.observer(), shares_);
  }
  for (int c = 0; c < component_count; ++c)
    halo_channels_.push_back(std::make_unique<halo_channel<typename App::ranks>>(own_, local({c})));
}

// Once all variables are there.
template <class App>
template <class Run>
void fields_base<App>::open_for(Run& run) {
  std::size_t cells = row_padding;
  for (int v = 0; v < ledger_.variables(); ++v) cells += std::size_t(ledger_.levels(v));
  slow_row_.assign(cells, slow_path | all_bits);
  row_ = components() == 1 && !ledger_.observer().listens() ? ledger_.cells() : slow_row_.data();
  ledger_.open(host);
  open_first_of_chain(run);
  on_chosen<true>([&]<class Tag>(Tag) {
    if constexpr (is_simulated<Tag>) sends_by_way_of_host_ = keel::space::chosen_guard() == keel::space::guard::pages;
    else sends_by_way_of_host_ = !machine::reaches_device_memory<typename App::ranks>();
  });
  if constexpr (requires { run.residency_settings(); }) set(run.residency_settings());
  else set({});
}

// Kernels and copies may still be at work on the arrays.
template <class App>
fields_base<App>::~fields_base() {
  instances_.for_each_open([](auto, auto const& queue) { queue.fence(); });
}

// The provider gets the layout without the type; the ledger gets name, levels and bytes.
template <class App>
template <class Data>
void fields_base<App>::add(variable_info const& about, std::initializer_list<lengths_given> given) {
  constexpr int dynamic = int(array_type<Data, Kokkos::HostSpace>::rank_dynamic);
  auto const name = std::string(about.name);
  int const on_grid = about.lies_on_grid ? local({}).rank : 0, beyond = dynamic - on_grid;
  if (beyond < 0)
    throw error("residency::fields",
                "variable " + name + " has " + std::to_string(dynamic) + " dimensions to be set, the grid " +
                    std::to_string(on_grid),
                "its first dimensions are the grid's", "Declare it off_grid, or give it more");
  std::int64_t const* lengths = nullptr;
  bool is_own = false;
  for (lengths_given const& g : given)
    if (!is_own && g.lengths != nullptr && (g.is_own || (lengths == nullptr && g.count == beyond)))
      lengths = g.lengths, is_own = g.is_own && g.count == beyond;
  if (beyond > 0 && lengths == nullptr)
    throw error("residency::fields", "variable " + name + " has " + std::to_string(beyond) +
                " dimensions beyond the grid's without a length", "every star needs one",
                "Pass extra<" + name + ">{...}");

  int const number = ledger_.variables();
  region regions = region::none;
  for (share const& part : shares_) regions = regions | part.regions;
  std::vector<shape> shapes;
  for (share const& part : shares_) shapes.push_back(lay_out<Data>(about, part, lengths, layouts_.emplace_back()));
  arrays_.resize(arrays_.size() + lanes::size + 1);
  provider_.add(std::move(shapes), about.levels, components(), &fields_base::template allocate<Data>, this);
  (void)ledger_.add(about.name, about.levels, provider_.bytes_of(number), about.group,
                    about.has_ghosts ? regions : region::core);
  for (int c = 1; c < int(shares_.size()); ++c) ledger_.resize(number, c, provider_.bytes_of(number, c));
}

// How the arrays of one share lie; `extra` are the lengths beyond the grid's.
template <class App>
template <class Data>
shape fields_base<App>::lay_out(variable_info const& about, share const& part, std::int64_t const* extra,
                                layout& kokkos) const {
  using view_type = array_type<Data, Kokkos::HostSpace>;
  constexpr int rank = int(view_type::rank), dynamic = int(view_type::rank_dynamic);
  int const on_grid = about.lies_on_grid ? part.rank : 0;
  shape lies;
  lies.rank = on_grid;
  lies.has_ghosts = about.has_ghosts || on_grid == 0;
  lies.element_bytes = sizeof(typename view_type::non_const_value_type);
  std::int64_t extents[max_rank + 1]{};
  for (int d = 0; d < rank; ++d) {
    extents[d] = d < on_grid   ? part.extents[d]
                 : d < dynamic ? extra[d - on_grid]
                               : std::int64_t(view_type::static_extent(unsigned(d)));
    if (d < dynamic) kokkos.dimension[d] = std::size_t(extents[d]);
    if (extents[d] < 0)
      throw error("residency::fields",
                  "dimension " + std::to_string(d) + " of variable " + std::string(about.name) + " has " +
                      std::to_string(extents[d]) + " elements",
                  "an array has none or more", "Give a length that is not negative");
    lies.elements *= extents[d];
    if (d >= on_grid) lies.inner *= extents[d];
  }
  constexpr bool is_left = std::is_same_v<layout, Kokkos::LayoutLeft>;
  std::int64_t stride = is_left ? 1 : lies.inner;
  for (int k = 0; k < on_grid; ++k) {
    int const d = is_left ? k : on_grid - 1 - k;
    lies.stride[d] = stride;
    stride *= extents[d];
  }
  lies.inner_stride = is_left ? stride : 1;
  return lies;
}

// What the provider calls to create: the arrays of all levels and components, typed and labelled.
template <class App>
template <class Data>
void fields_base<App>::allocate(void* self, int variable, memory m) {
  auto& held = *static_cast<fields_base*>(self);
  int const levels = held.ledger_.levels(variable);
  auto const make = [&]<class Memory>(std::type_identity<Memory>) {
    using view_type = array_type<Data, Memory>;
    int const count = levels * held.components();
    auto* const views = new view_type[std::size_t(count)];
    std::shared_ptr<void> all(views, +[](void* made) { delete[] static_cast<view_type*>(made); });
    std::vector<void*> data;
    for (int i = 0; i < count; ++i) {
      std::size_t const shares = held.shares_.size(), which = shares == 1 ? 0 : std::size_t(i / levels);
      auto const& lies = held.layouts_[std::size_t(variable) * shares + which];
      auto const label = std::string(held.ledger_.name(variable)) + " [" + std::to_string(i % levels) + "]";
      // What a device copies from and to is pinned, where it has such memory.
      using host_memory = std::conditional_t<lanes::size != 0, keel::space::pinned, Kokkos::HostSpace>;
      if constexpr (std::is_same_v<Memory, Kokkos::HostSpace>) views[i] = array_type<Data, host_memory>(label, lies);
      else views[i] = view_type(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), lies);
      // Kokkos before 4.0 counts the elements of some layouts with 32 bits.
      std::int64_t const elements = held.provider_.shape_of(variable, i / levels).elements;
      if (std::int64_t(views[i].span()) < elements)
        throw error("residency::fields", std::to_string(elements) + " elements are too many for an array",
                    "this Kokkos makes " + std::to_string(views[i].span()) + " of them");
      data.push_back(views[i].data());
    }
    held.provider_.place(variable, m, std::move(data));
    held.arrays_[place_of(variable, m)] = std::move(all); // when all are there
  };
  if (m == host) return make(std::type_identity<Kokkos::HostSpace>{});
  with_index<lanes::size>(std::size_t(m) - 1, [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
    make(std::type_identity<typename nth_of<I, lanes>::type::memory_space>{});
  });
}

// Calls f with the tag of the device chosen at the start; where nothing asks for it, with any.
template <class App>
template <bool Asks, class F>
KEEL_FORCE_INLINE void fields_base<App>::on_chosen(F&& f) {
  with_index<Asks ? devices::size : 1>(
      chosen_, [&]<std::size_t I>(std::integral_constant<std::size_t, I>)
                   __attribute__((always_inline)) { f(typename nth_of<I, devices>::type{}); });
}

// The device's queue and memory, once; a device that no routine uses costs neither.
template <class App>
template <class Tag>
void fields_base<App>::prepare(std::string_view routine) {
  if (instances_.template get<Tag>() && ledger_.is_open(memory_of<Tag>)) [[likely]] return;
  auto const& queue = instances_.template open<Tag>();
  if constexpr (memory_of<Tag> != host)
    provider_.connect(memory_of<Tag>, kokkos_lane<tracking::checks>(queue));
  if constexpr (is_simulated<Tag>) poisons_ = true;
  ledger_.open(memory_of<Tag>, routine);
}

} // namespace keel::residency::detail
