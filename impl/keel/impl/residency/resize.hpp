// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Arrays of other lengths, meshes that are cut anew, elements that change their rank: what the calls of `fields` of
/// these names do. The bodies stand in resize.ipp. All are collective, and throw on all ranks or on none.

#include <keel/impl/residency/arrays.hpp>
#include <keel/policy/macros.hpp>
#include <keel/space/kokkos.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace keel::machine {
class agreement;
}

namespace keel::residency::detail {

class agreement;
struct fields_state;
struct thunk;

/// Throws unless all partitions were made on these ranks, and are the same.
void check_meshes(fields_state const& f, machine::agreement const& ranks);
/// The ranks of the fields. Throws if they have other ones than the policy.
[[nodiscard]] agreement const& ranks_for(fields_state const& f, std::string_view call);

void resize(fields_state& f, std::span<new_lengths const> all);
void reserve(fields_state& f, std::string_view mesh, std::int64_t size);
/// `find_values` sets `values`, which new elements get.
void repartition(fields_state& f, std::span<new_cut const> cuts, std::span<new_values const> values, thunk find_values);

/// Owned elements that leave a rank, in ascending order, and where each goes.
struct leavers {
  std::vector<std::int32_t> elements;
  std::vector<int> ranks;
};
/// The elements that a rank owns, of which each has one of so many destinations. Throws if these are too few.
[[nodiscard]] std::int64_t leavers_among(fields_state const& f, std::string_view mesh, std::size_t destinations);
void migrate(fields_state& f, std::string_view mesh, std::span<int const> destinations);
// `find` sets `all`, `elements`, `order`.
void migrate(fields_state& f, std::string_view mesh, leavers& all, thunk find);
void renew_ghosts(fields_state& f, std::string_view mesh, std::span<ghosts_of const> all,
                  std::vector<std::int32_t> const& elements, thunk find);
void reorder(fields_state& f, std::string_view mesh, std::vector<std::int32_t> const& order, thunk find);

template <class View>
inline constexpr bool is_list = std::is_same_v<typename View::non_const_value_type, int> && View::rank == 1;

/// Counts the elements that leave, and lists those for which there is room, each with its rank.
template <class View>
struct leaving {
  View to;
  int here;
  using pairs = Kokkos::View<int* [2], Kokkos::LayoutLeft, typename View::memory_space>;
  pairs found;

  KEEL_FUNCTION void operator()(int e, int& count, bool is_last) const {
    if (to(e) == here) return;
    if (is_last && count < int(found.extent(0))) found(count, 0) = e, found(count, 1) = to(e);
    ++count;
  }
};

/// The host gets only those that leave, wherever the view lies.
template <class View>
void find_leavers(leavers& all, View const& to, int owned, int here) {
  static_assert(is_list<View>, "keel::residency::fields: the destinations of migrate are no view of int in one "
                               "dimension. Give a Kokkos::View<int*, ...>.");
  using space = typename View::execution_space;
  Kokkos::fence(); // who wrote the view
  leaving<View> list{to, here, {}};
  int count = 0;
  Kokkos::RangePolicy<space> const each(0, owned);
  Kokkos::parallel_scan("keel: count what leaves", each, list, count);
  if (count == 0) return;
  list.found =
      typename leaving<View>::pairs(Kokkos::view_alloc("keel: what leaves", Kokkos::WithoutInitializing), count);
  Kokkos::parallel_scan("keel: list what leaves", each, list, count);
  auto const found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), list.found);
  all.elements.assign(&found(0, 0), &found(0, 0) + count), all.ranks.assign(&found(0, 1), &found(0, 1) + count);
}

/// The first numbers of a view or a span, as many as it has at most.
template <class List>
void list_on_host(std::vector<std::int32_t>& all, List const& list, std::int64_t count) {
  if constexpr (Kokkos::is_view<List>::value) {
    static_assert(is_list<List>, "keel::residency::fields: a list of elements is no view of int in one dimension. Give "
                                 "a Kokkos::View<int*, ...>.");
    all.resize(std::min(list.extent(0), std::size_t(std::max<std::int64_t>(count, 0))));
    Kokkos::deep_copy(Kokkos::View<int*, Kokkos::HostSpace>(all.data(), all.size()),
                      Kokkos::subview(list, std::pair<std::size_t, std::size_t>(0, all.size())));
  } else {
    std::span<int const> const given(list);
    all.assign(given.begin(), given.end());
  }
}

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/resize.ipp>
#endif
