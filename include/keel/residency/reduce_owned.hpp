// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// One value out of all cells that a routine owns: their sum, their least or largest, several numbers, and where it is.

#include <keel/impl/residency/reduced.hpp>
#include <keel/machine/operations.hpp>
#include <keel/policy/macros.hpp>
#include <keel/residency/loops.hpp>

#include <string>
#include <string_view>

namespace keel::residency {

/// A value, and the global indices of the cell that has it; of a mesh, the local index of the element.
template <class T>
struct placed {
  T value{};
  indices place{};
};

/// With `machine::minimum` or `machine::maximum`: combines `placed` values, and of equal ones takes the first place, in
/// the order of the indices. An operation of `reduce` as well, and of `machine::all_reduce`.
template <class Operation>
struct place_of {
  template <class T>
  KEEL_FUNCTION constexpr placed<T> operator()(placed<T> const& a, placed<T> const& b) const {
    T const kept = Operation{}(a.value, b.value);
    bool const is_a = is_alike(a.value, kept), is_b = is_alike(b.value, kept);
    return is_a && !(is_b && is_before(b.place, a.place)) ? a : b;
  }

private:
  template <class T>
  KEEL_FUNCTION static constexpr bool is_alike(T const& a, T const& b) {
    return a == b || (a != a && b != b);
  }
  KEEL_FUNCTION static constexpr bool is_before(indices const& a, indices const& b) {
    int d = 0;
    while (d < max_grid_rank - 1 && a[d] == b[d]) ++d;
    return a[d] < b[d];
  }
};

/// `f(i)`, `f(i, j)` or `f(i, j, k)` of all cells that this rank owns, combined by an operation; waits for it:
/// `reduce_owned(v, machine::minimum{}, KOKKOS_LAMBDA(int i, int j) { return …; })`. Operations are `machine::minimum`,
/// `maximum` and `plain_sum`, any NaN giving NaN; `place_of` one of the first two, which returns a `placed` value; or
/// one of your own, which combines two values and has a `neutral` one, the result if the rank owns no cells. What `f`
/// returns is a number, a `std::array` of numbers, which are combined one by one, or a struct. Cells that a folded grid
/// has twice count once.
///
/// Rows of neighbours in memory are combined, then their results, both in an order that depends on the cells and the
/// layout only: so the bits are the same on every device of the host and with any number of threads. A GPU adds in the
/// order of Kokkos. Over all ranks: `machine::all_reduce`, or `reduce`. Profilers see the kernel by its `name`, or
/// that of the routine.
template <class V, class Operation, class F>
[[nodiscard]] auto reduce_owned(V const& v, std::string_view name, Operation const& operation, F const& f) {
  detail::check_rank<F>(v, v.owned());
  detail::index_sets const cells = detail::without_twins(v.local(), v.owned());
  if constexpr (detail::takes_places<Operation>) {
    indices shift = v.global_begin(), first = v.local().owned().begin;
    for (int d = 0; d < max_grid_rank; ++d) shift[d] -= first[d];
    return detail::reduced(v, cells, name, operation, detail::with_place<F>{f, shift});
  } else return detail::reduced(v, cells, name, operation, f);
}
template <class V, class Operation, class F>
  requires(!Mesh<Operation>)
[[nodiscard]] auto reduce_owned(V const& v, Operation const& operation, F const& f) {
  return reduce_owned(v, V::name, operation, f);
}
/// The reduction of `f(i)` over the elements of a mesh that this rank owns.
template <class V, Mesh M, class Operation, class F>
[[nodiscard]] auto reduce_owned(V const& v, M mesh, std::string_view name, Operation const& operation, F const& f) {
  element_range const all = v.owned(mesh);
  detail::check_indices(v, all.begin, all.end);
  bounds const elements{{{all.begin}}, {{all.end}}};
  if constexpr (detail::takes_places<Operation>)
    return detail::reduced(v, elements, name, operation, detail::with_place<F>{f, {}});
  else return detail::reduced(v, elements, name, operation, f);
}
template <class V, Mesh M, class Operation, class F>
[[nodiscard]] auto reduce_owned(V const& v, M mesh, Operation const& operation, F const& f) {
  return reduce_owned(v, mesh, V::name, operation, f);
}

/// With a view as last argument `reduce_owned` waits for nothing: the value goes there. It has no dimensions and is in
/// the memory of `v.execution_space()`, as `v(dt{})` of a `variable<"dt", double>` is. Kernels that are launched later
/// read it, also in a `graph`. Over all ranks: `all_reduce<Operation, dt>` in the schedule.
template <class V, class Operation, class F, class To>
  requires Kokkos::is_view<To>::value && (!Mesh<Operation>)
void reduce_owned(V const& v, Operation const& operation, F const& f, To const& to) {
  detail::check_rank<F>(v, v.owned());
  detail::check_result<Operation, F, To>();
  detail::reduce_to(v, detail::without_twins(v.local(), v.owned()), std::string(V::name), operation, f, to.data());
}
template <class V, Mesh M, class Operation, class F, class To>
  requires Kokkos::is_view<To>::value
void reduce_owned(V const& v, M mesh, Operation const& operation, F const& f, To const& to) {
  element_range const all = v.owned(mesh);
  detail::check_indices(v, all.begin, all.end);
  detail::check_result<Operation, F, To>();
  detail::index_sets elements;
  elements.add(bounds{{{all.begin}}, {{all.end}}}, 1);
  detail::reduce_to(v, elements, std::string(V::name), operation, f, to.data());
}

/// Their sum: `reduce_owned` with `machine::plain_sum`, of integers and truth values in 64 bits.
template <class V, class F>
[[nodiscard]] auto sum_owned(V const& v, F const& f) {
  return reduce_owned(v, machine::plain_sum{}, f);
}
template <class V, Mesh M, class F>
[[nodiscard]] auto sum_owned(V const& v, M mesh, F const& f) {
  return reduce_owned(v, mesh, machine::plain_sum{}, f);
}
template <class V, class F>
[[nodiscard]] auto sum_owned(V const& v, std::string_view name, F const& f) {
  return reduce_owned(v, name, machine::plain_sum{}, f);
}
template <class V, Mesh M, class F>
[[nodiscard]] auto sum_owned(V const& v, M mesh, std::string_view name, F const& f) {
  return reduce_owned(v, mesh, name, machine::plain_sum{}, f);
}

} // namespace keel::residency
