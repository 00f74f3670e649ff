// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The loop over blocks, in one form for every place that runs it: the calling thread, and with
/// `keel/space/blocked.hpp` an execution space or a team of Kokkos. Depends only on the standard library.

#include <keel/block/blocks.hpp>
#include <keel/block/chunks.hpp>
#include <keel/block/team_memory.hpp>
#include <keel/policy/macros.hpp>

#include <concepts>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

namespace keel::block {

/// The place that is always there: the calling thread.
struct caller {};

/// How a place runs a loop. Specialise it for a place of your own: `static void run(Where const&, std::size_t count,
/// F const& f, label...)` calls `f(i)` once for each i < count.
///
/// Two more are for places that have lanes, as GPUs do. `run_rows(Where, count, rows, f, label...)` calls `f(i, row)`
/// for each i < count and row < rows, so that neighbouring rows share what they read. `run_with_memory<T>(Where, count,
/// values, f, label...)` calls `f(i, m)` with a `team_memory<T>& m` of so many values; it answers false if room is
/// missing.
///
/// `label...` is nothing or a name for tools, a `std::string`.
template <class Where>
struct launcher;

template <>
struct launcher<caller> {
  template <class F, class... Label>
  KEEL_FUNCTION static constexpr void run(caller, std::size_t count, F const& f, Label const&...) {
    for (std::size_t i = 0; i < count; ++i) f(i);
  }
};

/// A type that says how it runs a loop.
template <class Where>
concept Place = requires { sizeof(launcher<std::remove_cvref_t<Where>>); };

/// What a loop cuts into blocks: indices here, columns in `columns.hpp`.
template <class Range>
concept Blocked = requires(Range const& range) {
  { range.template block_count<1>() } -> std::convertible_to<std::size_t>;
};

namespace detail {

/// Calls `f(block, more...)` for the `count` indices from `begin` on, for a scalar tail once for each of them.
KEEL_CALLS_USER
template <std::size_t Length, tail Tail, class Index, class F, class... More>
KEEL_FORCE_INLINE KEEL_FUNCTION constexpr void visit_block(Index begin, std::size_t count, F& f, More&... more) {
  if (count == Length) return (void)f(full_block<Index, Length>{begin}, more...);
  if constexpr (Length > 1) { // a block of one index is never cut
    Index const some = static_cast<Index>(count);
    if constexpr (Tail == tail::counted) f(tail_block<Index>{begin, some}, more...);
    else if constexpr (Tail == tail::masked) f(masked_block<Index, Length>{{begin, some}}, more...);
    else
      for (Index n = 0; n < some; ++n) f(full_block<Index, 1>{static_cast<Index>(begin + n)}, more...);
  }
}

} // namespace detail

/// [begin, end); an end before the begin is empty.
template <std::integral Index>
struct indices {
  Index first, last;

  template <std::size_t Length>
  [[nodiscard]] KEEL_FUNCTION constexpr std::size_t block_count() const {
    return chunks<Length, Index>(first, last).size();
  }

  /// Block `i` goes to `f`.
  template <std::size_t Length, tail Tail, class F, class... More>
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr void visit(std::size_t i, F& f, More&... more) const {
    chunks<Length, Index> const cut(first, last);
    detail::visit_block<Length, Tail>(cut.first_of(i), cut.size_of(i), f, more...);
  }
};

namespace detail {

/// What a place calls: a struct, so that it may run on a device.
template <std::size_t Length, tail Tail, class Range, class F>
struct body {
  Range range;
  F f;
  template <class... More>
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr void operator()(std::size_t i, More&... more) const {
    range.template visit<Length, Tail>(i, f, more...);
  }
};
/// What a place calls for columns in rows: a thread takes one of them, or `Length` along the slower index, and its
/// neighbours lie along the other.
template <std::size_t Length, tail Tail, class Range, class F>
struct body_of_rows {
  Range range;
  F f;
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr void operator()(std::size_t i, std::size_t row) const {
    range.template visit_in_row<Length, Tail>(Length == 1 ? i : row, Length == 1 ? row : i, f);
  }
};

KEEL_CALLS_USER
template <std::size_t Length, tail Tail, class Where, class Range, class F, class... Label>
KEEL_FUNCTION constexpr void launch(Where const& where, Range const& range, F&& f, Label const&... label) {
  using function = std::remove_cvref_t<F>;
  using in_rows = body_of_rows<Length, Tail, Range, function>;
  constexpr bool by_rows = requires(in_rows const& r) {
    requires Range::in_rows;
    launcher<Where>::run_rows(where, std::size_t{}, std::size_t{}, r, label...);
  };
  if constexpr (by_rows) {
    std::size_t const blocks = range.template blocks_in_row<Length>(), rows = range.rows();
    launcher<Where>::run_rows(where, Length == 1 ? blocks : rows, Length == 1 ? rows : blocks,
                              in_rows{range, std::forward<F>(f)}, label...);
  } else
    launcher<Where>::run(where, range.template block_count<Length>(),
                         body<Length, Tail, Range, function>{range, std::forward<F>(f)}, label...);
}

} // namespace detail

/// Calls `f(block)` for each block of `range`, or of [begin, end), on the calling thread, in order. Every index is in
/// exactly one block. `f` takes every kind of block that the tail asks for.
template <std::size_t Length, tail Tail = tail::counted, Blocked Range, class F>
KEEL_FUNCTION constexpr void for_each_block(Range const& range, F&& f) {
  std::size_t const count = range.template block_count<Length>();
  for (std::size_t i = 0; i < count; ++i) range.template visit<Length, Tail>(i, f);
}
template <std::size_t Length, tail Tail = tail::counted, std::integral Index, class F>
KEEL_FUNCTION constexpr void for_each_block(Index begin, Index end, F&& f) {
  for_each_block<Length, Tail>(indices<Index>{begin, end}, f);
}
template <std::size_t Length, tail Tail = tail::counted, std::integral Index, class F>
KEEL_FUNCTION constexpr void for_each_block(Index end, F&& f) {
  for_each_block<Length, Tail>(indices<Index>{0, end}, f);
}

/// Calls `f(block)` for each block at a place: an execution space, asynchronously if the space runs so, or the threads
/// of a team. In code for a device `f` is a struct with a template operator(), because nvcc refuses generic lambdas. If
/// the length is 1, as on GPUs, each index has a thread of its own.
template <std::size_t Length, tail Tail = tail::counted, Place Where, Blocked Range, class F>
KEEL_FUNCTION constexpr void for_each_block(Where const& where, Range const& range, F f) {
  detail::launch<Length, Tail>(where, range, std::move(f));
}
template <std::size_t Length, tail Tail = tail::counted, Place Where, std::integral Index, class F>
KEEL_FUNCTION constexpr void for_each_block(Where const& where, Index begin, Index end, F f) {
  for_each_block<Length, Tail>(where, indices<Index>{begin, end}, std::move(f));
}

/// Calls `f(block)` for each block at a place, by a kernel with a name for tools.
template <std::size_t Length, tail Tail = tail::counted, Place Where, Blocked Range, class F>
void for_each_block(std::string const& label, Where const& where, Range const& range, F f) {
  detail::launch<Length, Tail>(where, range, std::move(f), label);
}
template <std::size_t Length, tail Tail = tail::counted, Place Where, std::integral Index, class F>
void for_each_block(std::string const& label, Where const& where, Index begin, Index end, F f) {
  for_each_block<Length, Tail>(label, where, indices<Index>{begin, end}, std::move(f));
}

/// Calls `f(block, memory)` with so many `values` of `T` in a `team_memory` if the place has one that is large enough,
/// and blocks of one index; else `f(block)`, as `for_each_block` does.
template <std::size_t Length, tail Tail, class T, Place Where, Blocked Range, class F>
void for_each_block_with_memory(std::string const& label, Where const& where, Range const& range,
                                [[maybe_unused]] std::size_t values, F f) {
  using body = detail::body<Length, Tail, Range, F>;
  if constexpr (Length == 1 && requires(body const& b) {
                  launcher<Where>::template run_with_memory<T>(where, std::size_t{}, values, b, label);
                }) {
    if (launcher<Where>::template run_with_memory<T>(where, range.template block_count<1>(), values, body{range, f},
                                                     label))
      return;
  }
  for_each_block<Length, Tail>(label, where, range, std::move(f));
}

} // namespace keel::block
