// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How fields are made: the grid's share, the arrays in each memory, the devices.

#include <keel/machine/device_memory.hpp>
#include <keel/policy/choose.hpp>
#include <keel/policy/error.hpp>
#include <keel/residency/fields.hpp>
#include <keel/space/pinned.hpp>

#include <array>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace keel::residency {

namespace detail {

/// The components asked for among the options of the fields.
template <class... Options>
int components_in(Options const&... options) {
  int count = 1;
  [[maybe_unused]] auto const look = [&](auto const& option) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(option)>, components>) count = option.count;
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(option)>, further_grids>) count = 1 + int(option.grids.size());
  };
  (look(options), ...);
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

template <class V, class... Vs>
constexpr bool is_for(extra<Vs...> const&) {
  return (std::is_same_v<V, Vs> || ...);
}

} // namespace detail

template <class App, Variable... Vars>
template <Runtime<App> Run, class... Options>
fields<App, Vars...>::fields(Run& run, grid const& whole, Options const&... options)
    : shares_(detail::shares_in(run, whole, options...)), provider_(shares_),
      book_(provider_, lanes::size + 1, detail::components_in(options...)), instances_(run),
      own_(run.environment().comm()) {
  bool const is_known = with_device<devices>(run.device_name(), [&]<class Tag>(Tag) {
    chosen_ = policy::index_of<devices, Tag>;
    instances_.template open<Tag>(); // Kokkos runs from here on
  });
  if (!is_known)
    throw error("residency::fields", "the device " + std::string(run.device_name()) + " is not in the list",
                "the list has " + policy::names<devices>(), "Choose one of them");
  instances_.template open<host_tag>();
  book_.observer().name_memories(detail::memory_names(devices{}));
  if constexpr (WritesFile<typename tracking::observer>) {
    std::string name = settings_.trace_file;
    if constexpr (requires { run.residency_settings(); }) name = run.residency_settings().trace_file;
    int const rank = run.environment().rank();
    book_.observer().open(trace::path_of(name, rank), rank, detail::memory_names(devices{}));
  }
  for (int c = 0; c < components(); ++c) routes_.emplace_back(own_, local({c}));
  (add<Vars>(options...), ...);
  if (components() == 1 && !book_.observer().listens()) row_ = book_.cells();
  book_.open(host);
  on_chosen<true>([&]<class Tag>(Tag) {
    prepare<Tag>();
    if constexpr (detail::is_rehearsal<Tag>) sends_by_way_of_host_ = keel::space::chosen_guard() == keel::space::guard::pages;
    else sends_by_way_of_host_ = !machine::reaches_device_memory<typename App::ranks>();
  });
  if constexpr (requires { run.residency_settings(); }) set(run.residency_settings());
  else set({});
}

// Kernels and copies may still be at work on the arrays.
template <class App, Variable... Vars>
fields<App, Vars...>::~fields() {
  instances_.for_each_open([](auto, auto const& queue) { queue.fence(); });
}

// How the variable lies, without its type, for the provider; its number and levels for the book.
template <class App, Variable... Vars>
template <class V, class... Options>
void fields<App, Vars...>::add(Options const&... options) {
  using view_type = typename detail::rack<V, layout, Kokkos::HostSpace>::view_type;
  constexpr int dynamic = int(view_type::rank_dynamic);
  auto const name = std::string(V::about.name);
  int const on_grid = V::about.lies_on_grid ? local().rank : 0;
  if (dynamic < on_grid)
    throw error("residency::fields", "variable " + name + " has " + std::to_string(dynamic) + " dimensions to be set, the grid " +
                std::to_string(on_grid), "its first dimensions are the grid's", "Declare it off_grid, or give it more");
  std::int64_t const* lengths = nullptr;
  bool is_own = false;
  [[maybe_unused]] auto const look = [&](auto const& option) {
    if constexpr (requires { option.lengths; })
      if (bool const mine = detail::is_for<V>(option); mine || (!is_own && lengths == nullptr && option.given == dynamic - on_grid))
        if (!is_own) lengths = option.lengths.data(), is_own = mine && option.given == dynamic - on_grid;
  };
  (look(options), ...);
  if (dynamic > on_grid && lengths == nullptr)
    throw error("residency::fields", "variable " + name + " has " + std::to_string(dynamic - on_grid) +
                " dimensions beyond the grid's, and nobody gave their lengths", "every star needs one",
                "Pass extra<" + name + ">{...}");

  std::vector<detail::shape> shapes;
  for (share const& part : shares_) shapes.push_back(lay_out<V>(part, lengths, storage_.template of<V>().lies.emplace_back()));
  provider_.add(std::move(shapes), V::about.levels, components(), &fields::template allocate<V>, this);
  (void)book_.add(V::about.name, V::about.levels, provider_.bytes_of(number<V>), V::about.group);
  for (int c = 1; c < int(shares_.size()); ++c) book_.resize(number<V>, c, provider_.bytes_of(number<V>, c));
}

// How the arrays of one share lie; `extra` are the lengths beyond the grid's.
template <class App, Variable... Vars>
template <class V>
detail::shape fields<App, Vars...>::lay_out(share const& part, std::int64_t const* extra, layout& kokkos) const {
  using view_type = typename detail::rack<V, layout, Kokkos::HostSpace>::view_type;
  constexpr int rank = int(view_type::rank), dynamic = int(view_type::rank_dynamic);
  int const on_grid = V::about.lies_on_grid ? part.rank : 0;
  detail::shape lies;
  lies.rank = on_grid;
  lies.element_bytes = sizeof(typename view_type::non_const_value_type);
  std::int64_t extents[max_rank + 1]{};
  for (int d = 0; d < rank; ++d) {
    extents[d] = d < on_grid ? part.extents[d] : d < dynamic ? extra[d - on_grid] : std::int64_t(view_type::static_extent(unsigned(d)));
    if (d < dynamic) kokkos.dimension[d] = std::size_t(extents[d]);
    if (extents[d] < 1)
      throw error("residency::fields", "dimension " + std::to_string(d) + " of variable " + std::string(V::about.name) + " has " +
                  std::to_string(extents[d]) + " elements", "an array needs one", "Give a positive length");
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
template <class App, Variable... Vars>
template <class V>
void fields<App, Vars...>::allocate(void* self, int variable, memory m) {
  auto& f = *static_cast<fields*>(self);
  auto const make = [&]<class Memory>(std::type_identity<Memory>) {
    auto& rack = f.storage_.template in<V, Memory>();
    using view_type = typename std::remove_reference_t<decltype(rack)>::view_type;
    std::vector<void*> arrays;
    std::vector<view_type> views; // given over when all are there
    for (int i = 0; i < V::about.levels * f.components(); ++i) {
      auto const& all = f.storage_.template of<V>().lies;
      auto const& lies = all[all.size() == 1 ? 0 : std::size_t(i / V::about.levels)];
      auto const label = std::string(V::about.name) + " [" + std::to_string(i % V::about.levels) + "]";
      // What a device copies from and to is pinned, where it has such memory.
      using host_memory = std::conditional_t<lanes::size != 0, keel::space::pinned, Kokkos::HostSpace>;
      if constexpr (std::is_same_v<Memory, Kokkos::HostSpace>)
        views.push_back(Kokkos::View<typename V::data_type, layout, host_memory>(label, lies));
      else
        views.push_back(view_type(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), lies));
      arrays.push_back(views.back().data());
    }
    f.provider_.place(variable, m, std::move(arrays));
    rack.views = std::move(views);
  };
  if (m == host) return make(std::type_identity<Kokkos::HostSpace>{});
  [&]<class... Lanes>(keel::list<Lanes...>) {
    int at = 0;
    (void)((++at == int(m) ? (make(std::type_identity<typename Lanes::memory_space>{}), true) : false) || ...);
  }(lanes{});
}

// The device's queue and memory, once; a device that no routine uses costs neither.
template <class App, Variable... Vars>
template <class Tag>
void fields<App, Vars...>::prepare(std::string_view routine) {
  if (instances_.template get<Tag>() && book_.is_open(memory_of<Tag>)) [[likely]] return;
  auto const& queue = instances_.template open<Tag>();
  provider_.connect(queue);
  if constexpr (detail::is_rehearsal<Tag>) poisons_ = true;
  book_.open(memory_of<Tag>, routine);
}

// Work on the host's memory that may go on behind its caller is done when this returns.
template <class App, Variable... Vars>
void fields<App, Vars...>::settle_host() const {
  instances_.for_each_open([]<class Tag>(Tag, auto const& queue) {
    if constexpr (detail::is_on_host<Tag>) queue.fence();
  });
}

template <class App, Variable... Vars>
std::string_view fields<App, Vars...>::device_name() const {
  std::string_view name;
  for_each_device<devices>([&, at = std::size_t{0}]<class Tag>(Tag) mutable {
    if (at++ == chosen_) name = Tag::name;
  });
  return name;
}

} // namespace keel::residency
