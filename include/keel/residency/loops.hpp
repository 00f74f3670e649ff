// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A kernel over the cells of a routine in one call.

#include <keel/policy/error.hpp>
#include <keel/residency/grid.hpp>
#include <keel/space/kokkos.hpp>

#include <string>
#include <type_traits>

namespace keel::residency {

/// Calls `f(i)`, `f(i, j)` or `f(i, j, k)` for each cell in `cells`, local bounds, in a kernel in the space of `v`. The
/// order is that of the application's layout. The kernel has the name of the routine. Throws if `f` takes another
/// number of indices than the grid has. Does not wait: `v.execution_space()` runs it in its queue.
template <class V, class F>
void for_each_cell(V const& v, bounds const& cells, F const& f) {
  using space = typename V::space;
  constexpr int rank = std::is_invocable_v<F, int, int, int> ? 3 : std::is_invocable_v<F, int, int> ? 2 : 1;
  static_assert(rank > 1 || std::is_invocable_v<F, int>,
                "keel::residency: a loop over cells takes neither one, two nor three indices (int). Give it as many as "
                "the grid has dimensions.");
  if (v.local().rank != rank)
    throw error("residency", "routine " + std::string(V::name) + " loops with " + std::to_string(rank) + " indices",
                "the grid has " + std::to_string(v.local().rank) + " dimensions", "Take as many");
  std::string const label(V::name);
  if constexpr (rank == 1) {
    using policy = Kokkos::RangePolicy<space>;
    using index = typename policy::member_type;
    Kokkos::parallel_for(label, policy(v.execution_space(), index(cells.begin[0]), index(cells.end[0])), f);
  } else {
    constexpr auto order =
        std::is_same_v<typename V::layout, Kokkos::LayoutLeft> ? Kokkos::Iterate::Left : Kokkos::Iterate::Right;
    using policy = Kokkos::MDRangePolicy<space, Kokkos::Rank<rank, order, order>>;
    typename policy::point_type begin, end;
    for (int d = 0; d < rank; ++d) begin[d] = cells.begin[d], end[d] = cells.end[d];
    Kokkos::parallel_for(label, policy(v.execution_space(), begin, end), f);
  }
}

/// The same for the cells that this rank owns, or the piece of them that a routine `in_pieces` is called for:
/// `for_owned(v, KOKKOS_LAMBDA(int i, int j) { … })`.
template <class V, class F>
void for_owned(V const& v, F const& f) {
  for_each_cell(v, v.owned(), f);
}

} // namespace keel::residency
