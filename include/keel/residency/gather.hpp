// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A variable of all ranks as one array, on one of them.

#include <keel/impl/residency/files/gather.hpp>
#include <keel/residency/fields.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace keel::residency {

namespace detail {
struct gathering {
  template <class App, Variable... Vs, Part X>
  static auto of(fields<App, Vs...>& f, X, int root, component which) {
    using variable = typename item<X>::variable;
    using view = Kokkos::View<typename variable::data_type, typename App::layout, Kokkos::HostSpace>;
    constexpr int number = fields<App, Vs...>::template number<variable>;
    static_assert(number >= 0, "keel::residency::gather: the fields do not have the variable (it is in the message). "
                               "Add it to fields<...>.");
    auto const visit = f.users_.enter("gather");
    f.executor_.require_idle("gather");
    view made;
    auto const make = [](void* to, std::size_t const* extents) -> void* {
      return [&]<std::size_t... D>(std::index_sequence<D...>) -> void* {
        view& whole = *static_cast<view*>(to);
        whole = view(Kokkos::view_alloc(std::string(variable::about.name), Kokkos::WithoutInitializing), extents[D]...);
        return whole.data();
      }(std::make_index_sequence<std::size_t(view::rank_dynamic)>{});
    };
    detail::gather(f, {number, item<X>::level}, which.index, root, {make, &made});
    return made;
  }
};
} // namespace detail

/// The owned elements of all ranks, by their global indices, as a view on the host of rank `root`; on the others the
/// view is empty. On a mesh the first index counts the elements by ascending id. A variable that lies on neither is the
/// root's own. Blocks are one whole; of components it is `which`.
///
/// What is stale on the host is copied there before. Collective. Throws the same `keel::error` on every rank if the
/// data are valid nowhere, or memory is lacking.
template <class App, Variable... Vs, Part X>
[[nodiscard]] auto gather(fields<App, Vs...>& f, X x, int root, component which = {}) {
  return detail::gathering::of(f, x, root, which);
}

} // namespace keel::residency
