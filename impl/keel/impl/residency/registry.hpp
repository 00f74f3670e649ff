// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The calls of a registry.

#include <keel/residency/registry.hpp>

#include <optional>

namespace keel::residency {

template <class App>
template <class Run, class... Places>
  requires requires(Run& run) { run.environment().rank(); }
registry<App>::registry(Run& run, Places const&... places) : base(run, detail::grid_in(places...), {}, 1) {
  machine::agreement const ranks(run.environment());
  detail::require_same_options(run.environment(), detail::grid_in(places...));
  ranks.all_alike(detail::making_fields, [&] { (detail::add_mesh_in(*this, places), ...); });
  detail::check_meshes(*this, ranks);
  this->open_for(run, false);
}

template <class App>
template <class... Views>
auto registry<App>::adopt_on(lattice const& on, std::string_view name, Views const&... views) -> handle {
  detail::registered::wanted w{name, {}, nullptr};
  auto const take = [&]<class V>(V const& v) {
    if constexpr (detail::KokkosView<V>) {
      using space = typename V::execution_space;
      memory m = host;
      if constexpr (detail::is_of_device<V>) {
        m = detail::find_memory<space>(typename base::queue_spaces{});
        static_assert(detail::find_memory<space>(typename base::queue_spaces{}) != host,
                      "keel::residency::registry::adopt: a view in the memory of a device that is not in the "
                      "application's list. Add it there.");
      }
      w.adopt(detail::ref_of(v), &detail::type_mark<typename V::non_const_value_type>, m);
    } else if constexpr (std::is_pointer_v<V>) {
      auto pointed = detail::ref_of(v);
      detail::set_lengths(pointed, views...);
      w.adopt(pointed, &detail::type_mark<std::remove_cv_t<std::remove_pointer_t<V>>>, host);
    } else if constexpr (std::is_same_v<V, without_checkpoint>) w.is_saved = false;
    else detail::set(w.lies, v);
  };
  (take(views), ...);
  w.lies.on = on;
  return {known_.add(w, true), 0, region::everywhere};
}

template <class App>
template <class Data, class... Options>
auto registry<App>::add_on(lattice const& on, std::string_view name, Options const&... options) -> handle {
  using view = Kokkos::View<Data, typename App::layout, Kokkos::HostSpace>;
  static_assert(int(view::rank) == int(view::rank_dynamic) && int(view::rank) >= 1,
                "keel::residency::registry::add: an array with fixed extents, or none. Say double** and extents{n}.");
  detail::registered::wanted w{name, {}, &detail::type_mark<typename view::value_type>};
  detail::set_element<typename view::value_type>(w.lies);
  w.lies.on = on, w.lies.rank = int(view::rank);
  w.is_left = std::is_same_v<typename App::layout, Kokkos::LayoutLeft>;
  [[maybe_unused]] auto const look = [&]<class O>(O const& o) {
    if constexpr (std::is_same_v<O, extents>) w.lengths = o.of_array, w.given = o.given;
    else if constexpr (std::is_same_v<O, without_checkpoint>) w.is_saved = false;
    else if constexpr (requires { O::count; }) w.levels = O::count;
  };
  (look(options), ...);
  return {known_.add(w, false), 0, region::everywhere};
}

template <class App>
template <class V>
V registry<App>::make_view(handle x, memory m) const {
  detail::array_ref const a =
      known_.lies(checked(x).number, x.level, m, &detail::type_mark<typename V::non_const_value_type>, int(V::rank));
  typename V::array_layout lies;
  for (int d = 0; d < a.rank; ++d) lies.dimension[d] = std::size_t(a.extents[d]);
  if constexpr (std::is_same_v<typename V::array_layout, Kokkos::LayoutStride>)
    for (int d = 0; d < a.rank; ++d) lies.stride[d] = std::size_t(a.strides[d]);
  V const made(static_cast<typename V::pointer_type>(a.data), lies);
  for (int d = 0; d < a.rank; ++d)
    if (a.extents[d] > 1 && std::int64_t(made.stride(d)) != a.strides[d])
      throw error("residency::registry", "'" + std::string(known_.name(x.number)) + "' does not lie as such a view",
                  "along index " + std::to_string(d) + " the next element is " + std::to_string(a.strides[d]) +
                      " further, in the view " + std::to_string(made.stride(d)),
                  "Take a view with Kokkos::LayoutStride");
  return made;
}

template <class App>
auto registry<App>::checked(handle x) const -> handle {
  if (x.number < 0 || x.number >= known_.size())
    throw error("residency::registry", "a variable is named that is not registered here",
                "its number is " + std::to_string(x.number), "Take what adopt, add or find return");
  int const levels = known_.levels(x.number);
  if (x.level < 0 || x.level >= levels)
    throw error("residency::registry",
                "'" + std::string(known_.name(x.number)) + "' has no level " + std::to_string(x.level),
                "it has " + policy::counted(levels, "level"), "Register it with levels<N>{}");
  return x;
}

template <class App>
void registry<App>::refuse_view(handle x, std::string_view use, bool is_there) const {
  throw error("residency::registry",
              "'" + std::string(use) + "' takes a view of '" + std::string(known_.name(checked(x).number)) + "'",
              is_there ? "it only reads it, and the view's elements are not const" : "it does not declare it",
              is_there ? "Say double const**, or updating{...}" : "Say reading{...}, writing{...} or updating{...}");
}

template <class App>
template <class... Clauses>
std::vector<request> registry<App>::asked_of(Clauses const&... clauses) const {
  std::vector<request> made;
  std::vector<bool> named(std::size_t(known_.size()), false); // so that few of many are looked for
  auto const take = [&]<class C>(C const& clause) {
    static_assert(std::is_same_v<C, reading> || std::is_same_v<C, writing> || std::is_same_v<C, updating>,
                  "keel::residency::registry::use: what it does is no reading, writing or updating.");
    for (handle const x : clause.all) {
      auto at = made.end();
      if (named[std::size_t(checked(x).number)])
        at = std::find_if(made.begin(), at,
                          [&](request const& r) { return r.variable == x.number && r.level == x.level; });
      named[std::size_t(x.number)] = true;
      if (at == made.end()) at = made.insert(at, request{x.number, x.level});
      if constexpr (!std::is_same_v<C, writing>) at->reads = at->reads | x.where;
      if constexpr (!std::is_same_v<C, reading>) at->writes = at->writes | x.where;
    }
  };
  (take(clauses), ...);
  return made;
}

template <class App>
void registry<App>::run_exchange(std::span<handle const> all, request const& each, bool adds) {
  std::vector<request> asked;
  for (handle const x : all) {
    request r = each;
    r.variable = checked(x).number, r.level = x.level;
    asked.push_back(r);
  }
  known_.exchange(asked, adds, this->exchanges_in_);
}

template <class App>
template <class Place>
memory registry<App>::memory_for() {
  if constexpr (std::is_same_v<Place, on_host>) return host;
  else {
    memory m = host;
    auto const open = [&]<class Tag>(Tag) {
      if constexpr (!detail::is_on_host<Tag>) this->template prepare<Tag>();
      m = base::template memory_of<Tag>;
    };
    if constexpr (std::is_same_v<Place, on_device>) this->template on_chosen<true>(open);
    else open(typename Place::tag{});
    return m;
  }
}

} // namespace keel::residency
