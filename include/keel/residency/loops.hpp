// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A kernel over the cells of a routine in one call: all that it owns, a region, any box.

#include <keel/impl/layout/grid/boxes.hpp>
#include <keel/layout/grid.hpp>
#include <keel/layout/mesh.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/macros.hpp>
#include <keel/space/kokkos.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace keel::residency {

namespace detail {

/// How many indices a loop's function takes, and what it returns.
template <class F>
inline constexpr int rank_of_loop = std::is_invocable_v<F, int, int, int> ? 3
                                    : std::is_invocable_v<F, int, int>    ? 2
                                                                          : 1;
template <class F, int Rank = rank_of_loop<F>>
struct result_of_loop : std::invoke_result<F, int> {};
template <class F>
struct result_of_loop<F, 2> : std::invoke_result<F, int, int> {};
template <class F>
struct result_of_loop<F, 3> : std::invoke_result<F, int, int, int> {};

/// Throws if an index is no `int`.
template <class V>
void check_indices(V const&, std::int64_t begin, std::int64_t end) {
  for (std::int64_t const index : {begin, end})
    if (!std::in_range<int>(index))
      throw error("residency", "routine " + std::string(V::name) + " loops from or to index " + std::to_string(index),
                  "the indices of a loop are int", "Take more ranks or blocks, or a kernel of your own");
}

/// Throws if the grid has another number of dimensions, or, of a variable `along` fewer, these bounds.
template <class F, class V>
void check_rank(V const& v, bounds const& cells) {
  constexpr int rank = rank_of_loop<F>;
  static_assert(rank > 1 || std::is_invocable_v<F, int>,
                "keel::residency: a loop over cells takes neither one, two nor three indices (int). Give it as many as "
                "the grid has dimensions.");
  int dimensions = v.local().rank;
  while (dimensions > rank && cells.end[dimensions - 1] == 0) --dimensions;
  if (dimensions != rank)
    throw error("residency",
                "routine " + std::string(V::name) + " loops with " + policy::counted(rank, "index", "indices"),
                "the grid has " + policy::counted(v.local().rank, "dimension"), "Take as many");
  for (int d = 0; d < rank; ++d) check_indices(v, cells.begin[d], cells.end[d]);
}

template <class V>
inline constexpr bool is_left = std::is_same_v<typename V::layout, Kokkos::LayoutLeft>;

/// A box as rows of neighbours in memory; in one dimension, as pieces of a fixed length.
template <int Rank, bool IsLeft>
struct rows {
  static constexpr int inner = IsLeft ? 0 : Rank - 1;
  static constexpr int piece = 1024;
  int begin[Rank], end[Rank];

  explicit rows(bounds const& cells) {
    for (int d = 0; d < Rank; ++d)
      begin[d] = int(cells.begin[d]), end[d] = std::max(int(cells.end[d]), int(cells.begin[d]));
  }
  [[nodiscard]] std::int64_t count() const {
    if constexpr (Rank == 1) return (std::int64_t{end[0]} - begin[0] + piece - 1) / piece;
    std::int64_t n = 1;
    for (int d = 0; d < Rank; ++d) n *= d == inner ? 1 : end[d] - begin[d];
    return n;
  }
  /// Calls `f` for the cells of one row, in order: one plain loop, which a compiler turns into vectors.
  KEEL_CALLS_USER
  template <class F>
  KEEL_FORCE_INLINE KEEL_FUNCTION void visit(std::int64_t row, F&& f) const {
    if constexpr (Rank == 1) {
      int const first = begin[0] + int(row) * piece, last = end[0] - first > piece ? first + piece : end[0];
      for (int i = first; i < last; ++i) f(i);
    } else {
      int const first = begin[inner], last = end[inner];
      if constexpr (Rank == 2) {
        int const j = begin[1 - inner] + int(row);
        for (int i = first; i < last; ++i) IsLeft ? f(i, j) : f(j, i);
      } else {
        std::int64_t const across = end[1] - begin[1];
        int const j = begin[1] + int(row % across), k = begin[2 - inner] + int(row / across);
        for (int i = first; i < last; ++i) IsLeft ? f(i, j, k) : f(k, j, i);
      }
    }
  }
};

/// Kokkos' policy of rows on a processor.
template <class V>
auto policy_of_rows(V const& v, std::int64_t count) {
  return Kokkos::RangePolicy<typename V::space, Kokkos::IndexType<std::int64_t>>(v.execution_space(), 0, count);
}
template <class Rows, class F>
struct row_kernel {
  Rows rows;
  F f;
  KEEL_CALLS_USER
  KEEL_FUNCTION void operator()(std::int64_t row) const { rows.visit(row, f); }
};

/// Kokkos' policy of indices. A GPU's threads get more registers than Kokkos' own choice of 1,024 in a block leaves
/// them, so that more of what they load is under way.
template <class V>
auto policy_of_indices(V const& v, std::int64_t begin, std::int64_t end) {
  using space = typename V::space;
  using policy =
      std::conditional_t<keel::space::detail::HasLanes<space>, Kokkos::RangePolicy<space, Kokkos::LaunchBounds<128, 1>>,
                         Kokkos::RangePolicy<space>>;
  using number = typename policy::member_type;
  return keel::space::detail::light(policy(v.execution_space(), number(begin), number(end)));
}
/// Kokkos' policy of a box of a GPU, in the order of the layout; by blocks of 256 threads, as wide as a warp.
template <int Rank, class V>
auto policy_of(V const& v, bounds const& cells) {
  constexpr auto order = is_left<V> ? Kokkos::Iterate::Left : Kokkos::Iterate::Right;
  constexpr int inner = is_left<V> ? 0 : Rank - 1, next = is_left<V> ? 1 : Rank - 2;
  using policy = Kokkos::MDRangePolicy<typename V::space, Kokkos::Rank<Rank, order, order>>;
  typename policy::point_type begin, end;
  typename policy::tile_type tile;
  for (int d = 0; d < Rank; ++d) begin[d] = cells.begin[d], end[d] = cells.end[d], tile[d] = 1;
  for (tile[inner] = 1; tile[inner] < 32 && tile[inner] < end[inner] - begin[inner];) tile[inner] *= 2;
  tile[next] = 256 / tile[inner];
  return keel::space::detail::light(policy(v.execution_space(), begin, end, tile));
}

} // namespace detail

/// Calls `f(i)`, `f(i, j)` or `f(i, j, k)` for each cell in `cells`, local bounds, in a kernel in the space of `v`. The
/// order is that of the application's layout; on a processor a thread takes whole rows. Profilers see the kernel by its
/// `name`; without one, as in the other calls below, that of the routine. Throws if `f` takes another number of
/// indices than the grid has, or the variable along fewer dimensions that the bounds are of; and if an index is beyond
/// `int`. Does not wait: `v.execution_space()` runs it in its queue.
template <class V, class F>
void for_each_cell(V const& v, bounds const& cells, std::string_view name, F const& f) {
  constexpr int rank = detail::rank_of_loop<F>;
  detail::check_rank<F>(v, cells);
  std::string const label(name);
  if constexpr (rank == 1) {
    Kokkos::parallel_for(label, detail::policy_of_indices(v, cells.begin[0], cells.end[0]), f);
  } else if constexpr (V::is_on_accelerator) {
    Kokkos::parallel_for(label, detail::policy_of<rank>(v, cells), f);
  } else {
    using rows = detail::rows<rank, detail::is_left<V>>;
    rows const all(cells);
    Kokkos::parallel_for(label, detail::policy_of_rows(v, all.count()), detail::row_kernel<rows, F>{all, f});
  }
}
template <class V, class F>
void for_each_cell(V const& v, bounds const& cells, F const& f) {
  for_each_cell(v, cells, V::name, f);
}

/// Runs `f` for the cells that this rank owns, or the piece of them that a routine `in_pieces` is called for:
/// `for_owned(v, KOKKOS_LAMBDA(int i, int j) { … })`, or `for_owned(v, "predict", KOKKOS_LAMBDA(int i, int j) { … })`.
template <class V, class F>
void for_owned(V const& v, std::string_view name, F const& f) {
  for_each_cell(v, v.owned(), name, f);
}
template <class V, class F>
void for_owned(V const& v, F const& f) {
  for_owned(v, V::name, f);
}

/// Runs `f` for the elements of a range of a mesh, `f(i)`: `for_each_element(v, v.layer(cells{}, 1), f)`.
template <class V, class F>
void for_each_element(V const& v, element_range const& elements, std::string_view name, F const& f) {
  detail::check_indices(v, elements.begin, elements.end);
  Kokkos::parallel_for(std::string(name), detail::policy_of_indices(v, elements.begin, elements.end), f);
}
template <class V, class F>
void for_each_element(V const& v, element_range const& elements, F const& f) {
  for_each_element(v, elements, V::name, f);
}
/// Runs `f` for the elements of a mesh that this rank owns: `for_owned(v, cells{}, KOKKOS_LAMBDA(int i) { … })`.
template <class V, Mesh M, class F>
void for_owned(V const& v, M mesh, std::string_view name, F const& f) {
  for_each_element(v, v.owned(mesh), name, f);
}
template <class V, Mesh M, class F>
void for_owned(V const& v, M mesh, F const& f) {
  for_each_element(v, v.owned(mesh), f);
}

/// Runs `f` for the cells of a region, `region::walls` for instance: a kernel for each box of it, some ten at most in
/// two dimensions. Of a routine `in_pieces` only `region::owned` is cut into its pieces.
template <class V, class F>
void for_all(V const& v, region where, std::string_view name, F const& f) {
  if (where == region::owned) return for_owned(v, name, f);
  for (bounds const& box : detail::boxes_of(v.local(), where)) for_each_cell(v, box, name, f);
}
template <class V, class F>
void for_all(V const& v, region where, F const& f) {
  for_all(v, where, V::name, f);
}

} // namespace keel::residency
