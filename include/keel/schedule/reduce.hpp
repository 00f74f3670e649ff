// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Reductions as entries of a schedule: one value out of what a routine returns, or has written, on each rank.

#include <keel/machine/operations.hpp>
#include <keel/schedule/routine.hpp>

namespace keel::residency {

/// Runs a routine, and combines over the ranks what its `run` returns: `struct dt : reduce<"dt", km::minimum, timestep>
/// {};`. `Operation` is `km::minimum`, `km::maximum`, `km::plain_sum`, `km::ordered_sum`, or one of your own, as
/// `km::all_reduce` takes it.
///
/// What `run` returns is the part of its rank: a `double`, or the `value_type` that the routine has; a number, a
/// `std::array` of numbers, which are combined number by number, or a struct of bytes. `km::ordered_sum` adds exactly
/// and rounds once, so that the bits depend on the parts only; if these are `km::exact_sum`, the value is a `double`
/// whose bits do not depend on the number of ranks.
///
/// A routine or condition that says `reads<dt>` gets the value as `v(dt{})`, or as its first argument; the host as
/// `f.value(dt{})`. Communicates: the ranks begin to combine right after the routine, and wait before the first entry
/// that reads the value, or at the end of the step.
template <text Name, class Operation, Routine Part>
struct reduce {
  using operation = Operation;
  using routine_type = Part;
  using reduction_type = reduce;

  static constexpr value_info value{Name.view(), Part::about.name};
  static constexpr entry about{.what = entry_kind::reduce,
                               .name = Name.view(),
                               .where = Part::about.where,
                               .first = Part::about.first,
                               .declaration_count = Part::about.declaration_count,
                               .values = Part::about.values,
                               .value_count = Part::about.value_count,
                               .makes = &value};
};

/// Combines over the ranks what each has of variables that lie on no grid or mesh, element by element:
/// `all_reduce<km::minimum, dt>`. On one rank it does nothing, and the host waits for nothing. Operations are those of
/// `km::all_reduce`. Blocks of a rank have one result, too; components each have their own. Communicates.
template <class Operation, Variable... Xs>
struct all_reduce {
  using operation = Operation;
  using parts = keel::list<Xs...>;
  static_assert(((!Xs::about.lies_on_grid && !Xs::about.is_scratch) && ...),
                "keel::residency::all_reduce: a variable of which each rank has a part, or a scratch (it is in the "
                "message). Reduce it to a variable without dimensions, or say off_grid.");
  static constexpr auto declared = updates<Xs...>::declared;
  static constexpr entry about{.what = entry_kind::all_reduce,
                               .name = name_of(entry_kind::all_reduce),
                               .where = on_device::where,
                               .first = declared.data(),
                               .declaration_count = declared.size()};
};

/// A type that is a reduction.
template <class R>
concept Reduction = requires { typename R::reduction_type; };

} // namespace keel::residency
